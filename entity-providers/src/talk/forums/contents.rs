//! The topics of a forum, the threads of a topic and the replies to a message, nested in their parents.

use std::collections::HashMap;

use entity_core::file::Attachment;
use entity_core::{Context, ErrorKind, List, Page, Result, Search, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Forum, ForumMessage, ForumTopic};

/// A topic inside of its forum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ForumTopicView")]
#[view(of = ForumTopic, with(attachments = it.attachments.to_vec()))]
pub struct TopicView {
    /// The id.
    pub id: i64,
    /// The id of the forum.
    pub forum_id: i64,
    /// The title.
    pub title: String,
    /// A description in a line or two, as plain text.
    pub short_description: String,
    /// The whole description, sanitised HTML.
    pub extended_description: String,
    /// True if only moderators see it, because it is not finished.
    pub is_draft: bool,
    /// True if messages appear when a moderator has approved them.
    pub is_moderated: bool,
    /// True if nobody writes messages here any more.
    pub is_locked: bool,
    /// True if members see what others wrote only when they have written here.
    pub is_post_first: bool,
    /// True if a program is to mark what it shows as read.
    pub is_auto_mark_threads_read: bool,
    /// True if `openDate` and `closeDate` count.
    pub is_availability_restricted: bool,
    /// When others than moderators begin to see it, in seconds since 1970.
    pub open_date: Option<i64>,
    /// When they no longer see it, in seconds since 1970.
    pub close_date: Option<i64>,
    /// The name of the item of the gradebook in which moderators grade what members write there.
    pub assoc_gradebook_item_name: Option<String>,
    /// Its files.
    pub attachments: Vec<Attachment>,
    /// The internal id of the author.
    pub creator: String,
    /// The internal id of the user who changed it last.
    pub modifier: String,
    /// When it was created, in seconds since 1970.
    pub created_date: i64,
    /// When it last changed, in seconds since 1970.
    pub modified_date: i64,
    /// The number of the messages that the caller sees.
    pub total_messages: i64,
    /// The number of those that the caller has read or written.
    pub read_messages: i64,
}

/// A message inside of its topic or below the message to which it replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ForumPost")]
#[view(of = ForumMessage, beside(replies: Vec<Self>), with(attachments = it.attachments.to_vec()))]
pub struct Post {
    /// The id.
    pub message_id: i64,
    /// The id of the topic.
    pub topic_id: i64,
    /// The id of the forum.
    pub forum_id: i64,
    /// The id of the first message of the thread.
    pub thread_id: i64,
    /// The headline; empty if the message was deleted.
    pub title: String,
    /// The text, sanitised HTML; empty if the message was deleted.
    pub body: String,
    /// When it last changed, in seconds since 1970.
    pub last_modified: i64,
    /// Its files.
    pub attachments: Vec<Attachment>,
    /// The replies with theirs, the oldest first.
    pub replies: Vec<Self>,
    /// The name of the author.
    pub authored_by: String,
    /// The internal id of the author.
    pub author_id: String,
    /// The number of messages above this one.
    pub indent_index: i64,
    /// The id of the message to which it replies; null for the first of a thread.
    pub reply_to: Option<i64>,
    /// When it was written, in seconds since 1970.
    pub created_on: i64,
    /// True if the caller has read or written it.
    pub read: bool,
    /// The number of the messages of the thread that the caller sees.
    pub total_messages: i64,
    /// The number of those that the caller has read or written.
    pub read_messages: i64,
    /// True if it is not sent yet.
    pub is_draft: bool,
    /// True if it was deleted, and keeps its place.
    pub is_deleted: bool,
    /// True if a moderator approved it, or if that was not necessary.
    pub is_approved: bool,
    /// The internal id of the user who changed it last.
    pub modified_by: String,
    /// The internal id of the author again, as other clients read it.
    pub created_by: String,
}

/// Returns the first part of a list, as much as one answer holds beside other things. Nothing is there for those who may
/// not read the list.
async fn first<P: List>(cx: &Context, search: Search) -> Result<Vec<P::Entity>> {
    let listed: Result<Page<P::Entity>> = gate::list::<P>(cx, search).await;
    match listed {
        Err(error) if error.kind() == ErrorKind::Forbidden => Ok(Vec::new()),
        listed => Ok(listed?.within(cx.answer_bytes() / 2)?.items),
    }
}

/// Returns the topics of `forum` that the caller sees.
pub(super) async fn topics(cx: &Context, forum: &Forum) -> Result<Vec<TopicView>> {
    let mut search = Search::all();
    search.narrow_to_site::<ForumTopic>(&forum.site_id)?;
    search.narrow(ForumTopic::FIELD.forum.eq(&forum.key));
    let topics = first::<ForumTopic>(cx, search).await?;
    Ok(topics.into_iter().map(TopicView::of).collect())
}

/// Returns the threads of `topic` that the caller sees.
pub(super) async fn threads(cx: &Context, topic: &ForumTopic) -> Result<Vec<Post>> {
    let search = in_topic(&topic.site_id, &topic.key)?;
    Ok(below(first::<ForumMessage>(cx, search).await?, None))
}

/// Returns the replies to `message` that the caller sees.
pub(super) async fn replies(cx: &Context, message: &ForumMessage) -> Result<Vec<Post>> {
    let mut search = in_topic(&message.site_id, &message.topic)?;
    search.narrow(ForumMessage::FIELD.thread_id.eq(message.thread_id));
    let thread = first::<ForumMessage>(cx, search).await?;
    Ok(below(thread, Some(message.message_id)))
}

fn in_topic(site: &str, topic: &str) -> Result<Search> {
    let mut search = Search::all();
    search.narrow_to_site::<ForumMessage>(site)?;
    search.narrow(ForumMessage::FIELD.topic.eq(topic));
    Ok(search)
}

/// Returns those of `messages` that are below the message `top`, each with its replies; without one, those that are
/// first in their threads.
fn below(mut messages: Vec<ForumMessage>, top: Option<i64>) -> Vec<Post> {
    // Each message stands behind the one to which it replies, so that from the end a message comes when its replies are
    // complete.
    messages.sort_by_key(|it| it.indent_index);
    let mut replies: HashMap<Option<i64>, Vec<Post>> = HashMap::new();
    let take = |replies: &mut HashMap<_, Vec<Post>>, id| {
        let mut found = replies.remove(&id).unwrap_or_default();
        found.reverse();
        found
    };
    let is_top = |it: &ForumMessage| Some(it.message_id) == top;
    for message in messages.into_iter().rev().filter(|it| !is_top(it)) {
        let own = take(&mut replies, Some(message.message_id));
        let above = message.reply_to;
        replies
            .entry(above)
            .or_default()
            .push(Post::of(message, own));
    }
    take(&mut replies, top)
}
