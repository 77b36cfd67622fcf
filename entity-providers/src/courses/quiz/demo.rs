//! The quizzes of the demo university: one that is open, one that is over with its results, a draft, and one for which a
//! student has more time.

use chrono::TimeDelta;
use entity_core::db::{self, Facts, Record as _};
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Fields, Result};
use serde_json::{Value as Json, json};

use super::answers::{Answers, Texts};
use super::{Quiz, QuizAttempt, QuizExtension, QuizQuestion};
use crate::base::university::{BIOLOGY, HISTORY};
use crate::courses::lessons;

/// A quiz. Hours count from now.
struct Plan {
    site: &'static str,
    author: &'static str,
    title: &'static str,
    description: &'static str,
    opens: i64,
    due: i64,
    minutes: Option<i64>,
    feedback: &'static str,
    is_draft: bool,
    questions: &'static [Question],
    taken: &'static [Taken],
    extended: Option<&'static str>,
}

/// A question: what is asked, of which kind, what there is to choose from, what is right, and what is said about it.
struct Question(
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

/// The answers of a student to each question.
struct Taken(&'static str, &'static [&'static [&'static str]]);

const POWERHOUSE: Question = Question(
    "Which part of a cell releases most of its energy?",
    "ONE",
    &["Nucleus", "Mitochondrion", "Ribosome", "Vacuole"],
    &["Mitochondrion"],
    "<p>Mitochondria make most of the ATP.</p>",
);
const PLANTS: Question = Question(
    "Which of these do plant cells have and animal cells lack?",
    "SEVERAL",
    &["Cell wall", "Chloroplasts", "Nucleus", "Ribosomes"],
    &["Cell wall", "Chloroplasts"],
    "<p>Both have a nucleus and ribosomes.</p>",
);
const BACTERIA: Question = Question(
    "Bacteria have a nucleus.",
    "TRUE_FALSE",
    &[],
    &["false"],
    "<p>Their genes lie free in the cell.</p>",
);
const CHROMOSOMES: Question = Question(
    "How many chromosomes does a human body cell have?",
    "NUMERIC",
    &[],
    &["46"],
    "<p>23 from each parent.</p>",
);

const PLANS: &[Plan] = &[
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Quiz: parts of the cell",
        description: "<p>Twenty minutes, two attempts. The better one counts.</p>",
        opens: -24,
        due: 5 * 24,
        minutes: Some(20),
        feedback: "AFTER_DUE",
        is_draft: false,
        questions: &[POWERHOUSE, PLANTS, BACTERIA, CHROMOSOMES],
        taken: &[],
        extended: None,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Quiz: before the first lab",
        description: "<p>What you need to know at the bench.</p>",
        opens: -10 * 24,
        due: -3 * 24,
        minutes: None,
        feedback: "AFTER_DUE",
        is_draft: false,
        questions: &[PLANTS, BACTERIA],
        taken: &[
            Taken("student1", &[&["Cell wall", "Chloroplasts"], &["false"]]),
            Taken("student2", &[&["Cell wall"], &["true"]]),
            Taken("student11", &[&["Cell wall", "Nucleus"], &["false"]]),
        ],
        extended: None,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Quiz: inheritance",
        description: "<p>Not finished: add the crossing of peas.</p>",
        opens: 24,
        due: 9 * 24,
        minutes: None,
        feedback: "IMMEDIATELY",
        is_draft: true,
        questions: &[CHROMOSOMES],
        taken: &[],
        extended: None,
    },
    Plan {
        site: HISTORY,
        author: "instructor2",
        title: "Quiz: the Hanse",
        description: "<p>Ten minutes.</p>",
        opens: -24,
        due: 24,
        minutes: Some(10),
        feedback: "IMMEDIATELY",
        is_draft: false,
        questions: &[Question(
            "In which year did the diet of the Hanse meet for the last time?",
            "NUMERIC",
            &[],
            &["1669"],
            "<p>Nine cities came.</p>",
        )],
        taken: &[],
        extended: Some("student2"),
    },
];

/// The title of the quiz that the lessons show.
const OF_LESSON: &str = "Quiz: parts of the cell";

/// Adds the quizzes with their questions, attempts and extensions, and returns the number of quizzes.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for plan in PLANS {
        let id = db::new_number::<Quiz>(cx).await?;
        let quiz = plan.quiz(cx, &id, demo.person(plan.author)?)?;
        db::insert(cx, &quiz).await?;
        let mut ids = Vec::new();
        for (question, position) in plan.questions.iter().zip(1..) {
            let question = question.of(cx, &quiz, position)?;
            db::insert(cx, &question).await?;
            ids.push(question.id);
        }
        for Taken(student, given) in plan.taken {
            let attempt = QuizAttempt {
                started_on: after(cx, plan.due.saturating_sub(20)),
                handed_in_on: Some(after(cx, plan.due.saturating_sub(19))),
                answers: Answers(
                    ids.iter()
                        .cloned()
                        .zip(given.iter().map(|it| Texts::of(it).0))
                        .collect(),
                ),
                ..QuizAttempt::blank(cx, &quiz, demo.person(student)?, 1)
            };
            db::insert(cx, &attempt).await?;
        }
        if let Some(student) = plan.extended {
            db::insert(cx, &extension(cx, &quiz, demo.person(student)?)).await?;
        }
        // The calendar and the gradebook follow it as they do when an instructor writes it.
        Quiz::tell_scores(cx, &quiz.id, None).await?;
        if plan.title == OF_LESSON {
            lessons::demo::add_quiz(cx, plan.site, &quiz.id).await?;
        }
    }
    Ok(PLANS.len())
}

impl Plan {
    fn quiz(&self, cx: &Context, id: &str, author: &str) -> Result<Quiz> {
        let fields = json!({
            "id": id, "ownerSiteId": self.site, "title": self.title, "description": self.description,
            "startDate": after(cx, self.opens), "dueDate": after(cx, self.due),
            "timeLimit": self.minutes.map(|it| it.saturating_mul(60)), "submissionsAllowed": 2,
            "feedback": self.feedback, "counted": "BEST", "shuffled": true,
            "inGradebook": true, "inCalendar": true,
        });
        let quiz = Quiz::make(cx, fields_of(fields))?;
        Ok(Quiz {
            draft: self.is_draft,
            last_modified_by: author.to_owned(),
            ..quiz
        })
    }
}

impl Question {
    fn of(&self, cx: &Context, quiz: &Quiz, position: i64) -> Result<QuizQuestion> {
        let Self(text, kind, choices, correct, feedback) = self;
        let choices = match *kind {
            "TRUE_FALSE" => &["true", "false"],
            _ => *choices,
        };
        let fields = json!({
            "quizId": quiz.id, "siteId": quiz.site_id, "position": position, "text": text, "kind": kind,
            "choices": choices, "correct": correct, "points": 5, "feedback": feedback,
        });
        QuizQuestion::make(cx, fields_of(fields))
    }
}

/// Twice the time and a day more.
fn extension(cx: &Context, quiz: &Quiz, student: &str) -> QuizExtension {
    QuizExtension {
        id: cx.new_id(),
        quiz_id: quiz.id.clone(),
        quiz_title: String::new(),
        site_id: quiz.site_id.clone(),
        user_id: student.to_owned(),
        user_name: String::new(),
        due_date: Some(after(cx, 48)),
        extra_time: quiz.time_limit,
        extra_attempts: None,
        place: super::extension::place(&quiz.id, student),
        version: 1,
        facts: Facts::default(),
    }
}

fn fields_of(json: Json) -> Fields {
    match json {
        Json::Object(fields) => Fields(fields),
        _ => Fields::default(),
    }
}

fn after(cx: &Context, hours: i64) -> Millis {
    let instant = cx.now().checked_add_signed(TimeDelta::hours(hours));
    Millis(instant.unwrap_or_else(|| cx.now()))
}
