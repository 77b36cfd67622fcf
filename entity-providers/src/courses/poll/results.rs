//! The options of polls, the votes of the caller and, for those who may know, how many votes each option has.

use std::collections::HashMap;

use entity_core::db::Row;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::tally::tallies;
use super::{Chosen, EDIT_ANY, EDIT_OWN, Poll, VOTE};

/// An option as its poll shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PollChoice")]
pub struct Choice {
    /// The id.
    pub option_id: i64,
    /// The id of the poll.
    pub poll_id: i64,
    /// The answer, as plain text.
    pub text: String,
    /// The place among the options of the poll.
    pub option_order: i64,
    /// The number of its votes; null as long as the caller may not know.
    pub votes: Option<i64>,
}

/// An option that the caller has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OwnPollVote")]
pub struct OwnVote {
    /// The id of the vote: the same for all options that were chosen together.
    pub id: i64,
    /// The id of the poll.
    pub poll_id: i64,
    /// The id of the option.
    pub poll_option: i64,
    /// When the caller voted, in milliseconds since 1970.
    pub vote_date: i64,
}

/// Adds to `polls` their options, what the caller has chosen, and the numbers of votes that the caller may know, with a
/// statement for each of the three. Votes that the caller may not know are not even counted.
pub(super) async fn add(cx: &Context, polls: &mut [Poll]) -> Result<()> {
    if polls.is_empty() {
        return Ok(());
    }
    let authorizer = cx.authorizer();
    let (any, own) = (
        authorizer.scope(cx, EDIT_ANY).await?,
        authorizer.scope(cx, EDIT_OWN).await?,
    );
    let voting = authorizer.scope(cx, VOTE).await?;
    let caller = cx.caller().user_id();
    let is_editor = |it: &Poll| {
        let is_own = caller == Some(it.owner.as_str());
        any.contains(&it.site_id) || (is_own && own.contains(&it.site_id))
    };
    let now = cx.now();
    let keys: Vec<_> = polls.iter().map(|it| it.key.as_str()).collect();
    let shown = polls
        .iter()
        .filter(|it| it.shows_results(now, is_editor(it)));
    let shown: Vec<_> = shown.map(|it| it.key.as_str()).collect();
    let mut tallies = tallies(cx, &shown).await?;
    let mut options = options(cx, &keys).await?;
    let mut votes = votes(cx, &keys).await?;
    for it in polls {
        it.options = options.remove(&it.key).unwrap_or_default();
        it.votes = votes.remove(&it.key).unwrap_or_default();
        it.takes_vote = voting.contains(&it.site_id)
            && it.is_open(now)
            && !it.options.is_empty()
            && !(it.limit_voting && it.current_user_voted);
        if let Some(tally) = tallies.remove(&it.key) {
            tally.show(it);
        }
    }
    Ok(())
}

/// Returns the options of `polls` in their order, by poll.
async fn options(cx: &Context, polls: &[&str]) -> Result<HashMap<String, Vec<Choice>>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT poll_id, CAST(option_id AS bigint), CAST(poll_id AS bigint), answer, place FROM poll_option WHERE poll_id",
    );
    sql.bind_list(polls)?.push(" ORDER BY place, option_id");
    let read = |row: &mut Row<'_>| {
        let poll: String = row.take()?;
        let choice = Choice {
            option_id: row.take()?,
            poll_id: row.take()?,
            text: row.take()?,
            option_order: row.take()?,
            votes: None,
        };
        Ok((poll, choice))
    };
    let found = db.scan(sql.into_statement(), read).await?;
    Ok(by_poll(found))
}

/// Returns what the caller has chosen in `polls`, by poll.
async fn votes(cx: &Context, polls: &[&str]) -> Result<HashMap<String, Vec<OwnVote>>> {
    let Some(caller) = cx.caller().user_id() else {
        return Ok(HashMap::new());
    };
    let places: Vec<_> = polls.iter().map(|it| format!("{it}:{caller}")).collect();
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT poll_id, CAST(vote_id AS bigint), CAST(poll_id AS bigint), vote_date, chosen FROM poll_vote WHERE place",
    );
    sql.bind_list(&places)?;
    let read = |row: &mut Row<'_>| {
        let key: String = row.take()?;
        let (id, poll_id) = (row.take()?, row.take()?);
        let date = Millis(row.take::<DateTimeUtc>()?);
        let chosen = Chosen::of_row(row)?.0.into_iter();
        let votes = chosen.map(|poll_option| OwnVote {
            id,
            poll_id,
            poll_option,
            vote_date: date.0.timestamp_millis(),
        });
        Ok(votes.map(|it| (key.clone(), it)).collect::<Vec<_>>())
    };
    let found = db.scan(sql.into_statement(), read).await?;
    Ok(by_poll(found.into_iter().flatten()))
}

fn by_poll<T>(found: impl IntoIterator<Item = (String, T)>) -> HashMap<String, Vec<T>> {
    let mut by_poll: HashMap<String, Vec<T>> = HashMap::new();
    for (poll, it) in found {
        by_poll.entry(poll).or_default().push(it);
    }
    by_poll
}
