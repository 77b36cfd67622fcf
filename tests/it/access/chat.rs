//! Chat rooms and what is said there, addresses to which a site leads, and rosters, in each state that the policy names.

use entity_providers::courses::webcontent::{NewsFeed, WebContent};
use entity_providers::talk::chat::{ChatChannel, ChatMessage};
use serde_json::{Value, json};

use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, place};

/// Returns whether it is one of the types.
pub(super) fn is_one(kind: &str) -> bool {
    matches!(
        kind,
        "chat-channel" | "chat-message" | "webcontent" | "news"
    )
}

impl World {
    /// A room, a message in a room, or an address. The word to look for is the title, or what is said.
    pub(super) async fn talk(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let marker = self.new_marker();
        if state == "-" {
            return Subject {
                marker,
                ..Subject::default()
            };
        }
        let place = place(state);
        let site = self.sites[place].clone();
        let (id, room) = (format!("{marker}-id"), format!("{marker}-room"));
        let writer = self.owner(state, caller, "peer");
        let channel = |id: &str, title: &str| ChatChannel {
            id: id.to_owned(),
            site_id: site.clone(),
            title: title.to_owned(),
            filter_type: "SelectAllMessages".to_owned(),
            creation_date: made(),
            modified_date: made(),
            version: 1,
            ..ChatChannel::default()
        };
        let mut rows = Rows::default();
        if place != "unknown" && kind == "chat-message" {
            rows.add(channel(&room, "Around"));
        }
        if place != "unknown" && !state.starts_with("in-") {
            match kind {
                "chat-channel" => rows.add(channel(&id, &marker)),
                "chat-message" => rows.add(ChatMessage {
                    id: id.clone(),
                    chat_channel_id: room.clone(),
                    site_id: site.clone(),
                    owner: writer.id.clone(),
                    message_date: made(),
                    body: marker.clone(),
                    ..ChatMessage::default()
                }),
                "webcontent" => rows.add(WebContent {
                    id: id.clone(),
                    site_id: site.clone(),
                    title: marker.clone(),
                    url: "https://example.org/".to_owned(),
                    version: 1,
                }),
                _ => rows.add(NewsFeed {
                    id: id.clone(),
                    site_id: site.clone(),
                    title: marker.clone(),
                    url: "https://example.org/".to_owned(),
                    version: 1,
                }),
            }
        }
        self.store(rows).await;
        Subject {
            id,
            site,
            group: room,
            marker,
            ..Subject::default()
        }
    }
}

/// A new room, message or address.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "chat-channel" => json!({"siteId": site, "title": marker}),
        "chat-message" => json!({"chatChannelId": group, "body": marker, "csrftoken": "x"}),
        _ => json!({"siteId": site, "title": marker, "url": "https://example.org/new"}),
    }
}
