//! `/direct/conversations`: questions and discussions of a site, with posts, comments, tags, and what each reader has
//! marked.

mod comment;
mod mark;
mod post;
mod reaction;
mod rules;
mod settings;
mod tag;
mod tag_ids;
mod view;

use entity_core::db::RowPolicy;
use entity_core::wire::Millis;
use entity_core::{
    Access, Audience, Context, Entity, Error, ErrorKind, Need, Notice, Result, gate, standard,
};
use serde::Serialize;

use crate::base::fields::seen;

pub use self::comment::TopicComment;
pub use self::mark::TopicMark;
pub use self::post::TopicPost;
use self::reaction::{OWN, TOTALS, VOTES};
pub use self::reaction::{OwnReactions, ReactionTotals};
pub use self::settings::{ConversationAgreement, ConversationSettings};
pub use self::tag::TopicTag;
pub use self::tag_ids::TagIds;

/// The function of those who see what is hidden, hide and lock topics and posts, and set the dates of topics.
const MODERATE: &str = "conversations.moderate";
/// The function that makes somebody an instructor in conversations.
const INSTRUCTOR: &str = "conversations.roletype.instructor";
/// The function of those who see the topics of all groups, and write topics for them.
const VIEW_GROUPS: &str = "conversations.topic.view.groups";
/// The function of those who pin topics.
const PIN: &str = "conversations.topic.pin";
/// The functions of those who create topics of each type.
const CREATE_QUESTION: &str = "conversations.question.create";
const CREATE_DISCUSSION: &str = "conversations.discussion.create";
const UPDATE_ANY: &str = "conversations.topic.update.any";
const UPDATE_OWN: &str = "conversations.topic.update.own";
const DELETE_ANY: &str = "conversations.topic.delete.any";
const DELETE_OWN: &str = "conversations.topic.delete.own";
/// The function of those who learn who has written what is anonymous.
const VIEW_ANONYMOUS: &str = "conversations.anonymous.view";

/// The name of whoever has written what is anonymous: the same for all.
const NOBODY: &str = "Anonymous";

/// The author of something anonymous is known to themselves, and to those who hold the function for it.
const AUTHOR: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Not(&RowPolicy::Is("anonymous")),
    RowPolicy::Own,
    RowPolicy::Holds(VIEW_ANONYMOUS),
]);

/// Where members post first, nothing tells before that what others have posted, the numbers neither.
const MAY_COUNT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::Sql(
        "NOT this.must_post_before_viewing OR EXISTS (SELECT 1 FROM conversation_post o \
        WHERE o.topic_id = this.id AND o.creator = {caller} AND NOT o.is_draft)",
    ),
    RowPolicy::Holds(INSTRUCTOR),
    RowPolicy::Holds(MODERATE),
]);

/// Which function creates a topic depends on its type: `rules.rs` asks for it.
const ACCESS: Access = Access {
    read: Need::Site("site.visit"),
    create: Need::Session,
    update: Need::SiteOrOwn(UPDATE_ANY, UPDATE_OWN),
    delete: Need::SiteOrOwn(DELETE_ANY, DELETE_OWN),
};

/// A draft is for its creator. What is hidden, or outside its dates, is for moderators, what is for instructors is for
/// those, and what is for groups is for their members and for those who see all groups; and each for its creator.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Any(&[
            RowPolicy::Holds(MODERATE),
            RowPolicy::All(&[
                RowPolicy::Not(&RowPolicy::Is("hidden")),
                RowPolicy::Since("showDate"),
                RowPolicy::Until("hideDate"),
            ]),
        ]),
        RowPolicy::Any(&[
            RowPolicy::Not(&RowPolicy::Is("forInstructors")),
            RowPolicy::Holds(INSTRUCTOR),
        ]),
        RowPolicy::Any(&[RowPolicy::Addressed, RowPolicy::Holds(VIEW_GROUPS)]),
    ]),
]);

/// A question or a discussion of a site.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.conversations", layout = thread)]
#[entity(prefix = "conversations", table = "conversation_topic", access = ACCESS, sight = SIGHT)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::name_nobody, version = seen)]
#[entity(plural = "Conversations", singular = "Topic")]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(left_join = "conversation_mark m ON m.mark_id = this.id || ':' || {caller}")]
#[entity(left_join = "conversation_settings cs ON cs.id = this.site_id")]
#[entity(verbs(read, list), order = "pinned_desc,created_desc,id")]
#[entity(listed("type", "creatorDisplayName", "numberOfPosts", "resolved"))]
pub struct Topic {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The headline.
    #[entity(title, search)]
    pub title: String,
    /// The text.
    #[entity(content, optional, search, html)]
    pub message: String,
    /// `QUESTION` or `DISCUSSION`. It never changes.
    #[serde(rename = "type")]
    #[entity(
        on_create,
        optional,
        column = "kind",
        max = 20,
        default = "QUESTION",
        choices("QUESTION" = "Question", "DISCUSSION" = "Discussion")
    )]
    #[entity(fact)]
    pub kind: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category)]
    pub site_title: String,
    /// The internal id of the creator; empty where the caller may not know it.
    #[entity(owner, references = "user", sight = AUTHOR, label = "Author")]
    pub creator: String,
    /// The name of the creator, or `Anonymous`.
    #[entity(name_of = creator, author, sight = AUTHOR)]
    pub creator_display_name: String,
    /// The instant at which the topic was created.
    #[entity(created)]
    pub created: Millis,
    /// The internal id of whoever changed the topic last; empty where the caller may not know the creator.
    #[entity(read_only, references = "user", sight = AUTHOR, label = "Last changed by")]
    pub modifier: String,
    /// The instant at which the topic last changed.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
    /// The audience of the topic: everybody in the `SITE`, `INSTRUCTORS`, or the members of the groups, for `GROUP`.
    #[entity(
        optional,
        max = 20,
        default = "SITE",
        choices("SITE" = "Everybody in the site", "INSTRUCTORS" = "Instructors", "GROUP" = "Groups")
    )]
    #[entity(label = "Seen by")]
    pub visibility: String,
    /// True if only instructors and the creator see the topic.
    #[entity(read_only, for_programs)]
    pub for_instructors: bool,
    /// The ids of the groups, for the visibility `GROUP`.
    #[entity(groups = "conversation_topic_group", label = "For the groups")]
    #[entity(hint = "Those who see it, where only groups do.")]
    pub groups: Vec<String>,
    /// True if the topic is not finished; then only its creator sees it.
    #[entity(column = "is_draft", badge = warn)]
    pub draft: bool,
    /// True if the topic comes before others.
    #[entity(column = "is_pinned", badge)]
    pub pinned: bool,
    /// True if only moderators and the creator see the topic.
    #[entity(column = "is_hidden", badge = warn)]
    pub hidden: bool,
    /// True if moderators have locked the topic.
    #[entity(column = "is_locked")]
    pub locked: bool,
    /// True if only moderators write in the topic now: it or the whole site is locked, or the date for that has come.
    #[entity(
        sql = "coalesce(this.is_locked OR cs.site_locked OR coalesce(this.lock_date, this.due_date) <= {now}, FALSE)",
        column,
        badge
    )]
    pub closed: bool,
    /// True if only the creator, and those who hold the function for it, know who has created the topic. It never changes.
    #[entity(on_create, column = "is_anonymous")]
    pub anonymous: bool,
    /// True if members may post without their names.
    pub allow_anonymous_posts: bool,
    /// The ids of the tags of the site that the topic has.
    #[entity(kind = List, sent = Vec<String>, offered = "conversations-tag")]
    pub tags: TagIds,
    /// True if members read the posts of others only after they have posted themselves.
    #[entity(label = "Write first, then read")]
    pub must_post_before_viewing: bool,
    /// The instant from which on others than moderators see the topic; null for always.
    #[entity(label = "Appears")]
    #[entity(hint = "When members begin to see the topic; empty for at once.")]
    pub show_date: Option<Millis>,
    /// The instant from which on they no longer see it; null for never.
    #[entity(label = "Disappears")]
    #[entity(hint = "When they no longer see it; empty for never.")]
    pub hide_date: Option<Millis>,
    /// The instant from which on the topic is locked; null for when it is due.
    #[entity(label = "Locked from")]
    #[entity(hint = "From when on nobody answers; empty for when it is due.")]
    pub lock_date: Option<Millis>,
    /// The instant at which the topic is due; null for never. The calendar shows it.
    #[entity(label = "Due", due)]
    #[entity(hint = "Empty for never. The calendar shows it.")]
    pub due_date: Option<Millis>,
    /// True if an instructor has posted for everybody who sees the topic, or marked a post as the answer.
    #[entity(
        sql = "EXISTS (SELECT 1 FROM conversation_post p WHERE p.topic_id = this.id AND (p.is_instructor OR p.verifier <> '') \
               AND NOT (p.is_draft OR p.is_hidden OR p.is_private))",
        column,
        sight = MAY_COUNT
    )]
    #[entity(label = "Answered", badge = good)]
    pub resolved: bool,
    /// The number of posts: those that everybody sees, and the caller's own.
    #[entity(
        sql = "(SELECT count(*) FROM conversation_post p WHERE p.topic_id = this.id \
               AND (p.creator = {caller} OR NOT (p.is_draft OR p.is_hidden OR p.is_private)))",
        sight = MAY_COUNT
    )]
    #[entity(label = "Posts", fact = "{} posts")]
    pub number_of_posts: i64,
    /// The number of those that answer no other post.
    #[entity(
        sql = "(SELECT count(*) FROM conversation_post p WHERE p.topic_id = this.id AND p.parent_post IS NULL \
               AND (p.creator = {caller} OR NOT (p.is_draft OR p.is_hidden OR p.is_private)))",
        sight = MAY_COUNT
    )]
    #[entity(label = "Threads")]
    pub number_of_threads: i64,
    /// The number of posts of others that everybody sees and the caller has not viewed.
    #[entity(
        sql = "(SELECT count(*) FROM conversation_post p WHERE p.topic_id = this.id AND p.creator <> {caller} \
               AND NOT (p.is_draft OR p.is_hidden OR p.is_private) AND NOT EXISTS (SELECT 1 FROM conversation_mark v \
               WHERE v.mark_id = p.id || ':' || {caller} AND v.viewed))",
        sight = MAY_COUNT
    )]
    #[entity(label = "Unread posts", fact = "{} unread")]
    pub number_of_unread_posts: i64,
    /// True if the caller has posted.
    #[entity(
        sql = "EXISTS (SELECT 1 FROM conversation_post p WHERE p.topic_id = this.id AND p.creator = {caller} \
               AND NOT p.is_draft)",
        column
    )]
    pub has_posted: bool,
    /// True if the caller has marked the topic to find it again.
    #[entity(sql = "coalesce(m.bookmarked, FALSE)", column)]
    pub bookmarked: bool,
    /// True if the caller has viewed posts of the topic.
    #[entity(sql = "coalesce(m.viewed, FALSE)", column)]
    pub viewed: bool,
    /// The number of votes for the topic.
    #[entity(sql = VOTES, column)]
    pub upvotes: i64,
    /// True if the caller has voted for the topic.
    #[entity(sql = "coalesce(m.upvoted, FALSE)", column)]
    pub upvoted: bool,
    /// The reactions of the caller: the truth about each.
    #[entity(sql = OWN, kind = Object, for_programs)]
    pub my_reactions: OwnReactions,
    /// The number of people for each reaction that somebody has.
    #[entity(sql = TOTALS, kind = Object, label = "Reactions")]
    pub reaction_totals: ReactionTotals,
}

entity_core::register!(Topic, demo = include_str!("../../demo/conversations.json"));
entity_core::register_cause!(Topic);

/// The kind of the event that a post answers somebody: it is published, and no draft.
const REPLY: &str = "conversations.reply";
entity_core::register_notice!(Notice {
    event: REPLY,
    kind: REPLY,
    tool: TOOL,
    audience: Audience::Person,
    text: "",
});
entity_core::register_notice!(Notice {
    event: comment::CREATED,
    kind: REPLY,
    tool: TOOL,
    audience: Audience::Person,
    text: "",
});
/// The id of the tool of conversations.
const TOOL: &str = "sakai.conversations";

/// Returns an error for whoever writes where it is locked.
fn locked() -> Error {
    Error::new(
        ErrorKind::Forbidden,
        "it is locked: only moderators write here",
    )
}

/// Returns whether the caller moderates the conversations of `site`.
async fn is_moderator(cx: &Context, site: &str) -> Result<bool> {
    gate::holds(cx, MODERATE, site).await
}

/// Refuses that something published becomes a draft again, in which others may have written.
fn check_draft(is_draft: bool, was_draft: Option<bool>) -> Result<()> {
    match is_draft && was_draft == Some(false) {
        true => Err(Error::field("draft", "can't be true: it is published")),
        false => Ok(()),
    }
}
