//! Entries of assignments in feeds.

use entity_core::recurrence::Tz;
use entity_core::wire::Instant as _;
use entity_core::{Content, FeedEntry};

use super::Assignment;
use crate::base::when;

impl Assignment {
    /// Returns the entry of the assignment: readers of feeds see no field but the text, so it begins with when it is due.
    pub(super) fn to_feed(&self) -> FeedEntry {
        let due = self.due_time.instant();
        let due = due.map(|it| when::paragraph("Due", it, it, Tz::UTC));
        let mut entry = FeedEntry::new(
            self.title.clone(),
            self.time_last_modified.instant().unwrap_or_default(),
        );
        entry.published = self.time_created.instant();
        entry.author = Some(self.author_display_name.clone()).filter(|it| !it.is_empty());
        entry.content = Some(Content::Html(due.unwrap_or_default() + &self.instructions));
        entry.categories = vec![self.site_title.clone()];
        entry.enclosures = self.attachments.to_enclosures();
        entry
    }
}
