//! Links of invitations. Those that are open have none until whoever looks after the members asks for one.

use super::Tables;

/// The table keeps the hash of the secret in a link.
pub(super) const STEP: Tables = Tables {
    name: "m20261125_000110_invitation_links",
    statements: &[
        "ALTER TABLE invitation ADD COLUMN secret_hash TEXT",
        "CREATE UNIQUE INDEX invitation_by_secret ON invitation (secret_hash)",
    ],
};
