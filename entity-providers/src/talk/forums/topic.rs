//! `/direct/forums-topic`: the topics of forums, each with its threads of messages.

use entity_core::db::{self, RowPolicy};
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Context, Entity, Error, Result, standard};
use serde::Serialize;

use super::contents::{self, Post};
use super::rules::{IS_TOPIC_OPEN, check_dates};
use super::{ACCESS, Forum, MODERATE, numbers};
use crate::base::fields::seen;

/// Drafts, what is not open at present, and what is in such a forum are for moderators.
const SIGHT: RowPolicy =
    RowPolicy::Any(&[RowPolicy::Holds(MODERATE), RowPolicy::Sql(IS_TOPIC_OPEN)]);

/// A topic of a forum, in which members write messages.
#[standard(
    version,
    facts,
    seconds(created_date = created, modified_date = modified),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "forums-topic", table = "forum_topic", access = ACCESS, sight = SIGHT)]
#[entity(singular = "Topic", plural = "Topics", version = seen, layout = thread)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::complete)]
#[entity(whole = Self::add_threads, numbered)]
#[entity(
    verbs(read, list, create, update, delete),
    order = "created,key",
    max = 500
)]
pub struct ForumTopic {
    /// The id, as text.
    #[entity(id, column = "topic_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.topic_id AS bigint)", column)]
    pub id: i64,
    /// The forum: its id, as text. A topic never moves to another forum.
    #[entity(on_create, parent = Forum, references = "forums", column = "forum_id", max = 20)]
    pub forum: String,
    /// The id of the forum, as a number.
    #[entity(sql = "CAST(this.forum_id AS bigint)", column, for_programs)]
    pub forum_id: i64,
    /// The title of the forum.
    #[entity(sql = "parent.title")]
    pub forum_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title.
    #[entity(title, search)]
    pub title: String,
    /// A description in a line or two, as plain text.
    #[entity(optional, search, max = 255, label = "In short")]
    pub short_description: String,
    /// The whole description.
    #[entity(content, optional, html, label = "Description")]
    pub extended_description: String,
    /// True if it is not finished; then only moderators see it.
    #[entity(badge = warn)]
    pub is_draft: bool,
    /// True if the messages of others than moderators appear only when a moderator has approved them.
    #[entity(label = "Messages wait for a moderator")]
    pub is_moderated: bool,
    /// True if nobody writes messages here any more.
    #[entity(badge)]
    pub is_locked: bool,
    /// True if members see what others wrote only when they have written here.
    #[entity(label = "Write first, then read")]
    pub is_post_first: bool,
    /// True if a program is to mark what it shows as read, by `POST forums-topic/{id}/read`. The service marks nothing by
    /// itself.
    #[entity(for_programs)]
    pub is_auto_mark_threads_read: bool,
    /// True if `openDate` and `closeDate` count.
    #[entity(label = "Open for a time only")]
    pub is_availability_restricted: bool,
    /// When others than moderators begin to see the topic, in seconds since 1970; null for at once.
    #[entity(label = "Opens", since_1970)]
    #[entity(hint = "When members begin to see the topic; empty for at once.")]
    pub open_date: Option<i64>,
    /// When they no longer see it, in seconds since 1970; null for never.
    #[entity(label = "Closes", since_1970)]
    #[entity(hint = "When they no longer see it; empty for never.")]
    pub close_date: Option<i64>,
    /// The name of the item of the gradebook in which moderators grade what members write here; null for none, and for
    /// others than moderators.
    #[entity(optional, max = 255, sight = RowPolicy::Holds(MODERATE))]
    #[entity(label = "Graded in the gradebook as")]
    #[entity(
        hint = "The item of the gradebook in which moderators grade what members write here, if any."
    )]
    pub assoc_gradebook_item_name: Option<String>,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub creator: String,
    /// The internal id of the user who changed it last.
    #[entity(read_only, references = "user", label = "Last changed by")]
    pub modifier: String,
    /// When it was created.
    #[entity(created)]
    pub created: Millis,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
    /// The number of the messages that the caller sees.
    #[entity(computed, label = "Messages")]
    pub total_messages: i64,
    /// The number of those that the caller has read or written.
    #[entity(computed, label = "Read messages")]
    pub read_messages: i64,
    /// The threads with their replies, the oldest first, where a single topic is read: those of the first messages of the
    /// topic that one answer holds. `forums-message` lists all of them.
    #[entity(computed)]
    pub threads: Vec<Post>,
}

entity_core::register!(ForumTopic);

impl ForumTopic {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        cx.user_id()?.clone_into(&mut self.modifier);
        check_dates(self.open_date, self.close_date)
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        self.check_item(cx, before).await?;
        if before.is_some() {
            return Ok(());
        }
        let forum: Option<Forum> = db::read(cx, &self.forum).await?;
        match forum.filter(|it| it.site_id == self.site_id) {
            Some(_) => Ok(()),
            None => Err(Error::field("forum", "must be a forum of the same site")),
        }
    }

    async fn add_threads(&mut self, cx: &Context) -> Result<()> {
        self.threads = contents::threads(cx, self).await?;
        Ok(())
    }

    async fn complete(cx: &Context, topics: &mut [Self]) -> Result<()> {
        let keys: Vec<_> = topics.iter().map(|it| it.key.clone()).collect();
        let numbers = numbers::by(cx, numbers::TOPIC, &keys).await?;
        for it in topics {
            let found = numbers.get(&it.key).copied().unwrap_or_default();
            (it.total_messages, it.read_messages) = (found.total, found.read);
        }
        Ok(())
    }
}
