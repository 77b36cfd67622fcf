//! `/direct/conversations-mark`: the marks, views, votes and reactions of a reader.

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Need, Result, standard};
use serde::Serialize;

use super::reaction::Thing;
use super::{Topic, TopicPost};

/// Marks are written by endpoints for topics and posts only.
const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Superuser);

/// A mark is for whoever has made it, as long as they see the topic.
const SIGHT: RowPolicy = RowPolicy::All(&[RowPolicy::Parent(&super::SIGHT), RowPolicy::Own]);

/// The marks of a reader on a topic or on a post.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "conversations-mark", table = "conversation_mark", access = ACCESS)]
#[entity(sight = SIGHT, verbs(read, list), plural = "Marks", singular = "Mark")]
pub struct TopicMark {
    /// The ids of the post or, without one, of the topic, and of the reader, joined by a colon.
    #[entity(id)]
    pub mark_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The topic.
    #[entity(read_only, parent = Topic, references = "conversations")]
    pub topic_id: String,
    /// The title of the topic.
    #[entity(title, sql = "parent.title")]
    pub topic_title: String,
    /// The post; null for the topic itself.
    #[entity(read_only, references = "conversations-post")]
    pub post_id: Option<String>,
    /// The internal id of the reader.
    #[entity(owner, person, references = "user")]
    pub user_id: String,
    /// True if the reader has marked the topic to find it again.
    #[entity(read_only)]
    pub bookmarked: bool,
    /// True if the reader has viewed the post or, without one, posts of the topic.
    #[entity(read_only)]
    pub viewed: bool,
    /// True if the reader has voted for it.
    #[entity(read_only)]
    pub upvoted: bool,
    /// True if the reader has reacted by `THUMBS_UP`.
    #[entity(read_only)]
    pub thumbs_up: bool,
    /// True if the reader has reacted by `LOVE_IT`.
    #[entity(read_only)]
    pub love_it: bool,
    /// True if the reader has reacted by `GOOD_IDEA`.
    #[entity(read_only)]
    pub good_idea: bool,
    /// True if the reader has reacted by `KEY`.
    #[entity(read_only, label = "Key idea")]
    pub is_key: bool,
    /// The instant at which the reader viewed it last.
    #[serde(skip)]
    #[entity(hidden)]
    pub viewed_at: Option<Millis>,
    /// The instant at which the reader voted for it.
    #[serde(skip)]
    #[entity(hidden)]
    pub upvoted_at: Option<Millis>,
    /// The instant of the first of the reactions that the reader has.
    #[serde(skip)]
    #[entity(hidden)]
    pub reacted_at: Option<Millis>,
    /// The instant of the last change.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
}

entity_core::register!(TopicMark);

impl TopicMark {
    /// Makes `change` in what the caller has marked of `thing`, and returns whether that is something else than before.
    pub(super) async fn put(
        cx: &Context,
        thing: Thing<'_>,
        change: impl Fn(&mut Self),
    ) -> Result<bool> {
        let blank = Self::blank(cx, thing.topic, thing.post)?;
        Ok(db::put(cx, blank, change).await?.1)
    }

    /// Returns the place of the reaction `kind`.
    pub(super) fn reaction(&mut self, kind: &str) -> Option<&mut bool> {
        match kind {
            "THUMBS_UP" => Some(&mut self.thumbs_up),
            "LOVE_IT" => Some(&mut self.love_it),
            "GOOD_IDEA" => Some(&mut self.good_idea),
            "KEY" => Some(&mut self.is_key),
            _ => None,
        }
    }

    /// Notes that the caller has viewed `posts` of `topic`.
    pub(super) async fn view(cx: &Context, topic: &Topic, posts: &[TopicPost]) -> Result<()> {
        let posts = posts.iter().map(Some).chain([None]);
        let marks = posts.map(|post| {
            let blank = Self::blank(cx, topic, post)?;
            Ok(Self {
                viewed: true,
                viewed_at: Some(Millis(cx.now())),
                ..blank
            })
        });
        let marks: Vec<Self> = marks.collect::<Result<_>>()?;
        db::put_many(cx, &marks, &["viewed", "viewed_at", "modified"]).await
    }

    /// Returns a mark of the caller for `post` or, without one, for `topic` itself, that says nothing yet.
    fn blank(cx: &Context, topic: &Topic, post: Option<&TopicPost>) -> Result<Self> {
        let caller = cx.user_id()?;
        let of = post.map_or(&topic.id, |it| &it.id);
        Ok(Self {
            mark_id: format!("{of}:{caller}"),
            site_id: topic.site_id.clone(),
            topic_id: topic.id.clone(),
            post_id: post.map(|it| it.id.clone()),
            user_id: caller.to_owned(),
            modified: Millis(cx.now()),
            ..Self::default()
        })
    }
}
