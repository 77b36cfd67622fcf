//! The number by which machines tell each other that permissions changed.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000005_authorization_epoch",
    statements: &[
        "CREATE TABLE authorization_epoch (
            id BIGINT PRIMARY KEY CHECK (id = 1),
            number BIGINT NOT NULL
        )",
        "INSERT INTO authorization_epoch (id, number) VALUES (1, 0)",
    ],
};
