//! Members who do not want to be seen, and when groups changed.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000006_groups",
    statements: &[
        "ALTER TABLE membership ADD COLUMN is_hidden BOOLEAN NOT NULL DEFAULT FALSE",
        "ALTER TABLE site_group ADD COLUMN modified BIGINT NOT NULL DEFAULT 0",
    ],
};
