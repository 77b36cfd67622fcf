//! The numbers of votes in polls.

use std::collections::HashMap;

use entity_core::db::Row;
use entity_core::{Context, Result};

use super::{Chosen, Poll};

/// The votes in one poll.
#[derive(Debug, Default)]
pub(super) struct Tally {
    voters: i64,
    by_option: HashMap<i64, i64>,
}

impl Tally {
    /// Shows the numbers in `poll`.
    pub(super) fn show(&self, poll: &mut Poll) {
        poll.voters = Some(self.voters);
        for option in &mut poll.options {
            let votes = self.by_option.get(&option.option_id);
            option.votes = Some(votes.copied().unwrap_or_default());
        }
    }
}

/// Counts the votes in `polls`. Each of these has a tally, if only an empty one.
pub(super) async fn tallies(cx: &Context, polls: &[&str]) -> Result<HashMap<String, Tally>> {
    let empty = polls.iter().map(|it| ((*it).to_owned(), Tally::default()));
    let mut tallies: HashMap<_, _> = empty.collect();
    if polls.is_empty() {
        return Ok(tallies);
    }
    let db = cx.db()?;
    let mut sql = db.sql("SELECT poll_id, chosen, count(*) FROM poll_vote WHERE poll_id");
    sql.bind_list(polls)?.push(" GROUP BY poll_id, chosen");
    let read = |row: &mut Row<'_>| {
        let poll: String = row.take()?;
        Ok((poll, Chosen::of_row(row)?, row.take::<i64>()?))
    };
    for (poll, chosen, count) in db.scan(sql.into_statement(), read).await? {
        let tally = tallies.entry(poll).or_default();
        tally.voters = tally.voters.saturating_add(count);
        for option in chosen.0 {
            let votes = tally.by_option.entry(option).or_default();
            *votes = votes.saturating_add(count);
        }
    }
    Ok(tallies)
}
