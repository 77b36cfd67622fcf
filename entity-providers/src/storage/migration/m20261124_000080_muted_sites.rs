//! The sites of which their members are shown no notifications.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261124_000080_muted_sites",
    statements: &["ALTER TABLE membership ADD COLUMN is_muted BOOLEAN NOT NULL DEFAULT FALSE"],
};
