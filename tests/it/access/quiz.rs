//! Quizzes, questions, attempts and extensions in each state that the policy names.

use entity_core::db::{self, Record as _};
use entity_core::{Context, Fields, Result};
use entity_providers::courses::quiz::{Quiz, QuizAttempt, QuizExtension, QuizQuestion};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::rows::{Row, Rows};
use super::subject::Subject;
use super::world::{Caller, MADE, World};

const DAY: i64 = 86_400_000;

/// A quiz with one question and, for a student, an attempt and an extension.
#[derive(Debug)]
struct Paper {
    kind: String,
    state: String,
    id: String,
    site: String,
    marker: String,
    student: String,
}

impl World {
    /// A quiz in a site of its own, and what belongs to it.
    pub(super) async fn quiz(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let marker = self.new_marker();
        let mut rows = Rows::default();
        let place = state.trim_start_matches("in-");
        let site = match place {
            "project" | "other" | "hidden" | "joinable" => self.plan_site(place, &mut rows),
            "unknown" if kind == "sam_pub" => "no-such-site".to_owned(),
            _ => self.plan_site("course", &mut rows),
        };
        let is_own = state == "own";
        let student = self.owner(state, caller, "peer");
        if state == "grouped" {
            Self::plan_pair(&site, [student, &self.people["ta"]], &mut rows);
        }
        let id = marker.replace("mk", "1");
        let paper = Paper {
            kind: kind.to_owned(),
            state: state.to_owned(),
            id: id.clone(),
            site: site.clone(),
            marker: marker.clone(),
            student: student.id.clone(),
        };
        let subject = Subject {
            id: if kind == "sam_pub" {
                id.clone()
            } else {
                format!("{kind}-{marker}")
            },
            site,
            // The quiz.
            group: id,
            user: student.id.clone(),
            marker,
            is_caller: is_own,
            ..Subject::default()
        };
        if state != "unknown" && (kind != "sam_pub" || !state.starts_with("in-")) {
            rows.add(paper);
        }
        self.store(rows).await;
        subject
    }
}

fn fields(json: Value) -> Fields {
    match json {
        Value::Object(fields) => Fields(fields),
        other => panic!("{other} is no object"),
    }
}

impl Row for Paper {
    fn insert<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<()>> {
        self.make(cx).boxed()
    }
}

impl Paper {
    async fn make(&self, cx: &Context) -> Result<()> {
        let Self {
            kind,
            state,
            id,
            site,
            marker,
            student,
        } = self;
        let id_of = |name: &str| format!("{name}-{marker}");
        let quiz = Quiz {
            draft: state == "draft",
            ..Quiz::make(
                cx,
                fields(json!({
                    "id": id, "ownerSiteId": site, "title": marker,
                    "startDate": (state == "unopened").then_some(MADE + 2 * DAY),
                    "retractDate": (state == "retracted").then_some(MADE),
                })),
            )?
        };
        db::insert(cx, &quiz).await?;
        let question = QuizQuestion::make(
            cx,
            fields(json!({
                "id": id_of("quiz-question"), "quizId": id, "siteId": site, "position": 1, "text": marker,
                "kind": "TRUE_FALSE", "choices": ["true", "false"], "correct": ["true"], "points": 1,
            })),
        )?;
        db::insert(cx, &question).await?;
        if kind == "quiz-attempt" {
            let attempt = QuizAttempt::blank(cx, &quiz, student, 1);
            db::insert(
                cx,
                &QuizAttempt {
                    id: id_of("quiz-attempt"),
                    ..attempt
                },
            )
            .await?;
        }
        if kind == "quiz-extension" && !state.starts_with("in-") {
            let extension = QuizExtension::make(
                cx,
                fields(json!({
                    "id": id_of("quiz-extension"), "quizId": id, "siteId": site, "userId": student, "extraTime": 60,
                })),
            )?;
            let place = format!("{id}:{student}");
            db::insert(cx, &QuizExtension { place, ..extension }).await?;
        }
        Ok(())
    }
}

/// The fields of a new entity.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "sam_pub" => json!({"ownerSiteId": site, "title": marker}),
        "quiz-question" => json!({
            "siteId": site, "quizId": group, "text": marker, "kind": "TRUE_FALSE", "correct": ["true"], "points": 1,
        }),
        _ => json!({"siteId": site, "quizId": group, "userId": subject.user, "extraTime": 60}),
    }
}

/// Something that changes the entity.
pub(super) fn change(kind: &str) -> Value {
    match kind {
        "sam_pub" => json!({"title": "Changed"}),
        "quiz-question" => json!({"points": 2}),
        _ => json!({"extraTime": 120}),
    }
}
