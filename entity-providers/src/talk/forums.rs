//! `/direct/forums`: the forums of a site; their topics, the messages there and what members have read are types of their own.

mod actions;
mod contents;
mod grading;
mod message;
mod numbers;
mod rules;
mod topic;
mod view;

use entity_core::db::RowPolicy;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Need, Result, standard};
use serde::Serialize;

use self::contents::TopicView;
use self::rules::{IS_FORUM_OPEN, check_dates};
use crate::base::fields::seen;
use crate::base::search::is_there;

pub use self::message::{ForumMessage, ForumReading};
pub use self::topic::ForumTopic;

/// The function of those who read forums.
const READ: &str = "forums.read";
/// The function of those who write messages, and change and delete their own.
const POST: &str = "forums.post";
/// The function of those who make, change and delete forums and topics.
const EDIT: &str = "forums.edit";
/// The function of those who see drafts and what is closed, approve messages, and change and delete those of others.
const MODERATE: &str = "forums.moderate";

/// Everybody with the one function reads; whoever edits forums edits all of them.
const ACCESS: Access = Access::new(Need::Site(READ), Need::Site(EDIT));

/// Drafts, and what is not open at present, are for moderators.
const SIGHT: RowPolicy =
    RowPolicy::Any(&[RowPolicy::Holds(MODERATE), RowPolicy::Sql(IS_FORUM_OPEN)]);

/// A forum: topics on one subject.
#[standard(
    version,
    facts,
    seconds(created_date = created, modified_date = modified),
    constant(
        /// Always null: messages are not graded.
        assoc_gradebook_item_name = null,
    ),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.forums", layout = thread)]
#[entity(prefix = "forums", table = "forum", access = ACCESS, sight = SIGHT)]
#[entity(singular = "Forum", plural = "Forums", version = seen)]
#[entity(check = Self::check, complete = Self::complete, done = Self::is_answered)]
#[entity(whole = Self::add_topics, numbered)]
#[entity(
    verbs(read, list, create, update, delete),
    order = "created,key",
    max = 200
)]
pub struct Forum {
    /// The id, as text.
    #[entity(id, column = "forum_id", for_programs)]
    pub key: String,
    /// The id, as a number.
    #[entity(sql = "CAST(this.forum_id AS bigint)", column)]
    pub id: i64,
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
    /// True if it is not finished; then only moderators see the forum and its topics.
    #[entity(badge = warn)]
    pub is_draft: bool,
    /// True if the messages of others than moderators appear only when a moderator has approved them.
    #[entity(label = "Messages wait for a moderator")]
    pub is_moderated: bool,
    /// True if nobody writes messages here any more.
    #[entity(badge)]
    pub is_locked: bool,
    /// True if members see what others wrote in a topic only when they have written there.
    #[entity(label = "Write first, then read")]
    pub is_post_first: bool,
    /// True if `openDate` and `closeDate` count.
    #[entity(label = "Open for a time only")]
    pub is_availability_restricted: bool,
    /// When others than moderators begin to see the forum, in seconds since 1970; null for at once.
    #[entity(label = "Opens", since_1970)]
    #[entity(hint = "When members begin to see the forum; empty for at once.")]
    pub open_date: Option<i64>,
    /// When they no longer see it, in seconds since 1970; null for never.
    #[entity(label = "Closes", since_1970)]
    #[entity(hint = "When they no longer see it; empty for never.")]
    pub close_date: Option<i64>,
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
    #[entity(computed, label = "Messages", fact = "{} messages")]
    pub total_messages: i64,
    /// The number of those that the caller has read or written.
    #[entity(computed, label = "Read messages")]
    pub read_messages: i64,
    /// The topics, where a single forum is read.
    #[entity(computed)]
    pub topics: Vec<TopicView>,
}

entity_core::register!(
    Forum,
    grants(
        "forums.read" = "amsti",
        "forums.post" = "amsti",
        "forums.edit" = "mi",
        "forums.moderate" = "mti",
    ),
    demo = include_str!("../../demo/forums.json")
);

impl Forum {
    /// Returns whether the caller has written a message in it that is there.
    async fn is_answered(&self, cx: &Context) -> Result<bool> {
        let of = ForumMessage::FIELD;
        let filters = [
            of.forum_id.eq(self.id),
            of.author_id.eq(cx.user_id()?),
            of.is_draft.eq(false),
            of.is_deleted.eq(false),
        ];
        is_there::<ForumMessage>(cx, filters).await
    }

    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        cx.user_id()?.clone_into(&mut self.modifier);
        check_dates(self.open_date, self.close_date)
    }

    async fn complete(cx: &Context, forums: &mut [Self]) -> Result<()> {
        let keys: Vec<_> = forums.iter().map(|it| it.key.clone()).collect();
        let numbers = numbers::by(cx, numbers::FORUM, &keys).await?;
        for it in forums {
            let found = numbers.get(&it.key).copied().unwrap_or_default();
            (it.total_messages, it.read_messages) = (found.total, found.read);
        }
        Ok(())
    }

    async fn add_topics(&mut self, cx: &Context) -> Result<()> {
        self.topics = contents::topics(cx, self).await?;
        Ok(())
    }
}
