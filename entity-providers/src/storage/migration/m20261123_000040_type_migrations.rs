//! Which migrations of types have run.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261123_000040_type_migrations",
    statements: &["CREATE TABLE type_migration (
        origin TEXT NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (origin, name)
    )"],
};
