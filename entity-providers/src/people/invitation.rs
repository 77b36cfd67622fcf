//! `/direct/invitation`: who is asked to become a member of which site.
//!
//! Whoever may add members and may not enrol anybody outright invites them. Those who look after the members of the
//! site see the invitation as it was typed, and never whether it names anybody; the person whom it names when they
//! look sees it as their own, and accepts or declines it; so does whoever has its link. Nothing else of the site reaches them before that.
//! The permissions that the role takes are asked again at acceptance, of whoever invited.

mod link;
mod names;
mod query;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use entity_core::db::Counted;
use entity_core::{
    Access, Action, Actions, Answers, Audience, Context, Create, DateTimeUtc, Delete, Entity, List,
    Need, Notice, Operation, Page, Permit, Provider, Read, Result, Search, Verb, Version, gate,
};
use serde::{Deserialize, Serialize};

use crate::people::membership::{self, MANAGES_MEMBERS};

pub(crate) use query::in_site;
pub use write::{EXPIRY, sweep};
pub(crate) use write::{Invited, end, invite};

/// Most characters of the name of somebody who is invited.
const MOST_INVITEE: usize = 254;

/// The provider of invitations.
#[derive(Clone, Copy, Debug)]
pub struct Invitations;

entity_core::register!(Invitations);

/// The kind of the event that somebody is invited.
const SENT: &str = "invitation.sent";
entity_core::register_notice!(Notice {
    event: SENT,
    kind: SENT,
    tool: "sakai.membership",
    audience: Audience::Guest,
});

/// Somebody is asked to become a member of a site.
#[derive(Clone, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version, told_once = Self::tells_link)]
pub struct Invitation {
    /// The id.
    #[entity(id, column)]
    pub id: String,
    /// The title of the site, and to whom the invitation is.
    #[entity(title)]
    pub title: String,
    /// The site.
    #[entity(site, required, on_create, column)]
    pub site_id: String,
    /// The title of the site.
    pub site_title: String,
    /// The role that whoever accepts it gets; without one, that of those who join by themselves.
    #[entity(on_create, max = 99, column = "role", label = "Role", offered = "role")]
    pub member_role: String,
    /// To whom it is: an internal or external id, or an e-mail address that only one account has.
    #[entity(required, on_create, max = 254, column, label = "Invited")]
    #[entity(hint = "A user name or an e-mail address.")]
    pub invitee: String,
    /// The internal id of who invited.
    #[entity(column = "invited_by", label = "Invited by")]
    pub invited_by: String,
    /// The name of who invited.
    pub invited_by_display_name: String,
    /// When it was made.
    #[entity(column, label = "Made")]
    pub created: DateTimeUtc,
    /// When it ends by itself.
    #[entity(column, label = "Ends")]
    pub expires: DateTimeUtc,
    /// The address at which whoever is logged in may accept it. Told only in the answer that makes it, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(address)]
    pub link: Option<String>,
    /// True if it is to the caller.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) is_own: bool,
}

/// Leaves out the link, and to whom it is.
impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invitation")
            .field("id", &self.id)
            .field("site_id", &self.site_id)
            .finish_non_exhaustive()
    }
}

impl Invitation {
    fn tells_link(&self) -> bool {
        self.link.is_some()
    }

    fn to_version(&self) -> Version {
        Version::of(&(&self.id, &self.site_title, &self.invited_by_display_name))
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

impl Provider for Invitations {
    type Entity = Invitation;
    const PREFIX: &'static str = "invitation";
    const OWN: Option<&'static str> = Some("");
    const ACCESS: Access = Access {
        read: Need::Session,
        create: Need::Site(MANAGES_MEMBERS),
        update: Need::Superuser,
        delete: Need::Session,
    };
    const COUNTED: &'static [Counted] = &[Counted::new("invitation", &["role", "invitee"])
        .owned_by("invited_by")
        .within("site_id")];

    async fn permits(
        cx: &Context,
        invitation: &Invitation,
        operation: Operation,
    ) -> Result<Permit> {
        let site = invitation.site_id.as_str();
        let manages = gate::holds(cx, MANAGES_MEMBERS, site).await?;
        Ok(match (operation, manages) {
            (Operation::Create, true) => {
                membership::may_give(cx, site, &invitation.member_role).await?
            }
            (Operation::Read | Operation::Delete, true) => Permit::Allowed,
            (Operation::Read, false) if invitation.is_own => Permit::Allowed,
            (Operation::Read, false) => Permit::Hidden,
            _ => Permit::Forbidden,
        })
    }
}

impl Read for Invitations {
    async fn read(cx: &Context, id: &str) -> Result<Option<Invitation>> {
        query::one(cx, id).await
    }
}

impl List for Invitations {
    const ORDER: &'static str = "created_desc,id";

    /// The invitations of the caller, and those to sites whose members the caller manages.
    async fn list(cx: &Context, search: &Search) -> Result<Page<Invitation>> {
        query::list(cx, search).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        query::count(cx, search).await.map(Some)
    }
}

impl Create for Invitations {
    type Draft = Draft;

    fn site(draft: &Draft) -> Option<&str> {
        Some(&draft.site_id)
    }

    async fn create(cx: &Context, draft: Draft) -> Result<Invitation> {
        write::create(cx, draft).await
    }
}

impl Delete for Invitations {
    async fn delete(cx: &Context, current: Invitation) -> Result<()> {
        end(cx, &current.id).await.map(|_was_there| ())
    }
}

impl Actions for Invitations {
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
            .offered_if(|it: &Invitation| it.is_own)
            .answers(Answers::Nothing),
            Action::on_entity(post, "decline", session, |cx, invitation, _arguments| {
                Box::pin(write::decline(cx, invitation))
            })
            .offered_if(|it: &Invitation| it.is_own)
            .done("You have declined the invitation.")
            .doc("Ends the invitation, which is to the caller.")
            .answers(Answers::Nothing),
        ];
        actions.extend(link::actions());
        actions
    }
}
