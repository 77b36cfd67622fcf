//! The text that lists look into is folded without accents.

use super::FoldedAnew;
use super::m20261121_000020_folded_text::{ANNOUNCEMENTS, SITES, USERS};

pub(super) const STEP: FoldedAnew = FoldedAnew {
    name: "m20261126_000130_folded_accents",
    columns: &[ANNOUNCEMENTS, SITES, USERS],
    has_types: true,
};
