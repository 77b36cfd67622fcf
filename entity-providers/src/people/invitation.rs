//! `/direct/invitation`: invitations to become a member of a site.
//!
//! Whoever may add members and may not enrol anybody outright invites them. Those who look after the members of the
//! site see the invitation as it was typed, and never whether it names anybody; the person whom it names when they
//! look sees it as their own, and accepts or declines it; so does whoever has its link. Nothing else of the site reaches them before that.
//! The permissions that the role takes are asked again at acceptance, of whoever invited.

mod link;
#[cfg(test)]
mod tests;
mod write;

use entity_core::db::{self, RowPolicy, Secret};
use entity_core::{
    Access, Action, Actions, Answers, Audience, Context, Create, DateTimeUtc, Entity, Need, Notice,
    Result, Verb, Version, standard,
};
use sea_orm::EntityTrait as _;
use serde::{Deserialize, Serialize};

use crate::people::membership::rules::MANAGES_MEMBERS;

pub use write::{EXPIRY, sweep};
pub(crate) use write::{Invited, end, invite};

/// The maximum number of characters of the name of somebody who is invited.
const MOST_INVITEE: usize = 254;

const ACCESS: Access = Access {
    read: Need::Session,
    create: Need::Site(MANAGES_MEMBERS),
    update: Need::Superuser,
    delete: Need::Site(MANAGES_MEMBERS),
};

const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Until("expires"),
    RowPolicy::Any(&[RowPolicy::Holds(MANAGES_MEMBERS), RowPolicy::Sql(IS_OWN)]),
]);

/// The condition that an invitation is to the caller: to the internal id, the external id or the verified e-mail address,
/// and to a name that names nobody else.
const IS_OWN: &str = "(this.invitee_lower IN (\
        SELECT lower(a.eid) FROM user_account a WHERE a.id = {caller} \
        UNION ALL SELECT lower(a.email) FROM user_account a WHERE a.id = {caller} AND a.is_email_verified \
        AND NOT EXISTS (SELECT 1 FROM user_account o WHERE lower(o.eid) = lower(a.email) AND o.id <> a.id) \
        AND NOT EXISTS (SELECT 1 FROM user_account o WHERE o.id = lower(a.email) AND o.id <> a.id) \
        AND NOT EXISTS (SELECT 1 FROM user_account o \
        WHERE lower(o.email) = lower(a.email) AND o.is_email_verified AND o.id <> a.id)) \
    OR (this.invitee_lower = lower({caller}) AND this.invitee = {caller} \
        AND NOT EXISTS (SELECT 1 FROM user_account o WHERE lower(o.eid) = lower({caller}) AND o.id <> {caller})))";

/// The kind of the event that somebody is invited.
const SENT: &str = "invitation.sent";
entity_core::register_notice!(Notice {
    event: SENT,
    kind: SENT,
    tool: "sakai.membership",
    audience: Audience::Guest,
    text: "",
});

/// Somebody is asked to become a member of a site.
#[standard(facts)]
#[derive(derive_more::Debug, Clone, Default, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "invitation", table = "invitation", access = ACCESS, sight = SIGHT, unarchived)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(version = Self::to_version, told_once = Self::tells_link)]
#[entity(verbs(read, list, delete), order = "created_desc,id", own = "")]
// Leaves out the link, and to whom it is.
#[debug("Invitation {{ id: {:?}, site_id: {:?} }}", self.id, self.site_id)]
pub struct Invitation {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The title of the site, and to whom the invitation is.
    #[entity(title, computed = Self::to_title)]
    pub title: String,
    /// The site.
    #[entity(site, required)]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title")]
    pub site_title: String,
    /// The role that whoever accepts it gets; without one, that of those who join by themselves.
    #[entity(
        on_create,
        optional,
        max = 99,
        column = "role",
        label = "Role",
        offered = "role"
    )]
    pub member_role: String,
    /// To whom it is: an internal or external id, or an e-mail address that only one account has.
    #[entity(required, on_create, max = 254, label = "Invited")]
    #[entity(hint = "A user name or an e-mail address.")]
    pub invitee: String,
    /// The internal id of who invited.
    #[entity(owner, references = "user", label = "Invited by")]
    pub invited_by: String,
    /// The name of who invited.
    #[entity(name_of = invited_by)]
    pub invited_by_display_name: String,
    /// When it was made.
    #[entity(read_only, label = "Made")]
    pub created: DateTimeUtc,
    /// When it ends by itself.
    #[entity(read_only, label = "Ends")]
    pub expires: DateTimeUtc,
    /// The address at which whoever is logged in may accept it. Told only in the answer that makes it, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(address, computed)]
    pub link: Option<String>,
    /// To whom it is, in small letters: a site invites each name once.
    #[serde(skip)]
    #[entity(hidden)]
    pub invitee_lower: String,
    /// The hash of the secret in the link, once there is one.
    #[serde(skip)]
    #[entity(hidden)]
    pub secret_hash: Secret,
    /// True if it is to the caller.
    #[serde(skip)]
    #[entity(sql = IS_OWN)]
    pub is_own: bool,
}

entity_core::register!(Invitation);

impl Invitation {
    fn tells_link(&self) -> bool {
        self.link.is_some()
    }

    fn to_version(&self) -> Version {
        Version::of(&(&self.id, &self.site_title, &self.invited_by_display_name))
    }

    fn to_title(&self, _cx: &Context) -> String {
        format!("{} ({})", self.site_title, self.invitee)
    }
}

/// The fields that a client sends to invite somebody.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    site_id: String,
    invitee: String,
    member_role: Option<String>,
}

impl Create for Invitation {
    type Draft = Draft;

    fn site(draft: &Draft) -> Option<&str> {
        Some(&draft.site_id)
    }

    async fn create(cx: &Context, draft: Draft) -> Result<Self> {
        write::create(cx, draft).await
    }
}

impl Actions for Invitation {
    fn actions() -> Vec<Action<Self>> {
        let (post, session) = (Verb::Post, Need::Session);
        let mut actions = vec![
            Action::on_entity(post, "accept", session, |cx, invitation, _arguments| {
                Box::pin(write::accept(cx, invitation))
            })
            .done("You have joined {}.")
            .doc(
                "Makes the caller, to whom the invitation is, a member of the site. It is refused with 409 if \
                 whoever invited may not give this role any more.",
            )
            .offered_if(|it: &Self| it.is_own)
            .answers(Answers::Nothing),
            Action::on_entity(post, "decline", session, |cx, invitation, _arguments| {
                Box::pin(write::decline(cx, invitation))
            })
            .offered_if(|it: &Self| it.is_own)
            .done("You have declined the invitation.")
            .doc("Ends the invitation, which is to the caller.")
            .answers(Answers::Nothing),
        ];
        actions.extend(link::actions());
        actions
    }
}

/// Returns the invitation `id` to the site `site`, whoever asks, unless it is over.
pub(crate) async fn in_site(cx: &Context, id: &str, site: &str) -> Result<Option<Invitation>> {
    let found = db::load(cx, invitation::Entity::find_by_id(id)).await?;
    let mut found = found.into_iter();
    Ok(found.find(|it: &Invitation| it.site_id == site && it.expires > cx.now()))
}
