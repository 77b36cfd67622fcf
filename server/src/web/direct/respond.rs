//! [`Reply`] → HTTP: status, headers, body.

use axum::body::Body as HttpBody;
use axum::http::header::{CONTENT_TYPE, ETAG, LINK, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::engine::DirectPath;
use entity_core::format::{Format, Formats, Renderer, View};
use entity_core::reply::{Body, Collection, Effect, Reply, ResponseHeader};
use entity_core::{Error, Reference, Result, Version, encode_segment, menu};

use super::etag;
use super::validators::{Validators, digest, is_data};
use crate::base::accept::Accept;
use crate::base::error;
use crate::base::mount::PORTAL;
use crate::base::no_store::{self, Secret};

const LEFT_OUT: HeaderName = HeaderName::from_static("x-left-out");
const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
const ENTITY_ID: HeaderName = HeaderName::from_static("entityid");
const ENTITY_REFERENCE: HeaderName = HeaderName::from_static("entityreference");

const ENTITY_PREFIX: HeaderName = HeaderName::from_static("x-entity-prefix");
const ENTITY_REFERENCE_OF: HeaderName = HeaderName::from_static("x-entity-reference");
const ENTITY_URL: HeaderName = HeaderName::from_static("x-entity-url");
const ENTITY_FORMAT: HeaderName = HeaderName::from_static("x-entity-format");

/// The form in which a client wants writes to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    /// As the method and the body's type suggest.
    Usual,
    /// With the entity.
    Representation,
    /// With as little as possible.
    Minimal,
    /// With the id as text, as clients that send forms expect it.
    Id,
    /// With a redirection to a page that shows the result: a browser sent a form.
    Page,
}

/// The facts on which the response depends besides the reply.
pub(crate) struct ResponseOptions<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) accept: &'a Accept,
    pub(crate) now: DateTime<Utc>,
    pub(crate) format: Format,
    /// True if the address names the format.
    pub(crate) is_named: bool,
    pub(crate) preference: Preference,
    pub(crate) view: View<'a>,
}

/// Answers `reply`.
pub(crate) fn respond(
    reply: &Reply,
    options: &ResponseOptions<'_>,
    formats: &Formats,
) -> Result<Response> {
    let base = options.view.base_url;
    if is_told_once(reply) && options.preference != Preference::Minimal {
        return tell_once(reply, options, formats);
    }
    if let Body::Bytes(bytes) = &reply.body
        && options.preference != Preference::Minimal
    {
        return super::bytes::respond(bytes, reply, options);
    }
    match (&reply.effect, options.preference) {
        (Effect::Read, _) => represent(reply, options, formats),
        (Effect::Acted(Reference { id: None, prefix }), Preference::Page) => {
            Ok(see_list(prefix, &options.view))
        }
        (
            Effect::Created(reference) | Effect::Updated(reference) | Effect::Acted(reference),
            Preference::Page,
        ) => Ok(see_other(base, reference)),
        (Effect::Deleted(reference), Preference::Page) => Ok(see_other(
            base,
            &Reference::collection(reference.prefix.clone()),
        )),
        (Effect::Created(reference), preference) => {
            let mut response = match preference {
                Preference::Minimal => empty(StatusCode::CREATED),
                Preference::Id => text(
                    StatusCode::CREATED,
                    reference.id.clone().unwrap_or_default(),
                ),
                _ => represent(reply, options, formats)?,
            };
            *response.status_mut() = StatusCode::CREATED;
            name(response.headers_mut(), base, reference);
            Ok(response)
        }
        (Effect::Updated(_), Preference::Representation) | (Effect::Acted(_), _) => {
            represent(reply, options, formats)
        }
        (Effect::Updated(_), _) => {
            let mut response = empty(StatusCode::NO_CONTENT);
            let tag =
                version(&reply.body, options.format).map(|it| etag::tag(it, options.format.name));
            set(response.headers_mut(), ETAG, tag.as_deref());
            Ok(response)
        }
        (Effect::Deleted(_), _) => Ok(empty(StatusCode::NO_CONTENT)),
    }
}

/// Returns whether the answer tells what nothing tells again.
fn is_told_once(reply: &Reply) -> bool {
    matches!(&reply.body, Body::Entity(item) if item.is_told_once())
}

/// Such an answer is no redirection and no bare id, and nothing keeps it.
fn tell_once(reply: &Reply, options: &ResponseOptions<'_>, formats: &Formats) -> Result<Response> {
    let mut response = represent(reply, options, formats)?;
    if let Effect::Created(reference) = &reply.effect {
        name(response.headers_mut(), options.view.base_url, reference);
    }
    no_store::demand(response.headers_mut());
    Ok(response)
}

/// The body in the format that was asked for, or the news that the client already has it.
fn represent(reply: &Reply, options: &ResponseOptions<'_>, formats: &Formats) -> Result<Response> {
    if matches!(reply.body, Body::Empty) && !is_shown_empty(reply, options) {
        return Ok(empty(error::done(&reply.effect, false)));
    }
    let renderer = formats.renderer_for(options.format.name, &reply.body)?;
    match &reply.body {
        Body::Collection(list) => represent_list(reply, list, options, renderer),
        _ => written(reply, options, renderer),
    }
}

/// A list, or as much of its beginning as an answer may hold; what follows is at the address of the next part.
fn represent_list(
    reply: &Reply,
    list: &Collection,
    options: &ResponseOptions<'_>,
    renderer: &dyn Renderer,
) -> Result<Response> {
    let mut count = list.items.len();
    let mut done = written(reply, options, renderer);
    // Each time at least one entity less: one alone is always written.
    while let Some(fitting) = done.as_ref().err().and_then(Error::fitting) {
        count = fitting.min(count.saturating_sub(1)).max(1);
        let part = Reply {
            body: Body::Collection(list.first(count)?),
            effect: reply.effect.clone(),
            allowed_actions: reply.allowed_actions.clone(),
            headers: Vec::new(),
        };
        done = written(&part, options, renderer);
    }
    done
}

/// Refuses a list that takes `written` bytes if those are too many, and tells how many entities may fit.
fn check_list(body: &Body, written: usize, most: usize) -> Result<()> {
    let count = match body {
        Body::Collection(list) if written > most => list.items.len(),
        _ => return Ok(()),
    };
    let fitting = count
        .saturating_mul(most.div_ceil(1024))
        .checked_div(written.div_ceil(1024));
    match count > 1 {
        true => Err(Error::list_too_large(fitting.unwrap_or(1))),
        false => Ok(()),
    }
}

/// The body as `renderer` writes it, or the news that the client already has it.
fn written(
    reply: &Reply,
    options: &ResponseOptions<'_>,
    renderer: &dyn Renderer,
) -> Result<Response> {
    let format = renderer.format();
    let known = version(&reply.body, format).map(Some);
    let known = known.map(|it| Validators::of(options.now, reply, format, it));
    if let Some(known) = &known
        && let Some(response) = known.not_modified(&reply.effect, options.headers)?
    {
        return Ok(response);
    }
    let bytes = renderer.render(&reply.body, &options.view)?;
    check_list(&reply.body, bytes.len(), options.view.most_bytes)?;
    let validators = if let Some(known) = known {
        known
    } else {
        let found = Validators::of(options.now, reply, format, Some(digest(&bytes)));
        if let Some(response) = found.not_modified(&reply.effect, options.headers)? {
            return Ok(response);
        }
        found
    };
    let mut response = Response::new(HttpBody::from(bytes));
    *response.status_mut() = error::done(&reply.effect, true);
    if matches!(&reply.body, Body::Entity(item) if item.is_secret()) {
        response.extensions_mut().insert(Secret);
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type));
    validators.tell(headers);
    name_entity(headers, &reply.body, options);
    if let Body::Collection(collection) = &reply.body {
        let links = entity_formats::paging_links(collection, &options.view, options.extension());
        let links: Vec<_> = links
            .iter()
            .map(|(rel, url)| format!("<{url}>; rel=\"{rel}\""))
            .collect();
        set(
            headers,
            LINK,
            Some(links.join(", ").as_str()).filter(|it| !it.is_empty()),
        );
        let cut = collection.has_more && matches!(format.name, "csv" | "ics");
        set(headers, LEFT_OUT, cut.then_some("the end of the list"));
        let total = collection.total.map(|it| it.to_string());
        set(headers, TOTAL_COUNT, total.as_deref());
    }
    Ok(response)
}

/// Returns whether people are shown a page that says no more than that all is well: a browser that is answered
/// with no page stays where it is, as if nothing had happened.
fn is_shown_empty(reply: &Reply, options: &ResponseOptions<'_>) -> bool {
    options.format.name == "html" && reply.effect == Effect::Read
}

impl ResponseOptions<'_> {
    /// The extension that links of this answer need to lead to the same format: that of the address, and none for the
    /// default.
    fn extension(&self) -> Option<&'static str> {
        (self.is_named || self.format.name != "json").then_some(self.format.name)
    }
}

fn version(body: &Body, format: Format) -> Option<Version> {
    if !is_data(format) {
        return None;
    }
    match body {
        Body::Entity(item) => item.version(),
        Body::Collection(collection) => collection.version(),
        _ => None,
    }
}

/// Sends a browser to the list of the type `prefix`: that in the site of the page, if it is about one.
fn see_list(prefix: &str, view: &View<'_>) -> Response {
    let route = view.registry.route(prefix);
    let site = view.allowed_actions.site.as_deref();
    let list = route.zip(site).and_then(|(it, site)| menu::part(it, site));
    let path = list.map_or_else(
        || DirectPath::new(prefix, [""; 0]),
        |it| DirectPath::new(prefix, it.segments),
    );
    see_page(view.base_url, &path.to_string())
}

fn see_other(base: &str, reference: &Reference) -> Response {
    see_page(base, &reference.path())
}

fn see_page(base: &str, path: &str) -> Response {
    let mut response = empty(StatusCode::SEE_OTHER);
    let page = format!("{base}/direct{path}.html");
    set(response.headers_mut(), LOCATION, Some(&page));
    response
}

/// Sends a browser to the same address with the query `tidy`.
pub(crate) fn see_tidy(base: &str, uri: &Uri, tidy: &str) -> Response {
    let separator = if tidy.is_empty() { "" } else { "?" };
    let mut response = empty(StatusCode::SEE_OTHER);
    let page = format!("{base}{}{separator}{tidy}", uri.path());
    set(response.headers_mut(), LOCATION, Some(&page));
    response
}

/// Sends a browser that has just logged in or out to the start page.
pub(crate) fn see_start(response: &mut Response, base: &str) {
    *response.status_mut() = StatusCode::SEE_OTHER;
    *response.body_mut() = HttpBody::empty();
    set(
        response.headers_mut(),
        LOCATION,
        Some(&format!("{base}{PORTAL}")),
    );
}

/// Names what an entity or a list is, and in which format, as existing clients expect it.
fn name_entity(headers: &mut HeaderMap, body: &Body, options: &ResponseOptions<'_>) {
    let reference = match body {
        Body::Entity(item) => item.reference(),
        Body::Collection(list) => Reference::collection(list.prefix),
        _ => return,
    };
    let format = options.format.name;
    let url = format!("{}.{format}", options.view.path);
    for (name, value) in [
        (ENTITY_PREFIX, reference.prefix.as_str()),
        (ENTITY_REFERENCE_OF, &reference.path()),
        (ENTITY_URL, &url),
        (ENTITY_FORMAT, format),
    ] {
        set(headers, name, Some(value));
    }
}

fn name(headers: &mut HeaderMap, base: &str, reference: &Reference) {
    let id = reference.id.as_deref().map(encode_segment);
    set(
        headers,
        LOCATION,
        Some(&format!("{base}/direct{}", reference.path())),
    );
    set(headers, ENTITY_ID, id.as_deref());
    set(headers, ENTITY_REFERENCE, Some(&reference.path()));
}

/// Adds the facts beside the body.
pub(crate) fn remark(headers: &mut HeaderMap, remarks: &[ResponseHeader]) {
    for ResponseHeader { name, value } in remarks {
        if let Ok(name) = HeaderName::try_from(*name) {
            set(headers, name, Some(value));
        }
    }
}

/// Header values are ASCII here: ids were percent-encoded before. What is not is left out.
pub(crate) fn set(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    if let Some(value) = value.and_then(|it| HeaderValue::from_str(it).ok()) {
        headers.insert(name, value);
    }
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

pub(crate) fn text(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(HttpBody::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}
