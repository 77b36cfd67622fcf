//! `/direct/conversations-post`: the posts in a topic, and the replies to them.

use entity_core::db::{self, Migration, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Create, Delete, Entity,
    Error, Fields, Need, Provider as _, Reference, Result, Update, Verb, gate, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::comment::topic_comment;
use super::mark::topic_mark;
use super::reaction::{OWN, TOTALS, VOTES};
use super::{
    AUTHOR, INSTRUCTOR, MODERATE, NOBODY, REPLY, Topic, check_draft, is_moderator, locked, topic,
};
use super::{ConversationSettings, OwnReactions, ReactionTotals};
use crate::base::fields::{named, seen};
use crate::base::personal;

pub(super) const CREATE: &str = "conversations.post.create";
pub(super) const UPDATE_ANY: &str = "conversations.post.update.any";
pub(super) const UPDATE_OWN: &str = "conversations.post.update.own";
pub(super) const DELETE_ANY: &str = "conversations.post.delete.any";
pub(super) const DELETE_OWN: &str = "conversations.post.delete.own";

const ACCESS: Access = Access {
    read: Need::Site("site.visit"),
    create: Need::Site(CREATE),
    update: Need::SiteOrOwn(UPDATE_ANY, UPDATE_OWN),
    delete: Need::SiteOrOwn(DELETE_ANY, DELETE_OWN),
};

/// The [`TopicPost::writer`] who has created the topic without a name as well.
const ASKER: i64 = -1;

/// The number of posts that answer each other, the first one included.
pub(super) const DEEPEST: i64 = 5;

/// The condition that the topic lets the caller read the posts of others.
pub(super) const MAY_VIEW: &str = "EXISTS (SELECT 1 FROM conversation_topic t WHERE t.id = this.topic_id \
    AND (NOT t.must_post_before_viewing OR t.creator = {caller} OR EXISTS (SELECT 1 FROM conversation_post o \
    WHERE o.topic_id = t.id AND o.creator = {caller} AND NOT o.is_draft)))";

/// A post is for those who see its topic, as far as [`IN_TOPIC`] says.
const SIGHT: RowPolicy = RowPolicy::All(&[RowPolicy::Parent(&super::SIGHT), IN_TOPIC]);

/// To those who see the topic: a draft is for its creator, what is hidden is for moderators, and a private post is for
/// whoever it answers and for instructors.
pub(super) const IN_TOPIC: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Any(&[
            RowPolicy::Not(&RowPolicy::Is("hidden")),
            RowPolicy::Holds(MODERATE),
        ]),
        RowPolicy::Any(&[
            RowPolicy::Not(&RowPolicy::Is("privatePost")),
            RowPolicy::Sql("this.answers_to = {caller}"),
            RowPolicy::Holds(INSTRUCTOR),
        ]),
        RowPolicy::Any(&[
            RowPolicy::Sql(MAY_VIEW),
            RowPolicy::Holds(INSTRUCTOR),
            RowPolicy::Holds(MODERATE),
        ]),
    ]),
]);

/// A post in a topic.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "conversations-post", table = "conversation_post", access = ACCESS, sight = SIGHT)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::name_nobody, version = seen)]
#[entity(plural = "Posts", singular = "Post", layout = thread)]
#[entity(left_join = "conversation_mark m ON m.mark_id = this.id || ':' || {caller}")]
#[entity(verbs(read, list), order = "created,id")]
#[entity(listed("creatorDisplayName", "created", "numberOfComments"))]
pub struct TopicPost {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The topic.
    #[entity(on_create, parent = Topic, references = "conversations", max = 99, label = "Topic")]
    pub topic_id: String,
    /// The title of the topic.
    #[entity(title, sql = "parent.title")]
    pub topic_title: String,
    /// The type of the topic: `QUESTION` or `DISCUSSION`.
    #[entity(sql = "parent.kind", for_programs)]
    pub topic_type: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The post that this one answers; null for one that answers the topic.
    #[entity(
        on_create,
        reply,
        references = "conversations-post",
        max = 99,
        label = "Answers"
    )]
    #[entity(hint = "The post that this one answers, if any.")]
    pub parent_post: Option<String>,
    /// The first of the posts that answer each other; null for one that answers the topic.
    #[entity(read_only, references = "conversations-post", for_programs)]
    pub parent_thread: Option<String>,
    /// 1 for a post that answers the topic, one more than the other post for one that answers another.
    #[entity(read_only, for_programs)]
    pub depth: i64,
    /// The text.
    #[entity(content, required, search, html)]
    pub message: String,
    /// The internal id of the creator; empty where the caller may not know it.
    #[entity(owner, references = "user", sight = AUTHOR, label = "Author")]
    pub creator: String,
    /// The name of the creator, or `Anonymous`.
    #[entity(name_of = creator, author, sight = AUTHOR)]
    pub creator_display_name: String,
    /// True if only the creator, and those who hold the function for it, know who has created the post. It never changes.
    #[entity(on_create, column = "is_anonymous")]
    pub anonymous: bool,
    /// True if the creator was an instructor when the post was created, and the post is not anonymous.
    #[entity(read_only, label = "By an instructor", badge = info)]
    pub is_instructor: bool,
    /// The instant at which the post was created.
    #[entity(created)]
    pub created: Millis,
    /// The internal id of whoever changed the post last; empty where the caller may not know the creator.
    #[entity(read_only, references = "user", sight = AUTHOR, label = "Last changed by")]
    pub modifier: String,
    /// The instant at which the post last changed.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
    /// True if the post was created after the topic was due.
    #[entity(sql = "coalesce(this.created > parent.due_date, FALSE)", column)]
    pub late: bool,
    /// True if the post is not finished; then only its creator sees it.
    #[entity(column = "is_draft", badge = warn)]
    pub draft: bool,
    /// True if only the creator, whoever is answered, and instructors see the post. What answers a private post is
    /// private.
    #[entity(on_create, column = "is_private", label = "Private", badge = warn)]
    pub private_post: bool,
    /// True if only moderators and the creator see the post.
    #[entity(column = "is_hidden", badge = warn)]
    pub hidden: bool,
    /// True if only moderators answer the post and change it.
    #[entity(column = "is_locked")]
    pub locked: bool,
    /// The number of comments.
    #[entity(sql = "(SELECT count(*) FROM conversation_comment c WHERE c.post_id = this.id)")]
    #[entity(label = "Comments")]
    pub number_of_comments: i64,
    /// The internal id of whoever has marked the post as the answer to the question; empty for none.
    #[entity(read_only, references = "user", label = "Marked as the answer by")]
    pub verifier: String,
    /// The name of whoever has marked the post as the answer.
    #[entity(
        sql = "coalesce((SELECT trim(w.first_name || ' ' || w.last_name) FROM user_account w \
                    WHERE w.id = this.verifier), '')"
    )]
    pub verifier_display_name: String,
    /// True if the caller has viewed the post.
    #[entity(sql = "coalesce(m.viewed, FALSE)", column)]
    pub viewed: bool,
    /// The number of votes for the post.
    #[entity(sql = VOTES, column)]
    pub upvotes: i64,
    /// True if the caller has voted for the post.
    #[entity(sql = "coalesce(m.upvoted, FALSE)", column)]
    pub upvoted: bool,
    /// The reactions of the caller: the truth about each.
    #[entity(sql = OWN, kind = Object, for_programs)]
    pub my_reactions: OwnReactions,
    /// The number of people for each reaction that somebody has.
    #[entity(sql = TOTALS, kind = Object, label = "Reactions")]
    pub reaction_totals: ReactionTotals,
    /// The internal id of the creator of what is answered: of the other post or of the topic.
    #[serde(skip)]
    #[entity(hidden)]
    pub answers_to: String,
    /// The number of an anonymous writer within a topic: the creator of the topic is `ASKER`, the others are counted in
    /// the order of their first posts; 0 for a post with a name, or one that is not for everybody.
    #[serde(skip)]
    #[entity(hidden)]
    pub writer: i64,
}

entity_core::register!(TopicPost, migrations(INDEXES));

/// The indexes by which comments and marks of a post are found, however much others have written.
const INDEXES: Migration = Migration::of_tables(
    "conversation_post_indexes",
    &[
        "CREATE INDEX conversation_post_by_thread ON conversation_post (parent_thread, id)",
        "CREATE INDEX conversation_post_by_answered ON conversation_post (parent_post, id)",
        "CREATE INDEX conversation_comment_by_post ON conversation_comment (post_id, id)",
        "CREATE INDEX conversation_mark_by_post ON conversation_mark (post_id)",
    ],
);

impl TopicPost {
    /// Names the creators that the caller may not know.
    #[expect(clippy::unused_async, reason = "the framework awaits it")]
    async fn name_nobody(_cx: &Context, posts: &mut [Self]) -> Result<()> {
        for it in posts
            .iter_mut()
            .filter(|it| it.creator.is_empty() && it.anonymous)
        {
            it.creator_display_name = match it.writer {
                ASKER => format!("{NOBODY} (author of the topic)"),
                0 => NOBODY.to_owned(),
                number => format!("{NOBODY} {number}"),
            };
        }
        Ok(())
    }

    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        check_draft(self.draft, before.map(|it| it.draft))?;
        cx.user_id()?.clone_into(&mut self.modifier);
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let topic = Topic::of_field(cx, &self.topic_id, &self.site_id).await?;
        let blank = Self::default();
        let former = before.unwrap_or(&blank);
        let mut is_locked = topic.closed || former.locked;
        if before.is_none() {
            is_locked |= self.join(cx, &topic).await?;
            self.demand_name(cx, &topic).await?;
            // Few members are instructors: that alone would tell who has written what is anonymous.
            self.is_instructor =
                !self.anonymous && gate::holds(cx, INSTRUCTOR, &self.site_id).await?;
        }
        if self.anonymous && !self.draft && before.is_none_or(|it| it.draft) {
            self.number_writer(cx, &topic).await?;
        }
        let is_moderated = (self.hidden, self.locked) != (former.hidden, former.locked);
        if (is_locked || is_moderated) && !is_moderator(cx, &self.site_id).await? {
            return Err(if is_locked {
                locked()
            } else {
                Error::forbidden()
            });
        }
        Ok(())
    }

    /// Refuses a new post without a name where the topic or the site wants names.
    async fn demand_name(&self, cx: &Context, topic: &Topic) -> Result<()> {
        if !self.anonymous {
            return Ok(());
        }
        let settings = ConversationSettings::of(cx, &self.site_id).await?;
        if topic.allow_anonymous_posts && settings.allow_anon_posting {
            return Ok(());
        }
        let message = "must not be true: the topic does not allow posts without names";
        Err(Error::field("anonymous", message))
    }

    /// Gives an anonymous post that everybody sees the number of its writer in the topic. A private one gets none: the next
    /// number would tell of it.
    async fn number_writer(&mut self, cx: &Context, topic: &Topic) -> Result<()> {
        if self.private_post {
            return Ok(());
        }
        let (caller, id) = (cx.user_id()?, topic.id.as_str());
        // Two who write at once are two writers.
        db::lock::<Topic>(cx, &[id]).await?;
        let db = cx.db()?;
        let mut sql = db.sql("SELECT coalesce(max(writer), 0), coalesce(max(CASE WHEN creator = ");
        sql.bind(caller);
        // The creator of the topic is the one who has no number.
        sql.push(" AND writer > 0 THEN writer END), 0) FROM conversation_post WHERE topic_id = ");
        sql.bind(id);
        let found: Vec<(i64, i64)> = db.rows(sql.into_statement(), db::columns).await?;
        let (last, own) = found.into_iter().next().unwrap_or_default();
        self.writer = match own {
            _ if topic.anonymous && topic.creator == caller => ASKER,
            0 => last.max(0).saturating_add(1),
            number => number,
        };
        Ok(())
    }

    /// Joins a new post to what it answers, and returns whether that is locked.
    async fn join(&mut self, cx: &Context, topic: &Topic) -> Result<bool> {
        let Some(id) = &self.parent_post else {
            self.depth = 1;
            let topics = topic::Entity::find_by_id(topic.id.as_str());
            let topics: Vec<Topic> = db::load(cx, topics).await?;
            let creators = topics.into_iter().map(|it| it.creator);
            self.answers_to = creators.collect();
            return Ok(false);
        };
        db::pin::<Self>(cx, &[id]).await?;
        let above = Self::of_field(cx, "parentPost", id).await?;
        if above.topic_id != self.topic_id || above.draft {
            let message = "must be a published post of the same topic";
            return Err(Error::field("parentPost", message));
        }
        if above.depth >= DEEPEST {
            let message = format!("must not be below {} others", DEEPEST - 1);
            return Err(Error::field("parentPost", message));
        }
        self.depth = above.depth + 1;
        self.private_post |= above.private_post;
        // The caller may not know who has written what is answered.
        let answered = topic_post::Entity::find_by_id(above.id.as_str());
        let answered: Vec<Self> = db::load(cx, answered).await?;
        self.answers_to = answered.into_iter().map(|it| it.creator).collect();
        self.parent_thread = Some(above.parent_thread.unwrap_or(above.id));
        Ok(above.locked)
    }

    /// Returns whether everybody sees the post below a question.
    fn may_be_answer(&self) -> bool {
        self.topic_type == "QUESTION" && !(self.draft || self.hidden || self.private_post)
    }

    /// Notes who says that the post is the answer, and tells it by the event `kind` if that is new.
    async fn mark(
        self,
        cx: &Context,
        verifier: String,
        kind: &'static str,
    ) -> Result<ActionResult<Self>> {
        if self.verifier == verifier {
            return Ok(ActionResult::Entity(self));
        }
        self.demand_open(cx).await?;
        let marked = Self {
            verifier,
            ..self.clone()
        };
        let marked = db::store(cx, self, marked).await?;
        cx.emit_about::<Self>(kind, &marked);
        gate::read::<Self>(cx, &marked.id)
            .await
            .map(ActionResult::Entity)
    }

    /// Tells whoever is answered of the post, if it is published now.
    fn tell_answered(&self, cx: &Context, is_new: bool) {
        if is_new && !self.draft {
            let reference = Reference::entity(Self::PREFIX, self.id.as_str());
            let (site, person) = (&self.site_id, &self.answers_to);
            personal::emit_to(cx, REPLY, &reference, site, person, self.anonymous);
        }
    }

    /// Returns the post `id`, which the field `name` has, if the caller sees it.
    pub(super) async fn of_field(cx: &Context, name: &str, id: &str) -> Result<Self> {
        let unseen = || Error::vanished(name, "must be a post that you see");
        named::<Self>(cx, id, unseen).await
    }

    /// Refuses to let anybody but moderators delete what is locked or belongs to a topic that is.
    pub(super) async fn demand_open(&self, cx: &Context) -> Result<()> {
        let topic: Option<Topic> = db::read(cx, &self.topic_id).await?;
        let is_locked = self.locked || topic.is_some_and(|it| it.closed);
        match is_locked && !is_moderator(cx, &self.site_id).await? {
            true => Err(locked()),
            false => Ok(()),
        }
    }
}

impl Actions for TopicPost {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "verify", Need::Site(INSTRUCTOR), verify)
                .done("This is marked as the answer.")
                .doc("Marks the post as the answer to the question.")
                .label("Mark as the answer")
                .offered_if(|it| it.verifier.is_empty() && it.may_be_answer())
                .answers(Answers::Entity),
            Action::entity(Verb::Post, "unverify", Need::Site(INSTRUCTOR), unverify)
                .done("This is no longer marked as the answer.")
                .doc("Takes the mark back that the post is the answer.")
                .label("No longer the answer")
                .offered_if(|it| !it.verifier.is_empty())
                .answers(Answers::Entity),
        ]
    }
}

async fn verify(cx: &Context, post: TopicPost, _: Arguments) -> Result<ActionResult<TopicPost>> {
    if !post.may_be_answer() {
        let message = "only what everybody sees below a question is marked as the answer";
        return Err(Error::conflict(message));
    }
    let caller = cx.user_id()?.to_owned();
    post.mark(cx, caller, "conversations.post.verified").await
}

async fn unverify(cx: &Context, post: TopicPost, _: Arguments) -> Result<ActionResult<TopicPost>> {
    post.mark(cx, String::new(), "conversations.post.unverified")
        .await
}

impl Create for TopicPost {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let post: Self = db::create(cx, draft).await?;
        cx.emit_about::<Self>("conversations.post.created", &post);
        post.tell_answered(cx, true);
        Ok(post)
    }
}

impl Update for TopicPost {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        let was_draft = current.draft;
        let post: Self = db::update(cx, current, changes).await?;
        cx.emit_about::<Self>("conversations.post.updated", &post);
        post.tell_answered(cx, was_draft);
        Ok(post)
    }
}

impl Delete for TopicPost {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        current.demand_open(cx).await?;
        db::lock::<Self>(cx, &[&current.id]).await?;
        let answers = topic_post::Column::ParentPost.eq(current.id.as_str());
        let answers = topic_post::Entity::find().filter(answers);
        let answers: Vec<Self> = db::load(cx, answers).await?;
        if !answers.is_empty() {
            return Err(Error::conflict("other posts answer this one"));
        }
        let (db, id) = (cx.db()?, current.id.as_str());
        let comments = topic_comment::Column::PostId.eq(id);
        topic_comment::Entity::delete_many()
            .filter(comments)
            .exec(db)
            .await?;
        let marks = topic_mark::Column::PostId.eq(id);
        topic_mark::Entity::delete_many()
            .filter(marks)
            .exec(db)
            .await?;
        cx.emit_about::<Self>("conversations.post.deleted", &current);
        db::delete(cx, current).await
    }
}
