//! The passwords that everybody knows: their hashes, so that accounts that still have one can be found.

use super::Tables;

/// Hashes are salted, so that two accounts have the same one only if the demo was filled with it.
pub(super) const STEP: Tables = Tables {
    name: "m20261121_000007_demo_password",
    statements: &[
        "CREATE TABLE demo_password (hash TEXT NOT NULL PRIMARY KEY)",
        "INSERT INTO demo_password (hash)
            SELECT password_hash FROM user_account WHERE password_hash IS NOT NULL
            GROUP BY password_hash HAVING count(*) > 1",
    ],
};
