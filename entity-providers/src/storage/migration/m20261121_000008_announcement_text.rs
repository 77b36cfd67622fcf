//! A column for what announcements say, beside the HTML in which they say it. A later step empties it.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000008_announcement_text",
    statements: &["ALTER TABLE announcement ADD COLUMN body_text TEXT NOT NULL DEFAULT ''"],
};
