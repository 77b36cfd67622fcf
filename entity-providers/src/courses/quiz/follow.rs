//! The followers of a quiz elsewhere: its event in the calendar, and its item in the gradebook with the scores.

use std::collections::BTreeMap;

use entity_core::db::{self, Record as _, Variables};
use entity_core::wire::Decimal;
use entity_core::{Context, DateTimeUtc, Error, Provider as _, Reference, Result};

use super::{Quiz, QuizAttempt, times};
use crate::courses::calendar::{self, Deadline};
use crate::courses::gradebook::{self, ItemSpec};

impl Quiz {
    /// Returns the ids of the first quizzes behind `after`, in their order, at which attempts have ended by themselves by
    /// `now` and were not collected: at most `most`.
    pub async fn with_ended_attempts(
        cx: &Context,
        now: DateTimeUtc,
        after: &str,
        most: i64,
    ) -> Result<Vec<String>> {
        // By a clock that is behind `now`, they last.
        let now = now.min(cx.now());
        let (db, variables) = (cx.db()?, Variables::of(cx));
        let mut sql = db.sql("SELECT DISTINCT this.quiz_id FROM quiz_attempt this");
        sql.push(" JOIN quiz parent ON parent.id = this.quiz_id");
        sql.expression(QuizAttempt::JOINS, variables);
        sql.push(" WHERE this.handed_in_on IS NULL AND this.quiz_id > ")
            .bind(after);
        sql.push(" AND ").expression(times::ENDS, variables);
        sql.push(" <= ").bind(now.timestamp_millis());
        sql.push(" ORDER BY this.quiz_id LIMIT ").bind(most);
        let read = db::columns::<String>;
        db.scan(sql.into_statement(), read).await
    }

    fn cause(id: &str) -> String {
        Reference::entity(Self::PREFIX, id).to_string()
    }

    /// Lets the calendar and the gradebook follow the quiz as it is stored.
    pub(super) async fn follow(&self, cx: &Context) -> Result<()> {
        let cause = Self::cause(&self.id);
        calendar::follow_cause(cx, &cause, self.to_deadline()).await?;
        let item = self.to_item(!self.tells_scores(cx).await?);
        gradebook::follow_cause(cx, &cause, item).await?;
        Ok(())
    }

    /// Removes what follows the quiz.
    pub(super) async fn unfollow(&self, cx: &Context) -> Result<()> {
        let cause = Self::cause(&self.id);
        calendar::follow_cause(cx, &cause, None).await?;
        gradebook::follow_cause(cx, &cause, None).await?;
        Ok(())
    }

    /// Lets the gradebook follow the points of the questions.
    pub(super) async fn points_changed(cx: &Context, id: &str) -> Result<()> {
        let found: Option<Self> = db::read(cx, id).await?;
        match found {
            Some(quiz) => quiz.follow(cx).await,
            None => Ok(()),
        }
    }

    fn to_deadline(&self) -> Option<Deadline> {
        let at = self.due_date.filter(|_| self.in_calendar && !self.draft)?;
        Some(Deadline {
            site_id: self.site_id.clone(),
            title: self.title.clone(),
            description: String::new(),
            at: at.0,
            field: "dueDate",
            creator: self.last_modified_by.clone(),
            groups: Vec::new(),
            assignment_id: None,
        })
    }

    fn to_item(&self, is_withheld: bool) -> Option<ItemSpec> {
        (self.in_gradebook && !self.draft).then(|| ItemSpec {
            site: self.site_id.clone(),
            name: self.title.clone(),
            points: self.total_score.unwrap_or_default(),
            due: self.due_date.map(|it| it.0),
            is_withheld,
            fields: ["title", "totalScore"],
        })
    }

    /// Returns whether students may know scores now, wherever they are shown.
    async fn tells_scores(&self, cx: &Context) -> Result<bool> {
        let has_begun = self.start_date.is_none_or(|it| it.0 <= cx.now());
        match self.feedback.as_str() {
            "IMMEDIATELY" => Ok(has_begun),
            "AFTER_DUE" => self.is_over(cx).await,
            _ => Ok(false),
        }
    }

    /// Returns whether the quiz is over for everybody.
    async fn is_over(&self, cx: &Context) -> Result<bool> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT ");
        sql.expression(times::IS_OVER, Variables::of(cx));
        sql.push(" FROM quiz this WHERE this.id = ")
            .bind(self.id.as_str());
        Ok(db
            .rows(sql.into_statement(), db::columns::<bool>)
            .await?
            .contains(&true))
    }

    /// Takes the attempts that have ended by themselves for handed in, and tells the gradebook all scores, so that they
    /// reach it although nobody asked.
    pub async fn collect(cx: &Context, id: &str) -> Result<()> {
        Self::collect_of(cx, id, None).await
    }

    /// Does the same with the attempts of `user`, or of everybody: what has ended never runs again, whatever time is given
    /// after that.
    pub(super) async fn collect_of(cx: &Context, id: &str, user: Option<&str>) -> Result<()> {
        db::lock::<Self>(cx, &[id]).await?;
        let mut after = String::new();
        loop {
            let part = QuizAttempt::part(cx, id, user, &after).await?;
            QuizAttempt::hand_in_ended(cx, &part).await?;
            match part.into_iter().last() {
                Some(last) => after = last.id,
                None => break,
            }
        }
        Self::tell_scores(cx, id, user).await
    }

    /// Tells the gradebook the scores of finished attempts: those of `user`, or of everybody.
    pub(super) async fn tell_scores(cx: &Context, id: &str, user: Option<&str>) -> Result<()> {
        let found: Option<Self> = db::read(cx, id).await?;
        let quiz = found.ok_or_else(Error::not_found)?;
        // The item is shown from the first score on that finds the quiz open, or over.
        quiz.follow(cx).await?;
        let mut counted: BTreeMap<String, (i64, Decimal)> = BTreeMap::new();
        let is_last = quiz.counted == "LAST";
        let mut after = String::new();
        loop {
            let part = QuizAttempt::part(cx, id, user, &after).await?;
            let Some(last) = part.last() else {
                break;
            };
            after.clone_from(&last.id);
            for attempt in part.into_iter().filter(|it| it.finished) {
                let own = (attempt.number, attempt.earned);
                let best = counted.entry(attempt.user_id).or_insert(own);
                let is_better = match is_last {
                    true => own.0 > best.0,
                    false => own.1 > best.1,
                };
                if is_better {
                    *best = own;
                }
            }
        }
        let scores = counted.into_iter().map(|(user, it)| (user, it.1)).collect();
        gradebook::set_scores_of_cause(cx, &Self::cause(id), scores).await
    }
}
