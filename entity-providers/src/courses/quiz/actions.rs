//! The addresses of quizzes besides those that every type has: the list of a site, publishing, beginning and collecting.

use entity_core::db::{self, Row};
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Error, Need, Provider as _,
    Reference, Result, Verb, gate, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{GRADE, MOST_ATTEMPTS, PUBLISH, Quiz, QuizAttempt, TAKE, extension, times};
use crate::base::search::is_there;

impl Actions for Quiz {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("context", Need::Session, of_site)
                .doc("The quizzes of a site, as far as the caller sees them; none where the caller is no member.")
                .argument("siteId", "The site."),
            Action::entity(Verb::Post, "publish", Need::Site(PUBLISH), publish)
                .done("{} is published.")
                .offered_if(|it| it.draft)
                .doc("Publishes the draft: students see the quiz from `startDate` on."),
            Action::entity(Verb::Post, "begin", Need::Site(TAKE), begin)
                .done("Your attempt has begun.")
                .offered_if(|it| !it.draft)
                .doc("Begins an attempt of the caller or, if there is one that is not finished, goes on with it.")
                .answers(Answers::Value(shape::of::<Begun>)),
            Action::entity(Verb::Post, "collect", Need::Site(GRADE), collect)
                .label("Collect what is over")
                .offered_if(|it| !it.draft)
                .doc(
                    "Notes the attempts whose time is over as handed in, and sends the scores to the gradebook. Without \
                     it, that happens from time to time.",
                ),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<Quiz>> {
    let site = arguments.argument("siteId")?;
    Ok(match gate::holds(cx, "site.visit", site).await? {
        true => ActionResult::List(arguments.search_in_site::<Quiz>(site)?),
        false => ActionResult::empty(arguments.search()?.clone()),
    })
}

async fn publish(cx: &Context, quiz: Quiz, _: Arguments) -> Result<Quiz> {
    db::lock::<Quiz>(cx, &[&quiz.id]).await?;
    if !quiz.draft {
        return Err(Error::conflict("the quiz is published already"));
    }
    if Quiz::number_of(cx, "quiz_question", &quiz.id).await? == 0 {
        return Err(Error::conflict("the quiz has no questions yet"));
    }
    let published = Quiz {
        draft: false,
        ..quiz.clone()
    };
    let published = db::replace(cx, quiz, published).await?;
    published.follow(cx).await?;
    cx.emit_about::<Quiz>(PUBLISH, &published);
    Ok(published)
}

/// The attempt that was begun, or that is running.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Begun {
    /// The id of the attempt.
    attempt_id: String,
    /// The address of the attempt.
    attempt_url: String,
    /// 1 for the student's first attempt at the quiz, 2 for the second.
    number: i64,
    /// When it ends by itself, in milliseconds since 1970; null for never.
    ends_on: Option<i64>,
}

async fn begin(cx: &Context, quiz: Quiz, _: Arguments) -> Result<ActionResult<Quiz>> {
    db::lock::<Quiz>(cx, &[&quiz.id]).await?;
    let user = cx.user_id()?;
    let own = QuizAttempt::of_user(cx, &quiz.id, user).await?;
    let id = if let Some(running) = own.iter().find(|it| !it.finished) {
        running.id.clone()
    } else {
        quiz.demand_room(cx, user, own.len()).await?;
        let number = own.last().map_or(0, |it| it.number).saturating_add(1);
        let attempt = QuizAttempt::blank(cx, &quiz, user, number);
        db::insert(cx, &attempt).await?;
        attempt.id
    };
    let attempt = gate::read::<QuizAttempt>(cx, &id).await?;
    let url = format!("{}/direct/quiz-attempt/{id}", cx.base_url());
    let reference = Reference::entity(QuizAttempt::PREFIX, id.as_str());
    cx.emit(TAKE, reference.to_string(), Some(&quiz.site_id));
    let begun = Begun {
        attempt_id: id,
        attempt_url: url,
        number: attempt.number,
        ends_on: attempt.ends_on.map(|it| it.0.timestamp_millis()),
    };
    Ok(ActionResult::value(begun).about(reference))
}

async fn collect(cx: &Context, quiz: Quiz, _: Arguments) -> Result<Quiz> {
    Quiz::collect(cx, &quiz.id).await?;
    let found = gate::read::<Quiz>(cx, &quiz.id).await?;
    Ok(found)
}

/// The facts that decide whether a student may begin: when the quiz opens and closes for them, how many attempts were
/// added, and whether there is anything to ask.
type Terms = (Option<i64>, Option<i64>, i64, bool, i64);

impl Quiz {
    /// Returns whether the caller has ended an attempt.
    pub(super) async fn is_taken(&self, cx: &Context) -> Result<bool> {
        let of = QuizAttempt::FIELD;
        let own = of.user_id.eq(cx.user_id()?);
        let filters = [of.quiz_id.eq(&*self.id), own, of.finished.eq(true)];
        is_there::<QuizAttempt>(cx, filters).await
    }

    /// Refuses the student `user`, who has had `count` attempts, if there is no further one for them now.
    async fn demand_room(&self, cx: &Context, user: &str, count: usize) -> Result<()> {
        let (opens, closes, added, is_draft, questions) = self.terms(cx, user).await?;
        let now = cx.now().timestamp_millis();
        let granted = self.submissions_allowed.unwrap_or(MOST_ATTEMPTS);
        let granted = granted.saturating_add(added);
        let refusal = if is_draft || opens.is_some_and(|it| now < it) {
            "the quiz is not open yet"
        } else if closes.is_some_and(|it| now >= it) {
            "the quiz is closed"
        } else if i64::try_from(count).is_ok_and(|it| it >= granted) {
            "there are no attempts left"
        } else if questions == 0 {
            "the quiz has no questions yet"
        } else {
            return Ok(());
        };
        Err(Error::conflict(refusal))
    }

    async fn terms(&self, cx: &Context, user: &str) -> Result<Terms> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT this.start_date, coalesce(x.due_date, ");
        sql.push(times::CLOSES);
        sql.push("), coalesce(x.extra_attempts, 0), this.is_draft, (SELECT count(*) FROM quiz_question q WHERE q.quiz_id = this.id)");
        sql.push(" FROM quiz this LEFT JOIN quiz_extension x ON x.place = ");
        sql.bind(extension::place(&self.id, user));
        sql.push(" WHERE this.id = ").bind(self.id.as_str());
        let read = |row: &mut Row<'_>| {
            Ok((
                row.take()?,
                row.take()?,
                row.take()?,
                row.take()?,
                row.take()?,
            ))
        };
        let found: Vec<Terms> = db.rows(sql.into_statement(), read).await?;
        found.into_iter().next().ok_or_else(Error::not_found)
    }
}
