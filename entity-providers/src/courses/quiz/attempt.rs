//! `/direct/quiz-attempt`: the answers of a student, with the score once the quiz reveals it.

mod taking;

use entity_core::db::{self, Migration, PolicyInputs, RowPolicy};
use entity_core::primitives::stable_hash;
use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Entity, Error, Need, Result, View, standard};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _,
};
use serde::Serialize;

use super::answers::Answers;
use super::question::QuizQuestion;
use super::{ACCESS as OF_QUIZZES, GRADE, Quiz, quiz, scoring, times};
use crate::base::fields::seen;
use crate::courses::gradebook::SEES_STUDENT;

/// The number of attempts that are in memory at once where all of a quiz are looked at.
const PART: u64 = 200;

/// An attempt is for the student, and for those who grade the student.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::All(&[RowPolicy::Holds(GRADE), SEES_STUDENT]),
]);

/// A student's attempt at a quiz. `begin` of the quiz makes it, `save` and `submit` change it. It ends with its time, and
/// counts as handed in then with what was saved.
#[standard(version, facts)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "quiz-attempt", table = "quiz_attempt", sight = SIGHT, version = seen)]
#[entity(access = Access::new(OF_QUIZZES.read, Need::Superuser), complete = Self::complete)]
#[entity(left_join = "quiz_extension x ON x.place = this.quiz_id || ':' || this.user_id")]
#[entity(whole = Self::add_questions)]
#[entity(verbs(read, list), order = "startedOn_desc,id", max = 200)]
pub struct QuizAttempt {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The quiz.
    #[entity(read_only, parent = Quiz, references = "sam_pub")]
    pub quiz_id: String,
    /// The title of the quiz.
    #[entity(title, sql = "parent.title")]
    pub quiz_title: String,
    /// The site.
    #[entity(site, read_only, references = "site")]
    pub site_id: String,
    /// The internal id of the student.
    #[entity(owner, person, references = "user", label = "Student")]
    pub user_id: String,
    /// The name of the student.
    #[entity(name_of = user_id)]
    pub user_name: String,
    /// 1 for the student's first attempt at the quiz, 2 for the second.
    #[entity(read_only, label = "Attempt")]
    pub number: i64,
    /// When it began.
    #[entity(created, label = "Begun")]
    pub started_on: Millis,
    /// When it ends by itself; null for never.
    #[entity(sql = times::ENDS, column, label = "Ends")]
    pub ends_on: Option<Millis>,
    /// When it was handed in, or ended by itself; null while it lasts.
    #[entity(sql = times::FINISHED_ON, column, label = "Handed in")]
    pub finished_on: Option<Millis>,
    /// True if it was handed in, or ended by itself.
    #[entity(sql = times::IS_FINISHED, column)]
    pub finished: bool,
    /// True if it ended after the quiz was due for the student.
    #[entity(sql = times::IS_LATE, column)]
    pub late: bool,
    /// True if the student may know the score and what was right.
    #[entity(sql = times::IS_RELEASED, column, for_programs)]
    pub released: bool,
    /// The points. For the student null until it is released; for graders null until it is finished.
    #[entity(computed, kind = Number, label = "Points")]
    pub score: Option<Decimal>,
    /// The questions with their answers, where one attempt is read. For graders empty until it is finished.
    #[entity(computed, kind = List)]
    pub questions: Vec<Asked>,
    /// When it was handed in, if it did not end by itself.
    #[serde(skip)]
    #[entity(hidden)]
    pub handed_in_on: Option<Millis>,
    /// The answers so far.
    #[serde(skip)]
    #[entity(hidden)]
    pub answers: Answers,
    /// The points, whoever asks.
    #[serde(skip)]
    #[entity(skip)]
    pub earned: Decimal,
    /// The quiz, the student and the number: no attempt is begun twice.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub place: String,
}

entity_core::register!(QuizAttempt, migrations(INDEX));

/// Attempts that have ended by themselves are found among those that were handed in long ago.
const INDEX: Migration = Migration::of_tables(
    "quiz_attempt_unfinished",
    &[
        "CREATE INDEX quiz_attempt_unfinished ON quiz_attempt (quiz_id, id) WHERE handed_in_on IS NULL",
    ],
);

/// A question as an attempt shows it.
#[derive(Clone, Debug, PartialEq, Serialize, View)]
#[serde(rename_all = "camelCase")]
#[view(of = QuizQuestion, beside(choices: Vec<String>, answer: Vec<String>, tells_result: bool), with(
    score = tells_result.then(|| it.score(&answer)),
    correct = tells_result.then(|| it.correct.0.clone()),
    feedback = it.feedback.clone().filter(|_| tells_result),
))]
pub struct Asked {
    /// The id of the question.
    #[view(of = id)]
    pub question_id: String,
    /// The question, as plain text.
    pub text: String,
    /// `ONE` of the choices, `SEVERAL` of them, `TRUE_FALSE`, or `NUMERIC`.
    pub kind: String,
    /// The choices, in the order of this attempt.
    pub choices: Vec<String>,
    /// The points for what is right.
    pub points: Decimal,
    /// The answer.
    pub answer: Vec<String>,
    /// The points for the answer; for the student null until the attempt is released.
    pub score: Option<Decimal>,
    /// The right answer; for the student null until the attempt is released.
    pub correct: Option<Vec<String>>,
    /// The feedback; for the student null until the attempt is released.
    pub feedback: Option<String>,
}

impl QuizAttempt {
    /// Returns a new attempt of `user` at a quiz, which begins now.
    pub fn blank(cx: &Context, quiz: &Quiz, user: &str, number: i64) -> Self {
        Self {
            id: cx.new_id(),
            quiz_id: quiz.id.clone(),
            quiz_title: String::new(),
            site_id: quiz.site_id.clone(),
            user_id: user.to_owned(),
            user_name: String::new(),
            number,
            started_on: Millis(cx.now()),
            ends_on: None,
            finished_on: None,
            finished: false,
            late: false,
            released: false,
            score: None,
            questions: Vec::new(),
            handed_in_on: None,
            answers: Answers::default(),
            earned: Decimal::ZERO,
            place: format!("{}:{user}:{number}", quiz.id),
            version: 1,
            facts: PolicyInputs::default(),
        }
    }

    fn is_own(&self, cx: &Context) -> bool {
        cx.caller().user_id() == Some(&self.user_id)
    }

    /// Returns whether the caller may know the score and what was right: students when it is released, graders when it
    /// is finished.
    fn tells_result(&self, cx: &Context) -> bool {
        self.finished && (self.released || !self.is_own(cx))
    }

    /// Adds the scores to the attempts, as far as the caller may know them.
    async fn complete(cx: &Context, attempts: &mut [Self]) -> Result<()> {
        let mut quizzes: Vec<_> = attempts.iter().map(|it| it.quiz_id.clone()).collect();
        quizzes.sort_unstable();
        quizzes.dedup();
        let quizzes: Vec<_> = quizzes.iter().map(String::as_str).collect();
        let questions = QuizQuestion::of_quizzes(cx, &quizzes).await?;
        for it in attempts {
            let own = questions.iter().filter(|asked| asked.quiz_id == it.quiz_id);
            it.earned = scoring::total(own, &it.answers);
            it.score = it.tells_result(cx).then_some(it.earned);
        }
        Ok(())
    }

    /// Adds what is asked, as far as the caller may know it.
    async fn add_questions(&mut self, cx: &Context) -> Result<()> {
        if !self.finished && !self.is_own(cx) {
            return Ok(());
        }
        let is_shuffled = self.is_shuffled(cx).await?;
        let tells_result = self.tells_result(cx);
        let questions = QuizQuestion::of_quizzes(cx, &[&self.quiz_id]).await?;
        let asked = questions.into_iter().map(|it| {
            let answer = self.answers.to(&it.id).to_vec();
            let choices = match is_shuffled {
                true => self.shuffled(&it),
                false => it.choices.0.clone(),
            };
            Asked::of(it, choices, answer, tells_result)
        });
        self.questions = asked.collect();
        Ok(())
    }

    async fn is_shuffled(&self, cx: &Context) -> Result<bool> {
        let quizzes = quiz::Entity::find_by_id(self.quiz_id.as_str());
        let quizzes = db::load::<Quiz>(cx, quizzes);
        Ok(quizzes.await?.iter().any(|it| it.shuffled))
    }

    /// Returns the choices of a question in an order that is always the same for this attempt.
    fn shuffled(&self, question: &QuizQuestion) -> Vec<String> {
        let mut choices = question.choices.0.clone();
        if question.kind != "TRUE_FALSE" {
            choices
                .sort_by_cached_key(|it| stable_hash(&format!("{it}:{}:{}", question.id, self.id)));
        }
        choices
    }

    /// Returns the attempts of `user` at a quiz, whole, for what the service has to know.
    pub(super) async fn of_user(cx: &Context, quiz: &str, user: &str) -> Result<Vec<Self>> {
        let attempts = quiz_attempt::Entity::find()
            .filter(quiz_attempt::Column::QuizId.eq(quiz))
            .filter(quiz_attempt::Column::UserId.eq(user))
            .order_by_asc(quiz_attempt::Column::Number);
        db::load(cx, attempts).await
    }

    /// Returns some of the attempts at a quiz, or of one user: those behind `after`, an id. A large class has many, each with
    /// all that was answered, so that they are looked at a part at a time until none is left.
    pub(super) async fn part(
        cx: &Context,
        quiz: &str,
        user: Option<&str>,
        after: &str,
    ) -> Result<Vec<Self>> {
        let attempts = quiz_attempt::Entity::find()
            .filter(quiz_attempt::Column::QuizId.eq(quiz))
            .filter(quiz_attempt::Column::Id.gt(after))
            .apply_if(user, |them, user| {
                them.filter(quiz_attempt::Column::UserId.eq(user))
            })
            .order_by_asc(quiz_attempt::Column::Id)
            .limit(PART);
        db::load(cx, attempts).await
    }

    /// Notes of these attempts which ended by themselves, and when, as if they had been handed in then.
    pub(super) async fn hand_in_ended(cx: &Context, attempts: &[Self]) -> Result<()> {
        let ended = attempts.iter().filter(|it| it.handed_in_on.is_none());
        let ended: Vec<(&str, i64)> = ended
            .filter_map(|it| Some((it.id.as_str(), it.finished_on?.0.timestamp_millis())))
            .collect();
        if ended.is_empty() {
            return Ok(());
        }
        let db = cx.db()?;
        let mut sql = db.sql("UPDATE quiz_attempt SET handed_in_on = CASE id");
        for (id, at) in &ended {
            sql.push(" WHEN ").bind(*id).push(" THEN ").bind(*at);
        }
        sql.push(" END WHERE id");
        let ids: Vec<&str> = ended.iter().map(|it| it.0).collect();
        sql.bind_list(&ids)?;
        db.execute_raw(sql.into_statement()).await?;
        Ok(())
    }

    /// Returns the attempt as it is now, and keeps others from changing it until the transaction ends.
    async fn hold(cx: &Context, id: &str) -> Result<Self> {
        db::lock::<Self>(cx, &[id]).await?;
        let found: Option<Self> = db::read(cx, id).await?;
        found.ok_or_else(Error::not_found)
    }
}
