//! Items of syllabi in each state that the policy names.

use entity_core::DateTimeUtc;
use entity_core::db::Facts;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_providers::syllabus::SyllabusItem;

use super::subject::Subject;
use super::world::{MADE, Rows, World};

impl World {
    /// An item, whose heading is the word to look for.
    pub(super) async fn syllabus_item(&self, state: &str) -> Subject {
        let kind = if state == "draft" { "course" } else { state };
        let marker = self.new_marker();
        let made = DateTimeUtc::from_timestamp_millis(MADE).map(Millis);
        let made = made.expect("an instant");
        let mut rows = Rows::default();
        rows.syllabus.push(SyllabusItem {
            id: marker.clone(),
            site_id: self.sites[kind].clone(),
            title: marker.clone(),
            data: String::new(),
            order: 1,
            start_date: None,
            end_date: None,
            draft: state == "draft",
            attachments: Files::default(),
            created_by: self.people["author"].id.clone(),
            created_on: made,
            modified_on: made,
            version: 1,
            facts: Facts::default(),
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id: marker.clone(),
            site: self.sites[kind].clone(),
            marker,
            ..Subject::default()
        }
    }
}
