//! The files in the store, as far as the database has to know of them.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261123_000060_stored_files",
    statements: &[
        // The files, and since when no row names them.
        "CREATE TABLE stored_file (
            blob TEXT NOT NULL PRIMARY KEY,
            unnamed BIGINT
        )",
        "CREATE INDEX stored_file_by_time ON stored_file (unnamed, blob)",
        // The columns that name them, also those of types that are not linked any more.
        "CREATE TABLE stored_file_column (name TEXT NOT NULL PRIMARY KEY)",
    ],
};
