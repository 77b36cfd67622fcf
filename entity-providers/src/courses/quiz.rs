//! `/direct/sam_pub`: quizzes, which members of a site take; their questions, attempts and extensions are types of their own.
//!
//! The right answers are in the questions, which students never read: an attempt shows them what is asked, and what was
//! right once the quiz lets them know.

mod actions;
mod answers;
mod attempt;
mod extension;
mod follow;
mod question;
mod scoring;
#[cfg(test)]
mod tests;
mod times;

use entity_core::db::{self, RowPolicy};
use entity_core::wire::{Decimal, Millis};
use entity_core::{
    Access, Audience, Context, Delete, Entity, Error, Fields, Need, Notice, Result, Search, Update,
    standard,
};
use serde::Serialize;

use crate::base::fields::seen;

pub use self::attempt::QuizAttempt;
pub use self::extension::QuizExtension;
pub use self::question::QuizQuestion;

/// The function to see drafts, and to write quizzes, questions and extensions.
const EDIT: &str = "assessment.editAssessment.any";
/// The function to see questions with their answers, and the attempts of the students whom one grades.
const GRADE: &str = "assessment.gradeAssessment.any";
/// The function to publish quizzes.
const PUBLISH: &str = "assessment.publishAssessment.any";
/// The function to take quizzes.
const TAKE: &str = "assessment.takeAssessment";

const ACCESS: Access = Access {
    read: Need::Site("site.visit"),
    create: Need::Site("assessment.createAssessment"),
    update: Need::Site(EDIT),
    delete: Need::Site("assessment.deleteAssessment.any"),
};

/// A draft is for those who write quizzes. Those who take them see what has begun and was not retracted, or what is
/// still open for them alone.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT),
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Holds(GRADE),
    ]),
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Holds(TAKE),
        RowPolicy::Since("startDate"),
        RowPolicy::Any(&[
            RowPolicy::Until("retractDate"),
            RowPolicy::Sql(times::IS_EXTENDED),
        ]),
    ]),
]);

/// The row policy of results, which stay when the quiz is retracted.
const SEES_RESULTS: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT),
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Any(&[
            RowPolicy::Holds(GRADE),
            RowPolicy::All(&[RowPolicy::Holds(TAKE), RowPolicy::Since("startDate")]),
        ]),
    ]),
]);

/// The lists are empty unless one of these, or `ownerSiteId`, names a site.
const PARAMETERS: &[(&str, &str)] = &[
    ("context", "the site"),
    ("siteId", "the site"),
    (
        "userId",
        "the internal id of the caller: for others the list is empty",
    ),
];

/// `lateHandling` of a quiz that is accepted after it was due.
const LATE_ACCEPTED: i64 = 1;
/// The longest time limit in seconds: a week.
const LONGEST: i64 = 604_800;
/// The maximum number of attempts that a quiz or an extension grants.
const MOST_ATTEMPTS: i64 = 100;

/// A quiz, which members of a site take.
#[standard(version, facts)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(singular = "Quiz")]
#[entity(maker_pays)]
#[entity(tool = "sakai.samigo", layout = work, icon = "tick")]
#[entity(prefix = "sam_pub", plural = "Quizzes", table = "quiz", access = ACCESS, sight = SIGHT)]
#[entity(check = Self::check, done = Self::is_taken, narrow = narrow, parameters = PARAMETERS, version = seen)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(numbered)]
#[entity(verbs(read, list, create), order = "startDate,id", max = 500)]
pub struct Quiz {
    /// The id: a number, as text.
    #[entity(id)]
    pub id: String,
    /// The id.
    #[entity(sql = "CAST(this.id AS bigint)", column, for_programs)]
    pub published_assessment_id: i64,
    /// Always null: a quiz has one id, whether it is published or not.
    #[entity(computed, for_programs)]
    pub assessment_id: Option<i64>,
    /// The headline.
    #[entity(title, search)]
    pub title: String,
    /// The description.
    #[entity(content, search, html)]
    pub description: Option<String>,
    /// 0 for a draft, 1 for a quiz that is open or over, 2 for one that is not open yet, 3 for one that was retracted.
    #[entity(sql = times::STATUS, column, for_programs)]
    pub status: i64,
    /// True if it is not published yet; then only those who write quizzes see it.
    #[entity(read_only, column = "is_draft", badge = warn)]
    pub draft: bool,
    /// When students begin to see it; null for at once.
    #[entity(label = "Opens")]
    #[entity(hint = "When students begin to see it; empty for at once.")]
    pub start_date: Option<Millis>,
    /// When it is due; null for never.
    #[entity(label = "Due", due)]
    #[entity(hint = "Empty for never.")]
    pub due_date: Option<Millis>,
    /// When students no longer see it, and late work ends; null for never.
    #[entity(label = "Disappears")]
    #[entity(hint = "When students no longer see it, and late work ends; empty for never.")]
    pub retract_date: Option<Millis>,
    /// The title of the site.
    #[entity(sql = "s.title", category, for_programs)]
    pub release_to: String,
    /// The seconds that an attempt lasts; null for as long as the quiz is open.
    #[entity(label = "Time limit", seconds)]
    #[entity(hint = "How long an attempt may take; empty for as long as the quiz is open.")]
    pub time_limit: Option<i64>,
    /// The points of all questions together; null without questions.
    #[entity(sql = "(SELECT CAST(sum(q.points) AS bigint) FROM quiz_question q WHERE q.quiz_id = this.id)", kind = Number)]
    #[entity(label = "Points", fact = "{} points")]
    pub total_score: Option<Decimal>,
    /// The number of attempts each student has; null for as many as there can be: 100.
    #[entity(label = "Attempts")]
    #[entity(
        hint = "How often each student may try; empty for as often as possible, which is 100 times."
    )]
    pub submissions_allowed: Option<i64>,
    /// The number of the caller's own attempts.
    #[entity(
        sql = "(SELECT count(*) FROM quiz_attempt a WHERE a.quiz_id = this.id AND a.user_id = {caller})"
    )]
    #[entity(label = "Your attempts")]
    pub submission_size: i64,
    /// 1 if late work is accepted until `retractDate`; 2 or null if nothing is accepted after `dueDate`.
    #[entity(label = "Late work", words("1" = "Accepted", "2" = "Not accepted"))]
    #[entity(hint = "What is handed in between `dueDate` and `retractDate`.")]
    pub late_handling: Option<i64>,
    /// When students learn their scores and what was right: `IMMEDIATELY` after each attempt, `AFTER_DUE` when it is over
    /// for everybody, extensions included, or `NEVER`. A quiz that never closes is never over.
    #[entity(
        optional,
        max = 20,
        default = "AFTER_DUE",
        choices("IMMEDIATELY" = "At once", "AFTER_DUE" = "After it was due", "NEVER" = "Never")
    )]
    #[entity(label = "Scores and right answers are shown")]
    pub feedback: String,
    /// Which attempt counts: the `BEST` or the `LAST`.
    #[entity(optional, max = 20, default = "BEST", choices("BEST" = "The best", "LAST" = "The last"))]
    #[entity(label = "Attempt that counts")]
    pub counted: String,
    /// True if each attempt has the choices in an order of its own. It stays as it is once somebody has begun.
    #[entity(label = "Choices in another order each time")]
    pub shuffled: bool,
    /// True if scores go to the gradebook, to an item with the title of the quiz.
    #[entity(default = "true", label = "Scores go to the gradebook")]
    pub in_gradebook: bool,
    /// True if the calendar shows when it is due, also before it opens.
    #[entity(default = "true", label = "Shown in the calendar")]
    pub in_calendar: bool,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub last_modified_date: Millis,
    /// The internal id of the user who changed it last.
    #[entity(read_only, references = "user", label = "Last changed by")]
    pub last_modified_by: String,
    /// The site.
    #[entity(site, references = "site")]
    #[serde(rename = "ownerSiteId")]
    pub site_id: String,
}

entity_core::register!(Quiz, demo = include_str!("../../demo/sam_pub.json"));
entity_core::register_cause!(Quiz, results = SEES_RESULTS);

entity_core::register_notice!(Notice {
    event: PUBLISH,
    kind: "sam.assessment.available",
    tool: "sakai.samigo",
    audience: Audience::Site,
    text: "",
});

/// Leaves only the site that the query names.
#[expect(clippy::unused_async, reason = "other types ask the database")]
async fn narrow(cx: &Context, search: &mut Search) -> Result<()> {
    for name in ["context", "siteId"] {
        let named = search.parameter(name).map(ToOwned::to_owned);
        if let Some(site) = named.filter(|it| !it.is_empty()) {
            search.narrow(Quiz::FIELD.site_id.eq(site));
        }
    }
    let is_other = |it: &str| cx.caller().user_id() != Some(it);
    if search.site().is_none() || search.parameter("userId").is_some_and(is_other) {
        search.narrow(Quiz::FIELD.site_id.is_in::<&str>([]));
    }
    Ok(())
}

/// Checks that a number is in the range from `least` to `most`, if there is one.
fn check_range(name: &str, value: Option<i64>, least: i64, most: i64) -> Result<()> {
    match value {
        Some(it) if !(least..=most).contains(&it) => {
            let message = format!("must be between {least} and {most}");
            Err(Error::field(name, message))
        }
        _ => Ok(()),
    }
}

impl Quiz {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        self.draft |= before.is_none();
        let dates = [
            ("startDate", self.start_date),
            ("dueDate", self.due_date),
            ("retractDate", self.retract_date),
        ];
        let dates: Vec<_> = dates.iter().filter_map(|it| Some((it.0, it.1?))).collect();
        for pair in dates.windows(2) {
            if let [(sooner, first), (later, second)] = pair
                && second < first
            {
                return Err(Error::disordered(sooner, later));
            }
        }
        check_range("timeLimit", self.time_limit, 1, LONGEST)?;
        check_range(
            "submissionsAllowed",
            self.submissions_allowed,
            1,
            MOST_ATTEMPTS,
        )?;
        check_range("lateHandling", self.late_handling, LATE_ACCEPTED, 2)?;
        let is_late_accepted = self.late_handling == Some(LATE_ACCEPTED);
        if is_late_accepted && (self.due_date.is_none() || self.retract_date.is_none()) {
            let message = "must be 2 unless there are a `dueDate` and a `retractDate`";
            return Err(Error::field("lateHandling", message));
        }
        if self.feedback.is_empty() {
            "AFTER_DUE".clone_into(&mut self.feedback);
        }
        if self.counted.is_empty() {
            "BEST".clone_into(&mut self.counted);
        }
        cx.user_id()?.clone_into(&mut self.last_modified_by);
        Ok(())
    }

    /// Returns whether somebody has begun the quiz.
    async fn has_attempts(cx: &Context, id: &str) -> Result<bool> {
        let count = Self::number_of(cx, "quiz_attempt", id).await?;
        Ok(count > 0)
    }

    /// Returns how many rows of `table` belong to the quiz.
    async fn number_of(cx: &Context, table: &str, id: &str) -> Result<i64> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT count(*) FROM ");
        sql.push(table).push(" WHERE quiz_id = ").bind(id);
        let found = db.rows(sql.into_statement(), db::columns::<i64>).await?;
        Ok(found.into_iter().sum())
    }
}

impl Update for Quiz {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        db::lock::<Self>(cx, &[&current.id]).await?;
        if [
            "startDate",
            "dueDate",
            "retractDate",
            "timeLimit",
            "lateHandling",
        ]
        .iter()
        .any(|it| changes.0.contains_key(*it))
        {
            Self::collect(cx, &current.id).await?;
        }
        let was_shuffled = current.shuffled;
        let quiz: Self = db::update(cx, current, changes).await?;
        if quiz.shuffled != was_shuffled && Self::has_attempts(cx, &quiz.id).await? {
            return Err(Error::conflict(
                "somebody has begun the quiz: the order of its choices stays as it is",
            ));
        }
        quiz.follow(cx).await?;
        Ok(quiz)
    }
}

impl Delete for Quiz {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        db::lock::<Self>(cx, &[&current.id]).await?;
        current.unfollow(cx).await?;
        db::delete(cx, current).await
    }
}
