//! `/direct/quiz-question`: the questions of a quiz, and the right answers.

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Decimal;
use entity_core::{
    Access, Context, Create, Delete, Entity, Error, Fields, Need, Result, Update, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};
use serde::Serialize;

use super::answers::Texts;
use super::{EDIT, GRADE, Quiz};
use crate::base::place;

/// The questions of a draft are for those who write quizzes.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT),
    RowPolicy::Parent(&RowPolicy::Not(&RowPolicy::Is("draft"))),
]);

/// The maximum number of questions of a quiz.
const MOST: i64 = 100;
/// The maximum number of points of a question: all of a quiz are as many as an item of the gradebook can have.
const MOST_POINTS: Decimal = Decimal::of_units(100_000_000);

/// A question of a quiz, with what is right. Those who take the quiz never read it: they read their attempts.
#[standard(facts)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
#[entity(prefix = "quiz-question", table = "quiz_question", sight = SIGHT)]
#[entity(access = Access::new(Need::Site(GRADE), Need::Site(EDIT)))]
#[entity(check = Self::check, settle = Self::settle, verbs(read, list), order = "quizId,position,id")]
pub struct QuizQuestion {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The quiz.
    #[entity(on_create, parent = Quiz, references = "sam_pub", max = 99)]
    pub quiz_id: String,
    /// The title of the quiz.
    #[entity(sql = "parent.title")]
    pub quiz_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The place among the questions of the quiz, the lowest first; a new question comes last unless it says otherwise.
    #[entity(optional, label = "Place")]
    pub position: i64,
    /// The question, as plain text.
    #[entity(title, search, max = 4000, label = "Question")]
    pub text: String,
    /// `ONE` of the choices, `SEVERAL` of them, `TRUE_FALSE`, or `NUMERIC`.
    #[entity(max = 20, choices("ONE" = "One choice", "SEVERAL" = "Several choices", "TRUE_FALSE" = "True or false", "NUMERIC" = "A number"))]
    pub kind: String,
    /// The choices, for `ONE` and `SEVERAL`.
    #[entity(kind = List, sent = Vec<String>)]
    #[entity(hint = "One on each line.")]
    pub choices: Texts,
    /// The right answer: one of the choices, or several of them, `true` or `false`, or a number.
    #[entity(kind = List, sent = Vec<String>, label = "Right answer")]
    #[entity(
        hint = "One of the choices, or several of them, each on a line; true or false; or a number."
    )]
    pub correct: Texts,
    /// The tolerance: the distance from the right number within which another one is right, too.
    #[entity(kind = Number, uncompared)]
    pub tolerance: Option<Decimal>,
    /// The points for what is right. Of `SEVERAL`, each right choice gives its part and each wrong one takes as much away,
    /// down to 0.
    #[entity(kind = Number, uncompared)]
    pub points: Decimal,
    /// The feedback for students when they learn the right answer.
    #[entity(html)]
    pub feedback: Option<String>,
    /// The number of its changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(QuizQuestion);

impl QuizQuestion {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self.points < Decimal::ZERO || self.points > MOST_POINTS {
            let message = format!("must be between 0 and {MOST_POINTS}");
            return Err(Error::field("points", message));
        }
        if self.kind == "TRUE_FALSE" {
            self.choices = Texts::of(&["true", "false"]);
        }
        let wants_choices = self.kind != "NUMERIC";
        if wants_choices && self.choices.0.len() < 2 {
            return Err(Error::field("choices", "must have at least 2 items"));
        }
        if !wants_choices && !self.choices.0.is_empty() {
            return Err(Error::field(
                "choices",
                "must be empty: a number is asked for",
            ));
        }
        if wants_choices && self.tolerance.is_some() {
            return Err(Error::field(
                "tolerance",
                "must be empty unless a number is asked for",
            ));
        }
        if self.tolerance.is_some_and(|it| it < Decimal::ZERO) {
            return Err(Error::field("tolerance", "must not be less than 0"));
        }
        self.check_correct()
    }

    fn check_correct(&self) -> Result<()> {
        let correct = &self.correct.0;
        let message = match self.kind.as_str() {
            "SEVERAL" if correct.is_empty() => "must have at least one item",
            "SEVERAL" => "must have choices only",
            "TRUE_FALSE" => "must be `true` or `false`",
            "NUMERIC" => "must be one number",
            _ => "must be one of the choices",
        };
        let is_fine = match self.kind.as_str() {
            "NUMERIC" => matches!(correct.as_slice(), [it] if Decimal::parse(it).is_ok()),
            kind => {
                let is_choice = |it: &String| self.choices.0.contains(it);
                let count = correct.len();
                correct.iter().all(is_choice) && (count == 1 || kind == "SEVERAL" && count > 1)
            }
        };
        match is_fine {
            true => Ok(()),
            false => Err(Error::field("correct", message)),
        }
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        self.demand_unbegun(cx).await?;
        if before.is_some() {
            return Ok(());
        }
        let beside = quiz_question::Column::QuizId.eq(self.quiz_id.as_str());
        let place = quiz_question::Column::Position;
        let (count, last) = place::last::<quiz_question::Entity>(cx, place, beside).await?;
        if count >= MOST {
            let message = format!("a quiz has at most {MOST} questions");
            return Err(Error::limit_reached(message));
        }
        if self.position == 0 {
            self.position = last.saturating_add(1);
        }
        Ok(())
    }

    /// Refuses a change once somebody has begun: everybody is asked the same, and scores stay what they are.
    async fn demand_unbegun(&self, cx: &Context) -> Result<()> {
        db::lock::<Quiz>(cx, &[&self.quiz_id]).await?;
        match Quiz::has_attempts(cx, &self.quiz_id).await? {
            true => Err(Error::conflict(
                "somebody has begun the quiz: its questions stay as they are",
            )),
            false => Ok(()),
        }
    }

    /// Returns the questions of these quizzes, in order.
    pub(super) async fn of_quizzes(cx: &Context, quizzes: &[&str]) -> Result<Vec<Self>> {
        let of_these = db::among(cx, quiz_question::Column::QuizId.into_expr(), quizzes)?;
        let questions = quiz_question::Entity::find()
            .filter(of_these)
            .order_by_asc(quiz_question::Column::Position)
            .order_by_asc(quiz_question::Column::Id);
        db::load(cx, questions).await
    }
}

impl Create for QuizQuestion {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let made: Self = db::create(cx, draft).await?;
        Quiz::points_changed(cx, &made.quiz_id).await?;
        Ok(made)
    }
}

impl Update for QuizQuestion {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        let question: Self = db::update(cx, current, changes).await?;
        Quiz::points_changed(cx, &question.quiz_id).await?;
        Ok(question)
    }
}

impl Delete for QuizQuestion {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        current.demand_unbegun(cx).await?;
        let quiz = current.quiz_id.clone();
        db::delete(cx, current).await?;
        Quiz::points_changed(cx, &quiz).await
    }
}
