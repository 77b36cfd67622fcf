//! The text that lists look into, folded when it is stored: of announcements, sites and users.

use super::emptied::EmptiedColumn;
use super::{FoldedColumns, Tables};

pub(super) const ANNOUNCEMENTS: FoldedColumns = FoldedColumns {
    name: "m20261121_000020_folded_announcements",
    table: "announcement",
    texts: &["title"],
    html: &["body"],
};

pub(super) const SITES: FoldedColumns = FoldedColumns {
    name: "m20261121_000021_folded_sites",
    table: "site",
    texts: &["title", "short_description"],
    html: &[],
};

pub(super) const USERS: FoldedColumns = FoldedColumns {
    name: "m20261121_000022_folded_users",
    table: "user_account",
    texts: &["eid", "email", "first_name", "last_name"],
    html: &[],
};

/// What announcements said was in a column of its own, which nothing reads any more. It is emptied and stays: a
/// node of the former version that still runs writes it.
pub(super) const EMPTIED: EmptiedColumn = EmptiedColumn {
    name: "m20261121_000023_announcement_text_emptied",
    table: "announcement",
    column: "body_text",
};

/// The last place among the announcements of a site is found without a look at the others.
pub(super) const POSITIONS: Tables = Tables {
    name: "m20261121_000024_announcement_positions",
    statements: &["CREATE INDEX announcement_by_position ON announcement (site_id, position)"],
};
