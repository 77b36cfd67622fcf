//! The answer to those who add somebody and may only invite: a membership that does not count yet.
//!
//! It has the id of the invitation where others have that of a user, and tells what was typed and nothing else, so
//! that it is the same whether there is such a person or not.

use entity_core::{Context, Result};

use super::Membership;
use super::location::Location;
use crate::people::authorizer;
use crate::people::invitation::{self, Invitation};

/// The one that stands for the invitation `id` to the site at `location`, whoever asks.
pub(super) async fn find(
    cx: &Context,
    id: &str,
    location: Location<'_>,
) -> Result<Option<Membership>> {
    let Location::Site(site) = location else {
        return Ok(None);
    };
    match invitation::in_site(cx, id, site).await? {
        Some(invitation) => of(cx, invitation).await.map(Some),
        None => Ok(None),
    }
}

async fn of(cx: &Context, invitation: Invitation) -> Result<Membership> {
    let facts = authorizer::of(cx)?.site(cx, &invitation.site_id).await?;
    Ok(Membership {
        id: format!("{}::site:{}", invitation.id, invitation.site_id),
        user_display_name: invitation.invitee.clone(),
        user_sort_name: invitation.invitee,
        member_role: invitation.member_role,
        location_reference: format!("/site/{}", invitation.site_id),
        site_id: invitation.site_id,
        site_type: (*facts).as_ref().and_then(|it| it.kind.clone()),
        invitation: Some(invitation.id),
        ..Membership::default()
    })
}
