//! Ballots: the bodies by which members vote, and the rules by which polls accept them.

use entity_core::{Context, Error, ErrorKind, Result, db, gate};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::vote::poll_vote;
use super::{Chosen, Poll, PollVote, VOTE, no_number};

/// The options that somebody chooses in a poll.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ballot {
    poll_id: i64,
    #[serde(default)]
    poll_option: Vec<i64>,
}

impl Ballot {
    /// Returns the ballot for the poll `poll_id` in the body `sent` of a request.
    pub(super) fn in_poll(poll_id: i64, sent: &Map<String, Json>) -> Result<Self> {
        demand_known(sent, &["pollId", "pollOption"])?;
        if number(sent, "pollId")?.is_some_and(|it| it != poll_id) {
            return Err(Error::field("pollId", "must be the poll of the address"));
        }
        Ok(Self {
            poll_id,
            poll_option: numbers(sent, "pollOption")?,
        })
    }

    /// Returns the ballot in the body `sent` of a request.
    pub(super) fn sent(sent: &Map<String, Json>) -> Result<Self> {
        let poll = number(sent, "pollId")?;
        let poll = poll.ok_or_else(|| Error::field("pollId", "is required"))?;
        Self::in_poll(poll, sent)
    }

    /// Notes what the caller has chosen, as the only vote of the caller in the poll.
    ///
    /// # Errors
    /// Returns an error if the caller may not vote now, or not for these options.
    pub(super) async fn cast(self, cx: &Context) -> Result<PollVote> {
        let poll = Poll::of_field(cx, self.poll_id).await?;
        if !gate::holds(cx, VOTE, &poll.site_id).await? {
            return Err(Error::forbidden());
        }
        // Whoever changes the options, or votes at the same time, waits.
        db::lock::<Poll>(cx, &[&poll.key]).await?;
        let poll: Option<Poll> = db::read(cx, &poll.key).await?;
        let poll = poll.ok_or_else(Error::not_found)?;
        let chosen = Chosen::of(self.poll_option);
        poll.demand_open(cx)?;
        let place = format!("{}:{}", poll.key, cx.user_id()?);
        let of_caller = poll_vote::Column::Place.eq(place.as_str());
        let former = db::load::<PollVote>(cx, poll_vote::Entity::find().filter(of_caller));
        let former = former.await?.pop();
        if former.is_some() && poll.limit_voting {
            return Err(refused("you have voted, and a vote stays as it is here"));
        }
        poll.demand_fitting(&chosen)?;
        let key = match former {
            Some(former) => PollVote::change(cx, former, chosen).await?,
            None => PollVote::insert(cx, &poll, place, chosen).await?,
        };
        gate::read::<PollVote>(cx, &key).await
    }
}

impl Poll {
    /// Refuses a vote unless the poll is open.
    fn demand_open(&self, cx: &Context) -> Result<()> {
        let now = cx.now();
        match self.is_open(now) {
            true => Ok(()),
            false if now < self.vote_open.0 => Err(refused("voting has not begun yet")),
            false => Err(refused("voting is over")),
        }
    }

    /// Refuses a vote for something else than as many of the options as the poll asks for.
    fn demand_fitting(&self, chosen: &Chosen) -> Result<()> {
        let is_option = |id: &i64| self.options.iter().any(|it| it.option_id == *id);
        if !chosen.0.iter().all(is_option) {
            return Err(Error::field("pollOption", "must be options of the poll"));
        }
        let (least, most) = (self.min_options, self.max_options);
        let count = i64::try_from(chosen.0.len());
        if count.is_ok_and(|it| (least..=most).contains(&it)) {
            return Ok(());
        }
        let message = format!("must be {least} options at least and {most} at most");
        Err(Error::field("pollOption", message))
    }
}

/// Returns the error for somebody who may not vote, because of `reason`.
fn refused(reason: &'static str) -> Error {
    Error::new(ErrorKind::Forbidden, reason)
}

/// Refuses fields with other names than these.
fn demand_known(sent: &Map<String, Json>, names: &[&str]) -> Result<()> {
    let unknown = sent.keys().find(|it| !names.contains(&it.as_str()));
    match unknown {
        Some(name) => Err(Error::field(name, "is not known here")),
        None => Ok(()),
    }
}

/// Returns the number in the field `name`, if there is one.
pub(super) fn number(sent: &Map<String, Json>, name: &str) -> Result<Option<i64>> {
    match sent.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => to_number(name, value).map(Some),
    }
}

/// Returns the numbers in the field `name`, which has one or several of them: as a list, as the text of one, as text with
/// a number on each line, or as an element of XML with elements in it.
pub(super) fn numbers(sent: &Map<String, Json>, name: &str) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    let mut left: Vec<_> = sent.get(name).into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Json::Null => {}
            Json::Array(items) => left.extend(items),
            Json::Object(elements) => left.extend(elements.values()),
            Json::String(text) => {
                let is_between = |it: char| it.is_whitespace() || matches!(it, '[' | ',' | ']');
                let words = text.split(is_between).filter(|it| !it.is_empty());
                let parsed = words.map(|it| it.parse().map_err(|_fault| no_number(name)));
                numbers.extend(parsed.collect::<Result<Vec<i64>>>()?);
            }
            value => numbers.push(to_number(name, value)?),
        }
    }
    Ok(numbers)
}

fn to_number(name: &str, value: &Json) -> Result<i64> {
    let number = match value {
        Json::Number(number) => number.as_i64(),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| no_number(name))
}
