//! Options of forms: groups, roles and members of a site, and the tools in its menu.

use entity_core::options::{self, Choice};
use entity_core::{Context, Result, gate, menu, register_options};

use crate::people::authorizer;
use crate::people::site::{Sites, parts};
use crate::storage::db::site_parts::{SitePage, pages_of, tools_of};

register_options!("group", |cx, site| Box::pin(groups(cx, site)));
register_options!(menu::TOOLS, |cx, site| Box::pin(tools(cx, site)));
register_options!("role", |cx, site| Box::pin(roles(cx, site)));
register_options!("member", |cx, site| Box::pin(options::listed(
    cx,
    "membership",
    site,
    "userId"
)));

/// Returns the groups of `site`, for those who may visit it.
async fn groups(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let Some(site) = visited(cx, site).await? else {
        return Ok(Vec::new());
    };
    let found = parts::groups(cx, site).await?;
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

/// Returns the site, if the caller may visit it: the gate decides, as about everything else in it.
async fn visited<'a>(cx: &Context, site: Option<&'a str>) -> Result<Option<&'a str>> {
    let Some(site) = site else {
        return Ok(None);
    };
    match gate::read::<Sites>(cx, site).await {
        Ok(_) => Ok(Some(site)),
        Err(error) if error.is_refusal() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The tools that `site` shows, in their order, each with the title of its page.
async fn tools(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let Some(site) = visited(cx, site).await? else {
        return Ok(Vec::new());
    };
    let (pages, tools) = (pages_of(cx, &[site]).await?, tools_of(cx, &[site]).await?);
    let of_page = |page: SitePage| {
        let tools = tools.iter().filter(move |it| it.page_id == page.id);
        tools
            .map(move |it| (it.tool_id.clone(), page.title.clone()))
            .collect::<Vec<_>>()
    };
    Ok(pages.into_iter().flat_map(of_page).collect())
}
