//! Polls, options and votes in each state that the policy names.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_providers::courses::poll::{Chosen, Poll, PollOption, PollVote};
use serde_json::{Value, json};

use super::requests::Shows;
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, place};

/// A poll with an option and, for a vote, the vote of somebody for it.
struct Question {
    poll: Poll,
    option: PollOption,
    vote: Option<PollVote>,
}

impl World {
    /// A poll, an option or a vote. The word to look for is the text of the poll, or of the option if that is asked for.
    pub(super) async fn poll(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let site = self.sites[place(state)].clone();
        let marker = self.new_marker();
        let question = self.question((kind, state), &site, &marker, caller);
        let (poll, option) = (question.poll.key.clone(), question.option.key.clone());
        let vote = marker.replace("mk", "3");
        let mut rows = Rows::default();
        if site != "no-such-site" && (kind != "poll" || !state.starts_with("in-")) {
            rows.add(question.poll);
            rows.add(question.option);
            question.vote.into_iter().for_each(|it| rows.add(it));
        }
        self.store(rows).await;
        let (id, group) = match kind {
            "poll" => (poll, option),
            "poll-option" => (option, poll),
            _ => (vote, poll),
        };
        let marker = match state.starts_with("in-") {
            true => self.new_marker(),
            false => marker,
        };
        Subject {
            id,
            site,
            group,
            marker,
            ..Subject::default()
        }
    }

    fn question(
        &self,
        (kind, state): (&str, &str),
        site: &str,
        marker: &str,
        caller: &Caller,
    ) -> Question {
        let number = marker.trim_start_matches("mk");
        let voter = self.owner(state, caller, "peer").id.clone();
        let owner = match kind {
            "poll" => self.owner(state, caller, "author"),
            _ => &self.people["author"],
        };
        let made = made();
        let now = self.app.service().now();
        let days = |count| Millis(now + TimeDelta::days(count));
        let title = |is_meant| if is_meant { marker } else { "Around" }.to_owned();
        let poll = Poll {
            key: format!("1{number}"),
            owner: owner.id.clone(),
            site_id: site.to_owned(),
            text: title(kind != "poll-option"),
            creation_date: made,
            modified_date: made,
            min_options: 1,
            max_options: 1,
            vote_open: if state.ends_with("unopened") {
                days(1)
            } else {
                made
            },
            vote_close: days(2),
            display_result: "never".to_owned(),
            limit_voting: true,
            version: 1,
            ..Poll::default()
        };
        let option = PollOption {
            key: format!("2{number}"),
            poll: poll.key.clone(),
            site_id: site.to_owned(),
            text: title(kind == "poll-option"),
            option_order: 1,
            version: 1,
            ..PollOption::default()
        };
        let has_vote = kind == "poll-vote" && !state.starts_with("in-");
        let vote = has_vote.then(|| PollVote {
            key: format!("3{number}"),
            poll: poll.key.clone(),
            poll_option: Chosen::of(option.key.parse().into_iter().collect()),
            site_id: site.to_owned(),
            user_id: voter.clone(),
            vote_date: made,
            place: format!("{}:{voter}", poll.key),
            version: 1,
            ..PollVote::default()
        });
        Question { poll, option, vote }
    }
}

/// A new poll, option or vote.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "poll" => json!({"siteId": site, "text": marker}),
        "poll-option" => json!({"siteId": site, "pollId": number(group), "text": marker}),
        // The option has the number of its poll.
        _ => {
            json!({"pollId": number(group), "pollOption": [number(&group.replacen('1', "2", 1))]})
        }
    }
}

fn number(id: &str) -> i64 {
    id.parse().unwrap_or(1)
}

/// The address of an action that reads, and what success looks like.
pub(super) fn named(kind: &str, name: &str, subject: &Subject) -> (Shows, String) {
    let (id, site, group) = (&subject.id, &subject.site, &subject.group);
    match (kind, name) {
        ("poll", "site") => (Shows::Lists, format!("/direct/poll/site/{site}")),
        ("poll", _) => (Shows::Status, format!("/direct/poll/{id}/{name}")),
        _ => (Shows::Lists, format!("/direct/{kind}/poll/{group}")),
    }
}
