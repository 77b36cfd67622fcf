//! `/direct/conversations-comment`: short remarks on a post.

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Create, Delete, Entity, Error, Fields, Need, Provider as _, Reference, Result,
    Update, standard,
};
use sea_orm::EntityTrait as _;
use serde::Serialize;

use super::post::{MAY_VIEW, topic_post};
use super::{INSTRUCTOR, MODERATE, Topic, TopicPost};
use crate::base::personal;

pub(super) const CREATE: &str = "conversations.comment.create";
pub(super) const UPDATE_ANY: &str = "conversations.comment.update.any";
pub(super) const UPDATE_OWN: &str = "conversations.comment.update.own";
pub(super) const DELETE_ANY: &str = "conversations.comment.delete.any";
pub(super) const DELETE_OWN: &str = "conversations.comment.delete.own";
/// The kind of the event that somebody has commented on a post.
pub(super) const CREATED: &str = "conversations.comment.created";

const ACCESS: Access = Access {
    read: Need::Site("site.visit"),
    create: Need::Site(CREATE),
    update: Need::SiteOrOwn(UPDATE_ANY, UPDATE_OWN),
    delete: Need::SiteOrOwn(DELETE_ANY, DELETE_OWN),
};

/// The same rule as that of posts, asked of the post that the comment is on.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Parent(&super::SIGHT),
    RowPolicy::Any(&[
        RowPolicy::Sql(
            "EXISTS (SELECT 1 FROM conversation_post p WHERE p.id = this.post_id AND p.creator = {caller})",
        ),
        RowPolicy::All(&[
            RowPolicy::Sql(
                "EXISTS (SELECT 1 FROM conversation_post p WHERE p.id = this.post_id AND NOT p.is_draft)",
            ),
            RowPolicy::Any(&[
                RowPolicy::Sql(
                    "EXISTS (SELECT 1 FROM conversation_post p WHERE p.id = this.post_id AND NOT p.is_hidden)",
                ),
                RowPolicy::Holds(MODERATE),
            ]),
            RowPolicy::Any(&[
                RowPolicy::Sql(
                    "EXISTS (SELECT 1 FROM conversation_post p WHERE p.id = this.post_id \
                     AND (NOT p.is_private OR p.answers_to = {caller}))",
                ),
                RowPolicy::Holds(INSTRUCTOR),
            ]),
            RowPolicy::Any(&[
                RowPolicy::Sql(MAY_VIEW),
                RowPolicy::Holds(INSTRUCTOR),
                RowPolicy::Holds(MODERATE),
            ]),
        ]),
    ]),
]);

/// A remark on a post.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "conversations-comment", table = "conversation_comment", access = ACCESS)]
#[entity(sight = SIGHT, check = Self::check, settle = Self::settle)]
#[entity(plural = "Comments", singular = "Comment", layout = thread)]
#[entity(verbs(read, list), order = "created,id")]
#[entity(listed("creatorDisplayName", "created"))]
pub struct TopicComment {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The post.
    #[entity(on_create, references = "conversations-post", max = 99, label = "Post")]
    pub post_id: String,
    /// The topic.
    #[entity(read_only, parent = Topic, references = "conversations", label = "Topic")]
    pub topic_id: String,
    /// The title of the topic.
    #[entity(title, sql = "parent.title")]
    pub topic_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The text.
    #[entity(content, required, search, html)]
    pub message: String,
    /// The internal id of the creator.
    #[entity(owner, references = "user", label = "Author")]
    pub creator: String,
    /// The name of the creator.
    #[entity(name_of = creator, author)]
    pub creator_display_name: String,
    /// The instant at which the comment was created.
    #[entity(created)]
    pub created: Millis,
    /// The internal id of whoever changed the comment last.
    #[entity(read_only, references = "user", label = "Last changed by")]
    pub modifier: String,
    /// The instant at which the comment last changed.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
}

entity_core::register!(TopicComment);

impl TopicComment {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        cx.user_id()?.clone_into(&mut self.modifier);
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            db::pin::<TopicPost>(cx, &[&self.post_id]).await?;
        }
        let post = TopicPost::of_field(cx, "postId", &self.post_id).await?;
        if post.site_id != self.site_id {
            return Err(Error::field("siteId", "must be the site of the post"));
        }
        post.demand_open(cx).await?;
        self.topic_id = post.topic_id;
        Ok(())
    }
}

impl Create for TopicComment {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let comment: Self = db::create(cx, draft).await?;
        // The caller may not know who has written the post.
        let posts = topic_post::Entity::find_by_id(comment.post_id.as_str());
        let posts: Vec<TopicPost> = db::load(cx, posts).await?;
        let author: String = posts.into_iter().map(|it| it.creator).collect();
        let reference = Reference::entity(Self::PREFIX, comment.id.as_str());
        personal::emit_to(cx, CREATED, &reference, &comment.site_id, &author, false);
        Ok(comment)
    }
}

impl Update for TopicComment {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        let comment: Self = db::update(cx, current, changes).await?;
        cx.emit_about::<Self>("conversations.comment.updated", &comment);
        Ok(comment)
    }
}

impl Delete for TopicComment {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        let post = TopicPost::of_field(cx, "postId", &current.post_id).await?;
        post.demand_open(cx).await?;
        cx.emit_about::<Self>("conversations.comment.deleted", &current);
        db::delete(cx, current).await
    }
}
