//! Which entity names which attached file, and who pays for the files in the store.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261127_000140_attached_uses",
    statements: &[
        "CREATE TABLE attached_use (
            file TEXT NOT NULL, holder TEXT NOT NULL, entity TEXT NOT NULL, noted BIGINT NOT NULL,
            PRIMARY KEY (file, holder, entity)
        )",
        "CREATE INDEX attached_use_by_time ON attached_use (file, noted, holder, entity)",
        "CREATE INDEX attached_use_by_entity ON attached_use (holder, entity)",
        // The mark that the rows that are there were not looked at yet.
        "INSERT INTO attached_use (file, holder, entity, noted) VALUES ('', '', '', 0)",
        "ALTER TABLE stored_file ADD COLUMN size BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE stored_file ADD COLUMN account TEXT",
        "ALTER TABLE stored_file ADD COLUMN site TEXT",
        "CREATE INDEX stored_file_by_account ON stored_file (account)",
        "CREATE INDEX stored_file_by_site ON stored_file (site)",
    ],
};
