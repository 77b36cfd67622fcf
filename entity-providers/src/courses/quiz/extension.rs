//! `/direct/quiz-extension`: more time or more attempts for one student.

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Delete, Entity, Error, Need, Result, standard};
use serde::Serialize;

use super::{ACCESS as OF_QUIZZES, EDIT, LONGEST, MOST_ATTEMPTS, Quiz, QuizAttempt, check_range};

/// An extension is for those who write quizzes, and for the student once the quiz is published.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT),
    RowPolicy::All(&[
        RowPolicy::Own,
        RowPolicy::Parent(&RowPolicy::Not(&RowPolicy::Is("draft"))),
    ]),
]);

/// More time or more attempts for one student.
#[standard(facts)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "quiz-extension", table = "quiz_extension", sight = SIGHT, check = Self::check, settle = Self::settle)]
#[entity(access = Access::new(OF_QUIZZES.read, Need::Site(EDIT)))]
#[entity(verbs(read, list, create, update), order = "quizId,id")]
pub struct QuizExtension {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The quiz.
    #[entity(on_create, parent = Quiz, references = "sam_pub", max = 99)]
    pub quiz_id: String,
    /// The title of the quiz.
    #[entity(title, sql = "parent.title")]
    pub quiz_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The internal id of the student.
    #[entity(owner, on_create, person, required, references = "user", max = 99)]
    #[entity(label = "Student", offered = "member")]
    pub user_id: String,
    /// The name of the student.
    #[entity(name_of = user_id)]
    pub user_name: String,
    /// When the quiz is due and closes for the student; null for as for everybody.
    #[entity(label = "Due")]
    #[entity(hint = "When the quiz closes for the student; empty for as for everybody.")]
    pub due_date: Option<Millis>,
    /// The seconds that are added to the time limit.
    #[entity(label = "More time", seconds)]
    #[entity(hint = "How much longer than others the student has.")]
    pub extra_time: Option<i64>,
    /// The number of attempts that are added.
    #[entity(label = "More attempts")]
    pub extra_attempts: Option<i64>,
    /// The quiz and the student: nobody has two extensions.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub place: String,
    /// The number of its changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(QuizExtension);

impl QuizExtension {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        check_range("extraTime", self.extra_time, 0, LONGEST)?;
        check_range("extraAttempts", self.extra_attempts, 0, MOST_ATTEMPTS)?;
        self.place = place(&self.quiz_id, &self.user_id);
        Ok(())
    }

    /// Refuses more time for an attempt that has ended, after which its student may know what was right.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let of = |it: &Self| (it.due_date, it.extra_time);
        if of(self) == before.map_or((None, None), of) {
            return Ok(());
        }
        let adds_attempts = self.extra_attempts > before.and_then(|it| it.extra_attempts);
        let user = Some(self.user_id.as_str());
        let own = QuizAttempt::part(cx, &self.quiz_id, user, "").await?;
        let mut ended = own.iter().filter(|it| it.finished);
        match ended.any(|it| it.handed_in_on.is_none()) {
            true if adds_attempts => Quiz::collect_of(cx, &self.quiz_id, user).await,
            true => Err(Error::conflict(
                "the student's attempt has ended and does not run again: give another one by `extraAttempts`",
            )),
            false => Ok(()),
        }
    }
}

impl Delete for QuizExtension {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        Quiz::collect_of(cx, &current.quiz_id, Some(&current.user_id)).await?;
        db::delete(cx, current).await
    }
}

pub(super) fn place(quiz: &str, user: &str) -> String {
    format!("{quiz}:{user}")
}
