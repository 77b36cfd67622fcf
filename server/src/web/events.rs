//! `/direct/event/stream` and `/api/users/me/events`: the events of the caller's sites as they happen, as server-sent
//! events (the event streams of the HTML standard, which browsers read with `EventSource`).
//!
//! A stream tells the events of entities that the caller may read at that moment, and never who caused them. A client
//! that was cut off names the last event that it has seen, and gets those that it missed.

mod source;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use entity_core::endpoint::{Endpoint, Success};
use entity_core::engine::DirectPath;
use entity_core::{Error, ErrorKind, Result, Verb};

use crate::base::class::Class;
use crate::web::answers::Streamed;
use crate::web::api::{OwnAnswer, OwnCall};
use crate::web::app::App;
use crate::web::middleware::session;
use crate::web::request_context::RequestContext;

use source::Source;

/// The media type of streams of events.
const EVENT_STREAM: &str = "text/event-stream";
/// The header in which a client that was cut off names the last event that it has seen.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The parameter that says the same, for clients that can't send the header.
const LAST_EVENT: &str = "lastEventId";
/// Tells proxies not to buffer the answer.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// `GET /api/users/me/events`
pub(crate) const FOLLOW: Endpoint = Endpoint::get("/api/users/me/events", "followMyEvents")
    .doc(
        "The events of the caller's sites as they happen, as a stream that does not end. `Accept` must name \
         `text/event-stream`; the header `Last-Event-ID` goes on behind an event.",
    )
    .text(
        LAST_EVENT,
        "the id of the last event that was seen, for clients that can't send `Last-Event-ID`",
    )
    .refuses(&[ErrorKind::NotAcceptable, ErrorKind::TooManyRequests])
    .answers_as(Success::Stream(EVENT_STREAM));

/// The answer to [`FOLLOW`].
///
/// # Errors
/// As [`follow`].
pub(crate) async fn answer(call: OwnCall<'_>) -> Result<OwnAnswer> {
    let last = call.call.parameter(LAST_EVENT);
    let response = follow(call.app, call.context, last).await?;
    Ok(OwnAnswer::Read(response))
}

/// Returns true if `path` is the address of the stream below `/direct`.
pub(crate) fn is_asked(path: &DirectPath, verb: Verb) -> bool {
    path.prefix == "event" && path.segments == ["stream"] && verb == Verb::Get
}

/// Answers at that address.
///
/// # Errors
/// As [`follow`].
pub(crate) async fn answer_direct(app: &App, context: &RequestContext) -> Result<Response> {
    let query = context.query()?;
    let last = query.iter().find(|(name, _)| name == LAST_EVENT);
    follow(app, context, last.map(|(_, value)| value.as_str())).await
}

/// Begins a stream behind the event that the header or `parameter` names, or else with the events from now on.
///
/// # Errors
/// Returns an error if nobody is logged in, if the client does not ask for a stream, if it names no event, or if the
/// caller follows enough streams already.
async fn follow(app: &App, context: &RequestContext, parameter: Option<&str>) -> Result<Response> {
    let headers = &context.parts.headers;
    let caller = context.origin.caller.user_id();
    let user = caller.ok_or_else(Error::unauthenticated)?;
    if context.is_part {
        return Err(Error::bad_request(
            "a stream of events can't be part of a batch: ask for it alone",
        ));
    }
    // Programs that follow links would wait for the end of an answer that has none.
    if !context.accept.names(EVENT_STREAM) {
        return Err(Error::not_acceptable(&[EVENT_STREAM]));
    }
    let Some(session) = session::named(app, headers) else {
        return Err(Error::bad_request(
            "events are followed in a session: log in first",
        ));
    };
    let header = headers.get(LAST_EVENT_ID).map(|it| it.to_str());
    let header = header.transpose().map_err(|_invisible| wrong_place())?;
    let behind = header.or(parameter).filter(|it| !it.is_empty());
    let behind = behind.map(number).transpose()?;
    let who = app.admission.account(user);
    let place = app.admission.lane(Class::Stream).try_enter(who)?;
    let source = Source::begin(app, context.origin.clone(), (session, place), behind).await?;
    let mut response = Response::new(Body::from_stream(source.into_stream()));
    response.extensions_mut().insert(Streamed);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    Ok(response)
}

/// Reads the id of an event.
fn number(text: &str) -> Result<i64> {
    let number = text.parse().ok().filter(|it: &i64| *it >= 0);
    number.ok_or_else(wrong_place)
}

fn wrong_place() -> Error {
    Error::field(
        LAST_EVENT,
        "must be the id of an event, as a stream has told it",
    )
}
