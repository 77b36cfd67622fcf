//! The start page, and the addresses that lead to pages below `/direct`.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use entity_core::format::Renderer;
use entity_core::reply::Effect;
use entity_core::{Error, Result, encode_segment, menu};
use entity_formats::html::portal::{Dated, Home, SiteLink, home_page};
use entity_formats::write_pairs;
use entity_providers::face::portal::{self, Part, Place};

use crate::base::mount::PORTAL;
use crate::web::direct::validators::{Validators, digest};

use super::{PAGE, Visit, fresh_page, lead, login};

/// Shows the caller's sites, the coming dates and the news in them; to strangers, the form to log in.
pub(super) async fn home(visit: Visit<'_>) -> Result<Response> {
    let origin = &visit.context.origin;
    if origin.caller.is_anonymous() {
        return login::page(&visit).await.map(fresh_page);
    }
    let dispatcher = &visit.app.dispatcher;
    let found = dispatcher.read(origin, |cx| {
        Box::pin(async move { Ok((portal::home(cx).await?, menu::around(cx, None).await?)) })
    });
    let (home, allowed_actions) = found.await?;
    let view = visit.view_with(allowed_actions);
    let bytes = home_page(&links(home), &view)?;
    let format = visit.app.formats.renderer("html").map(Renderer::format);
    let format = format.ok_or_else(|| Error::internal("a format of every service is missing"))?;
    let validators = Validators::of_version(digest(&bytes), format);
    let headers = &visit.context.parts.headers;
    if let Some(response) = validators.not_modified(&Effect::Read, headers)? {
        return Ok(response);
    }
    let mut response = Response::new(Body::from(bytes));
    let page = HeaderValue::from_static(PAGE);
    response.headers_mut().insert(CONTENT_TYPE, page);
    validators.tell(response.headers_mut());
    Ok(response)
}

fn links(home: portal::Home) -> Home {
    let (pinned, others): (Vec<_>, Vec<_>) = home.sites.into_iter().partition(|it| it.is_pinned);
    let link = |it: portal::HomeSite| SiteLink {
        href: format!("{PORTAL}/site/{}", encode_segment(&it.id)),
        id: it.id,
        title: it.title,
        description: it.description.filter(|it| !it.trim().is_empty()),
    };
    let dated = |it: portal::Event| Dated {
        href: format!("/direct{}.html", it.reference.path()),
        prefix: it.reference.prefix,
        title: it.title,
        site_title: it.site_title,
        time: it.start,
        is_done: it.is_done,
    };
    Home {
        pinned: pinned.into_iter().map(link).collect(),
        others: others.into_iter().map(link).collect(),
        has_more: home.has_more,
        events: home.events.into_iter().map(dated).collect(),
        has_more_events: home.has_more_events,
        news: home.news.into_iter().map(dated).collect(),
        managed: home.managed,
        is_superuser: home.is_superuser,
        may_create: home.may_create,
        is_first: home.is_first,
    }
}

/// Tells which sites the caller keeps at hand.
pub(super) async fn favorites(visit: Visit<'_>) -> Result<Response> {
    let origin = &visit.context.origin;
    let dispatcher = &visit.app.dispatcher;
    let favorites = dispatcher
        .read(origin, |cx| Box::pin(portal::favorites(cx)))
        .await?;
    let body = serde_json::to_vec(&favorites).map_err(Error::internal)?;
    Ok((StatusCode::OK, [(CONTENT_TYPE, "application/json")], body).into_response())
}

/// Leads to a site.
pub(super) async fn site(visit: Visit<'_>) -> Result<Response> {
    lead_to(&visit, Part::Whole).await
}

/// Leads to the data of the first tool on a page of a site.
pub(super) async fn page(visit: Visit<'_>) -> Result<Response> {
    let page = visit.variable(1)?.to_owned();
    lead_to(&visit, Part::Page(page)).await
}

/// Leads to the data of a tool of a site.
pub(super) async fn tool(visit: Visit<'_>) -> Result<Response> {
    let placement = visit.variable(1)?.to_owned();
    lead_to(&visit, Part::Tool(placement)).await
}

/// Leads to a user.
pub(super) async fn user(visit: Visit<'_>) -> Result<Response> {
    let (dispatcher, origin) = (&visit.app.dispatcher, &visit.context.origin);
    let id = visit.variable(0)?.to_owned();
    let found = dispatcher.read(origin, |cx| {
        Box::pin(async move { portal::place_of_user(cx, &id).await })
    });
    lead(&address(&found.await?))
}

async fn lead_to(visit: &Visit<'_>, part: Part) -> Result<Response> {
    let (dispatcher, origin) = (&visit.app.dispatcher, &visit.context.origin);
    let site = visit.variable(0)?.to_owned();
    let found = dispatcher.read(origin, |cx| {
        Box::pin(async move { portal::place(cx, &site, part).await })
    });
    lead(&address(&found.await?))
}

/// The path and the query of the page.
fn address(place: &Place) -> String {
    let pairs = place.query.iter().map(|it| (it.0.as_str(), it.1.as_str()));
    let query = write_pairs(pairs);
    let separator = if query.is_empty() { "" } else { "?" };
    format!("/direct{}.html{separator}{query}", place.path)
}
