//! `/direct/poll-vote`: the votes of the caller.

use std::borrow::Cow;

use entity_core::db::{self, ColumnValue, Row, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Create, Entity, Input, Need, Read, Result, standard};
use serde::Serialize;

use super::ballot::{Ballot, number, numbers};
use super::{ACCESS as OF_POLLS, Poll, demand_number};
use crate::base::fields::seen;

/// The permission to vote depends on the poll.
const ACCESS: Access = Access {
    read: OF_POLLS.read,
    create: Need::Session,
    update: Need::Superuser,
    delete: Need::Superuser,
};

/// A vote is for the member who cast it, and for nobody else. No function is asked for, so that it is hidden from super
/// users, too.
const SIGHT: RowPolicy = RowPolicy::All(&[RowPolicy::Own, RowPolicy::Parent(&super::SIGHT)]);

/// The vote of a member in a poll. The archive of a site has none: whoever reads it would learn who voted for what.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "poll-vote", table = "poll_vote", access = ACCESS, sight = SIGHT)]
#[entity(removal = Self::removal_of)]
#[entity(singular = "Vote", plural = "Votes", version = seen, unarchived)]
#[entity(verbs(list), order = "voteDate_desc,key", max = 200)]
pub struct PollVote {
    /// The id, as text.
    #[entity(id, column = "vote_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.vote_id AS bigint)", column)]
    pub id: i64,
    /// The poll: its id, as text.
    #[entity(read_only, parent = Poll, references = "poll", column = "poll_id", max = 20)]
    pub poll: String,
    /// The poll: its id, as a number.
    #[entity(
        sql = "CAST(this.poll_id AS bigint)",
        column,
        on_create,
        required,
        for_programs
    )]
    pub poll_id: i64,
    /// The question of the poll.
    #[entity(title, sql = "parent.text")]
    pub poll_text: String,
    /// The ids of the options that were chosen, as numbers.
    #[entity(on_create, kind = List, sent = Vec<i64>, column = "chosen", for_programs)]
    pub poll_option: Chosen,
    /// The site.
    #[entity(site, read_only, references = "site")]
    pub site_id: String,
    /// The internal id of the caller.
    #[entity(owner, person, references = "user")]
    pub user_id: String,
    /// When the caller voted.
    #[entity(updated, label = "When")]
    pub vote_date: Millis,
    /// The poll and the member, joined by a colon: nobody has two votes.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub place: String,
}

entity_core::register!(PollVote);

/// The ids of options, each there once, the lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Chosen(pub Vec<i64>);

impl Chosen {
    /// Returns these options without repetitions.
    pub fn of(mut options: Vec<i64>) -> Self {
        options.sort_unstable();
        options.dedup();
        Self(options)
    }

    /// Reads the next column of a row.
    pub(super) fn of_row(row: &mut Row<'_>) -> Result<Self> {
        db::read_json(row).map(Self)
    }
}

impl ColumnValue for Chosen {
    type Sent = Vec<i64>;

    fn receive(_cx: &Context, sent: Vec<i64>) -> Result<Self, String> {
        Ok(Self::of(sent))
    }

    fn to_value(&self) -> sea_orm::Value {
        db::json_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        Self::of_row(row)
    }
}

impl PollVote {
    /// Returns what it is called to delete the vote.
    fn removal_of(&self, caller: Option<&str>) -> &'static str {
        match caller == Some(&*self.user_id) {
            true => "Take the vote back",
            false => "Delete",
        }
    }

    pub(super) async fn insert(
        cx: &Context,
        poll: &Poll,
        place: String,
        chosen: Chosen,
    ) -> Result<String> {
        let vote = Self {
            key: db::new_number::<Self>(cx).await?,
            poll: poll.key.clone(),
            poll_option: chosen,
            site_id: poll.site_id.clone(),
            user_id: cx.user_id()?.to_owned(),
            vote_date: Millis(cx.now()),
            place,
            version: 1,
            ..Self::default()
        };
        db::insert(cx, &vote).await?;
        Ok(vote.key)
    }

    pub(super) async fn change(cx: &Context, former: Self, chosen: Chosen) -> Result<String> {
        let key = former.key.clone();
        if former.poll_option != chosen {
            let changed = Self {
                poll_option: chosen,
                ..former.clone()
            };
            db::store(cx, former, changed).await?;
        }
        Ok(key)
    }
}

impl Read for PollVote {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        demand_number(id)?;
        db::read(cx, id).await
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Self>> {
        db::read_many(cx, ids).await
    }
}

impl Create for PollVote {
    type Draft = Ballot;

    fn site(_draft: &Ballot) -> Option<&str> {
        None
    }

    /// One option needs no list around it, and an id that is no number has a status of its own.
    fn adapt(sent: &Input) -> Result<Cow<'_, Input>> {
        number(&sent.fields, "pollId")?;
        let mut adapted = sent.clone();
        if let Some(option) = adapted.fields.get_mut("pollOption") {
            *option = numbers(&sent.fields, "pollOption")?.into();
        }
        Ok(Cow::Owned(adapted))
    }

    async fn create(cx: &Context, draft: Ballot) -> Result<Self> {
        draft.cast(cx).await
    }
}
