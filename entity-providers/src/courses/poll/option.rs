//! `/direct/poll-option`: the answers from which those who vote choose.

use std::collections::HashMap;

use entity_core::db::{self, RowPolicy};
use entity_core::{
    Access, Context, Delete, Entity, Error, Need, Operation, Read, Result, gate, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::{ACCESS as OF_POLLS, ADD, MOST_OPTIONS, Poll, demand_number, poll};
use crate::base::fields::seen;
use crate::base::place;

/// Whoever changes a poll changes and deletes its options.
const ACCESS: Access = Access {
    read: OF_POLLS.read,
    create: Need::Site(ADD),
    update: OF_POLLS.update,
    delete: OF_POLLS.update,
};

/// An option is for those who see its poll.
const SIGHT: RowPolicy = RowPolicy::Parent(&super::SIGHT);

/// An option of a poll: an answer to its question.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "poll-option", table = "poll_option", access = ACCESS, sight = SIGHT)]
#[entity(singular = "Option", plural = "Options", version = seen)]
#[entity(settle = Self::settle, complete = Self::complete, numbered)]
#[entity(
    verbs(list, create, update),
    order = "pollId,optionOrder,key",
    max = 500
)]
pub struct PollOption {
    /// The id, as text.
    #[entity(id, column = "option_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.option_id AS bigint)", column, for_programs)]
    pub option_id: i64,
    /// The poll: its id, as text.
    #[entity(read_only, parent = Poll, references = "poll", column = "poll_id", max = 20)]
    pub poll: String,
    /// The poll: its id, as a number. An option never moves to another poll.
    #[entity(
        sql = "CAST(this.poll_id AS bigint)",
        column,
        on_create,
        required,
        for_programs
    )]
    pub poll_id: i64,
    /// The question of the poll.
    #[entity(sql = "parent.text")]
    pub poll_text: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The internal id of whoever made the poll.
    #[entity(owner, sql = "parent.owner", references = "user", label = "Author")]
    pub owner: String,
    /// The answer, as plain text. It stays as it is once somebody has voted.
    #[entity(title, search, max = 500, column = "answer")]
    pub text: String,
    /// The place among the options of the poll, the lowest first; a new option comes last unless it says otherwise.
    #[entity(optional, column = "place", label = "Place")]
    pub option_order: i64,
    /// The number of its votes; null as long as the caller may not know.
    #[entity(computed)]
    pub votes: Option<i64>,
}

entity_core::register!(PollOption);

impl Read for PollOption {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        demand_number(id)?;
        db::read(cx, id).await
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Self>> {
        db::read_many(cx, ids).await
    }
}

impl PollOption {
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if let Some(before) = before {
            return match self.text == before.text {
                true => Ok(()),
                false => Poll::demand_unvoted(cx, &self.poll).await,
            };
        }
        let poll = Poll::of_field(cx, self.poll_id).await?;
        if poll.site_id != self.site_id {
            return Err(Error::field("siteId", "must be the site of the poll"));
        }
        gate::require::<Poll>(cx, &poll, Operation::Update).await?;
        Poll::demand_unvoted(cx, &poll.key).await?;
        self.poll = poll.key;
        self.find_place(cx).await
    }

    /// Puts a new option behind the others, unless it has a place or there are too many.
    async fn find_place(&mut self, cx: &Context) -> Result<()> {
        let beside = poll_option::Column::Poll.eq(self.poll.as_str());
        let place = poll_option::Column::OptionOrder;
        let (count, last) = place::last::<poll_option::Entity>(cx, place, beside).await?;
        if count >= MOST_OPTIONS {
            let message = format!("a poll has at most {MOST_OPTIONS} options");
            return Err(Error::limit_reached(message));
        }
        if self.option_order == 0 {
            self.option_order = last.saturating_add(1);
        }
        Ok(())
    }

    /// Adds the numbers of votes that the polls of the options show to the caller.
    async fn complete(cx: &Context, options: &mut [Self]) -> Result<()> {
        let mut keys: Vec<_> = options.iter().map(|it| it.poll.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            return Ok(());
        }
        let polls = db::among(cx, poll::Column::Key.into_expr(), &keys)?;
        let polls: Vec<Poll> = db::load(cx, poll::Entity::find().filter(polls)).await?;
        let choices = polls.into_iter().flat_map(|it| it.options);
        let votes: HashMap<_, _> = choices.map(|it| (it.option_id, it.votes)).collect();
        for it in options {
            it.votes = votes.get(&it.option_id).copied().flatten();
        }
        Ok(())
    }
}

impl Delete for PollOption {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        Poll::demand_unvoted(cx, &current.poll).await?;
        db::delete(cx, current).await
    }
}
