//! The parts of a person's profile that the caller may know: decided by the sites in which both are.

use std::collections::HashMap;

use entity_core::db::Row;
use entity_core::{Context, Result, Scope};

use crate::people::user;
use crate::storage::db::membership::Origin;

/// The parts of a person's profile that the caller may know, besides the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The external id in the place of a name, where there is none.
    pub(super) name: bool,
    /// That the person shares a site with the caller.
    pub(super) shares: bool,
    /// True if the caller may know what the person wrote in the profile.
    pub(super) profile: bool,
    /// The e-mail address.
    pub(super) email: bool,
    /// The number at the institution.
    pub(super) number: bool,
}

impl Known {
    /// Everything.
    pub(super) const ALL: Self = Self {
        name: true,
        shares: true,
        profile: true,
        email: true,
        number: true,
    };
}

/// A membership of a person in a site that the caller may visit.
struct Place {
    user: String,
    site: String,
    is_hidden: bool,
    /// True if the roster may tell more than the name: see [`Origin::is_told`].
    is_told: bool,
}

/// Returns the parts of the profiles of `people` that the caller may know: by the functions that the caller holds in
/// `site` or, without one, in any site that they share. People of whom nothing but the name may be known can be missing.
pub(super) async fn of(
    cx: &Context,
    people: &[String],
    site: Option<&str>,
) -> Result<HashMap<String, Known>> {
    let Some(caller) = cx.caller().user_id() else {
        return Ok(HashMap::new());
    };
    if cx.authorizer().is_superuser(cx).await? {
        return Ok(people.iter().map(|it| (it.clone(), Known::ALL)).collect());
    }
    let seen = match user::may_view(cx).await? {
        true => Known {
            name: true,
            shares: true,
            email: true,
            ..Known::default()
        },
        false => Known::default(),
    };
    let mut known: HashMap<String, Known> = people.iter().map(|it| (it.clone(), seen)).collect();
    if known.keys().any(|it| it != caller) {
        let scope = async |function| cx.authorizer().scope(cx, function).await;
        let profile = scope("roster.viewprofile").await?;
        let email = scope("roster.viewemail").await?;
        let number = scope("roster.viewcandidatedetails").await?;
        let hidden = scope("roster.viewhidden").await?;
        for place in places(cx, people, site).await? {
            if place.is_hidden && !hidden.contains(&place.site) {
                continue;
            }
            let known = known.entry(place.user).or_default();
            known.shares = true;
            known.profile |= profile.contains(&place.site);
            known.email |= place.is_told && email.contains(&place.site);
            known.number |= place.is_told && number.contains(&place.site);
        }
    }
    if let Some(own) = known.get_mut(caller) {
        *own = Known::ALL;
    }
    Ok(known)
}

/// Returns the active memberships of `people` in `site` or, without one, in any site that the caller belongs to and may
/// visit.
async fn places(cx: &Context, people: &[String], site: Option<&str>) -> Result<Vec<Place>> {
    let mut visited = match cx.authorizer().scope(cx, "site.visit").await? {
        Scope::Sites(sites) => sites,
        Scope::Everything => cx.authorizer().own_sites(cx).await?,
    };
    visited.retain(|it| site.is_none_or(|site| it == site));
    if visited.is_empty() {
        return Ok(Vec::new());
    }
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT m.user_id, m.site_id, m.is_hidden, m.origin FROM membership m \
         WHERE m.is_active AND m.user_id",
    );
    sql.bind_list(people)?;
    sql.push(" AND m.site_id").bind_list(&visited)?;
    let read = |row: &mut Row<'_>| {
        let (user, site, is_hidden) = (row.take()?, row.take()?, row.take()?);
        let origin: Origin = row.take()?;
        Ok(Place {
            user,
            site,
            is_hidden,
            is_told: origin.is_told(),
        })
    };
    db.rows(sql.into_statement(), read).await
}
