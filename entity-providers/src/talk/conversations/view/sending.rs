//! The endpoints that write topics.

use entity_core::endpoint::{Call, Created, Endpoint};
use entity_core::{Context, DateTimeUtc, Error, Input, Preconditions, Result, gate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::reaction::Thing;
use super::super::settings::switched_off;
use super::super::{ConversationSettings, Topic, TopicMark};
use super::Nothing;
use super::topics::{TOPIC, TopicView, in_site, of_topic, topic_of, view};

const CONVERSE: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations",
    "createConversationInSite",
))
.doc("Creates a topic.")
.takes::<SentTopic>()
.answers::<Created<TopicView>>(&converse);

const CREATE: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/topics",
    "createTopicInSite",
))
.doc("Creates a topic, as other clients do.")
.takes::<SentTopic>()
.answers::<TopicView>(&create);

const UPDATE: Endpoint = of_topic(Endpoint::put(TOPIC, "updateTopicOfSite"))
    .doc("Changes those fields of a topic that are sent.")
    .takes::<SentTopic>()
    .answers::<TopicView>(&update);

const DELETE: Endpoint = of_topic(Endpoint::delete(TOPIC, "deleteTopicOfSite"))
    .doc("Deletes a topic with all posts and comments.")
    .answers::<Option<Nothing>>(&delete);

const PINNED: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/pinned",
    "pinTopicOfSite",
))
.doc("Lets a topic come before others, or no longer.")
.takes::<bool>()
.answers::<Option<Nothing>>(&pin);

const HIDDEN: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/hidden",
    "hideTopicOfSite",
))
.doc("Hides a topic from all but moderators and its creator, or no longer.")
.takes::<bool>()
.answers::<Option<Nothing>>(&hide);

const LOCKED: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/locked",
    "lockTopicOfSite",
))
.doc("Lets only moderators write in a topic, or no longer.")
.takes::<bool>()
.answers::<TopicView>(&lock);

const BOOKMARKED: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/bookmarked",
    "bookmarkTopicOfSite",
))
.doc("Marks a topic for the caller, or no longer.")
.takes::<bool>()
.answers::<Option<Nothing>>(&bookmark);
entity_core::register_endpoint!(
    CONVERSE, CREATE, UPDATE, DELETE, PINNED, HIDDEN, LOCKED, BOOKMARKED
);

/// A topic as clients send it. What else they send has no effect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct SentTopic {
    /// The headline. A new topic needs it.
    title: Option<String>,
    /// The text, as HTML.
    message: Option<String>,
    /// `QUESTION` or `DISCUSSION`, for a new topic.
    r#type: Option<String>,
    /// `SITE`, `INSTRUCTORS` or `GROUP`.
    visibility: Option<String>,
    /// The references or ids of groups, for the visibility `GROUP`.
    groups: Option<Vec<String>>,
    draft: Option<bool>,
    pinned: Option<bool>,
    must_post_before_viewing: Option<bool>,
    /// The instant from which on others than moderators see the topic, in seconds since 1970 or ISO 8601.
    show_date: Option<Value>,
    /// The instant from which on they no longer see it.
    hide_date: Option<Value>,
    /// The instant from which on the topic is locked.
    lock_date: Option<Value>,
    /// The instant at which the topic is due.
    due_date: Option<Value>,
    /// True for a new topic without a name.
    anonymous: Option<bool>,
    /// True if members may post without their names.
    allow_anonymous_posts: Option<bool>,
    /// Must not be true: topics are not graded.
    graded: Option<bool>,
    /// The tags, or their ids.
    tags: Option<Vec<Value>>,
}

/// Returns the body of `call` as an object, whose shape is that of a `T`.
pub(super) fn sent<T: JsonSchema + serde::de::DeserializeOwned>(
    call: &Call,
) -> Result<Map<String, Value>> {
    call.body::<T>()?;
    match &call.body {
        Some(Value::Object(fields)) => Ok(fields.clone()),
        _ => Err(Error::bad_request("the body must be an object")),
    }
}

/// Returns the fields `names` of what was sent, without those that are null, and the fields `of`.
pub(super) fn taken<const N: usize>(
    sent: &Map<String, Value>,
    names: &[&str],
    of: [(&str, &String); N],
) -> Input {
    let sent = sent
        .iter()
        .filter(|(name, value)| names.contains(&name.as_str()) && !value.is_null());
    let sent = sent.map(|(name, value)| (name.clone(), value.clone()));
    let of = of.map(|(name, value)| (name.to_owned(), Value::from(value.as_str())));
    sent.chain(of).collect()
}

/// The fields of a topic that are written as they are sent.
const NAMES: [&str; 9] = [
    "title",
    "message",
    "type",
    "visibility",
    "draft",
    "pinned",
    "mustPostBeforeViewing",
    "anonymous",
    "allowAnonymousPosts",
];

/// Returns the input of a topic that was sent.
fn topic_input(sent: &Map<String, Value>) -> Result<Input> {
    for name in ["graded", "createGradingItem"] {
        if sent.get(name) == Some(&Value::Bool(true)) {
            let message = "must not be true: topics are not graded here";
            return Err(Error::field(name, message));
        }
    }
    let mut input = taken(sent, &NAMES, []);
    let fields = &mut input.fields;
    if let Some(Value::Array(groups)) = sent.get("groups") {
        let ids = groups.iter().filter_map(Value::as_str);
        let ids = ids.map(|it| it.rsplit('/').next().unwrap_or(it));
        fields.insert("groups".to_owned(), ids.collect());
    }
    if let Some(Value::Array(tags)) = sent.get("tags") {
        fields.insert("tags".to_owned(), tags.iter().map(id_of_tag).collect());
    }
    for name in ["showDate", "hideDate", "lockDate", "dueDate"] {
        if let Some(value) = sent.get(name) {
            fields.insert(name.to_owned(), to_millis(name, value)?);
        }
    }
    Ok(input)
}

/// Returns the id of a tag that was sent whole, or as its id alone.
fn id_of_tag(sent: &Value) -> Value {
    match sent.get("id").unwrap_or(sent) {
        Value::Number(id) => Value::String(id.to_string()),
        id => id.clone(),
    }
}

/// Refuses that what was written without a name gets one, or the other way round.
pub(super) fn keep_name(sent: &Map<String, Value>, is_anonymous: bool) -> Result<()> {
    match sent.get("anonymous") {
        Some(Value::Bool(it)) if *it != is_anonymous => {
            Err(Error::field("anonymous", "never changes"))
        }
        _ => Ok(()),
    }
}

/// Converts an instant in seconds since 1970, or as ISO 8601, to milliseconds.
fn to_millis(name: &str, value: &Value) -> Result<Value> {
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "the cast saturates"
    )]
    let whole = |it: f64| (it * 1000.0).round() as i64;
    let millis = match value {
        Value::Null => return Ok(Value::Null),
        Value::Number(number) => number.as_f64().map(whole),
        Value::String(text) => text
            .parse::<DateTimeUtc>()
            .ok()
            .map(|it| it.timestamp_millis()),
        _ => None,
    };
    let millis = millis.filter(|it| DateTimeUtc::from_timestamp_millis(*it).is_some());
    millis.map(Value::from).ok_or_else(|| {
        let message = "must be an instant, in seconds since 1970 or as ISO 8601";
        Error::field(name, message)
    })
}

async fn create(cx: &Context, call: Call) -> Result<TopicView> {
    let mut input = topic_input(&sent::<SentTopic>(&call)?)?;
    let site = call.variable("siteId")?.into();
    input.fields.insert("siteId".to_owned(), site);
    view(cx, gate::create::<Topic>(cx, &input).await?).await
}

async fn converse(cx: &Context, call: Call) -> Result<Created<TopicView>> {
    let data = create(cx, call).await?;
    let path = data.url.clone();
    Ok(Created { path, data })
}

async fn change(cx: &Context, call: &Call, input: &Input) -> Result<Topic> {
    let topic = topic_of(cx, call).await?;
    gate::update::<Topic>(cx, &topic.id, input, &Preconditions::default()).await
}

async fn update(cx: &Context, call: Call) -> Result<TopicView> {
    let sent = sent::<SentTopic>(&call)?;
    keep_name(&sent, topic_of(cx, &call).await?.anonymous)?;
    view(cx, change(cx, &call, &topic_input(&sent)?).await?).await
}

async fn delete(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let topic = topic_of(cx, &call).await?;
    gate::delete::<Topic>(cx, &topic.id, &Preconditions::default()).await?;
    Ok(None)
}

/// Sets the field `name` of the topic to the truth value that was sent.
async fn set(cx: &Context, call: &Call, name: &str) -> Result<Topic> {
    let input = Input::from_iter([(name, call.body::<bool>()?)]);
    Box::pin(change(cx, call, &input)).await
}

async fn pin(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, "pinned").await?;
    Ok(None)
}

async fn hide(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, "hidden").await?;
    Ok(None)
}

async fn lock(cx: &Context, call: Call) -> Result<TopicView> {
    view(cx, set(cx, &call, "locked").await?).await
}

async fn bookmark(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let bookmarked = call.body::<bool>()?;
    let topic = topic_of(cx, &call).await?;
    let settings = ConversationSettings::of(cx, &topic.site_id).await?;
    if bookmarked && !settings.allow_bookmarking {
        return Err(switched_off("marking topics"));
    }
    let thing = Thing {
        topic: &topic,
        post: None,
    };
    TopicMark::put(cx, thing, |it| it.bookmarked = bookmarked).await?;
    Ok(None)
}
