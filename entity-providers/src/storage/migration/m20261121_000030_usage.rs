//! The usage of accounts and sites, and the tables that are counted for it.

use super::Tables;

/// The tables are empty: what is counted, and with which triggers, hangs on the types that are registered, so that
/// [`count_tables`](crate::storage::db::count_tables) makes these and counts what is there. Parts of sites learn of which: they
/// count there too, and once their group is gone, nobody could tell.
pub(super) const STEP: Tables = Tables {
    name: "m20261121_000030_usage",
    statements: &[
        "CREATE TABLE usage (
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            entities BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            PRIMARY KEY (kind, id)
        )",
        "CREATE TABLE usage_source (
            name TEXT NOT NULL PRIMARY KEY,
            definition TEXT NOT NULL
        )",
        "ALTER TABLE group_member ADD COLUMN site_id TEXT",
        "UPDATE group_member
            SET site_id = (SELECT g.site_id FROM site_group g WHERE g.id = group_member.group_id)",
        "ALTER TABLE announcement_group ADD COLUMN site_id TEXT",
        "UPDATE announcement_group
            SET site_id = (SELECT g.site_id FROM site_group g WHERE g.id = announcement_group.group_id)",
    ],
};
