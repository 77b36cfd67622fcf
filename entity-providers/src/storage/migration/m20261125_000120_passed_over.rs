//! A mark at migrations of types that were passed over.

use super::Tables;

/// Of what was noted before, nobody knows: releases until then passed over more than they should.
pub(super) const STEP: Tables = Tables {
    name: "m20261125_000120_passed_over",
    statements: &["ALTER TABLE type_migration ADD COLUMN has_run BOOLEAN"],
};
