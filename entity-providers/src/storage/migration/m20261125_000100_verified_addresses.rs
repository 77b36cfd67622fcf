//! Which e-mail addresses are known to be those of their accounts.

use super::Tables;

/// An account that was never changed has the address that whoever made it gave it. Of all others nobody knows who set it.
pub(super) const STEP: Tables = Tables {
    name: "m20261125_000100_verified_addresses",
    statements: &[
        "ALTER TABLE user_account ADD COLUMN is_email_verified BOOLEAN NOT NULL DEFAULT FALSE",
        "UPDATE user_account SET is_email_verified = TRUE WHERE email <> '' AND version = 1",
    ],
};
