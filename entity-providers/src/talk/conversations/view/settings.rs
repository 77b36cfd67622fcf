//! `/api/sites/{siteId}/conversations/settings`: what the conversations of a site offer, and the agreement to its guidelines.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Input, Provider as _, Result, gate};
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
entity_core::register_endpoint!(GUIDELINES);

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
entity_core::register_endpoint!(SET);

const AGREE: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations/agree",
    "agreeToGuidelinesOfConversations",
))
.doc("Notes that the caller agrees to the guidelines of a site.")
.answers::<Option<Nothing>>(&agree);
entity_core::register_endpoint!(AGREE);

/// What the conversations of a site offer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConversationsSettings")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "clients read independent truths"
)]
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

impl SettingsView {
    pub(super) fn of(it: &ConversationSettings) -> Self {
        Self {
            id: None,
            site_id: it.site_id.clone(),
            allow_bookmarking: it.allow_bookmarking,
            allow_reactions: it.allow_reactions,
            allow_upvoting: it.allow_upvoting,
            allow_anon_posting: it.allow_anon_posting,
            allow_pinning: it.allow_pinning,
            site_locked: it.site_locked,
            require_guidelines_agreement: it.require_guidelines_agreement,
            guidelines: it.guidelines.clone(),
            default_topic_type: "QUESTION",
        }
    }
}

async fn guide(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let input: Input = [("guidelines", call.body::<String>()?)]
        .into_iter()
        .collect();
    ConversationSettings::save(cx, call.variable("siteId")?, &input).await?;
    Ok(None)
}

async fn set(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    let (site, name) = (call.variable("siteId")?, call.variable("setting")?);
    gate::demand_in_site(cx, ConversationSettings::ACCESS.update, Some(site)).await?;
    let is_on = call.body::<bool>()?;
    let Some(name) = ConversationSettings::SWITCHES
        .into_iter()
        .find(|it| *it == name)
    else {
        return Ok(None);
    };
    let input: Input = [(name, is_on)].into_iter().collect();
    ConversationSettings::save(cx, site, &input).await?;
    Ok(None)
}

async fn agree(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    ConversationAgreement::give(cx, call.variable("siteId")?).await?;
    Ok(None)
}
