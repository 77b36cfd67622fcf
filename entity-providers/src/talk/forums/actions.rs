//! The actions of forums: the addresses that existing clients read, marks on what was read, and approval.

use entity_core::db::{self, Record};
use entity_core::engine::DirectPath;
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Data, Error, ErrorKind, Need,
    Operation, Provider as _, Read, Result, Search, Verb, Window, gate,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::contents::Post;
use super::{Forum, ForumMessage, ForumReading, ForumTopic, MODERATE, READ, grading};

/// The number of messages of [`newest`], unless the query asks for another one.
const NEWEST: u64 = 10;
/// The maximum number of messages of [`newest`].
const MOST_NEWEST: u64 = 100;

impl Actions for Forum {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("site", Need::Session, of_site)
                .doc("The forums of a site.")
                .argument("siteId", "The site."),
            Action::collection(Verb::Get, "forum", Need::Session, forum)
                .doc("A forum with its topics.")
                .argument("forumId", "The forum."),
            Action::collection(Verb::Get, "topic", Need::Session, topic)
                .doc("A topic with its threads of messages.")
                .argument("topicId", "The topic.")
                .answers(Answers::EntityOf(ForumTopic::PREFIX)),
            Action::collection(Verb::Get, "message", Need::Session, message)
                .doc("A message with the replies to it.")
                .argument("messageId", "The message.")
                .answers(Answers::EntityOf(ForumMessage::PREFIX)),
            Action::collection(Verb::Get, "messages", Need::Session, newest)
                .doc("The newest messages in the forums of a site.")
                .argument("siteId", "The site.")
                .parameters(&[("n", "how many, 100 at most; 10 without it")]),
        ]
    }
}

impl Actions for ForumTopic {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "read", Need::Site(READ), read_topic)
                .doc("Marks the messages of the topic as read by the caller.")
                .label("Mark all as read")
                .done("All messages are marked as read."),
        ]
    }
}

impl Actions for ForumMessage {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "read", Need::Site(READ), read_message)
                .doc("Marks the message as read by the caller.")
                .label("Mark as read")
                .done("The message is marked as read.")
                .offered_if(|it| !it.read),
            Action::entity(Verb::Post, "approve", Need::Site(MODERATE), approve)
                .done("The message is approved: others see it now.")
                .doc("Approves a message, so that others see it.")
                .offered_if(|it| !it.is_approved && !it.is_draft),
            grading::action(),
        ]
    }
}

/// The newest messages of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NewestForumMessages")]
struct Newest {
    /// The type: `forums`.
    #[serde(rename = "entityPrefix")]
    prefix: &'static str,
    /// The messages, the newest first, without replies.
    forums_collection: Vec<Post>,
}

/// Converts a refusal to the status that existing clients expect: a login may help.
fn unauthenticated(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Forbidden => Error::unauthenticated(),
        _ => error,
    }
}

/// Checks that there is a site `site` whose forums the caller may read.
async fn enter(cx: &Context, site: &str) -> Result<()> {
    match gate::demand_in_site(cx, Need::Site(READ), Some(site)).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Error::field("siteId", "must be the id of a site"))
        }
        Err(error) => Err(unauthenticated(error)),
    }
}

/// Returns the argument `name`, which must be a number.
fn number<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str> {
    let text = arguments.argument(name)?;
    match text.parse::<u32>() {
        Ok(_) => Ok(text),
        Err(_) => Err(Error::field(name, "must be a number")),
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Search> {
    let site = arguments.argument("siteId")?;
    enter(cx, site).await?;
    arguments.search_in_site::<Forum>(site)
}

async fn forum(cx: &Context, arguments: Arguments) -> Result<Forum> {
    let found = gate::read::<Forum>(cx, number(&arguments, "forumId")?).await;
    found.map_err(unauthenticated)
}

async fn topic(cx: &Context, arguments: Arguments) -> Result<ActionResult<Forum>> {
    forward::<ForumTopic>(cx, number(&arguments, "topicId")?).await
}

async fn message(cx: &Context, arguments: Arguments) -> Result<ActionResult<Forum>> {
    forward::<ForumMessage>(cx, number(&arguments, "messageId")?).await
}

/// Answers with the entity `id` of another type.
async fn forward<T: Record + Read<Entity = T>>(
    cx: &Context,
    id: &str,
) -> Result<ActionResult<Forum>> {
    let found: Option<T> = db::read(cx, id).await?;
    let found = found.ok_or_else(Error::not_found)?;
    let may = gate::require::<T>(cx, &found, Operation::Read).await;
    may.map_err(unauthenticated)?;
    Ok(ActionResult::Forward(DirectPath::new(T::PREFIX, [id])))
}

async fn newest(cx: &Context, arguments: Arguments) -> Result<Data<Newest>> {
    let site = arguments.argument("siteId")?;
    enter(cx, site).await?;
    let limit = match arguments.parameter("n") {
        None | Some("" | "0") => NEWEST,
        Some(text) => match text.parse::<u64>() {
            Ok(number) => number.min(MOST_NEWEST),
            Err(_) => return Err(Error::field("n", "must be a number")),
        },
    };
    let mut search = Search::part(Window { start: 0, limit });
    search.narrow_to_site::<ForumMessage>(site)?;
    search.narrow(ForumMessage::FIELD.is_deleted.eq(false));
    search.order = vec![
        ForumMessage::FIELD.created.desc(),
        ForumMessage::FIELD.key.desc(),
    ];
    let page = gate::list::<ForumMessage>(cx, search).await?;
    let page = page.map(|it| Post::of(it, Vec::new()));
    Ok(Data(Newest {
        prefix: Forum::PREFIX,
        forums_collection: page.within(cx.answer_bytes())?.items,
    }))
}

async fn read_topic(cx: &Context, topic: ForumTopic, _: Arguments) -> Result<ForumTopic> {
    let mut search = Search::all();
    search.narrow_to_site::<ForumMessage>(&topic.site_id)?;
    search.narrow(ForumMessage::FIELD.topic.eq(&topic.key));
    search.narrow(ForumMessage::FIELD.read.eq(false));
    let unread = gate::list::<ForumMessage>(cx, search).await?;
    ForumReading::mark(cx, &unread.items).await?;
    cx.emit_about::<ForumTopic>("forums.read", &topic);
    let found = gate::read::<ForumTopic>(cx, &topic.key).await?;
    Ok(found)
}

async fn read_message(cx: &Context, message: ForumMessage, _: Arguments) -> Result<ForumMessage> {
    ForumReading::mark(cx, std::slice::from_ref(&message)).await?;
    cx.emit_about::<ForumMessage>("forums.read", &message);
    let found = gate::read::<ForumMessage>(cx, &message.key).await?;
    Ok(found)
}

async fn approve(cx: &Context, message: ForumMessage, _: Arguments) -> Result<ForumMessage> {
    if message.is_approved || message.is_draft {
        return Err(Error::conflict(
            "the message is a draft, or approved already",
        ));
    }
    let approved = ForumMessage {
        is_approved: true,
        ..message.clone()
    };
    let approved = db::replace(cx, message, approved).await?;
    cx.emit_about::<ForumMessage>("forums.approve", &approved);
    let found = gate::read::<ForumMessage>(cx, &approved.key).await?;
    Ok(found)
}
