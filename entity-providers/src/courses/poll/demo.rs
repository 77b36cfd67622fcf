//! The polls of the first course of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use super::{Chosen, Poll, PollOption, PollVote};
use crate::base::university::BIOLOGY;

/// A poll: its question, an explanation, the days from now on which it opens and closes, when it shows results, the
/// maximum number of options of a vote, and the options, each with the number of students who have chosen it.
struct Plan(
    &'static str,
    &'static str,
    (i64, i64),
    &'static str,
    i64,
    &'static [(&'static str, usize)],
);

const PLANS: &[Plan] = &[
    Plan(
        "When shall the review session be?",
        "<p>An hour before the exam week, in room 12.</p>",
        (-3, 11),
        "afterVoting",
        1,
        &[
            ("Monday at 16:00", 4),
            ("Tuesday at 18:00", 5),
            ("Friday at 10:00", 2),
        ],
    ),
    Plan(
        "Which organisms shall we look at in the last lab?",
        "<p>Choose two at most.</p>",
        (-20, -13),
        "afterClosing",
        2,
        &[
            ("Water fleas", 7),
            ("Moss", 3),
            ("Yeast", 5),
            ("Onion skin", 1),
        ],
    ),
];

/// The first student who has voted: those before have still to.
const FIRST: usize = 3;

/// Adds the polls with their options and votes, and returns the number of polls.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for plan in PLANS {
        let Plan(text, description, (opens, closes), shown, most, options) = plan;
        let poll = Poll {
            key: db::new_number::<Poll>(cx).await?,
            site_id: BIOLOGY.to_owned(),
            owner: demo.person("instructor1")?.to_owned(),
            text: (*text).to_owned(),
            description: (*description).to_owned(),
            min_options: 1,
            max_options: *most,
            vote_open: in_days(cx, *opens),
            vote_close: in_days(cx, *closes),
            display_result: (*shown).to_owned(),
            limit_voting: *most == 1,
            creation_date: in_days(cx, *opens),
            modified_date: in_days(cx, *opens),
            version: 1,
            ..Poll::default()
        };
        db::insert(cx, &poll).await?;
        let mut student = FIRST;
        for ((text, count), place) in options.iter().zip(1..) {
            let option = PollOption {
                key: db::new_number::<PollOption>(cx).await?,
                poll: poll.key.clone(),
                site_id: poll.site_id.clone(),
                text: (*text).to_owned(),
                option_order: place,
                version: 1,
                ..PollOption::default()
            };
            db::insert(cx, &option).await?;
            for _ in 0..*count {
                add_vote(cx, demo, &poll, &option, student).await?;
                student = student.saturating_add(1);
            }
        }
    }
    Ok(PLANS.len())
}

/// Adds a vote of a student for an option, a day after the poll opened.
async fn add_vote(
    cx: &Context,
    demo: &Demo,
    poll: &Poll,
    option: &PollOption,
    student: usize,
) -> Result<()> {
    let user = demo.person(&format!("student{student}"))?;
    let after = poll.vote_open.0.checked_add_signed(TimeDelta::days(1));
    let vote = PollVote {
        key: db::new_number::<PollVote>(cx).await?,
        poll: poll.key.clone(),
        poll_option: Chosen::of(option.key.parse().into_iter().collect()),
        site_id: poll.site_id.clone(),
        user_id: user.to_owned(),
        vote_date: Millis(after.unwrap_or(poll.vote_open.0)),
        place: format!("{}:{user}", poll.key),
        version: 1,
        ..PollVote::default()
    };
    db::insert(cx, &vote).await
}

fn in_days(cx: &Context, days: i64) -> Millis {
    let then = cx.now().checked_add_signed(TimeDelta::days(days));
    Millis(then.unwrap_or(cx.now()))
}
