//! Pages of lessons, items and progress in each state that the policy names.

use chrono::TimeDelta;
use entity_core::DateTimeUtc;
use entity_core::wire::Millis;
use entity_providers::courses::assignment::Assignment;
use entity_providers::courses::lessons::{Lesson, LessonItem, LessonProgress};
use serde_json::{Value, json};

use super::requests::Shows;
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made};

impl World {
    /// A page, an item on a page, or progress with a page. The name of it is the word to look for.
    pub(super) async fn lesson(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let site = state.trim_start_matches("in-");
        let site = match site {
            "closed" | "unreleased" | "below" | "unreadable" | "own" | "peer" => "course",
            site => site,
        };
        let page = self.new_page(site, state);
        let mut subject = Subject {
            id: page.lesson_id.clone(),
            site: page.site_id.clone(),
            group: page.lesson_id.clone(),
            marker: page.lesson_title.clone(),
            ..Subject::default()
        };
        let mut rows = Rows::default();
        if state == "below" {
            let mut above = self.new_page(site, "closed");
            above.lesson_id = format!("{}0", page.lesson_id);
            rows.add(above);
        }
        rows.add(page.clone());
        let item = self.new_item(&page, state, &mut rows);
        match kind {
            "lesson-item" if !state.starts_with("in-") => {
                subject.id.clone_from(&item.item_id);
                subject.marker.clone_from(&item.name);
                rows.add(item);
            }
            "lesson-progress" => {
                let user = &self.owner(state, caller, "peer").id;
                subject.id = format!("{}:{user}", page.lesson_id);
                rows.add(LessonProgress {
                    progress_id: subject.id.clone(),
                    site_id: page.site_id.clone(),
                    lesson_id: page.lesson_id.clone(),
                    user_id: user.clone(),
                    done_on: Some(made()),
                    modified_on: made(),
                    ..LessonProgress::default()
                });
            }
            _ => {}
        }
        let is_made = kind != "lessons" || !state.starts_with("in-");
        if site != "unknown" && is_made {
            self.store(rows).await;
        }
        if state.starts_with("in-") {
            subject.marker = self.new_marker();
        }
        subject
    }

    fn new_page(&self, site: &str, state: &str) -> Lesson {
        let marker = self.new_marker();
        let number = marker.trim_start_matches("mk");
        let opens: DateTimeUtc = self.app.service().now() + TimeDelta::days(1);
        let opens = (state == "unreleased").then_some(Millis(opens));
        let id = format!("1{number}");
        Lesson {
            lesson_title: marker,
            site_id: self.sites[site].clone(),
            parent_id: (state == "below").then(|| format!("{id}0")),
            hidden: state == "closed",
            closed: matches!(state, "closed" | "below"),
            release_date: opens,
            opens,
            created_by: self.people["author"].id.clone(),
            created_on: made(),
            modified_on: made(),
            version: 1,
            lesson_id: id,
            ..Lesson::default()
        }
    }

    /// A text or, in the state `unreadable`, a draft of an assignment.
    fn new_item(&self, page: &Lesson, state: &str, rows: &mut Rows) -> LessonItem {
        let marker = self.new_marker();
        let is_unreadable = state == "unreadable";
        let mut item = LessonItem {
            item_id: format!("2{}", marker.trim_start_matches("mk")),
            lesson_id: page.lesson_id.clone(),
            site_id: page.site_id.clone(),
            kind: if is_unreadable { "assignment" } else { "text" }.to_owned(),
            created_on: made(),
            modified_on: made(),
            version: 1,
            name: marker,
            ..LessonItem::default()
        };
        if is_unreadable {
            item.sakai_id = format!("{}-draft", item.item_id);
            let now = self.app.service().now();
            rows.add(Assignment {
                id: item.sakai_id.clone(),
                title: item.name.clone(),
                site_id: page.site_id.clone(),
                draft: true,
                creator: self.people["author"].id.clone(),
                open_time: now.into(),
                due_time: now.into(),
                close_time: now.into(),
                version: 1,
                ..Assignment::default()
            });
        }
        item
    }
}

/// A new page, or a new item.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "lessons" => json!({"siteId": site, "lessonTitle": marker}),
        _ => json!({"siteId": site, "lessonId": group, "kind": "text", "name": marker}),
    }
}

/// Returns the body that changes a page or an item.
pub(super) fn change(kind: &str) -> Value {
    match kind {
        "lessons" => json!({"lessonTitle": "Changed"}),
        _ => json!({"name": "Changed"}),
    }
}

/// The address of an action that reads lessons, and what success looks like.
pub(super) fn named(name: &str, subject: &Subject) -> (Shows, String) {
    if name == "lessons" {
        let path = format!("/direct/lesson-item/lessons/{}", subject.group);
        return (Shows::Lists, path);
    }
    let (shows, of) = match name {
        "site" => (Shows::Lists, format!("/{}", subject.site)),
        "user" => (Shows::Lists, String::new()),
        "lesson" => (Shows::Status, format!("/{}", subject.id)),
        _ => (Shows::Status, format!("/{}", subject.site)),
    };
    (shows, format!("/direct/lessons/{name}{of}"))
}
