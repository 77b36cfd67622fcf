//! Sites with their pages, tools, groups and members.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000002_sites",
    statements: STATEMENTS,
};

const STATEMENTS: &[&str] = &[
    "CREATE TABLE site (
        id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        type TEXT,
        short_description TEXT,
        description TEXT,
        contact_name TEXT,
        contact_email TEXT,
        is_published BOOLEAN NOT NULL,
        is_pub_view BOOLEAN NOT NULL,
        is_joinable BOOLEAN NOT NULL,
        joiner_role TEXT,
        skin TEXT,
        icon_url TEXT,
        owner_id TEXT REFERENCES user_account (id) ON DELETE SET NULL,
        term TEXT,
        term_eid TEXT,
        provider_group_id TEXT,
        created BIGINT NOT NULL,
        modified BIGINT NOT NULL,
        version BIGINT NOT NULL
    )",
    "CREATE INDEX site_by_title ON site (title, id)",
    "CREATE INDEX site_by_owner ON site (owner_id)",
    "CREATE INDEX site_open ON site (title, id) WHERE is_pub_view",
    "CREATE INDEX site_joinable ON site (title, id) WHERE is_joinable",
    "CREATE TABLE site_page (
        id TEXT NOT NULL PRIMARY KEY,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
        title TEXT NOT NULL,
        position BIGINT NOT NULL,
        layout BIGINT NOT NULL
    )",
    "CREATE INDEX site_page_by_site ON site_page (site_id, position, id)",
    "CREATE TABLE site_tool (
        id TEXT NOT NULL PRIMARY KEY,
        page_id TEXT NOT NULL REFERENCES site_page (id) ON DELETE CASCADE,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
        tool_id TEXT NOT NULL,
        title TEXT NOT NULL,
        position BIGINT NOT NULL
    )",
    "CREATE INDEX site_tool_by_page ON site_tool (page_id)",
    "CREATE INDEX site_tool_by_site ON site_tool (site_id, position, id)",
    "CREATE TABLE site_group (
        id TEXT NOT NULL PRIMARY KEY,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
        title TEXT NOT NULL,
        description TEXT
    )",
    "CREATE INDEX site_group_by_site ON site_group (site_id, title, id)",
    "CREATE TABLE group_member (
        group_id TEXT NOT NULL REFERENCES site_group (id) ON DELETE CASCADE,
        user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
        PRIMARY KEY (group_id, user_id)
    )",
    "CREATE INDEX group_member_by_user ON group_member (user_id, group_id)",
    "CREATE TABLE membership (
        user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        is_active BOOLEAN NOT NULL,
        is_provided BOOLEAN NOT NULL,
        is_pinned BOOLEAN NOT NULL,
        pinned_position BIGINT,
        created BIGINT NOT NULL,
        PRIMARY KEY (user_id, site_id)
    )",
    "CREATE INDEX membership_by_site ON membership (site_id, role, user_id)",
];
