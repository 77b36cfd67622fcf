//! `/direct/forums-message`: the messages of members in topics, and `/direct/forums-read`: the marks of read messages.

use std::collections::BTreeSet;

use entity_core::db::{self, Row, RowPolicy};
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{
    Access, Audience, Context, Delete, Entity, Error, Need, Notice, Provider as _, Reference,
    Result, gate, standard,
};
use sea_orm::{EntityTrait as _, QuerySelect as _};
use serde::Serialize;

use super::contents::{self, Post};
use super::rules::{IS_MESSAGE_OPEN, IS_READ};
use super::{ForumTopic, MODERATE, POST, READ, numbers};
use crate::base::fields::{named, seen};
use crate::base::personal;

/// The maximum number of messages above a reply: formats nest data 32 levels deep, a reply with its files takes two more
/// than what is above it, and an answer may stand in that of a batch.
const DEEPEST: i64 = 10;

/// Members change and delete their own messages, moderators all.
const ACCESS: Access = Access {
    read: Need::Site(READ),
    create: Need::Site(POST),
    update: Need::SiteOrOwn(MODERATE, POST),
    delete: Need::SiteOrOwn(MODERATE, POST),
};

/// A draft is for its author. Moderators see all other messages, members those of [`IS_MESSAGE_OPEN`].
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Not(&RowPolicy::Is("isDraft"))]),
    RowPolicy::Any(&[RowPolicy::Holds(MODERATE), RowPolicy::Sql(IS_MESSAGE_OPEN)]),
]);

/// A message in a topic of a forum: the first of a thread, or a reply.
#[standard(
    version,
    facts,
    alias(created_by = author_id),
    seconds(created_on = created, last_modified = modified),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "forums-message", table = "forum_message", access = ACCESS, sight = SIGHT)]
#[entity(singular = "Message", plural = "Messages", version = seen, layout = thread)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::complete)]
#[entity(join = "forum f ON f.forum_id = parent.forum_id")]
#[entity(left_join = "forum_read d ON d.read_id = this.message_id || ':' || {caller}")]
#[entity(whole = Self::add_replies, numbered)]
#[entity(verbs(read, list, create, update), order = "created,key")]
pub struct ForumMessage {
    /// The id, as text.
    #[entity(id, column = "message_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.message_id AS bigint)", column)]
    pub message_id: i64,
    /// The topic: its id, as text. A message never moves to another topic.
    #[entity(on_create, parent = ForumTopic, references = "forums-topic", column = "topic_id", max = 20)]
    pub topic: String,
    /// The id of the topic, as a number.
    #[entity(sql = "CAST(this.topic_id AS bigint)", column, for_programs)]
    pub topic_id: i64,
    /// The id of the forum, as a number.
    #[entity(sql = "CAST(parent.forum_id AS bigint)", column, for_programs)]
    pub forum_id: i64,
    /// The id of the first message of the thread, which may be this one, as a number.
    #[entity(sql = "CAST(this.thread AS bigint)", column, for_programs)]
    pub thread_id: i64,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The headline; empty if the message was deleted.
    #[entity(title, search)]
    pub title: String,
    /// The text; empty if the message was deleted.
    #[entity(content, optional, search, html)]
    pub body: String,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// The id of the message to which this one replies, as a number; null for the first message of a thread.
    #[entity(on_create, reply, label = "Answer to", offered = "forums-message")]
    #[entity(hint = "The message that this one answers, if any.")]
    pub reply_to: Option<i64>,
    /// The number of messages above this one.
    #[entity(read_only, for_programs)]
    pub indent_index: i64,
    /// True if it is not sent yet; then only its author sees it. What was sent is never a draft again.
    #[entity(badge = warn)]
    pub is_draft: bool,
    /// True if a moderator approved it, or if that was not necessary. Otherwise only its author and moderators see it.
    #[entity(read_only)]
    pub is_approved: bool,
    /// True if it was deleted, and keeps its place because there are replies.
    #[entity(read_only)]
    pub is_deleted: bool,
    /// True if what is written in the topic is graded; false for others than moderators.
    #[entity(sql = "(parent.assoc_gradebook_item_name IS NOT NULL)", column, sight = RowPolicy::Holds(MODERATE))]
    pub is_graded: bool,
    /// True if the caller has read or written it.
    #[entity(sql = IS_READ, column)]
    pub read: bool,
    /// The number of the messages of the thread that the caller sees.
    #[entity(computed, label = "Messages in the thread")]
    pub total_messages: i64,
    /// The number of those that the caller has read or written.
    #[entity(computed, label = "Read messages")]
    pub read_messages: i64,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub author_id: String,
    /// The name of the author.
    #[entity(name_of = author_id, author, for_programs)]
    pub authored_by: String,
    /// The internal id of the user who changed it last.
    #[entity(read_only, references = "user", label = "Last changed by")]
    pub modified_by: String,
    /// When it was written.
    #[entity(created)]
    pub created: Millis,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
    /// The replies with theirs, the oldest first, where a single message is read.
    #[entity(computed)]
    pub replies: Vec<Post>,
    /// The key of the first message of the thread.
    #[serde(skip)]
    #[entity(hidden)]
    pub thread: String,
}

entity_core::register!(ForumMessage);

/// The kind of the event that a message is sent that replies to another one.
const REPLY: &str = "forums.reply";
entity_core::register_notice!(Notice {
    event: REPLY,
    kind: REPLY,
    tool: "sakai.forums",
    audience: Audience::Person,
    text: "",
});

/// The mark of a member on a message that the member has read.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "forums-read", table = "forum_read", sight = RowPolicy::Own)]
#[entity(access = Access::new(Need::Site(READ), Need::Superuser))]
#[entity(singular = "Mark", plural = "Marks on messages")]
#[entity(verbs(read, list), order = "readId")]
pub struct ForumReading {
    /// The ids of the message and of the member, joined by a colon.
    #[entity(id)]
    pub read_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The message.
    #[entity(read_only, parent = ForumMessage, references = "forums-message")]
    pub message_id: String,
    /// The internal id of the member.
    #[entity(owner, person, references = "user")]
    pub user_id: String,
    /// When the message was marked as read.
    #[entity(created)]
    pub read_on: Millis,
}

entity_core::register!(ForumReading);

impl ForumReading {
    /// Returns the mark of `user` on `message`.
    fn of(cx: &Context, message: &ForumMessage, user: &str) -> Self {
        Self {
            read_id: format!("{}:{user}", message.key),
            site_id: message.site_id.clone(),
            message_id: message.key.clone(),
            user_id: user.to_owned(),
            read_on: Millis(cx.now()),
            ..Self::default()
        }
    }

    /// Marks messages as read by the caller. Those that are marked already stay as they are.
    pub(super) async fn mark(cx: &Context, messages: &[ForumMessage]) -> Result<()> {
        let caller = cx.user_id()?;
        let unread = messages.iter().filter(|it| !it.read);
        let marks: Vec<_> = unread.map(|it| Self::of(cx, it, caller)).collect();
        db::put_many(cx, &marks, &["site_id"]).await
    }
}

fn unseen(field: &str) -> Error {
    Error::vanished(field, "must be one that you see")
}

impl ForumMessage {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        cx.user_id()?.clone_into(&mut self.modified_by);
        match before {
            Some(before) if before.is_deleted => Err(Error::conflict("the message was deleted")),
            Some(before) if self.is_draft && !before.is_draft => Err(Error::field(
                "isDraft",
                "must be false: the message is sent",
            )),
            _ => Ok(()),
        }
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        db::lock::<ForumTopic>(cx, &[&self.topic]).await?;
        if before.is_none() {
            self.find_place(cx).await?;
        }
        let is_moderated = self.demand_open(cx, before.is_none()).await?;
        if self.is_draft {
            return Ok(());
        }
        let is_moderator = gate::holds(cx, MODERATE, &self.site_id).await?;
        let is_sent = before.is_none_or(|it| it.is_draft);
        if is_sent {
            self.is_approved = !is_moderated || is_moderator;
            self.tell_author(cx).await?;
        } else if is_moderated && self.is_approved && !is_moderator {
            return Err(Error::conflict(
                "the message is approved already, and stays as it is",
            ));
        }
        Ok(())
    }

    /// Tells the author of the message to which this one replies. Until it is approved, they are shown nothing of it.
    async fn tell_author(&self, cx: &Context) -> Result<()> {
        let Some(above) = self.reply_to else {
            return Ok(());
        };
        let reference = Reference::entity(Self::PREFIX, self.key.as_str());
        let authors = forum_message::Entity::find_by_id(above.to_string()).select_only();
        let authors = authors.column(forum_message::Column::AuthorId);
        let authors: Vec<String> = cx.db()?.select(&authors).await?;
        for author in authors {
            personal::emit_to(cx, REPLY, &reference, &self.site_id, &author, false);
        }
        Ok(())
    }

    /// Puts a new message into its topic, in a thread of its own or below the message to which it replies.
    async fn find_place(&mut self, cx: &Context) -> Result<()> {
        let topic = named::<ForumTopic>(cx, &self.topic, || unseen("topic")).await?;
        if topic.site_id != self.site_id {
            return Err(Error::field("siteId", "must be the site of the topic"));
        }
        self.thread.clone_from(&self.key);
        let Some(above) = self.reply_to else {
            return Ok(());
        };
        let above = named::<Self>(cx, &above.to_string(), || unseen("replyTo")).await?;
        if above.topic != self.topic {
            return Err(Error::field("replyTo", "must be a message of the topic"));
        }
        if above.is_draft || above.is_deleted || !above.is_approved {
            return Err(Error::conflict(
                "the message to which this one replies is a draft, deleted, or not approved yet",
            ));
        }
        if above.indent_index >= DEEPEST {
            let message = format!("must not have {DEEPEST} messages above it");
            return Err(Error::field("replyTo", message));
        }
        self.thread = above.thread;
        self.indent_index = above.indent_index.saturating_add(1);
        Ok(())
    }

    /// Refuses to write in what is locked: new messages of everybody, and others of those who are no moderators. Returns
    /// whether messages are moderated here.
    async fn demand_open(&self, cx: &Context, is_new: bool) -> Result<bool> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT t.is_moderated OR f.is_moderated, t.is_locked OR f.is_locked");
        sql.push(" FROM forum_topic t JOIN forum f ON f.forum_id = t.forum_id WHERE t.topic_id = ");
        sql.bind(self.topic.as_str());
        let read = |row: &mut Row<'_>| Ok((row.take::<bool>()?, row.take::<bool>()?));
        let found = db.rows(sql.into_statement(), read).await?;
        let (is_moderated, is_locked) = found.into_iter().next().unwrap_or_default();
        if is_locked && (is_new || !gate::holds(cx, MODERATE, &self.site_id).await?) {
            return Err(Error::conflict("the topic or its forum is locked"));
        }
        Ok(is_moderated)
    }

    async fn has_replies(&self, cx: &Context) -> Result<bool> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT count(*) FROM forum_message WHERE topic_id = ");
        sql.bind(self.topic.as_str()).push(" AND reply_to = ");
        sql.bind(self.message_id);
        Ok(db.rows(sql.into_statement(), db::columns::<i64>).await? != [0])
    }

    async fn add_replies(&mut self, cx: &Context) -> Result<()> {
        self.replies = contents::replies(cx, self).await?;
        Ok(())
    }

    async fn complete(cx: &Context, messages: &mut [Self]) -> Result<()> {
        let threads: BTreeSet<_> = messages.iter().map(|it| it.thread.clone()).collect();
        let threads: Vec<_> = threads.into_iter().collect();
        let numbers = numbers::by(cx, numbers::THREAD, &threads).await?;
        for it in messages {
            let found = numbers.get(&it.thread).copied().unwrap_or_default();
            (it.total_messages, it.read_messages) = (found.total, found.read);
        }
        Ok(())
    }
}

/// A message with replies keeps its place, without text.
impl Delete for ForumMessage {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        db::lock::<ForumTopic>(cx, &[&current.topic]).await?;
        current.demand_open(cx, false).await?;
        cx.emit_about::<Self>("forums.message.deleted", &current);
        if !current.has_replies(cx).await? {
            return db::delete(cx, current).await;
        }
        let emptied = Self {
            title: String::new(),
            body: String::new(),
            attachments: Files::default(),
            is_deleted: true,
            modified_by: cx.user_id()?.to_owned(),
            ..current.clone()
        };
        db::store(cx, current, emptied).await.map(|_| ())
    }
}
