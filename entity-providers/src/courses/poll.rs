//! `/direct/poll`: polls, in which members of a site vote; their options and the votes are types of their own.
//!
//! A vote is for the member who cast it, and for nobody else, super users included. Others learn from a poll how many
//! votes each option has, if and when the poll says so.

mod actions;
mod ballot;
mod option;
mod results;
mod rules;
mod tally;
mod vote;

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Error, ErrorKind, Need, Read, Result, standard};
use serde::Serialize;

use self::results::{Choice, OwnVote};
use crate::base::fields::seen;

pub use self::option::PollOption;
pub use self::vote::{Chosen, PollVote};

/// The function of those who make polls and their options.
const ADD: &str = "poll.add";
/// The function of those who change all polls and their options.
const EDIT_ANY: &str = "poll.editAny";
/// The function of those who change the polls that they made, and the options of these.
const EDIT_OWN: &str = "poll.editOwn";
/// The function of those who vote.
const VOTE: &str = "poll.vote";

const ACCESS: Access = Access {
    read: Need::Site("site.visit"),
    create: Need::Site(ADD),
    update: Need::SiteOrOwn(EDIT_ANY, EDIT_OWN),
    delete: Need::SiteOrOwn("poll.deleteAny", "poll.deleteOwn"),
};

/// Before `voteOpen`, a poll is for those who may change it, and for whoever made it.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT_ANY),
    RowPolicy::Own,
    RowPolicy::Since("voteOpen"),
]);

/// The maximum number of options of a poll.
const MOST_OPTIONS: i64 = 50;
/// The number of days for which a poll is open, unless it says otherwise.
const DAYS_OPEN: i64 = 7;

/// A poll, in which members of a site vote.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.poll", layout = work, icon = "grades")]
#[entity(prefix = "poll", table = "poll", access = ACCESS, sight = SIGHT, version = seen)]
#[entity(check = Self::check, settle = Self::settle, complete = results::add, done = Self::is_voted)]
#[entity(numbered, listed("voteOpen", "voteClose", "currentUserVoted"))]
#[entity(
    verbs(list, create, update, delete),
    order = "creationDate_desc,key",
    max = 200
)]
pub struct Poll {
    /// The id, as text.
    #[entity(id, column = "poll_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.poll_id AS bigint)", column, for_programs)]
    pub poll_id: i64,
    /// The internal id of whoever made the poll.
    #[entity(owner, references = "user", label = "Author")]
    pub owner: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// When it was made.
    #[entity(created, label = "Created")]
    pub creation_date: Millis,
    /// When it last changed. Votes do not change it.
    #[entity(updated, label = "Last changed")]
    pub modified_date: Millis,
    /// The question. It stays as it is once somebody has voted.
    #[entity(title, search, max = 500, label = "Question")]
    pub text: String,
    /// An explanation. It stays as it is once somebody has voted.
    #[entity(content, optional, search, html)]
    pub description: String,
    /// The number of options a vote has at least. It stays as it is once somebody has voted.
    #[entity(optional, default = "1", label = "Least options")]
    pub min_options: i64,
    /// The number of options a vote has at most. It stays as it is once somebody has voted.
    #[entity(optional, default = "1", label = "Most options")]
    pub max_options: i64,
    /// When voting begins; at once unless it is sent. Before, the poll is invisible to those who only vote.
    #[entity(optional, label = "Voting begins")]
    #[entity(hint = "Empty for at once.")]
    pub vote_open: Millis,
    /// When voting ends; after a week unless it is sent. Once it is over and somebody has voted, it is not opened again.
    #[entity(optional, label = "Voting ends", due)]
    #[entity(hint = "Empty for after a week.")]
    pub vote_close: Millis,
    /// When members see how many votes each option has: `open` for always, `afterVoting` for those who have voted,
    /// `afterClosing` when voting is over, or `never`. Those who may change the poll also see it when voting is over.
    /// It stays as it is once somebody has voted.
    #[entity(
        optional,
        max = 20,
        default = "open",
        choices("open" = "At once", "afterVoting" = "After voting", "afterClosing" = "After the end", "never" = "Never")
    )]
    #[entity(label = "Result shown")]
    #[entity(
        hint = "When members see how many votes each option has. Those who may change the poll see it when voting is over, too."
    )]
    pub display_result: String,
    /// True if a vote stays as it is; otherwise members change theirs as long as the poll is open. It stays as it is once
    /// somebody has voted.
    #[entity(default = "true", label = "A vote stays as it is")]
    pub limit_voting: bool,
    /// True if the caller has voted.
    #[entity(
        sql = "EXISTS (SELECT 1 FROM poll_vote v WHERE v.place = this.poll_id || ':' || {caller})",
        column
    )]
    #[entity(label = "You have voted", badge = good)]
    pub current_user_voted: bool,
    /// The options in their order, each with `votes`, the number of its votes: null as long as the caller may not know.
    #[entity(computed)]
    pub options: Vec<Choice>,
    /// The options that the caller has chosen. The votes of others are in no answer.
    #[entity(computed)]
    pub votes: Vec<OwnVote>,
    /// The number of members who have voted; null as long as the caller may not know.
    #[entity(computed, label = "Members who have voted")]
    pub voters: Option<i64>,
    /// True if the caller may vote now.
    #[serde(skip)]
    #[entity(skip)]
    pub takes_vote: bool,
}

entity_core::register!(Poll, demo = include_str!("../../demo/poll.json"));

/// Returns the error for an id that is no number.
fn no_number(name: &str) -> Error {
    let message = format!("`{name}` must be a number");
    Error::new(ErrorKind::NotAcceptable, message)
}

/// Refuses an `id` that is no number.
fn demand_number(id: &str) -> Result<()> {
    let parsed = id.parse::<u32>();
    parsed.map(|_number| ()).map_err(|_fault| no_number("id"))
}

impl Read for Poll {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        demand_number(id)?;
        db::read(cx, id).await
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Self>> {
        db::read_many(cx, ids).await
    }
}
