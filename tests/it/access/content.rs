//! Files in each state that the policy names.

use entity_providers::courses::content::ContentItem;

use super::requests::Shows;
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made};

impl World {
    /// A link in a folder of its own, whose title is the word to look for.
    pub(super) async fn content_item(&self, state: &str, caller: &Caller) -> Subject {
        let kind = match state {
            "closed" | "own" => "course",
            other => other,
        };
        let site = &self.sites[kind];
        let (marker, folder) = (self.new_marker(), self.new_marker());
        let author = &self.owner(state, caller, "author").id;
        let folder = ContentItem {
            id: folder.clone(),
            title: "A folder".to_owned(),
            media_type: "collection".to_owned(),
            author_id: author.clone(),
            site_id: site.clone(),
            resource_id: format!("/group/{site}/{folder}/"),
            depth: 1,
            hidden: state == "closed",
            is_shut: state == "closed",
            closes_at: i64::MAX,
            created_on: made(),
            modified_on: made(),
            version: 1,
            ..ContentItem::default()
        };
        let item = ContentItem {
            id: marker.clone(),
            title: marker.clone(),
            media_type: "text/url".to_owned(),
            web_link_url: Some("https://example.org/".to_owned()),
            folder_id: Some(folder.id.clone()),
            resource_id: format!("{}{marker}", folder.resource_id),
            depth: 2,
            hidden: false,
            ..folder.clone()
        };
        let subject = Subject {
            id: marker.clone(),
            site: site.clone(),
            group: item.resource_id.clone(),
            marker,
            ..Subject::default()
        };
        let mut rows = Rows::default();
        rows.add(folder);
        rows.add(item);
        if state != "unknown" {
            self.store(rows).await;
        }
        subject
    }
}

/// The address of an action that reads, and what its answer shows.
pub(super) fn question(action: &str, subject: &Subject) -> (Shows, String) {
    let path = &subject.group;
    match action {
        "user" => (Shows::Lists, "/direct/content/user/me".to_owned()),
        "zip" => {
            let id = &subject.id;
            (Shows::Status, format!("/direct/content/{id}/zip"))
        }
        "my" => (Shows::Lists, "/direct/content/my".to_owned()),
        "site" => (
            Shows::Lists,
            format!("/direct/content/site/{}", subject.site),
        ),
        "loose" => (
            Shows::Status,
            format!("/direct/content/loose/{}", subject.site),
        ),
        "resources" => {
            let folder = path.rsplit_once('/').map_or("", |it| it.0);
            (Shows::Status, format!("/direct/content/resources{folder}"))
        }
        _ => (Shows::Status, format!("/direct/content/{action}")),
    }
}

/// The address of an action that writes, behind that of the type.
pub(super) fn behind(action: &str, subject: &Subject) -> String {
    let Subject { id, site, .. } = subject;
    match action {
        "loose" => format!("loose/{site}/{id}"),
        "upload" | "attachment" => format!("{action}/{site}"),
        _ => format!("{id}/{action}?name=x{id}"),
    }
}
