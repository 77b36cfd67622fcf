//! Notifications and tasks in each state that the policy names.

use entity_providers::courses::task::Task;
use entity_providers::people::session_event::{LOGIN, SessionEvent};
use entity_providers::talk::notification::Notification;
use serde_json::{Value, json};

use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made};

impl World {
    /// A notification of an announcement, whose headline is the word to look for.
    pub(super) async fn notification(&self, state: &str, caller: &Caller) -> Subject {
        let told = match state {
            "peer" => &self.people["peer"],
            _ => &caller.person,
        };
        let cause = self.announcement(cause(state), caller).await;
        let id = number(&self.new_marker());
        let mut rows = Rows::default();
        rows.add(Notification {
            notification_id: id.to_string(),
            event: "annc.new".to_owned(),
            reference: format!("/announcement/{}", cause.id),
            from_user: cause.user.clone(),
            to_user: told.id.clone(),
            site_id: cause.site.clone(),
            tool: "sakai.announcements".to_owned(),
            event_date: made(),
            ..Notification::default()
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id: id.to_string(),
            site: cause.site,
            user: told.id.clone(),
            marker: cause.marker,
            ..Subject::default()
        }
    }

    /// A login, whose path is the word to look for.
    pub(super) async fn session_event(&self, state: &str, caller: &Caller) -> Subject {
        let person = self.owner(state, caller, "peer");
        let marker = self.new_marker();
        let mut rows = Rows::default();
        rows.add(SessionEvent {
            event_id: marker.clone(),
            kind: LOGIN.to_owned(),
            user_id: person.id.clone(),
            time: made(),
            address: "192.0.2.7".to_owned(),
            path: format!("/{marker}"),
            ..SessionEvent::default()
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id: marker.clone(),
            user: person.id.clone(),
            marker,
            ..Subject::default()
        }
    }

    /// A task, whose description is the word to look for.
    pub(super) async fn task(&self, state: &str, caller: &Caller) -> Subject {
        let person = self.owner(state, caller, "peer");
        let marker = self.new_marker();
        let mut rows = Rows::default();
        rows.add(Task {
            id: number(&marker).to_string(),
            user_id: person.id.clone(),
            owner: person.id.clone(),
            site_id: Some(self.sites["course"].clone()),
            description: marker.clone(),
            starts: made(),
            priority: 3,
            created_on: made(),
            version: 1,
            ..Task::default()
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id: number(&marker).to_string(),
            site: self.sites["course"].clone(),
            user: person.id.clone(),
            marker,
            ..Subject::default()
        }
    }
}

/// The fields of a new task: in the site, if there is one.
pub(super) fn new_task(subject: &Subject) -> Value {
    let mut fields = json!({"description": subject.marker});
    if !subject.site.is_empty() {
        fields["siteId"] = json!(subject.site);
    }
    fields
}

/// A number for an id, made of a word.
fn number(word: &str) -> u64 {
    word.bytes().fold(1, |number, byte| {
        (number * 31 + u64::from(byte)) % 9_000_000_000
    })
}

/// The state of the announcement.
fn cause(state: &str) -> &str {
    match state {
        "peer" | "own" | "unknown" => "plain",
        _ => state.trim_start_matches("own-"),
    }
}
