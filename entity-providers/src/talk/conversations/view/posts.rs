//! `/api/sites/{siteId}/topics/{topicId}/posts`: posts and comments as clients show them.

use std::collections::{BTreeMap, HashMap, HashSet};

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Error, ErrorKind, Result, View, encode_segment};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{INSTRUCTOR, MODERATE, Topic, TopicComment, TopicPost, comment, post};
use super::heads::Heads;
use super::topics::topic_of;
use super::{Link, Reader, formatted, links, path_of_topics, seconds};
use crate::base::search::all;

pub(super) const POSTS: &str = "/api/sites/{siteId}/topics/{topicId}/posts";

/// Describes an address below a topic.
pub(super) const fn of_topic(endpoint: Endpoint) -> Endpoint {
    endpoint
        .tag("conversations-post")
        .variable("siteId", "The site.")
        .variable("topicId", "The topic.")
        .refuses(&[
            ErrorKind::Forbidden,
            ErrorKind::NotFound,
            ErrorKind::Conflict,
        ])
}

const LIST: Endpoint = of_topic(Endpoint::get(POSTS, "listPostsOfTopic"))
    .doc("Ten of the threads of a topic, each with the posts and comments in it that the caller sees.")
    .text("page", "the number of the page; 0 for the first, which is the default")
    .text(
        "sort",
        "`NEWEST` (the default), `OLDEST`, `MOST_ACTIVE`, `LEAST_ACTIVE`, `ASC_CREATOR` or `DESC_CREATOR`",
    )
    .text("postId", "a post, for the page with the thread that has it")
    .answers::<Vec<PostView>>(&list);
entity_core::register_endpoint!(LIST);

/// A post, with what the caller may do.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = TopicPost, beside(within: &mut Thread<'_>), with(
    locked = within.topic.closed || it.locked,
    comments = within.comments_on(it, locked),
    posts = within.answers_to(it),
    how_active = comments.len() + posts.iter().map(|it| it.how_active + 1).sum::<usize>(),
    number_of_thread_reactions = it.reaction_totals.0.values().sum::<i64>()
        + posts.iter().map(|it| it.number_of_thread_reactions).sum::<i64>(),
    created = seconds(it.created),
    formatted_created_date = formatted(it.created),
    modified = seconds(it.modified),
    formatted_modified_date = formatted(it.modified),
    my_reactions = it.my_reactions.0.clone(),
    reaction_totals = it.reaction_totals.0.clone(),
    is_thread = it.depth == 1,
    thread = is_thread,
    topic = it.topic_id.clone(),
    parent_is_private = it.private_post && it.depth > 1,
    verifier_display_name = Some(it.verifier_display_name.clone()).filter(|it| !it.is_empty()),
))]
#[view(with(
    reader = within.reader,
    may = |any, own| reader.may(any, own, &it.creator, locked),
    is_mine = it.creator == reader.id,
    mine = is_mine,
    instructor = it.is_instructor,
    can_view = true,
    can_edit = may(post::UPDATE_ANY, post::UPDATE_OWN),
    can_delete = posts.is_empty() && may(post::DELETE_ANY, post::DELETE_OWN),
    can_reply = may(post::CREATE, post::CREATE) && it.depth < post::DEEPEST && !it.draft,
    can_comment = may(comment::CREATE, comment::CREATE),
    can_upvote = reader.may_vote(&it.creator, locked),
    can_view_upvotes = reader.settings.allow_upvoting,
    can_react = reader.may_react(&it.creator, locked),
    can_moderate = can_edit && reader.has(MODERATE),
    can_grade = false,
    grade = None,
    properties = None,
))]
#[view(with(
    siblings = format!("{}{}/posts", path_of_topics(&it.site_id), encode_segment(&it.topic_id)),
    url = format!("{siblings}/{}", encode_segment(&it.id)),
    portal_url = format!("{}/direct/conversations-post/{}.html", within.cx.base_url(), it.id),
    reference = format!("/conversations/{}/p/{}", it.site_id, it.id),
    links = links([
        (true, "self", &url, ""),
        (can_reply, "reply", &siblings, ""),
        (can_delete, "delete", &url, ""),
        (can_react, "react", &url, "/reactions"),
        (can_upvote, "upvote", &url, "/upvote"),
        (can_upvote, "unupvote", &url, "/unupvote"),
        (can_moderate, "lock", &url, "/locked"),
        (can_moderate, "hide", &url, "/hidden"),
    ]),
))]
pub(super) struct PostView {
    id: String,
    message: String,
    number_of_comments: i64,
    /// The number of reactions to the post and to those below it.
    number_of_thread_reactions: i64,
    /// The number of posts and comments below the post.
    how_active: usize,
    comments: Vec<CommentView>,
    creator: String,
    /// The instant of the creation, in seconds since 1970, as all instants.
    created: f64,
    formatted_created_date: String,
    site_id: String,
    modifier: String,
    modified: f64,
    formatted_modified_date: String,
    my_reactions: BTreeMap<&'static str, bool>,
    reaction_totals: BTreeMap<&'static str, i64>,
    locked: bool,
    hidden: bool,
    draft: bool,
    anonymous: bool,
    is_mine: bool,
    mine: bool,
    private_post: bool,
    upvotes: i64,
    depth: i64,
    topic: String,
    parent_post: Option<String>,
    parent_is_private: bool,
    parent_thread: Option<String>,
    is_thread: bool,
    thread: bool,
    /// The posts that answer this one, the oldest first.
    posts: Vec<PostView>,
    creator_display_name: String,
    /// The name of whoever has marked the post as the answer to the question.
    verifier_display_name: Option<String>,
    viewed: bool,
    upvoted: bool,
    can_view: bool,
    can_edit: bool,
    can_delete: bool,
    can_reply: bool,
    can_comment: bool,
    can_upvote: bool,
    can_view_upvotes: bool,
    can_react: bool,
    can_moderate: bool,
    can_grade: bool,
    is_instructor: bool,
    instructor: bool,
    late: bool,
    url: String,
    /// The address of the page of the post.
    portal_url: String,
    reference: String,
    /// Always null: posts are not graded.
    grade: Option<String>,
    properties: Option<String>,
    links: Vec<Link>,
}

/// A comment, with what the caller may do.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = TopicComment, beside(reader: &Reader, locked: bool), with(
    may = |any, own| reader.may(any, own, &it.creator, locked),
    created = seconds(it.created),
    formatted_created_date = formatted(it.created),
    modified = seconds(it.modified),
    formatted_modified_date = formatted(it.modified),
    can_view = true,
    can_edit = may(comment::UPDATE_ANY, comment::UPDATE_OWN),
    can_delete = may(comment::DELETE_ANY, comment::DELETE_OWN),
))]
pub(super) struct CommentView {
    id: String,
    message: String,
    creator: String,
    created: f64,
    formatted_created_date: String,
    modifier: String,
    modified: f64,
    formatted_modified_date: String,
    post_id: String,
    site_id: String,
    topic_id: String,
    locked: bool,
    creator_display_name: String,
    can_view: bool,
    can_edit: bool,
    can_delete: bool,
}

/// The posts of a topic, for one reader.
pub(super) struct Thread<'a> {
    cx: &'a Context,
    topic: &'a Topic,
    reader: &'a Reader,
    comments: HashMap<String, Vec<TopicComment>>,
    answers: HashMap<String, Vec<TopicPost>>,
}

impl Thread<'_> {
    fn comments_on(&mut self, post: &TopicPost, is_locked: bool) -> Vec<CommentView> {
        let found = self.comments.remove(&post.id).unwrap_or_default();
        let view = |it| CommentView::of(it, self.reader, is_locked);
        found.into_iter().map(view).collect()
    }

    fn answers_to(&mut self, post: &TopicPost) -> Vec<PostView> {
        let found = self.answers.remove(&post.id).unwrap_or_default();
        found.into_iter().map(|it| PostView::of(it, self)).collect()
    }
}

async fn list(cx: &Context, call: Call) -> Result<Vec<PostView>> {
    let Ok(page) = call.parameter("page").unwrap_or("0").parse::<u32>() else {
        return Err(Error::field("page", "must be a whole number, 0 or more"));
    };
    let topic = topic_of(cx, &call).await?;
    let reader = Reader::of(cx, &topic.site_id).await?;
    let sees_all = reader.has(INSTRUCTOR) || reader.has(MODERATE) || topic.creator == reader.id;
    if topic.must_post_before_viewing && !topic.has_posted && !sees_all {
        return Err(Error::new(
            ErrorKind::Forbidden,
            "post before you read the posts of others",
        ));
    }
    let heads = Heads::of(cx, &topic, &call, page).await?;
    let posts = heads.posts(cx).await?;
    let mut views = threads(cx, &topic, &reader, posts).await?;
    views.retain(|it| heads.place(&it.id).is_some());
    views.sort_by_key(|it| heads.place(&it.id));
    Ok(views)
}

/// Puts `posts` below those that they answer. What answers a post that the caller does not see stands for itself.
async fn threads(
    cx: &Context,
    topic: &Topic,
    reader: &Reader,
    posts: Vec<TopicPost>,
) -> Result<Vec<PostView>> {
    let ids: HashSet<String> = posts.iter().map(|it| it.id.clone()).collect();
    let commented = posts.iter().filter(|it| it.number_of_comments > 0);
    let commented: Vec<_> = commented.map(|it| &it.id).collect();
    let mut comments: HashMap<String, Vec<TopicComment>> = HashMap::new();
    if !commented.is_empty() {
        let of_posts = TopicComment::FIELD.post_id.is_in(commented);
        for it in all::<TopicComment>(cx, &of_posts).await? {
            comments.entry(it.post_id.clone()).or_default().push(it);
        }
    }
    let mut answers: HashMap<String, Vec<TopicPost>> = HashMap::new();
    let mut first = Vec::new();
    for it in posts {
        match it.parent_post.clone().filter(|it| ids.contains(it)) {
            Some(above) => answers.entry(above).or_default().push(it),
            None => first.push(it),
        }
    }
    let mut thread = Thread {
        cx,
        topic,
        reader,
        comments,
        answers,
    };
    let views = first.into_iter();
    Ok(views.map(|it| PostView::of(it, &mut thread)).collect())
}

/// Returns a post with the comments and posts below it.
pub(super) async fn view(cx: &Context, topic: &Topic, post: TopicPost) -> Result<PostView> {
    let reader = Reader::of(cx, &topic.site_id).await?;
    let posts = all(cx, &TopicPost::FIELD.parent_post.eq(&post.id)).await?;
    let comments = all(cx, &TopicComment::FIELD.post_id.eq(&post.id)).await?;
    let id = post.id.clone();
    let mut thread = Thread {
        cx,
        topic,
        reader: &reader,
        comments: [(id.clone(), comments)].into(),
        answers: [(id, posts)].into(),
    };
    Ok(PostView::of(post, &mut thread))
}
