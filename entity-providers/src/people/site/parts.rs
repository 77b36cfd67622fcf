//! The parts of sites that come from other tables, for any number of sites at once.

use std::collections::HashMap;

use entity_core::{Context, Result, View, encode_segment};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde::Serialize;

use super::{Site, address};
use crate::people::authorizer;
use crate::people::group;
use crate::people::user::{display_name, user};
use crate::storage::db::site_parts::{SiteGroup, SitePage, groups_of, pages_of};

/// Whom a site belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The internal id; empty if the account is gone.
    pub user_id: String,
    /// The name.
    pub user_display_name: String,
    /// The address of the user.
    #[serde(rename = "userEntityURL")]
    pub user_entity_url: Option<String>,
}

/// A page, as a site names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageReference {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The site.
    pub site_id: String,
    /// The address.
    pub url: String,
}

/// A group, as a site names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, View)]
#[serde(rename_all = "camelCase")]
#[view(of = SiteGroup, with(reference = group::reference(&it.site_id, &it.id)))]
pub struct Group {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The reference.
    pub reference: String,
    /// A plain line about it.
    pub description: Option<String>,
}

/// Adds owners, roles and pages to `sites`: one statement for each, however many there are.
pub(super) async fn complete(cx: &Context, sites: &mut [Site]) -> Result<()> {
    if sites.is_empty() {
        return Ok(());
    }
    let mut pages = pages(cx, sites).await?;
    let names = owner_names(cx, sites).await?;
    let mut roles = roles(cx, sites).await?;
    for site in sites {
        site.site_pages = pages.remove(&site.id).unwrap_or_default();
        site.user_roles = roles.remove(&site.id).unwrap_or_default();
        if let Some((id, name)) = site.owner.as_ref().and_then(|it| names.get_key_value(it)) {
            site.site_owner = Owner {
                user_id: id.clone(),
                user_display_name: name.clone(),
                user_entity_url: profile_url(cx, id),
            };
        }
    }
    Ok(())
}

/// Returns the address of the profile of `user`, which everybody with a session may open, unlike the account: nothing for
/// strangers, who may open neither.
fn profile_url(cx: &Context, user: &str) -> Option<String> {
    let (base, user) = (cx.base_url(), encode_segment(user));
    (!cx.caller().is_anonymous()).then(|| format!("{base}/direct/profile/{user}"))
}

async fn pages(cx: &Context, sites: &[Site]) -> Result<HashMap<String, Vec<PageReference>>> {
    let ids: Vec<&str> = sites.iter().map(|it| it.id.as_str()).collect();
    let mut pages: HashMap<String, Vec<PageReference>> = HashMap::new();
    for SitePage {
        id, title, site_id, ..
    } in pages_of(cx, &ids).await?
    {
        let page = PageReference {
            url: cx.base_url().to_owned() + &address::of_page(&site_id, &id),
            id,
            title,
            site_id: site_id.clone(),
        };
        pages.entry(site_id).or_default().push(page);
    }
    Ok(pages)
}

/// The roles of each, sorted.
async fn roles(cx: &Context, sites: &[Site]) -> Result<HashMap<String, Vec<String>>> {
    let ids: Vec<&str> = sites.iter().map(|it| it.id.as_str()).collect();
    let facts = authorizer::of(cx)?.sites(cx, &ids).await?;
    let facts = facts.iter().filter_map(|it| it.as_ref().as_ref());
    Ok(facts.map(|it| (it.id.clone(), it.role_names())).collect())
}

async fn owner_names(cx: &Context, sites: &[Site]) -> Result<HashMap<String, String>> {
    use user::Column::{Eid, FirstName, Id, LastName};
    let mut ids: Vec<&str> = sites.iter().filter_map(|it| it.owner.as_deref()).collect();
    ids.sort_unstable();
    ids.dedup();
    let rows: Vec<(String, String, String, String)> = cx
        .db()?
        .select(
            &user::Entity::find()
                .select_only()
                .columns([Id, FirstName, LastName, Eid])
                .filter(Id.is_in(ids)),
        )
        .await?;
    let named = rows.into_iter().map(|(id, first_name, last_name, eid)| {
        let name = display_name(&first_name, &last_name, &eid);
        (id, name)
    });
    Ok(named.collect())
}

/// The groups of the site `id`, by title.
pub(crate) async fn groups(cx: &Context, id: &str) -> Result<Vec<Group>> {
    Ok(groups_of(cx, id)
        .await?
        .into_iter()
        .map(Group::of)
        .collect())
}
