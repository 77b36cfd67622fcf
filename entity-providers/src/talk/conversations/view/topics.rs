//! `/api/sites/{siteId}/topics`: topics as clients show them.

use std::collections::BTreeMap;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::wire::Millis;
use entity_core::{Context, Error, ErrorKind, Result, encode_segment, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{DELETE_ANY, DELETE_OWN, MODERATE, Topic, UPDATE_ANY, UPDATE_OWN};
use super::super::{post, tag};
use super::tags::TagView;
use super::{Link, Reader, formatted, path_of_topics, seconds};
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "clients read independent truths"
)]
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
    pub(super) fn of(cx: &Context, topic: Topic, reader: &Reader) -> Self {
        let url = path_of_topics(&topic.site_id) + &encode_segment(&topic.id);
        let now = cx.now();
        let has_passed = |at: Option<Millis>| at.is_some_and(|it| it.0 <= now);
        let is_mine = topic.creator == reader.id;
        let may = |any, own| reader.may(any, own, &topic.creator, topic.closed);
        let reference = format!("/conversations/{}/t/{}", topic.site_id, topic.id);
        let references = topic.groups.iter();
        let references = references.map(|it| group::reference(&topic.site_id, it));
        let mut view = Self {
            about_reference: format!("/site/{}", topic.site_id),
            number_of_posts: topic.number_of_posts,
            number_of_threads: topic.number_of_threads,
            number_of_unread_posts: topic.number_of_unread_posts,
            viewed: topic.viewed,
            has_posted: topic.has_posted,
            bookmarked: topic.bookmarked,
            upvoted: topic.upvoted,
            created: seconds(topic.created),
            modified: seconds(topic.modified),
            formatted_created_date: formatted(topic.created),
            formatted_modified_date: formatted(topic.modified),
            formatted_due_date: topic.due_date.map(formatted),
            pinned: topic.pinned,
            locked: topic.closed,
            hidden: topic.hidden,
            resolved: topic.resolved,
            draft: topic.draft,
            must_post_before_viewing: topic.must_post_before_viewing,
            anonymous: topic.anonymous,
            allow_anonymous_posts: topic.allow_anonymous_posts,
            tags: reader.tags_of(&topic),
            my_reactions: topic.my_reactions.0,
            reaction_totals: topic.reaction_totals.0,
            groups: references.collect(),
            show_date: topic.show_date.map(seconds),
            hide_date: topic.hide_date.map(seconds),
            lock_date: topic.lock_date.map(seconds),
            due_date: topic.due_date.map(seconds),
            due_date_calendar_event_id: None,
            show_message_schedule_id: None,
            past_due_date: has_passed(topic.due_date),
            hidden_by_date: topic.show_date.is_some_and(|it| it.0 > now)
                || has_passed(topic.hide_date),
            locked_by_date: has_passed(topic.lock_date.or(topic.due_date)),
            upvotes: topic.upvotes,
            grading_item_id: None,
            can_edit: may(UPDATE_ANY, UPDATE_OWN),
            can_delete: may(DELETE_ANY, DELETE_OWN),
            can_post: may(post::CREATE, post::CREATE),
            can_pin: reader.may_pin() && may(UPDATE_ANY, UPDATE_OWN),
            can_bookmark: reader.settings.allow_bookmarking,
            can_tag: reader.has(tag::TAG) && may(UPDATE_ANY, UPDATE_OWN),
            can_upvote: reader.may_vote(&topic.creator, topic.closed),
            can_view_upvotes: reader.settings.allow_upvoting,
            can_react: reader.may_react(&topic.creator, topic.closed),
            can_moderate: reader.has(MODERATE) && may(UPDATE_ANY, UPDATE_OWN),
            is_mine,
            mine: is_mine,
            availability: None,
            portal_url: format!("{}/direct/conversations/{}.html", cx.base_url(), topic.id),
            reference,
            graded: false,
            create_grading_item: false,
            grading_points: None,
            grading_category: -1,
            properties: None,
            links: Vec::new(),
            id: topic.id,
            title: topic.title,
            site_id: topic.site_id,
            message: topic.message,
            creator: topic.creator,
            modifier: topic.modifier,
            r#type: topic.kind,
            visibility: topic.visibility,
            creator_display_name: topic.creator_display_name,
            url,
        };
        view.links = view.to_links();
        view
    }

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
            ..Self::of(cx, blank, reader)
        }
    }

    fn to_links(&self) -> Vec<Link> {
        let links = [
            (true, "self", ""),
            (true, "bookmark", "/bookmarked"),
            (true, "markpostsviewed", "/posts/markpostsviewed"),
            (true, "posts", "/posts"),
            (self.can_pin, "pin", "/pinned"),
            (self.can_post, "post", "/posts"),
            (self.can_delete, "delete", ""),
            (self.can_react, "react", "/reactions"),
            (self.can_moderate, "lock", "/locked"),
            (self.can_moderate, "hide", "/hidden"),
            (self.can_upvote, "upvote", "/upvote"),
            (self.can_upvote, "unupvote", "/unupvote"),
        ];
        let links = links.into_iter().filter(|it| it.0);
        let links = links.map(|(_, rel, below)| Link {
            rel,
            href: format!("{}{below}", self.url),
        });
        links.collect()
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
    Ok(TopicView::of(cx, topic, &reader))
}

async fn read(cx: &Context, call: Call) -> Result<TopicView> {
    view(cx, topic_of(cx, &call).await?).await
}
