//! Items of syllabi in each state that the policy names.

use entity_providers::courses::syllabus::SyllabusItem;
use entity_providers::courses::syllabus::redirect::SyllabusRedirect;

use super::rows::Rows;
use super::subject::Subject;
use super::world::{World, made};

impl World {
    /// An item, whose heading is the word to look for.
    pub(super) async fn syllabus_item(&self, state: &str) -> Subject {
        let kind = if state == "draft" { "course" } else { state };
        let marker = self.new_marker();
        let mut rows = Rows::default();
        rows.add(SyllabusItem {
            id: marker.clone(),
            site_id: self.sites[kind].clone(),
            title: marker.clone(),
            order: 1,
            draft: state == "draft",
            created_by: self.people["author"].id.clone(),
            created_on: made(),
            modified_on: made(),
            version: 1,
            ..SyllabusItem::default()
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

    /// The address of a syllabus elsewhere, in a site of its own, which has one at most.
    pub(super) async fn syllabus_redirect(&self, state: &str) -> Subject {
        let id = self.new_marker();
        if state == "unknown" {
            return Subject {
                id,
                ..Subject::default()
            };
        }
        let mut rows = Rows::default();
        let site = self.plan_site(state.trim_start_matches("in-"), &mut rows);
        if !state.starts_with("in-") {
            rows.add(SyllabusRedirect {
                id: id.clone(),
                site_id: site.clone(),
                redirect_url: format!("https://example.org/{id}"),
                version: 1,
                ..SyllabusRedirect::default()
            });
        }
        self.store(rows).await;
        Subject {
            marker: id.clone(),
            id,
            site,
            ..Subject::default()
        }
    }
}
