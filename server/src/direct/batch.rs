//! `/direct/batch`: many requests in one, each authorised, audited and answered as if it came alone.
//!
//! Two forms. *References*: one method for the addresses in `_refs`, the results by `ref0`, `ref1` … *Operations*: a
//! list in the body, each with a method, a path and a body of its own; later ones may name what earlier ones
//! made, and all together may be atomic.

mod operations;
mod references;
mod result;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use entity_core::{DirectPath, Error, ErrorKind, Result, Verb};

use self::operations::Operations;
use self::references::References;
use self::result::Outcome;
use super::prefer::Preferences;
use super::{Runner, negotiate, request, respond};
use crate::app::App;
use crate::audit::AuditRow;
use crate::error;
use crate::exchange::Exchange;
use crate::middleware::audit::Audited;

/// The prefix that asks for a batch. No type can have it.
const WORD: &str = "batch";
/// Most requests in one batch.
const MAX_PARTS: usize = 50;
/// The parameter that lists the addresses.
const REFERENCES: &str = "_refs";

/// One request of a batch, ready to be sent.
struct Part {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

/// Whether `path` asks for a batch.
pub(super) fn is_asked(path: &DirectPath) -> bool {
    path.prefix == WORD && path.segments.is_empty()
}

/// Carries out a batch.
///
/// # Errors
/// The batch itself is malformed; it is atomic and one of its requests failed.
pub(super) async fn answer(
    app: &App,
    exchange: &mut Exchange,
    path: &DirectPath,
) -> Result<Response> {
    if exchange.origin.caller.is_anonymous() {
        return Err(Error::unauthenticated());
    }
    let verbs = [Verb::Get, Verb::Post, Verb::Put, Verb::Delete];
    if exchange.parts.method == Method::OPTIONS {
        return Ok(error::options(&verbs));
    }
    let verb = request::verb(&exchange.parts.method)
        .filter(|it| verbs.contains(it))
        .ok_or_else(|| Error::method_not_allowed(verbs.to_vec()))?;
    let headers = &exchange.parts.headers;
    let format = negotiate::format(path.format.as_deref(), headers, &app.formats)?;
    let is_xml = match format.name {
        "json" => false,
        "xml" => true,
        _ => return Err(Error::not_acceptable(&["json", "xml"])),
    };
    let config = &app.config;
    exchange
        .read_body(config.other_body.0, config.body_timeout)
        .await?;
    let query = exchange.query()?;
    if query.iter().any(|(name, _)| name == REFERENCES) || verb != Verb::Post {
        let references = References::read(app, exchange, &query, verb, is_xml)?;
        return references.run(app, exchange).await;
    }
    let operations = Operations::read(exchange)?;
    let mut response = operations.run(app, exchange, is_xml).await?;
    Preferences::of(&exchange.parts.headers).tell(response.headers_mut());
    Ok(response)
}

/// The address of one part: below `/direct`, or relative to it. Nothing else can be asked, least of all another
/// server or another batch.
fn address(text: &str) -> Result<String> {
    let refuse = |reason: &str| Err(Error::bad_request(format!("`{text}` {reason}")));
    let below = match text.strip_prefix("/direct/") {
        Some(below) => below,
        None if text.starts_with('/') => return refuse("is not below /direct"),
        None => text,
    };
    let prefix = below.split(['/', '?']).next().unwrap_or_default();
    if prefix.contains(':') {
        return refuse("is not below /direct");
    }
    let stem = prefix.split('.').next().unwrap_or_default();
    match stem.eq_ignore_ascii_case(WORD) {
        true => refuse("is a batch: a batch can't hold another one"),
        false => Ok(format!("/direct/{below}")),
    }
}

impl Part {
    /// Sends it on its own; what it did and how it went is in the audit log as if it had come so.
    async fn send(self, app: &App, outer: &Exchange) -> Response {
        let exchange = self.into_exchange(outer);
        let (origin, time) = (exchange.origin.clone(), app.now());
        let context = exchange.context.clone();
        let response = Box::pin(super::handle(app, exchange)).await;
        if response.extensions().get::<Audited>().is_some() {
            return response;
        }
        let row = AuditRow::of(origin, time, response.status());
        match app.audit.record(row).await {
            Ok(()) => response,
            Err(error) => error::respond(&error, &context),
        }
    }

    /// Sends it as a part of the unit of work of `runner`.
    async fn send_within(
        self,
        app: &App,
        outer: &Exchange,
        runner: Runner<'_, '_>,
    ) -> Result<Response> {
        let mut exchange = self.into_exchange(outer);
        let path = super::parse_path(app, &exchange.parts.uri)?;
        Box::pin(super::answer(app, &mut exchange, &path, runner)).await
    }

    fn into_exchange(self, outer: &Exchange) -> Exchange {
        outer.part(self.method, self.uri, self.headers, self.body)
    }
}

/// Whether a part succeeded.
fn is_good(status: StatusCode) -> bool {
    status.is_success() || status.is_redirection()
}

/// 200 if all parts succeeded, else 207.
fn overall<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> StatusCode {
    match outcomes.into_iter().all(|it| is_good(it.status)) {
        true => StatusCode::OK,
        false => StatusCode::MULTI_STATUS,
    }
}

fn respond_with(status: StatusCode, body: Vec<u8>, is_xml: bool) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let media_type = match is_xml {
        true => "application/xml; charset=utf-8",
        false => "application/json",
    };
    respond::set(response.headers_mut(), CONTENT_TYPE, Some(media_type));
    response
}

fn too_many() -> Error {
    Error::new(
        ErrorKind::BadRequest,
        format!("a batch must have 1 to {MAX_PARTS} requests"),
    )
}

fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value)
        .map_err(|error| Error::bad_request("a header has an illegal value").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_below_the_mount_are_taken() {
        for (text, expected) in [
            ("/direct/user/admin", Some("/direct/user/admin")),
            ("user/admin.json?x=1", Some("/direct/user/admin.json?x=1")),
            (
                "announcement/a:main:b",
                Some("/direct/announcement/a:main:b"),
            ),
            ("/user/admin", None),
            ("/portal/x", None),
            ("//example.org/x", None),
            ("http://example.org/x", None),
            ("/direct/batch", None),
            ("batch.json?_refs=a", None),
            ("Batch.xml", None),
        ] {
            assert_eq!(address(text).ok().as_deref(), expected, "{text}");
        }
    }
}
