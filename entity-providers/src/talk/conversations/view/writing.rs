//! The endpoints that write posts and comments.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Error, Input, Preconditions, Result, gate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Topic, TopicComment, TopicMark, TopicPost};
use super::posts::{CommentView, POSTS, PostView, of_topic, view};
use super::sending::{keep_name, sent, taken};
use super::topics::topic_of;
use super::{Nothing, Reader};

/// The maximum number of posts that are marked as viewed at once.
const MOST_VIEWED: usize = 1_000;

pub(super) const POST: &str = "/api/sites/{siteId}/topics/{topicId}/posts/{postId}";
const COMMENTS: &str = "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/comments";
const COMMENT: &str = "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/comments/{commentId}";

/// Describes the address of a post.
pub(super) const fn of_post(endpoint: Endpoint) -> Endpoint {
    of_topic(endpoint).variable("postId", "The post.")
}

const CREATE: Endpoint = of_topic(Endpoint::post(POSTS, "createPostInTopic"))
    .doc("Creates a post.")
    .takes::<SentPost>()
    .answers::<PostView>(&create);

const VIEWED: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/markpostsviewed",
    "markPostsOfTopicViewed",
))
.doc("Notes that the caller has viewed posts of the topic: their ids are sent.")
.takes::<Vec<String>>()
.answers::<Option<Nothing>>(&mark_viewed);

const UPDATE: Endpoint = of_post(Endpoint::put(POST, "updatePostOfTopic"))
    .doc("Changes the text of a post, or publishes a draft.")
    .takes::<SentPost>()
    .answers::<PostView>(&update);

const DELETE: Endpoint = of_post(Endpoint::delete(POST, "deletePostOfTopic"))
    .doc("Deletes a post with its comments, unless other posts answer it.")
    .answers::<Option<Nothing>>(&delete);

const LOCKED: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/locked",
    "lockPostOfTopic",
))
.doc("Lets only moderators answer a post and change it, or no longer.")
.takes::<bool>()
.answers::<PostView>(&lock);

const HIDDEN: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/hidden",
    "hidePostOfTopic",
))
.doc("Hides a post from all but moderators and its creator, or no longer.")
.takes::<bool>()
.answers::<Option<Nothing>>(&hide);

const REMARK: Endpoint = of_post(Endpoint::post(COMMENTS, "createCommentOnPost"))
    .doc("Creates a comment.")
    .takes::<SentComment>()
    .answers::<CommentView>(&remark);

const REVISE: Endpoint = of_post(Endpoint::put(COMMENT, "updateCommentOnPost"))
    .doc("Changes the text of a comment.")
    .variable("commentId", "The comment.")
    .takes::<SentComment>()
    .answers::<CommentView>(&revise);

const REMOVE: Endpoint = of_post(Endpoint::delete(COMMENT, "deleteCommentOnPost"))
    .doc("Deletes a comment.")
    .variable("commentId", "The comment.")
    .answers::<Option<Nothing>>(&remove);
entity_core::register_endpoint!(
    CREATE, VIEWED, UPDATE, DELETE, LOCKED, HIDDEN, REMARK, REVISE, REMOVE
);

/// A post as clients send it. What else they send has no effect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct SentPost {
    /// The text, as HTML. A new post needs it.
    message: Option<String>,
    /// The post that a new post answers.
    parent_post: Option<String>,
    private_post: Option<bool>,
    draft: Option<bool>,
    /// True for a new post without a name.
    anonymous: Option<bool>,
}

/// A comment as clients send it. What else they send has no effect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct SentComment {
    /// The text, as HTML.
    message: Option<String>,
}

/// Returns the topic and the post that the path names, if the caller sees them.
pub(super) async fn post_of(cx: &Context, call: &Call) -> Result<(Topic, TopicPost)> {
    let topic = topic_of(cx, call).await?;
    let post = gate::read::<TopicPost>(cx, call.variable("postId")?).await?;
    match post.topic_id == topic.id {
        true => Ok((topic, post)),
        false => Err(Error::not_found()),
    }
}

async fn create(cx: &Context, call: Call) -> Result<PostView> {
    let topic = topic_of(cx, &call).await?;
    let names = ["message", "parentPost", "privatePost", "draft", "anonymous"];
    let of = [("topicId", &topic.id), ("siteId", &topic.site_id)];
    let input = taken(&sent::<SentPost>(&call)?, &names, of);
    let made = gate::create::<TopicPost>(cx, &input).await?;
    view(cx, &topic, made).await
}

async fn change(cx: &Context, call: &Call, input: Input) -> Result<PostView> {
    let (topic, post) = post_of(cx, call).await?;
    let none = Preconditions::default();
    let changed = gate::update::<TopicPost>(cx, &post.id, &input, &none).await?;
    view(cx, &topic, changed).await
}

async fn update(cx: &Context, call: Call) -> Result<PostView> {
    let sent = sent::<SentPost>(&call)?;
    let (_, post) = post_of(cx, &call).await?;
    keep_name(&sent, post.anonymous)?;
    change(cx, &call, taken(&sent, &["message", "draft"], [])).await
}

async fn delete(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let (_, post) = post_of(cx, &call).await?;
    gate::delete::<TopicPost>(cx, &post.id, &Preconditions::default()).await?;
    Ok(None)
}

async fn lock(cx: &Context, call: Call) -> Result<PostView> {
    let input = Input::from_iter([("locked", call.body::<bool>()?)]);
    change(cx, &call, input).await
}

async fn hide(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let input = Input::from_iter([("hidden", call.body::<bool>()?)]);
    change(cx, &call, input).await?;
    Ok(None)
}

async fn mark_viewed(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let ids: Vec<String> = call.body()?;
    if ids.len() > MOST_VIEWED {
        let message = format!("at most {MOST_VIEWED} posts are marked at once");
        return Err(Error::limit_reached(message));
    }
    let topic = topic_of(cx, &call).await?;
    let mut posts = gate::read_many::<TopicPost>(cx, &ids).await?;
    posts.retain(|it| it.topic_id == topic.id);
    TopicMark::view(cx, &topic, &posts).await?;
    Ok(None)
}

/// Returns the topic, the post and the comment that the path names, if the caller sees them.
async fn comment_of(cx: &Context, call: &Call) -> Result<(Topic, TopicPost, TopicComment)> {
    let (topic, post) = post_of(cx, call).await?;
    let comment = gate::read::<TopicComment>(cx, call.variable("commentId")?).await?;
    match comment.post_id == post.id {
        true => Ok((topic, post, comment)),
        false => Err(Error::not_found()),
    }
}

async fn view_comment(
    cx: &Context,
    topic: &Topic,
    post: &TopicPost,
    comment: TopicComment,
) -> Result<CommentView> {
    let reader = Reader::of(cx, &topic.site_id).await?;
    let is_locked = topic.closed || post.locked;
    Ok(CommentView::of(comment, &reader, is_locked))
}

async fn remark(cx: &Context, call: Call) -> Result<CommentView> {
    let (topic, post) = post_of(cx, &call).await?;
    let of = [("postId", &post.id), ("siteId", &post.site_id)];
    let input = taken(&sent::<SentComment>(&call)?, &["message"], of);
    let made = gate::create::<TopicComment>(cx, &input).await?;
    view_comment(cx, &topic, &post, made).await
}

async fn revise(cx: &Context, call: Call) -> Result<CommentView> {
    let (topic, post, comment) = comment_of(cx, &call).await?;
    let input = taken(&sent::<SentComment>(&call)?, &["message"], []);
    let none = Preconditions::default();
    let changed = gate::update::<TopicComment>(cx, &comment.id, &input, &none).await?;
    view_comment(cx, &topic, &post, changed).await
}

async fn remove(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let (_, _, comment) = comment_of(cx, &call).await?;
    gate::delete::<TopicComment>(cx, &comment.id, &Preconditions::default()).await?;
    Ok(None)
}
