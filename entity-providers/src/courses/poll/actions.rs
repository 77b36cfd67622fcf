//! The addresses of polls, options and votes besides those that every type has.

use entity_core::engine::DirectPath;
use entity_core::reply::{Choice, Prompt, Questionnaire, Sending};
use entity_core::schema::{Field, Kind};
use entity_core::shape;
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Error, Input, Need, Provider as _,
    Result, Search, Verb, gate,
};
use serde_json::{Map, Value as Json};

use super::ballot::Ballot;
use super::{ACCESS, ADD, Poll, PollOption, PollVote, VOTE};

/// The parameter of those who vote in the poll of the address.
const CHOSEN: &[(&str, &str)] = &[(
    "pollOption",
    "in the body: the id of an option, or a list of them",
)];
/// The parameters of those who vote.
const BALLOT: &[(&str, &str)] = &[
    ("pollId", "in the body: the id of the poll"),
    (
        "pollOption",
        "in the body: the id of an option, or a list of them",
    ),
];
/// The form for new options.
const TEXTS: &[Field] = &[
    Field::new("text", Kind::List, "The options, one on each line.")
        .writable()
        .required(),
];

impl Actions for Poll {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("site", ACCESS.read, of_site)
                .doc("The polls of a site.")
                .argument("siteId", "The site."),
            Action::entity(Verb::Get, "option", ACCESS.read, options)
                .unlinked()
                .doc("The options of the poll.")
                .answers(Answers::CollectionOf(PollOption::PREFIX)),
            Action::entity(Verb::Post, "options", Need::Site(ADD), add_options)
                .done("The options are added.")
                .label("Add options")
                .asks(TEXTS)
                .doc("Adds options to the poll, as long as nobody has voted: `text`, one text or a list of texts.")
                .answers(Answers::Entity),
            Action::entity(Verb::Get, "ballot", Need::Site(VOTE), ballot)
                .label("Vote")
                .offered_if(|it| it.takes_vote)
                .doc("The options as a form, by which the caller votes.")
                .answers(Answers::Value(shape::of::<Questionnaire>)),
            Action::entity(Verb::Get, "vote", ACCESS.read, own_vote)
                .unlinked()
                .doc("The vote of the caller, if there is one. The votes of others are shown to nobody.")
                .answers(Answers::CollectionOf(PollVote::PREFIX)),
            Action::entity(Verb::Post, "vote", Need::Site(VOTE), vote)
                .parameters(CHOSEN)
                .done("Your vote counts.")
                .doc("Votes for one of the options, or for several where the poll asks for them.")
                .answers(Answers::Entity),
        ]
    }
}

impl Actions for PollOption {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("poll", Need::Session, options_of_poll)
                .doc("The options of a poll.")
                .argument("pollId", "The poll."),
        ]
    }
}

impl Actions for PollVote {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("poll", Need::Session, own_vote_in_poll)
                .doc("The vote of the caller in a poll, if there is one.")
                .argument("pollId", "The poll."),
            Action::collection(Verb::Post, "vote", Need::Session, vote_in_poll)
                .parameters(BALLOT)
                .doc("Votes in a poll, as a creation does."),
        ]
    }
}

async fn of_site(_cx: &Context, arguments: Arguments) -> Result<Search> {
    let site = arguments.argument("siteId")?;
    arguments.search_in_site::<Poll>(site)
}

async fn options(_cx: &Context, poll: Poll, _: Arguments) -> Result<ActionResult<Poll>> {
    let path = DirectPath::new(PollOption::PREFIX, ["poll", &poll.key]);
    Ok(ActionResult::Forward(path))
}

async fn own_vote(_cx: &Context, poll: Poll, _: Arguments) -> Result<ActionResult<Poll>> {
    let path = DirectPath::new(PollVote::PREFIX, ["poll", &poll.key]);
    Ok(ActionResult::Forward(path))
}

async fn options_of_poll(cx: &Context, arguments: Arguments) -> Result<Search> {
    let poll = gate::read::<Poll>(cx, arguments.argument("pollId")?).await?;
    let mut search = arguments.search_in_site::<PollOption>(&poll.site_id)?;
    search.narrow(PollOption::FIELD.poll.eq(poll.key));
    Ok(search)
}

async fn own_vote_in_poll(cx: &Context, arguments: Arguments) -> Result<Search> {
    let poll = gate::read::<Poll>(cx, arguments.argument("pollId")?).await?;
    let mut search = arguments.search_in_site::<PollVote>(&poll.site_id)?;
    search.narrow(PollVote::FIELD.poll.eq(poll.key));
    Ok(search)
}

async fn add_options(cx: &Context, poll: Poll, arguments: Arguments) -> Result<ActionResult<Poll>> {
    for text in texts(&arguments.input.fields)? {
        let fields = [
            ("siteId", Json::from(poll.site_id.as_str())),
            ("pollId", poll.poll_id.into()),
            ("text", text.into()),
        ];
        gate::create::<PollOption>(cx, &Input::from_iter(fields)).await?;
    }
    shown(cx, &poll.key).await
}

/// Returns the texts of new options: those of a list, or the lines of a text that are not blank.
fn texts(sent: &Map<String, Json>) -> Result<Vec<String>> {
    let wrong = || Error::field("text", "must be a text or a list of texts");
    let texts: Vec<String> = match sent.get("text") {
        Some(Json::String(text)) => text.lines().map(ToOwned::to_owned).collect(),
        Some(Json::Array(items)) => {
            let texts = items.iter().map(|it| it.as_str().map(ToOwned::to_owned));
            texts.collect::<Option<_>>().ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    let texts = texts.into_iter().map(|it| it.trim().to_owned());
    let texts: Vec<_> = texts.filter(|it| !it.is_empty()).collect();
    match texts.is_empty() {
        true => Err(Error::field("text", "must not be empty")),
        false => Ok(texts),
    }
}

async fn ballot(cx: &Context, poll: Poll, _: Arguments) -> Result<ActionResult<Poll>> {
    let own: Vec<i64> = poll.votes.iter().map(|it| it.poll_option).collect();
    let choices = poll.options.iter().map(|it| Choice {
        value: it.option_id.to_string(),
        label: it.text.clone(),
        is_chosen: own.contains(&it.option_id),
    });
    let hint = match (poll.min_options, poll.max_options) {
        (least, most) if least == most => format!("Choose {most}"),
        (least, most) => format!("Choose {least} to {most}"),
    };
    let sending = Sending {
        path: format!("/direct/poll/{}/vote", poll.key),
        label: "Vote".to_owned(),
    };
    let questionnaire = Questionnaire {
        title: poll.text.clone(),
        ends_on: Some(poll.vote_close.0).filter(|it| cx.now() < *it),
        prompts: vec![Prompt {
            name: "pollOption".to_owned(),
            text: poll.text.clone(),
            hint,
            choices: choices.collect(),
            takes_several: poll.max_options > 1,
            value: String::new(),
        }],
        sendings: Some(sending)
            .filter(|_| poll.takes_vote)
            .into_iter()
            .collect(),
        ..Questionnaire::default()
    };
    Ok(ActionResult::Questionnaire(questionnaire))
}

async fn vote(cx: &Context, poll: Poll, arguments: Arguments) -> Result<ActionResult<Poll>> {
    let ballot = Ballot::in_poll(poll.poll_id, &arguments.input.fields)?;
    let vote = ballot.cast(cx).await?;
    cx.emit_about::<PollVote>(VOTE, &vote);
    shown(cx, &poll.key).await
}

async fn vote_in_poll(cx: &Context, arguments: Arguments) -> Result<PollVote> {
    let vote = Ballot::sent(&arguments.input.fields)?.cast(cx).await?;
    cx.emit_about::<PollVote>(VOTE, &vote);
    Ok(vote)
}

/// Answers with the poll as it is now.
async fn shown(cx: &Context, key: &str) -> Result<ActionResult<Poll>> {
    gate::read::<Poll>(cx, key).await.map(ActionResult::Entity)
}
