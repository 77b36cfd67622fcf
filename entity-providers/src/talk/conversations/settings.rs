//! `/direct/conversations-settings`: what the conversations of a site offer, and `/direct/conversations-agreement`: who has
//! agreed to the guidelines.

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Entity, Error, ErrorKind, Input, Need, Preconditions, Provider as _, Result,
    gate, standard,
};
use serde::Serialize;

use super::is_moderator;

/// Members read them, and those who change the site write them.
const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Site("site.upd"));

/// The settings of the conversations of a site. They are stored from the first change on; before, the defaults hold.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "conversations-settings", table = "conversation_settings", access = ACCESS)]
#[entity(
    verbs(read, list, update),
    plural = "Settings of conversations",
    singular = "Settings"
)]
pub struct ConversationSettings {
    /// The id, which is that of the site.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// True if members mark topics to find them again.
    #[entity(label = "Bookmarks")]
    pub allow_bookmarking: bool,
    /// True if members react to topics and posts.
    #[entity(label = "Reactions")]
    pub allow_reactions: bool,
    /// True if members vote for topics and posts.
    #[entity(label = "Votes")]
    pub allow_upvoting: bool,
    /// True if members write topics and posts without their names.
    #[entity(label = "Writing without a name")]
    pub allow_anon_posting: bool,
    /// True if topics are pinned.
    #[entity(label = "Pinned topics")]
    pub allow_pinning: bool,
    /// True if only moderators write in the conversations of the site.
    #[entity(label = "Locked")]
    pub site_locked: bool,
    /// True if the guidelines are shown to members until they agree.
    #[entity(label = "Guidelines must be agreed to")]
    pub require_guidelines_agreement: bool,
    /// The guidelines for all who write.
    #[entity(optional, html, max = 50_000)]
    pub guidelines: String,
    /// The instant of the last change.
    #[entity(updated, label = "Last changed")]
    pub modified: Millis,
}

entity_core::register!(ConversationSettings);

impl ConversationSettings {
    /// The names of the switches, as clients send them.
    pub(super) const SWITCHES: [&str; 7] = [
        "allowBookmarking",
        "allowReactions",
        "allowUpvoting",
        "allowAnonPosting",
        "allowPinning",
        "siteLocked",
        "requireGuidelinesAgreement",
    ];

    /// Returns the settings of a site in which nobody has changed them.
    fn initial(cx: &Context, site: &str) -> Self {
        Self {
            id: site.to_owned(),
            site_id: site.to_owned(),
            allow_bookmarking: true,
            allow_reactions: true,
            allow_anon_posting: true,
            allow_pinning: true,
            modified: Millis(cx.now()),
            version: 1,
            ..Self::default()
        }
    }

    /// Returns the settings of `site`.
    pub(super) async fn of(cx: &Context, site: &str) -> Result<Self> {
        let found: Option<Self> = db::read(cx, site).await?;
        Ok(found.unwrap_or_else(|| Self::initial(cx, site)))
    }

    /// Changes the settings of `site`, if the caller may do that.
    pub(super) async fn save(cx: &Context, site: &str, input: &Input) -> Result<()> {
        gate::demand_in_site(cx, Self::ACCESS.update, Some(site)).await?;
        db::put(cx, Self::initial(cx, site), |_| {}).await?;
        gate::update::<Self>(cx, site, input, &Preconditions::default()).await?;
        Ok(())
    }

    /// Refuses that anybody but moderators begins a topic in a site that is locked.
    pub(super) async fn demand_open(&self, cx: &Context) -> Result<()> {
        match self.site_locked && !is_moderator(cx, &self.site_id).await? {
            true => Err(super::locked()),
            false => Ok(()),
        }
    }

    /// Returns whether the guidelines are to be shown to the caller.
    pub(super) async fn shows_guidelines(&self, cx: &Context) -> Result<bool> {
        if !self.require_guidelines_agreement {
            return Ok(false);
        }
        let id = ConversationAgreement::id_of(cx, &self.site_id)?;
        let found: Option<ConversationAgreement> = db::read(cx, &id).await?;
        Ok(found.is_none())
    }
}

/// Returns an error for whoever uses what is switched off in the site.
pub(super) fn switched_off(what: &str) -> Error {
    let message = format!("{what} is switched off in the conversations of this site");
    Error::new(ErrorKind::Forbidden, message)
}

/// The agreement of a member to the guidelines of a site.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "conversations-agreement", table = "conversation_agreement", sight = RowPolicy::Own)]
#[entity(access = Access::new(Need::Site("site.visit"), Need::Superuser))]
#[entity(verbs(read, list), plural = "Agreements", singular = "Agreement")]
pub struct ConversationAgreement {
    /// The ids of the site and of the member, joined by a colon.
    #[entity(id)]
    pub agreement_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The internal id of the member.
    #[entity(owner, person, references = "user")]
    pub user_id: String,
    /// The instant at which the member agreed.
    #[entity(created)]
    pub agreed: Millis,
}

entity_core::register!(ConversationAgreement);

impl ConversationAgreement {
    fn id_of(cx: &Context, site: &str) -> Result<String> {
        Ok(format!("{site}:{}", cx.user_id()?))
    }

    /// Notes that the caller agrees to the guidelines of `site`.
    pub(super) async fn give(cx: &Context, site: &str) -> Result<()> {
        gate::demand_in_site(cx, Self::ACCESS.read, Some(site)).await?;
        let agreement = Self {
            agreement_id: Self::id_of(cx, site)?,
            site_id: site.to_owned(),
            user_id: cx.user_id()?.to_owned(),
            agreed: Millis(cx.now()),
            ..Self::default()
        };
        db::put(cx, agreement, |_| {}).await?;
        Ok(())
    }
}
