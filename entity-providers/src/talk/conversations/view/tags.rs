//! `/api/sites/{siteId}/conversations/tags`: the tags of a site.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Error, Input, Need, Preconditions, Provider as _, Result, View, gate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::TopicTag;
use super::super::tag::TAG;
use super::Nothing;
use super::topics::in_site;
use crate::base::search::all;

const TAGS: &str = "/api/sites/{siteId}/conversations/tags";
const ONE: &str = "/api/sites/{siteId}/conversations/tags/{tagId}";

/// The maximum number of tags that are created at once.
const MOST_SENT: usize = 50;

const LIST: Endpoint = in_site(Endpoint::get(TAGS, "listTagsOfConversations"))
    .doc("The tags that the caller may put on topics of a site.")
    .answers::<Vec<TagView>>(&list);

const CREATE: Endpoint = in_site(Endpoint::post(TAGS, "createTagsOfConversations"))
    .doc("Creates tags, and answers with all tags of the site.")
    .takes::<Vec<SentTag>>()
    .answers::<Vec<TagView>>(&create);

const UPDATE: Endpoint = in_site(Endpoint::put(ONE, "updateTagOfConversations"))
    .variable("tagId", "The tag.")
    .doc("Changes a tag.")
    .takes::<SentTag>()
    .answers::<TagView>(&update);

const DELETE: Endpoint = in_site(Endpoint::delete(ONE, "deleteTagOfConversations"))
    .variable("tagId", "The tag.")
    .doc("Deletes a tag, which topics then no longer have.")
    .answers::<Option<Nothing>>(&delete);
entity_core::register_endpoint!(LIST, CREATE, UPDATE, DELETE);

/// A tag.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConversationsTag")]
#[view(of = TopicTag, with(id = it.id.parse().unwrap_or_default()))]
pub(super) struct TagView {
    id: i64,
    site_id: String,
    description: String,
    label: String,
}

impl TagView {
    pub(super) fn has_id(&self, id: &str) -> bool {
        id.parse() == Ok(self.id)
    }
}

/// A tag as clients send it. What else they send has no effect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "SentConversationsTag")]
struct SentTag {
    /// The word. A new tag needs it.
    label: Option<String>,
    /// The explanation.
    description: Option<String>,
}

impl SentTag {
    /// Returns the input of the tag, of a new one with its site.
    fn into_input(self, site: Option<&str>) -> Input {
        let site = site.map(ToOwned::to_owned);
        let (label, text) = (self.label, self.description);
        let fields = [("siteId", site), ("label", label), ("description", text)];
        let fields = fields.into_iter();
        fields.filter_map(|(name, it)| Some((name, it?))).collect()
    }
}

/// Returns all tags of a site.
pub(super) async fn of_site(cx: &Context, site: &str) -> Result<Vec<TagView>> {
    let tags = all(cx, &TopicTag::FIELD.site_id.eq(site)).await?;
    Ok(tags.into_iter().map(TagView::of).collect())
}

async fn list(cx: &Context, call: Call) -> Result<Vec<TagView>> {
    let site = call.variable("siteId")?;
    gate::demand_in_site(cx, TopicTag::ACCESS.read, Some(site)).await?;
    match gate::holds(cx, TAG, site).await? {
        true => of_site(cx, site).await,
        false => Ok(Vec::new()),
    }
}

async fn create(cx: &Context, call: Call) -> Result<Vec<TagView>> {
    let site = call.variable("siteId")?;
    gate::demand_in_site(cx, TopicTag::ACCESS.create, Some(site)).await?;
    let sent: Vec<SentTag> = call.body()?;
    if sent.len() > MOST_SENT {
        let message = format!("at most {MOST_SENT} tags are created at once");
        return Err(Error::limit_reached(message));
    }
    for tag in sent {
        gate::create::<TopicTag>(cx, &tag.into_input(Some(site))).await?;
    }
    of_site(cx, site).await
}

/// Returns the tag that the path names, if the caller sees it.
async fn tag_of(cx: &Context, call: &Call) -> Result<TopicTag> {
    gate::demand_in_site(cx, Need::Site("site.visit"), Some(call.variable("siteId")?)).await?;
    let tag = gate::read::<TopicTag>(cx, call.variable("tagId")?).await?;
    match tag.site_id == call.variable("siteId")? {
        true => Ok(tag),
        false => Err(Error::not_found()),
    }
}

async fn update(cx: &Context, call: Call) -> Result<TagView> {
    let tag = tag_of(cx, &call).await?;
    let input = call.body::<SentTag>()?.into_input(None);
    let none = Preconditions::default();
    let changed = gate::update::<TopicTag>(cx, &tag.id, &input, &none).await?;
    Ok(TagView::of(changed))
}

async fn delete(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let tag = tag_of(cx, &call).await?;
    gate::delete::<TopicTag>(cx, &tag.id, &Preconditions::default()).await?;
    Ok(None)
}
