//! Inviting, accepting, declining, and the removal of expired invitations.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use entity_core::db::{self, ExpiringTable, Secret};
use entity_core::{ActionResult, Context, DateTimeUtc, Error, Provider as _, Reference, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};

use super::invitation::{Column, Entity as Rows};
use super::{Draft, Invitation, MOST_INVITEE, SENT, link};
use crate::{
    base::{limits, personal},
    people::membership::{join, rules},
    people::user,
};

/// The time for which an invitation may be accepted.
pub const EXPIRY: TimeDelta = TimeDelta::days(30);
/// The most of those that are over which one sweep removes.
const SWEEP: u64 = 500;
const ENDING: ExpiringTable = ExpiringTable {
    table: "invitation",
    key: "id",
    column: "expires",
};

/// Somebody whom a site is to invite.
#[derive(Clone, Debug)]
pub(crate) struct Invited {
    /// The name of the field that says who it is.
    pub(crate) field: &'static str,
    /// The name of the person, as it was typed.
    pub(crate) name: String,
    /// The role that they are to have, which the caller may give.
    pub(crate) role: String,
}

pub(super) async fn create(cx: &Context, draft: Draft) -> Result<Invitation> {
    let role = rules::given_role(cx, &draft.site_id, draft.member_role).await?;
    let invited = Invited {
        field: "invitee",
        name: draft.invitee,
        role,
    };
    let (secret, hash) = link::secret()?;
    let made = invite(cx, &draft.site_id, vec![invited], hash).await?;
    let id = made.first().map_or("", String::as_str);
    let made = db::read(cx, id).await?;
    let made =
        made.ok_or_else(|| Error::internal("an invitation that was just written is not there"))?;
    Ok(link::told(cx, made, &secret))
}

/// Invites everybody of `guests` to `site`; answers the ids of the invitations. Who was invited by the same name
/// before is invited anew. `secret_hash` is that of the secret in the link of a
/// single guest. Whether a name means anybody is looked up for that person alone: the answer does not depend on it.
///
/// # Errors
/// A name is none; the site or the caller has as many invitations as may be open.
pub(crate) async fn invite(
    cx: &Context,
    site: &str,
    guests: Vec<Invited>,
    secret_hash: Secret,
) -> Result<Vec<String>> {
    let host = cx.user_id()?;
    let created = cx.now();
    let expires = created.checked_add_signed(EXPIRY).unwrap_or(created);
    let mut rows: BTreeMap<String, Invitation> = BTreeMap::new();
    for Invited { field, name, role } in guests {
        let invitee = check_name(field, &name)?;
        let invitee_lower = invitee.to_ascii_lowercase();
        let row = Invitation {
            id: cx.new_id(),
            site_id: site.to_owned(),
            member_role: role,
            invitee,
            invitee_lower: invitee_lower.clone(),
            invited_by: host.to_owned(),
            created,
            expires,
            secret_hash: secret_hash.clone(),
            ..Invitation::default()
        };
        rows.insert(invitee_lower, row);
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    limits::lock_site(cx, site).await?;
    limits::lock_account(cx, host).await?;
    Rows::delete_many()
        .filter(Column::SiteId.eq(site))
        .filter(Column::InviteeLower.is_in(rows.keys()))
        .exec(cx.db()?)
        .await?;
    demand_room(cx, site, host, rows.len()).await?;
    let rows: Vec<_> = rows.into_values().collect();
    tell_invited(cx, site, &rows).await?;
    db::insert_many(cx, &rows).await?;
    Ok(rows.into_iter().map(|it| it.id).collect())
}

/// Tells those who have an account that they are invited. Whoever invites learns nothing of it: an event that concerns
/// nobody is emitted for a name of nobody.
async fn tell_invited(cx: &Context, site: &str, rows: &[Invitation]) -> Result<()> {
    let names: Vec<String> = rows.iter().map(|it| it.invitee.clone()).collect();
    let people = user::by_names(cx, &names).await?;
    for row in rows {
        let person = people.get(&row.invitee).map_or("", String::as_str);
        let reference = Reference::entity(Invitation::PREFIX, row.id.as_str());
        personal::emit_to(cx, SENT, &reference, site, person, false);
    }
    Ok(())
}

/// Refuses more than may be open at a time. Those that are over do not count.
async fn demand_room(cx: &Context, site: &str, host: &str, more: usize) -> Result<()> {
    let limits = limits::of(cx)?;
    let more = u64::try_from(more).unwrap_or(u64::MAX);
    let open = |of: Column, id: &str| {
        Rows::find()
            .filter(of.eq(id))
            .filter(Column::Expires.gt(cx.now().timestamp_millis()))
    };
    for (whose, setting, most, open) in [
        (
            "a site",
            "invitations.perSite",
            limits.invitations_per_site,
            open(Column::SiteId, site),
        ),
        (
            "an account",
            "invitations.perAccount",
            limits.invitations_per_account,
            open(Column::InvitedBy, host),
        ),
    ] {
        if open.count(cx.db()?).await?.saturating_add(more) > most {
            return Err(Error::limit_reached(format!(
                "{whose} may have {most} open invitations (`{setting}`): delete some of them first"
            )));
        }
    }
    Ok(())
}

/// `POST invitation/id/accept`: whoever is invited becomes a member, if whoever invited may still make them one.
pub(super) async fn accept(
    cx: &Context,
    invitation: Invitation,
) -> Result<ActionResult<Invitation>> {
    take(cx, &invitation).await?;
    let Invitation {
        site_id,
        member_role,
        invited_by,
        ..
    } = &invitation;
    if !rules::may_make_as(cx, invited_by, site_id, member_role).await? {
        return Err(Error::conflict(
            "the invitation does not hold any more: whoever invited you may not give this role now",
        ));
    }
    join::admit(cx, site_id, member_role).await?;
    // Other invitations to the same site, by another name of the same person, have come true as well.
    end_others(cx, site_id).await?;
    emit_event(cx, "invitation.accept", &invitation);
    Ok(ActionResult::Done.about(Reference::entity("site", site_id)))
}

/// `POST invitation/id/decline`.
pub(super) async fn decline(
    cx: &Context,
    invitation: Invitation,
) -> Result<ActionResult<Invitation>> {
    take(cx, &invitation).await?;
    emit_event(cx, "invitation.decline", &invitation);
    Ok(ActionResult::Done.about(Reference::collection("invitation")))
}

/// Takes the invitation away, which must be to the caller. Two requests at once can't both have it.
async fn take(cx: &Context, invitation: &Invitation) -> Result<()> {
    if !invitation.is_own {
        return Err(Error::forbidden());
    }
    match end(cx, &invitation.id).await? {
        true => Ok(()),
        false => Err(Error::not_found()),
    }
}

/// Removes the invitation `id`; answers whether it was there.
pub(crate) async fn end(cx: &Context, id: &str) -> Result<bool> {
    let done = Rows::delete_by_id(id).exec(cx.db()?).await?;
    Ok(done.rows_affected > 0)
}

/// Removes all other invitations of the caller to `site`.
async fn end_others(cx: &Context, site: &str) -> Result<()> {
    let of_site: Vec<Invitation> =
        db::load(cx, Rows::find().filter(Column::SiteId.eq(site))).await?;
    let own = of_site.into_iter().filter(|it| it.is_own).map(|it| it.id);
    Rows::delete_many()
        .filter(Column::Id.is_in(own))
        .exec(cx.db()?)
        .await?;
    Ok(())
}

/// Removes invitations that are over at `now`, a bounded number at a time; answers how many.
pub async fn sweep(cx: &Context, now: DateTimeUtc) -> Result<u64> {
    ENDING.sweep(cx, now.timestamp_millis(), SWEEP).await
}

/// `name` without white space around it, if it can be that of a person.
fn check_name(field: &str, name: &str) -> Result<String> {
    let name = name.trim();
    let is_usable = !name.is_empty()
        && name.chars().count() <= MOST_INVITEE
        && !name.chars().any(char::is_control);
    match is_usable {
        true => Ok(name.to_owned()),
        false => Err(Error::field(
            field,
            format!("must have 1 to {MOST_INVITEE} characters, none of them a control character"),
        )),
    }
}

fn emit_event(cx: &Context, kind: &str, invitation: &Invitation) {
    let reference = format!("/invitation/{}", invitation.id);
    cx.emit(kind, reference, Some(&invitation.site_id));
}
