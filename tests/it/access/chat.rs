//! Chat rooms and what is said there, addresses to which a site leads, and rosters, in each state that the policy names.

use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Result};
use entity_providers::courses::webcontent::{NewsFeed, WebContent};
use entity_providers::face::webhook::{Webhook, WebhookDelivery};
use entity_providers::talk::chat::{ChatChannel, ChatMessage};
use serde_json::{Value, json};

use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, MADE, World};

/// A row of one of the types.
#[derive(Clone, Debug)]
pub(super) enum Talk {
    Channel(ChatChannel),
    Message(ChatMessage),
    Page(WebContent),
    Feed(NewsFeed),
    Hook(Webhook),
    Delivery(WebhookDelivery),
}

impl Talk {
    /// Adds the row, past the service.
    pub(super) async fn insert(&self, cx: &Context) -> Result<()> {
        match self {
            Self::Channel(it) => db::insert(cx, it).await,
            Self::Message(it) => db::insert(cx, it).await,
            Self::Page(it) => db::insert(cx, it).await,
            Self::Feed(it) => db::insert(cx, it).await,
            Self::Hook(it) => db::insert(cx, it).await,
            Self::Delivery(it) => db::insert(cx, it).await,
        }
    }
}

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
        let place = state.trim_start_matches("in-");
        let place = if place == "own" { "course" } else { place };
        let site = self.sites[place].clone();
        let (id, room) = (format!("{marker}-id"), format!("{marker}-room"));
        let made = DateTimeUtc::from_timestamp_millis(MADE).map(Millis);
        let made = made.expect("an instant");
        let writer = match state {
            "own" => &caller.person,
            _ => &self.people["peer"],
        };
        let channel = |id: &str, title: &str| ChatChannel {
            id: id.to_owned(),
            site_id: site.clone(),
            title: title.to_owned(),
            filter_type: "SelectAllMessages".to_owned(),
            creation_date: made,
            modified_date: made,
            version: 1,
            ..ChatChannel::default()
        };
        let mut rows = Rows::default();
        if place != "unknown" && kind == "chat-message" {
            rows.talks.push(Talk::Channel(channel(&room, "Around")));
        }
        if place != "unknown" && !state.starts_with("in-") {
            rows.talks.push(match kind {
                "chat-channel" => Talk::Channel(channel(&id, &marker)),
                "chat-message" => Talk::Message(ChatMessage {
                    id: id.clone(),
                    chat_channel_id: room.clone(),
                    site_id: site.clone(),
                    owner: writer.id.clone(),
                    message_date: made,
                    body: marker.clone(),
                    ..ChatMessage::default()
                }),
                "webcontent" => Talk::Page(WebContent {
                    id: id.clone(),
                    site_id: site.clone(),
                    title: marker.clone(),
                    url: "https://example.org/".to_owned(),
                    version: 1,
                }),
                _ => Talk::Feed(NewsFeed {
                    id: id.clone(),
                    site_id: site.clone(),
                    title: marker.clone(),
                    url: "https://example.org/".to_owned(),
                    version: 1,
                }),
            });
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
    let Subject {
        site,
        group,
        marker,
        ..
    } = subject;
    match kind {
        "chat-channel" => json!({"siteId": site, "title": marker}),
        "chat-message" => json!({"chatChannelId": group, "body": marker, "csrftoken": "x"}),
        _ => json!({"siteId": site, "title": marker, "url": "https://example.org/new"}),
    }
}
