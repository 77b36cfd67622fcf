//! The rules of polls: consistency, the fields that stay once somebody has voted, and the publication of results.

use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Error, ErrorKind, Result, gate};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};

use super::vote::poll_vote;
use super::{DAYS_OPEN, MOST_OPTIONS, Poll};

impl Poll {
    pub(super) fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            self.set_times(cx);
        }
        if self.vote_close.0 < self.vote_open.0 {
            return Err(Error::disordered("voteOpen", "voteClose"));
        }
        if !(0..=MOST_OPTIONS).contains(&self.min_options) {
            let message = format!("must be between 0 and {MOST_OPTIONS}");
            return Err(Error::field("minOptions", message));
        }
        if !(self.min_options.max(1)..=MOST_OPTIONS).contains(&self.max_options) {
            let message = format!("must be between 1 and {MOST_OPTIONS}, `minOptions` at least");
            return Err(Error::field("maxOptions", message));
        }
        if self.display_result.is_empty() {
            "open".clone_into(&mut self.display_result);
        }
        Ok(())
    }

    /// Opens a new poll at once and closes it after a week, unless it says otherwise.
    pub(super) fn set_times(&mut self, cx: &Context) {
        let unsaid = Millis::default();
        if self.vote_open == unsaid {
            self.vote_open = Millis(cx.now());
        }
        if self.vote_close == unsaid {
            let days = chrono::TimeDelta::try_days(DAYS_OPEN).unwrap_or_default();
            let end = self.vote_open.0.checked_add_signed(days);
            self.vote_close = Millis(end.unwrap_or(self.vote_open.0));
        }
    }

    /// Refuses a change of what was asked and promised once somebody has voted: a vote means what it meant when it was cast.
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let Some(before) = before else {
            return Ok(());
        };
        let is_same = self.text == before.text
            && self.description == before.description
            && self.min_options == before.min_options
            && self.max_options == before.max_options
            && self.limit_voting == before.limit_voting
            && self.display_result == before.display_result;
        // Results that were seen after the end would be those of a vote that goes on.
        let is_reopened = before.vote_close.0 <= cx.now() && cx.now() < self.vote_close.0;
        match is_same && !is_reopened {
            true => Ok(()),
            false => Self::demand_unvoted(cx, &self.key).await,
        }
    }

    /// Refuses a change of what is asked if somebody has voted, and keeps others from voting until the unit of work ends.
    pub(super) async fn demand_unvoted(cx: &Context, key: &str) -> Result<()> {
        db::lock::<Self>(cx, &[key]).await?;
        let votes = poll_vote::Entity::find().filter(poll_vote::Column::Poll.eq(key));
        match votes.count(cx.db()?).await? {
            0 => Ok(()),
            _ => Err(Error::conflict(
                "somebody has voted: the question, its rules, its options and when results are shown stay as they are, and what is over is not opened again",
            )),
        }
    }

    #[expect(clippy::unused_async, reason = "others ask the database")]
    pub(super) async fn is_voted(&self, _cx: &Context) -> Result<bool> {
        Ok(self.current_user_voted)
    }

    /// Returns whether members vote at the instant `now`.
    pub(super) fn is_open(&self, now: DateTimeUtc) -> bool {
        self.vote_open.0 <= now && now < self.vote_close.0
    }

    /// Returns whether the caller, who may change the poll if `is_editor`, may know how many votes each option has at the
    /// instant `now`.
    pub(super) fn shows_results(&self, now: DateTimeUtc, is_editor: bool) -> bool {
        let is_over = self.vote_close.0 <= now;
        let is_shown = match self.display_result.as_str() {
            "open" => true,
            "afterVoting" => self.current_user_voted,
            "afterClosing" => is_over,
            _ => false,
        };
        is_shown || (is_editor && is_over)
    }

    /// Returns the poll that the field `pollId` names, if the caller sees it.
    pub(super) async fn of_field(cx: &Context, id: i64) -> Result<Self> {
        let found = gate::read::<Self>(cx, &id.to_string()).await;
        found.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotAcceptable => {
                Error::field("pollId", "must be a poll that you see")
            }
            _ => error,
        })
    }
}
