//! `/feeds/<token>/<name>.<format>`: content that the owner of the token may read now, for the holder of the token.
//!
//! It goes through the same dispatcher as `/direct`, on behalf of the owner and only to read. A feed that is unknown,
//! revoked, expired, out of the owner's reach or of an account that is shut looks the same.

use axum::http::header::{CACHE_CONTROL, UPGRADE_INSECURE_REQUESTS};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use chrono::TimeDelta;
use entity_core::db;
use entity_core::engine::{DirectPath, Request};
use entity_core::format::{OwnAddress, Renderer, View};
use entity_core::reply::AllowedActions;
use entity_core::unit::{Mode, Store as _};
use entity_core::{Caller, Context, Error, ErrorKind, Result, Verb};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _};

use super::address::name;
use super::{Feed, feed, readable};
use crate::base::mount::FEEDS;
use crate::guard::feed_token::Token;
use crate::web::app::App;
use crate::web::direct::first;
use crate::web::direct::respond::{Preference, ResponseOptions, respond, set};
use crate::web::request_context::RequestContext;
use crate::{
    base::{error, telemetry},
    pages::portal,
};

/// The interval at which the last use of a feed is written: not every reading is worth a write.
pub(super) const USE_STEP: TimeDelta = TimeDelta::minutes(10);

/// The number of minutes for which a reader, and no shared cache, may keep an answer: for that time a revoked feed may
/// be shown again to its former reader.
const KEPT_MINUTES: u32 = 5;

/// The format of the page for people who open the address in a browser.
pub(crate) const PAGE: &str = "html";

/// The message to people about an address that opens nothing, whatever the reason.
const GONE: &str = "this feed was revoked, was replaced or has ended: its owner makes a new one under Private feeds";

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// The caller on whose behalf a request without a session was answered, for the audit log.
#[derive(Clone, Debug)]
pub(crate) struct ReadAs(pub(crate) Caller);

/// A feed, and the owner it is read as.
struct Bound {
    row: Feed,
    owner: Caller,
}

/// The parts of the path of a feed.
struct Target<'a> {
    token: Token,
    name: &'a str,
    format: &'a str,
}

/// Answers a request below `/feeds`. An address that got about is not for search engines.
pub(crate) async fn handle(app: &App, context: &RequestContext) -> Response {
    let mut response = answer(app, context).await;
    response
        .headers_mut()
        .insert(ROBOTS, HeaderValue::from_static("noindex, noarchive"));
    response
}

async fn answer(app: &App, context: &RequestContext) -> Response {
    if context.parts.method == Method::OPTIONS {
        return error::options(&[Verb::Get]);
    }
    if context.verb != Some(Verb::Get) {
        return context.fail(&Error::method_not_allowed(vec![Verb::Get]));
    }
    let found = match Target::parse(context.parts.uri.path()) {
        Some(target) => find(app, context, &target)
            .await
            .map(|it| Some((it?, target))),
        None => Ok(None),
    };
    let (bound, target) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return refuse(app, context, &Error::not_found()),
        Err(error) => return refuse(app, context, &error),
    };
    let shown = match app.feed_limiter.ask(&bound.row.id, app.steady()) {
        Ok(()) => show(app, context, &bound, &target).await.map_err(hide),
        Err(seconds) => Err(Error::too_many_requests(
            format!(
                "this feed was read too often: wait {seconds} seconds, and send its `ETag` when you ask again"
            ),
            seconds,
        )),
    };
    let mut response = match shown {
        Ok(response) => {
            note_use(app, &bound.row).await;
            response
        }
        Err(error) => refuse(app, context, &error),
    };
    response.extensions_mut().insert(ReadAs(bound.owner));
    response
}

impl<'a> Target<'a> {
    fn parse(path: &'a str) -> Option<Self> {
        let rest = path.strip_prefix(FEEDS)?.strip_prefix('/')?;
        let (token, file) = rest.split_once('/')?;
        let (name, format) = file.rsplit_once('.')?;
        Some(Self {
            token: Token::parse(token)?,
            name,
            format,
        })
    }
}

/// The feed that the token opens, in this format and under this name, if it does so now.
async fn find(app: &App, context: &RequestContext, target: &Target<'_>) -> Result<Option<Bound>> {
    let hash = target.token.to_hash();
    let found = app
        .dispatcher
        .read(&context.origin, |cx| Box::pin(by_hash(cx, hash)))
        .await?;
    let is_meant = |it: &Bound| {
        name(&it.row.path) == target.name && it.row.formats.0.iter().any(|it| it == target.format)
    };
    Ok(found.filter(is_meant))
}

async fn by_hash(cx: &Context, hash: String) -> Result<Option<Bound>> {
    let is_meant = feed::Column::TokenHash.eq(hash);
    let found: Vec<Feed> = db::load(cx, feed::Entity::find().filter(is_meant)).await?;
    let Some(row) = found.into_iter().find(|it| !it.is_over(cx.now())) else {
        return Ok(None);
    };
    let owner = entity_providers::people::user::find(cx, &row.user_id).await?;
    let owner = owner.filter(|it| it.disabled != Some(true));
    Ok(owner.map(|it| Bound {
        row,
        owner: Caller::user(it.id, it.eid),
    }))
}

/// Reads the address of the feed, as its owner.
async fn show(
    app: &App,
    context: &RequestContext,
    bound: &Bound,
    target: &Target<'_>,
) -> Result<Response> {
    let format = app.formats.renderer(target.format).map(Renderer::format);
    let format = format
        .filter(|it| it.is_feed)
        .ok_or_else(Error::not_found)?;
    let headers = &context.parts.headers;
    let page = app.formats.renderer(PAGE).map(Renderer::format);
    let page = page.filter(|_| is_navigation(context));
    let sent = context.parts.uri.query().unwrap_or_default();
    let query = narrowed(&bound.row.query, sent);
    let mut origin = context.origin.clone();
    origin.caller = bound.owner.clone();
    // What was kept has no format: a dot belongs to the last segment.
    let path = DirectPath::parse(&bound.row.path, |_| false)?;
    let pairs = entity_formats::parse_pairs(query.as_bytes())?;
    let mut request = Request::reading(path, pairs, origin);
    first::of_format(&mut request, format, app.dispatcher.registry());
    let reply = app.dispatcher.dispatch(&request).await?;
    if !readable::is_content(&reply) {
        return Err(Error::not_found());
    }
    let base_url = &app.dispatcher.shared().base_url;
    let url = format!(
        "{base_url}{FEEDS}/{}/{}",
        target.token.expose(),
        target.name
    );
    let options = ResponseOptions {
        headers,
        accept: &context.accept,
        now: context.errors.now,
        format: page.unwrap_or(format),
        is_named: true,
        preference: Preference::Usual,
        view: View {
            base_url,
            path: &bound.row.path,
            query: &query,
            now: context.errors.now,
            own_address: Some(OwnAddress {
                url: &url,
                format: target.format,
                title: &bound.row.title,
                minutes: KEPT_MINUTES,
                query: sent,
            }),
            allowed_actions: AllowedActions::default(),
            formats: &app.formats,
            registry: app.dispatcher.registry(),
            absolute: entity_providers::base::html::absolute,
            user: None,
            csrf_token: None,
            most_bytes: app.config.limits.answer_bytes.0,
        },
    };
    let mut response = app
        .answers
        .aside(&context.origin, || respond(&reply, &options, &app.formats))?;
    let kept = format!("private, max-age={}, must-revalidate", KEPT_MINUTES * 60);
    set(response.headers_mut(), CACHE_CONTROL, Some(&kept));
    Ok(response)
}

/// The query of the feed, of which a reader may choose the part of the list. Whatever else readers send says nothing.
fn narrowed(own: &str, sent: &str) -> String {
    let windows: Vec<&str> = entity_formats::windows(sent).collect();
    let chosen = match windows.is_empty() {
        true => return own.to_owned(),
        false => entity_formats::filters(own).chain(windows),
    };
    chosen.collect::<Vec<_>>().join("&")
}

/// Returns whether a browser opens the address for a person. Programs that read feeds take pages, too, and are not meant.
fn is_navigation(context: &RequestContext) -> bool {
    let headers = &context.parts.headers;
    let destination = headers.get("sec-fetch-dest");
    destination.is_some_and(|it| it == "document")
        || headers.contains_key(UPGRADE_INSECURE_REQUESTS)
        || context.accept.names("application/xhtml+xml")
}

/// Answers with `error`: people are shown a page.
fn refuse(app: &App, context: &RequestContext, error: &Error) -> Response {
    match error.kind() {
        _ if !is_navigation(context) => context.fail(error),
        ErrorKind::NotFound => portal::fail(app, context, &Error::new(ErrorKind::NotFound, GONE)),
        _ => portal::fail(app, context, error),
    }
}

/// Hides the reason of a refusal: the holder of the token need not be the owner, whose permissions are a secret.
fn hide(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Unauthenticated | ErrorKind::Forbidden | ErrorKind::MethodNotAllowed => {
            Error::not_found()
        }
        _ => error,
    }
}

/// Writes down that the feed is in use. A reader is answered even if that fails.
async fn note_use(app: &App, row: &Feed) {
    let now = app.now();
    let before = now.checked_sub_signed(USE_STEP).unwrap_or(now);
    if row.last_used.is_some_and(|it| it > before) {
        return;
    }
    let noted = write_use(app, row, now.timestamp_millis(), before.timestamp_millis());
    if let Err(error) = noted.await {
        tracing::warn!(
            error = telemetry::cause(&error),
            "could not write down the use of a private feed"
        );
    }
}

/// Only one of those that read at once writes.
async fn write_use(app: &App, row: &Feed, now: i64, before: i64) -> Result<()> {
    let unit = app.storage.content.begin(Mode::Write).await?;
    let session: &entity_core::db::Session = unit
        .as_any()
        .downcast_ref()
        .ok_or_else(|| Error::internal("the unit of work is not one of the database"))?;
    let is_due = Condition::any()
        .add(feed::Column::LastUsed.is_null())
        .add(feed::Column::LastUsed.lte(before));
    feed::Entity::update_many()
        .col_expr(feed::Column::LastUsed, Expr::value(now))
        .filter(feed::Column::Id.eq(&row.id))
        .filter(feed::Column::TokenHash.eq(&row.token_hash))
        .filter(is_due)
        .exec(session)
        .await?;
    unit.commit().await
}
