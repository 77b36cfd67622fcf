//! Assignments and work in each state that the policy names.

use chrono::TimeDelta;
use entity_core::DateTimeUtc;
use entity_providers::courses::assignment::{Assignment, Submission};
use serde_json::{Value, json};

use super::requests::Shows;
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, place};

impl World {
    /// An assignment, for which somebody else has handed in work.
    pub(super) async fn assignment(&self, state: &str, caller: &Caller) -> Subject {
        let author = &self.owner(state, caller, "author").id;
        let assignment = self.new_assignment(place(state), state, author);
        let peer = &self.people["peer"].id;
        let subject = Subject {
            id: assignment.id.clone(),
            site: assignment.site_id.clone(),
            user: peer.clone(),
            marker: assignment.title.clone(),
            ..Subject::default()
        };
        let mut rows = Rows::default();
        let work = new_work(&assignment, self.new_marker(), peer, false);
        rows.add(assignment);
        rows.add(work);
        if state != "unknown" {
            self.store(rows).await;
        }
        subject
    }

    /// Work for an assignment of its own, whose title is the word to look for.
    pub(super) async fn work(&self, state: &str, caller: &Caller) -> Subject {
        let is_own = state == "own";
        let submitter = &self.owner(state, caller, "peer").id;
        let author = &self.people["author"].id;
        let of = if state == "of-draft" {
            "draft"
        } else {
            "plain"
        };
        let assignment = self.new_assignment("course", of, author);
        let work = new_work(&assignment, self.new_marker(), submitter, state == "draft");
        let subject = Subject {
            id: work.id.clone(),
            site: assignment.site_id.clone(),
            group: assignment.id.clone(),
            marker: assignment.title.clone(),
            is_caller: is_own,
            ..Subject::default()
        };
        let mut rows = Rows::default();
        rows.add(assignment);
        rows.add(work);
        if state != "unknown" {
            self.store(rows).await;
        }
        subject
    }

    /// An assignment in such a site, for which work can be handed in.
    pub(super) async fn place_of_work(&self, kind: &str) -> Subject {
        let assignment = self.new_assignment(kind, "plain", &self.people["author"].id);
        let subject = Subject {
            site: assignment.site_id.clone(),
            group: assignment.id.clone(),
            marker: assignment.title.clone(),
            ..Subject::default()
        };
        let mut rows = Rows::default();
        rows.add(assignment);
        if kind != "unknown" {
            self.store(rows).await;
        }
        subject
    }

    fn new_assignment(&self, kind: &str, state: &str, author: &str) -> Assignment {
        let marker = self.new_marker();
        let now = self.app.service().now();
        let at = |days| -> DateTimeUtc { now + TimeDelta::days(days) };
        let group = ["mine", "foreign"].into_iter().find(|it| *it == state);
        Assignment {
            id: marker.clone(),
            title: marker,
            site_id: self.sites[kind].clone(),
            draft: state.ends_with("draft"),
            open_time: at(if state == "unopened" { 1 } else { -1 }).into(),
            due_time: at(2).into(),
            close_time: at(3).into(),
            creator: author.to_owned(),
            resubmissions: -1,
            groups: group.map(ToOwned::to_owned).into_iter().collect(),
            version: 1,
            ..Assignment::default()
        }
    }
}

fn new_work(assignment: &Assignment, id: String, submitter: &str, is_draft: bool) -> Submission {
    Submission {
        submitted_text: Some("Work".to_owned()),
        draft: is_draft,
        submitted: !is_draft,
        ..Submission::blank(id, assignment, submitter)
    }
}

/// A new assignment, or new work.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "assignment" => json!({
            "context": site, "title": marker, "openTime": "2026-11-20T10:00:00Z",
            "dueTime": "2026-12-20T10:00:00Z", "closeTime": "2026-12-20T10:00:00Z",
        }),
        _ => json!({"context": site, "gradableId": group, "submittedText": "Work"}),
    }
}

/// Returns the body that changes work: those whose work it is change the text, all others the feedback.
pub(super) fn change(subject: &Subject) -> Value {
    if subject.is_caller {
        json!({"submittedText": "Changed"})
    } else {
        json!({"feedbackComment": "Changed"})
    }
}

/// The address of an action that reads, and what its answer shows.
pub(super) fn question(action: &str, subject: &Subject) -> (Shows, String) {
    let Subject { id, site, .. } = subject;
    let (shows, behind) = match action {
        "my" => (Shows::Lists, "my".to_owned()),
        "item" => (Shows::Entity, format!("item/{id}")),
        "gradable" | "itemSubmission" | "getGrade" | "fullSubmissions" => {
            (Shows::Status, action.to_owned())
        }
        _ => (Shows::Status, format!("{action}/{site}/{id}")),
    };
    (shows, format!("/direct/assignment/{behind}"))
}
