//! Gradebooks in each state that the policy names, and the ways to ask for them.

use entity_core::wire::Decimal;
use entity_providers::courses::gradebook::category::GradebookCategory;
use entity_providers::courses::gradebook::change::GradebookChange;
use entity_providers::courses::gradebook::entered::GradebookOverride;
use entity_providers::courses::gradebook::item::GradebookItem;
use entity_providers::courses::gradebook::score::GradebookScore;
use http::Method;
use serde_json::{Value, json};

use super::requests::{JSON, Question, Shows};
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made};

impl World {
    /// A site of its own with an item, and with what `kind` says about the student whom the state names. The title of
    /// the site, and the name of the item, are the words to look for.
    pub(super) async fn gradebook(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let mut rows = Rows::default();
        if state == "unknown" {
            return Subject {
                id: self.new_marker(),
                site: "no-such-site".to_owned(),
                group: "no-such-item".to_owned(),
                marker: self.new_marker(),
                ..Subject::default()
            };
        }
        let place = state.trim_start_matches("in-");
        let site = match place {
            "project" | "other" | "joinable" | "hidden" => self.plan_site(place, &mut rows),
            _ => self.plan_site("course", &mut rows),
        };
        let student = self.owner(state, caller, "peer");
        if state == "grouped" {
            Self::plan_pair(&site, [student, &self.people["ta"]], &mut rows);
        }
        let mut item = item(&self.new_marker(), &site);
        item.released = !state.ends_with("unreleased");
        let subject = subject(kind, &item, &student.id);
        if state != "empty" {
            rows.add(item.clone());
        }
        if !state.starts_with("in-") {
            grade(kind, &subject, item, &mut rows);
        }
        self.store(rows).await;
        subject
    }
}

fn subject(kind: &str, item: &GradebookItem, student: &str) -> Subject {
    let id = match kind {
        "gradebook" | "grades" => item.site_id.clone(),
        "gradebook-score" => format!("{}:{student}", item.item_id),
        "gradebook-override" => format!("{}:{student}", item.site_id),
        "gradebook-item" => item.item_id.clone(),
        _ => format!("{}-{kind}", item.item_id),
    };
    let marker = match kind {
        "gradebook" | "grades" => item.site_id.clone(),
        "gradebook-item" | "gradebook-category" => item.name.clone(),
        _ => id.clone(),
    };
    Subject {
        id,
        site: item.site_id.clone(),
        // The item.
        group: item.item_id.clone(),
        user: student.to_owned(),
        marker,
        ..Subject::default()
    }
}

fn item(marker: &str, site: &str) -> GradebookItem {
    GradebookItem {
        item_id: format!("{marker}-item"),
        site_id: site.to_owned(),
        name: marker.to_owned(),
        points: Decimal::of_units(100_000),
        released: true,
        counted: true,
        position: 1,
        created_on: made(),
        modified_on: made(),
        version: 1,
        ..GradebookItem::default()
    }
}

/// Makes the entity beside the item.
fn grade(kind: &str, subject: &Subject, item: GradebookItem, rows: &mut Rows) {
    let (site_id, user_id) = (subject.site.clone(), subject.user.clone());
    match kind {
        "gradebook-category" => rows.add(GradebookCategory {
            category_id: subject.id.clone(),
            site_id,
            name: item.name,
            modified_on: made(),
            version: 1,
            ..GradebookCategory::default()
        }),
        "gradebook-score" => rows.add(GradebookScore {
            score_id: subject.id.clone(),
            site_id,
            item_id: item.item_id,
            user_id,
            score: Some(Decimal::of_units(75_000)),
            graded_on: made(),
            version: 1,
            ..GradebookScore::default()
        }),
        "gradebook-change" => rows.add(GradebookChange {
            change_id: subject.id.clone(),
            site_id,
            item_id: item.item_id,
            user_id,
            changed_on: made(),
            ..GradebookChange::default()
        }),
        "gradebook-override" => rows.add(GradebookOverride {
            override_id: subject.id.clone(),
            site_id,
            user_id,
            grade: "A".to_owned(),
            entered_on: made(),
            version: 1,
            ..GradebookOverride::default()
        }),
        _ => {}
    }
}

/// The fields of a new entity.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, user, marker) = (&subject.site, &subject.user, &subject.marker);
    match kind {
        "gradebook-item" => json!({"siteId": site, "name": format!("{marker}2"), "points": 5}),
        "gradebook-category" => json!({"siteId": site, "name": marker}),
        "gradebook-override" => json!({"siteId": site, "userId": user, "grade": "B"}),
        _ => json!({"siteId": site, "userId": user, "itemId": subject.group, "score": 5}),
    }
}

/// Something that changes the entity.
pub(super) fn change(kind: &str) -> Value {
    match kind {
        "gradebook-score" => json!({"score": 4.5}),
        "gradebook-override" => json!({"grade": "C"}),
        _ => json!({"name": "Changed"}),
    }
}

/// The ways to ask for an action or an endpoint.
pub(super) fn named(kind: &str, operation: &str, subject: &Subject) -> Vec<Question> {
    let (site, user, group) = (&subject.site, &subject.user, &subject.group);
    let (method, name) = operation
        .split_once(':')
        .expect("an operation that is known");
    let path = match name {
        _ if name.starts_with("/api/") => name
            .replace("{siteId}", site)
            .replace("{gradingItemId}", group)
            .replace("{userId}", user),
        "item" => {
            let name = group.trim_end_matches("-item");
            format!("/direct/{kind}/item/{site}/{name}")
        }
        "gradeitem" if method == "GET" => {
            let name = group.trim_end_matches("-item");
            format!("/direct/{kind}/gradeitem/{site}/{name}")
        }
        "my" | "courses" => format!("/direct/{kind}/{name}"),
        _ => format!("/direct/{kind}/{name}/{site}"),
    };
    if method == "POST" {
        let body = match kind {
            "grades" => json!({
                "name": group.trim_end_matches("-item"),
                "scores": [{"userId": user, "grade": 5}],
            }),
            _ if name == "import" => json!({"csv": "Student ID"}),
            "gradebook-score" => json!({"scores": [{"userId": user, "itemId": group, "score": 5}]}),
            _ => json!({"grade": "5"}),
        };
        return vec![Question::send(
            Method::POST,
            path,
            Some((JSON, body.to_string())),
        )];
    }
    let shows = if name == "my" {
        Shows::Lists
    } else {
        Shows::Status
    };
    vec![Question::get(shows, [path])]
}
