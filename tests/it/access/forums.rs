//! Forums, topics, messages and marks in each state that the policy names.

use chrono::TimeDelta;
use entity_providers::talk::forums::{Forum, ForumMessage, ForumReading, ForumTopic};
use serde_json::{Value, json};

use super::requests::Shows;
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, place};

/// A forum with a topic and a message in it, and for a mark the mark of the author.
struct Board {
    forum: Forum,
    topic: ForumTopic,
    message: Option<ForumMessage>,
    mark: Option<ForumReading>,
}

impl World {
    /// A forum, a topic, a message or a mark. The title of it is the word to look for.
    pub(super) async fn forum(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let site = self.sites[place(state)].clone();
        let marker = self.new_marker();
        let board = self.board((kind, state), &site, &marker, caller);
        let (forum, topic) = (board.forum.key.clone(), board.topic.key.clone());
        let message = board.message.as_ref().map(|it| it.key.clone());
        let message = message.unwrap_or_default();
        let mark = board.mark.as_ref().map(|it| it.read_id.clone());
        let mut rows = Rows::default();
        let is_made = kind != "forums" || !state.starts_with("in-");
        if site != "no-such-site" && is_made {
            rows.add(board.forum);
            rows.add(board.topic);
            board.message.into_iter().for_each(|it| rows.add(it));
            board.mark.into_iter().for_each(|it| rows.add(it));
        }
        self.store(rows).await;
        let (id, group) = match kind {
            "forums" => (forum, topic),
            "forums-topic" => (topic, forum),
            "forums-message" => (message.clone(), topic),
            _ => (mark.unwrap_or_default(), topic),
        };
        let marker = match state.starts_with("in-") {
            true => self.new_marker(),
            // A mark has no text but ids.
            false if kind == "forums-read" => message.clone(),
            false => marker,
        };
        Subject {
            id,
            site,
            group,
            marker,
            ..Subject::default()
        }
    }

    fn board(
        &self,
        (kind, state): (&str, &str),
        site: &str,
        marker: &str,
        caller: &Caller,
    ) -> Board {
        let number = marker.trim_start_matches("mk");
        let author = self.people["author"].id.clone();
        let writer = self.owner(state, caller, "peer").id.clone();
        let tomorrow = self.app.service().now() + TimeDelta::days(1);
        // The word stands in what is asked for only.
        let title = |of: &str| if of == kind { marker } else { "Around" }.to_owned();
        let forum = Forum {
            key: format!("1{number}"),
            site_id: site.to_owned(),
            title: title("forums"),
            is_draft: state == "draft" || state == "below",
            is_availability_restricted: state == "unopened",
            open_date: (state == "unopened").then(|| tomorrow.timestamp()),
            creator: author.clone(),
            modifier: author.clone(),
            created: made(),
            modified: made(),
            version: 1,
            ..Forum::default()
        };
        let topic = ForumTopic {
            key: format!("2{number}"),
            forum: forum.key.clone(),
            site_id: site.to_owned(),
            title: title("forums-topic"),
            is_draft: state == "draft",
            is_post_first: state == "first",
            creator: author.clone(),
            modifier: author,
            created: made(),
            modified: made(),
            version: 1,
            ..ForumTopic::default()
        };
        let key = format!("3{number}");
        let message = ForumMessage {
            thread: key.clone(),
            topic: topic.key.clone(),
            site_id: site.to_owned(),
            title: title("forums-message"),
            is_draft: state.ends_with("unsent"),
            is_approved: !state.ends_with("pending"),
            author_id: writer.clone(),
            modified_by: writer.clone(),
            created: made(),
            modified: made(),
            version: 1,
            key,
            ..ForumMessage::default()
        };
        let mark = (kind == "forums-read").then(|| ForumReading {
            read_id: format!("{}:{writer}", message.key),
            site_id: site.to_owned(),
            message_id: message.key.clone(),
            user_id: writer.clone(),
            read_on: made(),
            ..ForumReading::default()
        });
        let is_place = state.starts_with("in-");
        Board {
            forum,
            topic,
            message: (!is_place).then_some(message),
            mark,
        }
    }
}

/// A new forum, topic or message.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "forums" => json!({"siteId": site, "title": marker}),
        "forums-topic" => json!({"siteId": site, "forum": group, "title": marker}),
        _ => json!({"siteId": site, "topic": group, "title": marker}),
    }
}

/// The address of an action that reads forums, and what success looks like.
pub(super) fn named(name: &str, subject: &Subject) -> (Shows, String) {
    let (id, site, group) = (&subject.id, &subject.site, &subject.group);
    let message = group.replacen('2', "3", 1);
    let (shows, of) = match name {
        "site" => (Shows::Lists, site),
        "forum" => (Shows::Status, id),
        "topic" => (Shows::Status, group),
        "message" => (Shows::Status, &message),
        _ => (Shows::Status, site),
    };
    (shows, format!("/direct/forums/{name}/{of}"))
}
