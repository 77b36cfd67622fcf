//! `/api/sites/{siteId}/conversations/settings`: the settings of the conversations of a site, and the agreement to its
//! guidelines.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Input, Provider as _, Result, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{ConversationAgreement, ConversationSettings};
use super::Nothing;
use super::topics::in_site;

const GUIDELINES: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations/settings/guidelines",
    "setGuidelinesOfConversations",
))
.doc("Sets the guidelines of a site: a text, as HTML.")
.takes::<String>()
.answers::<Option<Nothing>>(&guide);

const SET: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations/settings/{setting}",
    "setSettingOfConversations",
))
.variable(
    "setting",
    "`allowBookmarking`, `allowReactions`, `allowUpvoting`, `allowAnonPosting`, `allowPinning`, `siteLocked` or \
     `requireGuidelinesAgreement`; another name changes nothing.",
)
.doc("Switches a setting of a site on or off.")
.takes::<bool>()
.answers::<Option<Nothing>>(&set);

const AGREE: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations/agree",
    "agreeToGuidelinesOfConversations",
))
.doc("Notes that the caller agrees to the guidelines of a site.")
.answers::<Option<Nothing>>(&agree);
entity_core::register_endpoint!(GUIDELINES, SET, AGREE);

/// The settings of the conversations of a site.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConversationsSettings")]
#[view(of = ConversationSettings, with(id = None, default_topic_type = "QUESTION"))]
pub(super) struct SettingsView {
    /// Always null: a site has its settings once.
    id: Option<i64>,
    site_id: String,
    allow_bookmarking: bool,
    allow_reactions: bool,
    allow_upvoting: bool,
    allow_anon_posting: bool,
    allow_pinning: bool,
    site_locked: bool,
    require_guidelines_agreement: bool,
    guidelines: String,
    default_topic_type: &'static str,
}

async fn guide(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let input = Input::from_iter([("guidelines", call.body::<String>()?)]);
    ConversationSettings::save(cx, call.variable("siteId")?, &input).await?;
    Ok(None)
}

async fn set(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let (site, name) = (call.variable("siteId")?, call.variable("setting")?);
    gate::demand_in_site(cx, ConversationSettings::ACCESS.update, Some(site)).await?;
    let is_on = call.body::<bool>()?;
    if ConversationSettings::SWITCHES.contains(&name) {
        let input = Input::from_iter([(name, is_on)]);
        ConversationSettings::save(cx, site, &input).await?;
    }
    Ok(None)
}

async fn agree(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    ConversationAgreement::give(cx, call.variable("siteId")?).await?;
    Ok(None)
}
