//! `/direct/batch`: many requests in one, each authorised, audited and answered as if it came alone.
//!
//! Two forms. *References*: one method for the addresses in `_refs`, the results by `ref0`, `ref1` … *Operations*: a
//! list in the body, each with a method, a path and a body of its own; later ones may name what earlier ones
//! made, and all together may be atomic.

mod operations;
mod places;
mod references;
mod result;
mod room;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use entity_core::engine::{Audit, DirectPath, Preparation};
use entity_core::{Error, ErrorKind, Result, Verb};
use percent_encoding::percent_decode_str;

use crate::guard::admission::rate::MAX_PARTS;

pub(crate) use self::operations::HEADERS;
use self::operations::Operations;
use self::references::References;
use self::result::Outcome;
use super::idempotency::{self, IDEMPOTENCY_KEY, Key, Replay};
use super::request::{DirectRequest, parse_path};
use super::{Runner, perform, respond};
use crate::base::error;
use crate::base::no_store;
use crate::guard::admission::Units;
use crate::guard::audit::AuditRow;
use crate::web::app::App;
use crate::web::middleware::audit::Audited;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;

/// The prefix that asks for a batch. No type can have it.
const WORD: &str = "batch";
/// The formats that results are told in.
const FORMATS: [&str; 2] = ["json", "xml"];
/// The parameter that lists the addresses.
const REFERENCES: &str = "_refs";
/// The maximum number of bytes of an answer that is stored for its `Idempotency-Key`.
const MAX_KEPT: usize = 1 << 20;

/// One request of a batch, ready to be sent.
struct Part {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    /// The maximum number of bytes of a list in its answer.
    answer_bytes: Option<usize>,
}

/// Returns whether `path` asks for a batch.
pub(super) fn is_asked(path: &DirectPath) -> bool {
    path.prefix == WORD && path.segments.is_empty()
}

/// Carries out a batch.
///
/// # Errors
/// The batch itself is malformed; it is atomic and one of its requests failed.
pub(super) async fn answer(direct: DirectRequest<'_>, body: &mut RequestBody) -> Result<Response> {
    let DirectRequest { app, context, .. } = direct;
    // Whatever spelling of the address led here.
    if context.is_part {
        return Err(Error::bad_request(NESTED));
    }
    let verbs = [Verb::Get, Verb::Post, Verb::Put, Verb::Delete];
    if context.parts.method == Method::OPTIONS {
        return Ok(error::options(&verbs));
    }
    let verb = context
        .verb
        .filter(|it| verbs.contains(it))
        .ok_or_else(|| Error::method_not_allowed(verbs.to_vec()))?;
    if context.origin.caller.is_anonymous() {
        return Err(Error::unauthenticated());
    }
    let is_xml = match direct.format_among(&FORMATS)?.name {
        "json" => false,
        "xml" => true,
        _ => return Err(Error::not_acceptable(&FORMATS)),
    };
    let config = &app.config;
    let limit = config.limits.other_body.0;
    body.read(context, limit, config.timeouts.body).await?;
    let (query, body) = (context.query()?, &*body);
    let key = Key::of(context, body, verb)?;
    let key = key.as_ref();
    if query.iter().any(|(name, _)| name == REFERENCES) || verb != Verb::Post {
        let references = References::read((app, context), &body.bytes, &query, verb, is_xml)?;
        if let Some(refused) = count(app, context, body, references.units()) {
            return Ok(refused);
        }
        let work = references.run(app, context, key);
        return idempotency::once(key, app, Replay::Batch(&context.origin), work).await;
    }
    let operations = Operations::read(context, &body.bytes, is_xml)?;
    if let Some(refused) = count(app, context, body, operations.units()) {
        return Ok(refused);
    }
    let work = operations.run(app, context, key);
    idempotency::once(key, app, Replay::Batch(&context.origin), work).await
}

/// Counts the requests of a batch as if each had come alone; answers what to say if they are too many.
fn count(
    app: &App,
    context: &RequestContext,
    body: &RequestBody,
    units: Units,
) -> Option<Response> {
    let admitted = body.admitted.as_ref()?;
    let counted = admitted.count_parts(&app.admission, units, app.steady());
    Some(counted.err()?.respond(&context.errors))
}

/// Returns the stored responses, in full and in brief, for the key of a batch that came to `outcomes`; nothing if it
/// has none. `answer` makes a response of outcomes.
fn kept<'k>(
    key: Option<&'k Key>,
    outcomes: &[Outcome],
    answer: impl Fn(&[Outcome]) -> Result<Response>,
) -> Result<Option<(&'k Key, Response, Response)>> {
    let Some(key) = key else {
        return Ok(None);
    };
    let too_large = || {
        Error::new(
            ErrorKind::TooLarge,
            "the results are more than can be kept for the `Idempotency-Key`: read less in one batch",
        )
    };
    // Nothing is copied of what is too much by itself.
    let kept = outcomes.iter().filter(|it| !it.is_secret());
    let bodies: usize = kept.map(|it| it.body.len()).sum();
    if bodies > MAX_KEPT {
        return Err(too_large());
    }
    let kept: Vec<_> = outcomes.iter().map(Outcome::to_kept).collect();
    let response = answer(&kept)?;
    let brief: Vec<_> = outcomes.iter().map(Outcome::to_brief).collect();
    let size = response.body().size_hint().upper().unwrap_or(u64::MAX);
    match usize::try_from(size).is_ok_and(|it| it <= MAX_KEPT) {
        true => Ok(Some((key, response, answer(&brief)?))),
        false => Err(too_large()),
    }
}

/// Stores the results of requests that ran on their own. Those that made something have stored their own responses; so
/// nothing is done twice where the batch's is not stored: because some failed for a while, and are tried again with the
/// batch, or because it is too large.
///
/// # Errors
/// There is another result for this key already; the database can't be written.
async fn keep_apart(
    key: Option<&Key>,
    app: &App,
    outer: &RequestContext,
    outcomes: &[Outcome],
    answer: impl Fn(&[Outcome]) -> Result<Response>,
) -> Result<()> {
    if outcomes.iter().any(Outcome::is_passing) {
        return Ok(());
    }
    let Ok(Some((key, response, brief))) = kept(key, outcomes, answer) else {
        return Ok(());
    };
    let kept = key.to_kept(response, brief).await?;
    app.dispatcher
        .write(&outer.origin, move |cx| {
            let kept = kept.clone();
            Box::pin(async move { Ok((kept.store(cx).await?, Audit::Later)) })
        })
        .await
}

/// The error of a batch in a batch.
const NESTED: &str = "a batch can't hold another one";

/// The address of one part: below `/direct`, or relative to it. Nothing else can be asked, least of all another
/// server or another batch. The check is made of the address as it is read when it is asked, decoded and without what
/// the reader of addresses leaves out; a batch that gets past it is refused by [`answer`].
fn address(text: &str) -> Result<String> {
    let refuse = |reason: &str| Err(Error::bad_request(format!("`{text}` {reason}")));
    let below = match text.strip_prefix("/direct/") {
        Some(below) => below,
        None if text.starts_with('/') => return refuse("is not below /direct"),
        None => text,
    };
    let prefix = below.split(['/', '?', '#']).next().unwrap_or_default();
    if prefix.is_empty() {
        return refuse("names nothing");
    }
    let prefix = percent_decode_str(prefix).decode_utf8_lossy();
    if prefix.contains(':') {
        return refuse("is not below /direct");
    }
    let stem = prefix.split(['.', ';']).next().unwrap_or_default();
    match stem.trim().eq_ignore_ascii_case(WORD) {
        true => refuse(&format!("is a batch: {NESTED}")),
        false => Ok(format!("/direct/{below}")),
    }
}

impl Part {
    /// The same, answered with a list of no more than `bytes`.
    fn within(self, bytes: usize) -> Self {
        Self {
            answer_bytes: Some(bytes),
            ..self
        }
    }

    /// Sends it on its own, with a row in the audit log of its own. If the batch has a key, the request has one that is
    /// made of it and of `index`.
    async fn send(
        mut self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
        index: usize,
    ) -> Response {
        match key.map(|it| it.of_part(index)).transpose() {
            Ok(Some(key)) => drop(self.headers.insert(IDEMPOTENCY_KEY, key)),
            Ok(None) => {}
            Err(error) => return outer.fail(&error),
        }
        let (context, body) = self.into_request(outer);
        let (origin, time) = (context.origin.clone(), app.now());
        let response = super::handle(app, Box::new(context), Box::new(body));
        let response = Box::pin(response).await;
        if response.extensions().get::<Audited>().is_some() {
            return response;
        }
        let row = AuditRow::of(origin, time, response.status());
        match app.audit.record(row).await {
            Ok(()) => response,
            Err(error) => outer.fail(&error),
        }
    }

    /// Sends it as a part of the unit of work of `runner`. Returns the audit row that remains to be stored too, unless
    /// it is a part of the same unit of work.
    async fn send_within(
        self,
        app: &App,
        outer: &RequestContext,
        runner: Runner<'_, '_>,
    ) -> (Result<Response>, Option<AuditRow>) {
        let ((context, mut body), time) = (self.into_request(outer), app.now());
        let answer = Box::pin(run(app, &context, &mut body, runner)).await;
        let status = match &answer {
            Ok(response) if response.extensions().get::<Audited>().is_some() => None,
            Ok(response) => Some(response.status()),
            Err(error) => Some(error::status(error.kind())),
        };
        let row = status.map(|it| AuditRow::of(context.origin, time, it));
        (answer, row)
    }

    /// Prepares it at the edge. If it is malformed, it is refused when its turn comes; if it is refused here, that is
    /// audited.
    async fn prepare(self, app: &App, outer: &RequestContext) -> Result<Preparation> {
        let (context, body) = self.into_request(outer);
        let (Ok(path), Some(verb)) = (parse_path(app, &context.parts.uri), context.verb) else {
            return Ok(Preparation::default());
        };
        let direct = DirectRequest {
            app,
            context: &context,
            path: &path,
        };
        let Ok(prepared) = perform::prepare(direct, &body, verb) else {
            return Ok(Preparation::default());
        };
        let done = app.dispatcher.prepare(&prepared.request).await;
        if let Err(error) = &done {
            let row = AuditRow::of(context.origin, app.now(), error::status(error.kind()));
            app.audit.record(row).await?;
        }
        done
    }

    fn into_request(self, outer: &RequestContext) -> (RequestContext, RequestBody) {
        let context = RequestContext {
            answer_bytes: self.answer_bytes,
            ..outer.part(self.method, self.uri, self.headers)
        };
        (context, RequestBody::whole(self.body))
    }
}

async fn run(
    app: &App,
    context: &RequestContext,
    body: &mut RequestBody,
    runner: Runner<'_, '_>,
) -> Result<Response> {
    let path = &parse_path(app, &context.parts.uri)?;
    super::answer(DirectRequest { app, context, path }, body, runner).await
}

/// Returns whether a part succeeded.
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

/// Estimates the bytes that `outcomes` take in JSON. Memory for them is reserved at once.
fn size<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Result<usize> {
    let sizes = outcomes.into_iter().map(|it| it.size(false));
    let bodies = sizes.map(|it| Ok(it?.saturating_add(room::FRAME)));
    bodies.sum()
}

/// Makes the response with `body`, which holds `outcomes`. If one of them must not be stored, it must not be.
fn respond_with(outcomes: &[Outcome], body: Vec<u8>, is_xml: bool) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = overall(outcomes);
    let media_type = match is_xml {
        true => "application/xml; charset=utf-8",
        false => "application/json",
    };
    let headers = response.headers_mut();
    respond::set(headers, CONTENT_TYPE, Some(media_type));
    // The client has one session: that of the last part which began or ended one.
    if let Some(last) = outcomes.iter().rev().find_map(|it| it.session.as_ref()) {
        headers.extend(last.clone());
    }
    if outcomes.iter().any(Outcome::is_secret) {
        no_store::demand(headers);
    }
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
            ("", None),
            ("/direct/", None),
            ("?x=1", None),
            ("/portal/x", None),
            ("//example.org/x", None),
            ("http://example.org/x", None),
            ("/direct/batch", None),
            ("batch.json?_refs=a", None),
            ("Batch.xml", None),
            ("%62atch.json", None),
            ("/direct/batc%68", None),
            ("batch#x", None),
            ("batch%2Ejson", None),
            ("http%3A//example.org", None),
        ] {
            assert_eq!(address(text).ok().as_deref(), expected, "{text}");
        }
    }
}
