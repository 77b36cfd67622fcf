//! `/api/sites/{siteId}/conversations`: all that clients show of the conversations of a site, with links to what the
//! caller may do.

mod heads;
mod posts;
mod reacting;
mod sending;
mod settings;
mod statistics;
mod tags;
mod topics;
mod writing;

use entity_core::db;
use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::wire::Millis;
use entity_core::{Context, ErrorKind, Need, Result, Search, encode_segment, gate};
use schemars::JsonSchema;
use serde::Serialize;

use self::settings::SettingsView;
use self::tags::TagView;
use self::topics::TopicView;
use super::{CREATE_DISCUSSION, CREATE_QUESTION, INSTRUCTOR, MODERATE, PIN, Topic, VIEW_GROUPS};
use super::{ConversationSettings, VIEW_ANONYMOUS, comment, post, reaction, tag};
use super::{DELETE_ANY, DELETE_OWN, UPDATE_ANY, UPDATE_OWN};
use crate::people::group;

const OF_SITE: Endpoint = Endpoint::get(
    "/api/sites/{siteId}/conversations",
    "listConversationsOfSite",
)
.doc("The conversations of a site: the topics that the caller sees, and what the caller may do.")
.tag("conversations")
.variable("siteId", "The site.")
.refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
.answers::<Paged<Bundle>>(&of_site);
entity_core::register_endpoint!(
    OF_SITE,
    also("/api/sites/{siteId}/topics", "listTopicsOfSite")
);

/// The functions that decide what is offered to the caller.
const FUNCTIONS: [&str; 27] = [
    "site.upd",
    MODERATE,
    INSTRUCTOR,
    VIEW_GROUPS,
    PIN,
    CREATE_QUESTION,
    CREATE_DISCUSSION,
    UPDATE_ANY,
    UPDATE_OWN,
    DELETE_ANY,
    DELETE_OWN,
    post::CREATE,
    post::UPDATE_ANY,
    post::UPDATE_OWN,
    post::DELETE_ANY,
    post::DELETE_OWN,
    comment::CREATE,
    comment::UPDATE_ANY,
    comment::UPDATE_OWN,
    comment::DELETE_ANY,
    comment::DELETE_OWN,
    reaction::REACT,
    reaction::UPVOTE,
    tag::CREATE,
    tag::TAG,
    VIEW_ANONYMOUS,
    statistics::VIEW,
];

/// The caller in a site, with the functions that they hold there, and what the site offers.
struct Reader {
    id: String,
    held: Vec<&'static str>,
    settings: ConversationSettings,
    /// The tags of the site; empty where no topics are shown.
    tags: Vec<TagView>,
}

impl Reader {
    async fn of(cx: &Context, site: &str) -> Result<Self> {
        let mut held = Vec::new();
        for function in FUNCTIONS {
            if gate::holds(cx, function, site).await? {
                held.push(function);
            }
        }
        Ok(Self {
            id: cx.user_id()?.to_owned(),
            held,
            settings: ConversationSettings::of(cx, site).await?,
            tags: Vec::new(),
        })
    }

    /// Returns the caller with the tags of the site, for whom topics are shown.
    async fn of_topics(cx: &Context, site: &str) -> Result<Self> {
        Ok(Self {
            tags: tags::of_site(cx, site).await?,
            ..Self::of(cx, site).await?
        })
    }

    fn has(&self, function: &str) -> bool {
        self.held.contains(&function)
    }

    /// Returns whether the caller holds `function` for something new in the site, which may be locked.
    fn may_add(&self, function: &str) -> bool {
        self.has(function) && (!self.settings.site_locked || self.has(MODERATE))
    }

    /// Returns whether the caller pins topics.
    fn may_pin(&self) -> bool {
        self.settings.allow_pinning && self.has(PIN)
    }

    /// Returns the tags of `topic`.
    fn tags_of(&self, topic: &Topic) -> Vec<TagView> {
        let is_tagged = |it: &&TagView| topic.tags.0.iter().any(|id| it.has_id(id));
        self.tags.iter().filter(is_tagged).cloned().collect()
    }

    /// Returns whether the caller reacts to what `creator` wrote.
    fn may_react(&self, creator: &str, is_locked: bool) -> bool {
        self.settings.allow_reactions
            && self.id != creator
            && self.may(reaction::REACT, reaction::REACT, creator, is_locked)
    }

    /// Returns whether the caller votes for what `creator` wrote.
    fn may_vote(&self, creator: &str, is_locked: bool) -> bool {
        self.settings.allow_upvoting
            && self.id != creator
            && self.may(reaction::UPVOTE, reaction::UPVOTE, creator, is_locked)
    }

    /// Returns whether the caller may change what `creator` wrote, if they hold `any`, or `own` for what is their own.
    /// Locked posts are for moderators.
    fn may(&self, any: &str, own: &str, creator: &str, is_locked: bool) -> bool {
        let is_held = self.has(any) || (self.id == creator && self.has(own));
        is_held && (!is_locked || self.has(MODERATE))
    }
}

/// The conversations of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    /// The internal id of the caller.
    user_id: String,
    /// The site.
    site_id: String,
    /// The groups for which the caller may write topics.
    groups: Vec<GroupView>,
    /// The topics that the caller sees.
    topics: Vec<TopicView>,
    can_create_question: bool,
    can_create_discussion: bool,
    can_create_topic: bool,
    can_update_permissions: bool,
    can_edit_tags: bool,
    can_view_site_statistics: bool,
    can_pin: bool,
    is_instructor: bool,
    can_view_anonymous: bool,
    settings: SettingsView,
    /// True if the caller has not agreed to the guidelines, and is to.
    show_guidelines: bool,
    /// The tags that the caller may put on topics.
    tags: Vec<TagView>,
    /// The number of posts that answer each other, the first one included.
    max_thread_depth: i64,
    disable_discussions: bool,
    search_enabled: bool,
    /// The new topic before anything is written.
    blank_topic: TopicView,
    links: Vec<Link>,
}

/// A group of the site.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConversationsGroup")]
struct GroupView {
    id: String,
    reference: String,
    title: String,
    /// The internal ids of its members, for those who may change them; for others no more than their own.
    users: Vec<String>,
}

/// Where something can be done.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConversationsLink")]
struct Link {
    /// The relation.
    rel: &'static str,
    /// The path.
    href: String,
}

/// The success of a request that is answered by nothing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConversationsNothing")]
struct Nothing {}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<Bundle>> {
    let (site, window) = (call.variable("siteId")?, call.window()?);
    gate::demand_in_site(cx, Need::Site("site.visit"), Some(site)).await?;
    let mut search = Search::part(window);
    search.narrow_to_site::<Topic>(site)?;
    let page = gate::list::<Topic>(cx, search).await?;
    let reader = Reader::of_topics(cx, site).await?;
    let groups = groups(cx, site, &reader).await?;
    let show_guidelines = reader.settings.shows_guidelines(cx).await?;
    let page = page.map(|it| TopicView::of(it, cx, &reader));
    Paged::of(cx, page, window, |topics| Bundle {
        user_id: reader.id.clone(),
        site_id: site.to_owned(),
        groups,
        topics,
        can_create_question: reader.may_add(CREATE_QUESTION),
        can_create_discussion: reader.may_add(CREATE_DISCUSSION),
        can_create_topic: reader.may_add(CREATE_QUESTION) || reader.may_add(CREATE_DISCUSSION),
        can_update_permissions: reader.has("site.upd"),
        can_edit_tags: reader.may_add(tag::CREATE),
        can_view_site_statistics: reader.has(statistics::VIEW),
        can_pin: reader.may_pin(),
        is_instructor: reader.has(INSTRUCTOR),
        can_view_anonymous: reader.has(VIEW_ANONYMOUS),
        settings: SettingsView::of(reader.settings.clone()),
        show_guidelines,
        tags: match reader.has(tag::TAG) {
            true => reader.tags.clone(),
            false => Vec::new(),
        },
        max_thread_depth: post::DEEPEST,
        disable_discussions: false,
        search_enabled: false,
        blank_topic: TopicView::blank(cx, site, &reader),
        links: links([(
            reader.has(statistics::VIEW),
            "stats",
            &format!("/api/sites/{}/conversations/stats", encode_segment(site)),
            "",
        )]),
    })
}

/// Returns the links for which the first value is true: the relation of each, and the two parts of its path.
fn links<const N: usize>(links: [(bool, &'static str, &str, &str); N]) -> Vec<Link> {
    let links = links.into_iter().filter(|it| it.0);
    let links = links.map(|(_, rel, path, below)| Link {
        rel,
        href: format!("{path}{below}"),
    });
    links.collect()
}

/// Returns the groups for which the caller may write topics, in the order of their titles.
async fn groups(cx: &Context, site: &str, reader: &Reader) -> Result<Vec<GroupView>> {
    let sees_members = group::may_manage(cx, site).await?;
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT g.id, g.title, m.user_id FROM site_group g LEFT JOIN group_member m ON m.group_id = g.id",
    );
    if !sees_members {
        sql.push(" AND m.user_id = ").bind(reader.id.as_str());
    }
    sql.push(" WHERE g.site_id = ").bind(site);
    if !reader.has(VIEW_GROUPS) {
        sql.push(
            " AND EXISTS (SELECT 1 FROM group_member o WHERE o.group_id = g.id AND o.user_id = ",
        );
        sql.bind(reader.id.as_str()).push(")");
    }
    sql.push(" ORDER BY g.title, g.id, m.user_id");
    let rows: Vec<(String, String, Option<String>)> =
        db.scan(sql.into_statement(), db::columns).await?;
    let mut groups: Vec<GroupView> = Vec::new();
    for (id, title, user) in rows {
        match groups.last_mut() {
            Some(last) if last.id == id => last.users.extend(user),
            _ => groups.push(GroupView {
                reference: group::reference(site, &id),
                id,
                title,
                users: user.into_iter().collect(),
            }),
        }
    }
    Ok(groups)
}

/// Returns the path of the topics of a site, which ends with a slash.
fn path_of_topics(site: &str) -> String {
    format!("/api/sites/{}/topics/", encode_segment(site))
}

/// Returns an instant in seconds since 1970.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "milliseconds of our times have fewer than 53 bits"
)]
fn seconds(at: Millis) -> f64 {
    at.0.timestamp_millis() as f64 / 1000.0
}

/// Returns an instant as people read it.
fn formatted(at: Millis) -> String {
    at.0.format("%-d %b %Y, %H:%M UTC").to_string()
}
