//! `/api/sites/{siteId}/topics`: topics as clients show them.

use std::collections::BTreeMap;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::wire::Millis;
use entity_core::{Context, Error, ErrorKind, Result, View, encode_segment, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{DELETE_ANY, DELETE_OWN, MODERATE, Topic, UPDATE_ANY, UPDATE_OWN};
use super::super::{post, tag};
use super::tags::TagView;
use super::{Link, Reader, formatted, links, path_of_topics, seconds};
use crate::people::group;

/// The errors of everything that writes topics.
const REFUSALS: &[ErrorKind] = &[
    ErrorKind::Forbidden,
    ErrorKind::NotFound,
    ErrorKind::Conflict,
];
pub(super) const TOPIC: &str = "/api/sites/{siteId}/topics/{topicId}";

/// Describes the address of one topic.
pub(super) const fn of_topic(endpoint: Endpoint) -> Endpoint {
    in_site(endpoint).variable("topicId", "The topic.")
}

/// Describes an address below a site.
pub(super) const fn in_site(endpoint: Endpoint) -> Endpoint {
    endpoint
        .tag("conversations")
        .variable("siteId", "The site.")
        .refuses(REFUSALS)
}

const READ: Endpoint = of_topic(Endpoint::get(TOPIC, "readTopicOfSite"))
    .doc("A topic.")
    .answers::<TopicView>(&read);
entity_core::register_endpoint!(READ);

/// A topic, with what the caller may do.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Topic, beside(cx: &Context, reader: &Reader), with(
    about_reference = format!("/site/{}", it.site_id),
    created = seconds(it.created),
    formatted_created_date = formatted(it.created),
    modified = seconds(it.modified),
    formatted_modified_date = formatted(it.modified),
    tags = reader.tags_of(it),
    my_reactions = it.my_reactions.0.clone(),
    reaction_totals = it.reaction_totals.0.clone(),
    groups = it.groups.iter().map(|id| group::reference(&it.site_id, id)).collect(),
    due_date_calendar_event_id = None,
    show_message_schedule_id = None,
    availability = None,
    graded = false,
    create_grading_item = false,
    grading_item_id = None,
    grading_points = None,
    grading_category = -1,
    properties = None,
))]
#[view(with(
    has_passed = |at: Option<Millis>| at.is_some_and(|it| it.0 <= cx.now()),
    show_date = it.show_date.map(seconds),
    hide_date = it.hide_date.map(seconds),
    lock_date = it.lock_date.map(seconds),
    due_date = it.due_date.map(seconds),
    formatted_due_date = it.due_date.map(formatted),
    past_due_date = has_passed(it.due_date),
    hidden_by_date = it.show_date.is_some_and(|it| it.0 > cx.now()) || has_passed(it.hide_date),
    locked_by_date = has_passed(it.lock_date.or(it.due_date)),
))]
#[view(with(
    may = |any, own| reader.may(any, own, &it.creator, it.closed),
    is_mine = it.creator == reader.id,
    mine = is_mine,
    can_edit = may(UPDATE_ANY, UPDATE_OWN),
    can_delete = may(DELETE_ANY, DELETE_OWN),
    can_post = may(post::CREATE, post::CREATE),
    can_pin = can_edit && reader.may_pin(),
    can_bookmark = reader.settings.allow_bookmarking,
    can_tag = can_edit && reader.has(tag::TAG),
    can_upvote = reader.may_vote(&it.creator, it.closed),
    can_view_upvotes = reader.settings.allow_upvoting,
    can_react = reader.may_react(&it.creator, it.closed),
    can_moderate = can_edit && reader.has(MODERATE),
    url = path_of_topics(&it.site_id) + &encode_segment(&it.id),
    portal_url = format!("{}/direct/conversations/{}.html", cx.base_url(), it.id),
    reference = format!("/conversations/{}/t/{}", it.site_id, it.id),
    links = links([
        (true, "self", &url, ""),
        (true, "bookmark", &url, "/bookmarked"),
        (true, "markpostsviewed", &url, "/posts/markpostsviewed"),
        (true, "posts", &url, "/posts"),
        (can_pin, "pin", &url, "/pinned"),
        (can_post, "post", &url, "/posts"),
        (can_delete, "delete", &url, ""),
        (can_react, "react", &url, "/reactions"),
        (can_moderate, "lock", &url, "/locked"),
        (can_moderate, "hide", &url, "/hidden"),
        (can_upvote, "upvote", &url, "/upvote"),
        (can_upvote, "unupvote", &url, "/unupvote"),
    ]),
))]
pub(super) struct TopicView {
    id: String,
    title: String,
    site_id: String,
    about_reference: String,
    message: String,
    number_of_posts: i64,
    number_of_threads: i64,
    number_of_unread_posts: i64,
    viewed: bool,
    has_posted: bool,
    bookmarked: bool,
    upvoted: bool,
    creator: String,
    modifier: String,
    /// The instant of the creation, in seconds since 1970, as all instants.
    created: f64,
    modified: f64,
    formatted_created_date: String,
    formatted_modified_date: String,
    formatted_due_date: Option<String>,
    pinned: bool,
    #[view(of = closed)]
    locked: bool,
    hidden: bool,
    resolved: bool,
    draft: bool,
    must_post_before_viewing: bool,
    anonymous: bool,
    allow_anonymous_posts: bool,
    tags: Vec<TagView>,
    my_reactions: BTreeMap<&'static str, bool>,
    reaction_totals: BTreeMap<&'static str, i64>,
    /// The references of the groups.
    groups: Vec<String>,
    #[view(of = kind)]
    r#type: String,
    visibility: String,
    show_date: Option<f64>,
    hide_date: Option<f64>,
    lock_date: Option<f64>,
    due_date: Option<f64>,
    due_date_calendar_event_id: Option<String>,
    show_message_schedule_id: Option<String>,
    past_due_date: bool,
    hidden_by_date: bool,
    locked_by_date: bool,
    upvotes: i64,
    grading_item_id: Option<i64>,
    creator_display_name: String,
    can_edit: bool,
    can_delete: bool,
    can_post: bool,
    can_pin: bool,
    can_bookmark: bool,
    can_tag: bool,
    can_upvote: bool,
    can_view_upvotes: bool,
    can_react: bool,
    can_moderate: bool,
    is_mine: bool,
    mine: bool,
    availability: Option<&'static str>,
    pub(super) url: String,
    /// The address of the page of the topic.
    portal_url: String,
    reference: String,
    graded: bool,
    create_grading_item: bool,
    grading_points: Option<f64>,
    grading_category: i64,
    properties: Option<String>,
    links: Vec<Link>,
}

impl TopicView {
    /// Returns what a new topic is before anything is written.
    pub(super) fn blank(cx: &Context, site: &str, reader: &Reader) -> Self {
        let blank = Topic {
            kind: "QUESTION".to_owned(),
            visibility: "SITE".to_owned(),
            site_id: site.to_owned(),
            creator: reader.id.clone(),
            created: Millis(cx.now()),
            modified: Millis(cx.now()),
            ..Topic::default()
        };
        let topics = path_of_topics(site);
        Self {
            availability: Some("AVAILABILITY_NOW"),
            url: topics.trim_end_matches('/').to_owned(),
            portal_url: format!(
                "{}/direct/conversations.html?siteId={}",
                cx.base_url(),
                encode_segment(site)
            ),
            links: Vec::new(),
            ..Self::of(blank, cx, reader)
        }
    }
}

/// Returns the topic that the path names, if the caller sees it.
pub(super) async fn topic_of(cx: &Context, call: &Call) -> Result<Topic> {
    let topic = gate::read::<Topic>(cx, call.variable("topicId")?).await?;
    match topic.site_id == call.variable("siteId")? {
        true => Ok(topic),
        false => Err(Error::not_found()),
    }
}

/// Returns a topic with what the caller may do.
pub(super) async fn view(cx: &Context, topic: Topic) -> Result<TopicView> {
    let reader = Reader::of_topics(cx, &topic.site_id).await?;
    Ok(TopicView::of(topic, cx, &reader))
}

async fn read(cx: &Context, call: Call) -> Result<TopicView> {
    view(cx, topic_of(cx, &call).await?).await
}
