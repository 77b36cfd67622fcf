//! Invitations, and how each member of a site came to be one.

use super::Tables;

/// Nobody was asked before: whoever is a member already was enrolled by somebody.
pub(super) const STEP: Tables = Tables {
    name: "m20261121_000011_invitations",
    statements: &[
        "CREATE TABLE invitation (
            id TEXT NOT NULL PRIMARY KEY,
            site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
            role TEXT NOT NULL,
            invitee TEXT NOT NULL,
            invitee_lower TEXT NOT NULL,
            invited_by TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
            created BIGINT NOT NULL,
            expires BIGINT NOT NULL
        )",
        "CREATE UNIQUE INDEX invitation_by_site ON invitation (site_id, invitee_lower)",
        "CREATE INDEX invitation_by_invitee ON invitation (invitee_lower)",
        "CREATE INDEX invitation_by_inviter ON invitation (invited_by)",
        "CREATE INDEX invitation_by_end ON invitation (expires)",
        "ALTER TABLE membership ADD COLUMN origin TEXT NOT NULL DEFAULT 'mandate'",
    ],
};

/// A step of its own, because nobody can read a table that was changed before its transaction ends.
pub(super) const ORIGINS: Tables = Tables {
    name: "m20261121_000012_origins",
    statements: &["UPDATE membership SET origin = 'provided' WHERE is_provided"],
};
