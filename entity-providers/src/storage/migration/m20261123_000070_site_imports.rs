//! The progress of imports of archives.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261123_000070_site_imports",
    statements: &["CREATE TABLE site_import (
        site_id TEXT NOT NULL PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
        progress TEXT NOT NULL
    )"],
};
