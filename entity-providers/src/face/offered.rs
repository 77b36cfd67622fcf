//! Options of forms: groups, roles and members of a site, the caller's sites, kinds of notifications.

use entity_core::options::{self, Choice};
use entity_core::{Context, Decision, Result, register_options};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::people::authorizer;
use crate::storage::db::site_group;

register_options!("group", |cx, site| Box::pin(groups(cx, site)));
register_options!("role", |cx, site| Box::pin(roles(cx, site)));
register_options!("member", |cx, site| Box::pin(options::listed(
    cx,
    "membership",
    site,
    "userId"
)));
register_options!("site", |cx, _| Box::pin(options::listed(
    cx, "site", None, "id"
)));
register_options!("tag", |cx, site| Box::pin(options::listed(
    cx,
    "conversations-tag",
    site,
    ""
)));

/// The types whose entities lessons show.
const OF_LESSONS: [&str; 5] = ["assignment", "sam_pub", "forums", "poll", "content"];

register_options!("lesson-content", |cx, site| Box::pin(of_lessons(cx, site)));

/// Returns what lessons of `site` can show.
async fn of_lessons(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let mut all = Vec::new();
    if site.is_some() {
        for prefix in OF_LESSONS {
            all.extend(options::listed(cx, prefix, site, "").await?);
        }
    }
    Ok(all)
}

/// Returns the groups of `site`, for those who may visit it.
async fn groups(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let Some(site) = visited(cx, site).await? else {
        return Ok(Vec::new());
    };
    let found = site_group::Entity::find()
        .filter(site_group::Column::SiteId.eq(site))
        .order_by_asc(site_group::Column::Title)
        .order_by_asc(site_group::Column::Id)
        .all(cx.db()?)
        .await?;
    Ok(found.into_iter().map(|it| (it.id, it.title)).collect())
}

/// Returns the roles of `site`, for those who may visit it.
async fn roles(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let Some(site) = visited(cx, site).await? else {
        return Ok(Vec::new());
    };
    let facts = authorizer::of(cx)?.sites(cx, &[site]).await?;
    let mut roles = Vec::new();
    for facts in facts.iter().filter_map(|it| it.as_ref().as_ref()) {
        roles.extend(facts.role_names().into_iter().map(|it| (it.clone(), it)));
    }
    Ok(roles)
}

async fn visited<'a>(cx: &Context, site: Option<&'a str>) -> Result<Option<&'a str>> {
    let Some(site) = site else {
        return Ok(None);
    };
    let decision = cx.authorizer().decide(cx, "site.visit", site).await?;
    Ok(matches!(decision, Decision::Granted).then_some(site))
}
