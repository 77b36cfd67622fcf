//! An error as HTTP: the one place where a kind becomes a status, and where error bodies are written.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::format::Problem;
use entity_core::reply::Effect;
use entity_core::{Error, ErrorKind, FieldError, Verb, wire};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::listen::ReadLater;
use crate::base::no_store;
use crate::base::request_id::RequestId;
use crate::base::telemetry;

/// The context of an error answer, besides the error.
#[derive(Clone, Debug)]
pub struct ErrorContext {
    /// The request's id, to find it in the log.
    pub request_id: RequestId,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// True if the client asked for RFC 9457.
    pub wants_problem: bool,
    /// True if a client may log in by HTTP Basic, and is told so.
    pub offers_basic: bool,
}

/// The message of an error, kept as an extension of the response whose body tells it in some format.
#[derive(Clone, Debug)]
pub(crate) struct Message(pub(crate) String);

/// Returns the HTTP status of `kind`.
pub fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorKind::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::UriTooLong => StatusCode::URI_TOO_LONG,
        ErrorKind::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        ErrorKind::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::InsufficientStorage => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The status of what a request did.
pub(crate) fn done(effect: &Effect, has_body: bool) -> StatusCode {
    match effect {
        Effect::Created(_) => StatusCode::CREATED,
        _ if has_body => StatusCode::OK,
        _ => StatusCode::NO_CONTENT,
    }
}

/// Answers `error` in JSON.
pub fn respond(error: &Error, context: &ErrorContext) -> Response {
    with_message(refuse(error, context), error)
}

/// The same for a request that is refused for want of room, before it is parsed: it is no part of a batch, which would
/// need its message.
pub(crate) fn refuse(error: &Error, context: &ErrorContext) -> Response {
    let problem = problem(error, context);
    let (bytes, media_type) = match context.wants_problem {
        true => (
            serde_json::to_vec(&Rfc9457::of(&problem)),
            "application/problem+json",
        ),
        false => (
            Ok(entity_formats::json::write_problem(&problem)),
            "application/json",
        ),
    };
    let mut response = of_body(error, context, bytes.unwrap_or_default(), media_type);
    response.extensions_mut().insert(ReadLater);
    response
}

/// Answers `error` with a body that says the same in another format.
pub fn respond_with(
    error: &Error,
    context: &ErrorContext,
    body: Vec<u8>,
    media_type: &'static str,
) -> Response {
    with_message(of_body(error, context, body, media_type), error)
}

fn with_message(mut response: Response, error: &Error) -> Response {
    let message = Message(beginning(error.message(), LONGEST_TEXT));
    response.extensions_mut().insert(message);
    response
}

fn of_body(
    error: &Error,
    context: &ErrorContext,
    body: Vec<u8>,
    media_type: &'static str,
) -> Response {
    let status = status(error.kind());
    log(error, status, context);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    no_store::demand(headers);
    if let Some(seconds) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.kind() == ErrorKind::MethodNotAllowed {
        headers.insert(ALLOW, allow(error.allow()));
    }
    if error.kind() == ErrorKind::Unauthenticated {
        let bearer = HeaderValue::from_static("Bearer realm=\"Lectern\"");
        headers.append(WWW_AUTHENTICATE, bearer);
        let basic = HeaderValue::from_static("Basic realm=\"Lectern\", charset=\"UTF-8\"");
        if context.offers_basic {
            headers.append(WWW_AUTHENTICATE, basic);
        }
    }
    response
}

/// The number of headers the answer to an error has: room is made for them once.
const HEADERS: usize = 12;
/// The maximum length of the text of an error, in characters: texts repeat parts of the request, which may be long.
const LONGEST_TEXT: usize = 1000;
/// Longest name of a field of which something is said, and longest text about it.
const LONGEST_FIELD: usize = 200;

/// The beginning of `text`, or all of it if it has no more than `most` characters.
fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most).map(|it| it.0);
    match end.and_then(|it| text.get(..it)) {
        Some(beginning) => format!("{beginning}…"),
        None => text.to_owned(),
    }
}

/// The facts of `error`, for whatever format they are told in. They are bounded, whatever the request was.
pub fn problem(error: &Error, context: &ErrorContext) -> Problem {
    let told = error.field_errors().iter();
    let fields = told.map(|it| FieldError {
        name: beginning(&it.name, LONGEST_FIELD),
        message: beginning(&it.message, LONGEST_FIELD),
    });
    Problem {
        status: status(error.kind()).as_u16(),
        kind: error.kind(),
        message: beginning(error.message(), LONGEST_TEXT),
        timestamp: wire::iso(context.now),
        request_id: context.request_id.as_str().to_owned(),
        fields: fields.collect(),
        operation: error.operation(),
        code: error.code(),
    }
}

/// Answers which verbs an address takes.
pub(crate) fn options(verbs: &[Verb]) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(ALLOW, allow(verbs));
    response
}

fn allow(verbs: &[Verb]) -> HeaderValue {
    let mut names: Vec<&str> = Vec::with_capacity(verbs.len() + 2);
    for verb in verbs {
        if !names.contains(&verb.name()) {
            names.push(verb.name());
        }
    }
    if names.contains(&Verb::Get.name()) {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    HeaderValue::from_str(&names.join(", ")).unwrap_or_else(|_| HeaderValue::from_static("OPTIONS"))
}

/// A defect of ours is logged here with its whole chain of causes, whose number lets lines with the same ones be counted
/// in place of written; a client's mistake is not.
fn log(error: &Error, status: StatusCode, context: &ErrorContext) {
    if !status.is_server_error() {
        return;
    }
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(it) = cause {
        causes.push(it.to_string());
        cause = it.source();
    }
    let causes = causes.join(": ");
    tracing::error!(
        cause.id = telemetry::cause_id((error.message(), &causes)),
        request.id = context.request_id.as_str(),
        status = status.as_u16(),
        causes,
        "request `{}` failed: {error}",
        context.request_id.as_str()
    );
}

/// The same facts after RFC 9457.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "problem")]
pub(crate) struct Rfc9457<'a> {
    /// Always `about:blank`: the status says what kind of problem it is.
    r#type: &'static str,
    /// The name of the status.
    title: &'static str,
    /// The status.
    status: u16,
    /// The cause of the error, and how to correct it.
    detail: &'a str,
    /// When it happened, ISO 8601.
    timestamp: &'a str,
    /// The request's id, to find it in the log.
    request_id: &'a str,
    /// The fields of the input that were refused.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fields: &'a [FieldError],
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<usize>,
    /// The word by which programs tell this error from others with its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl<'a> Rfc9457<'a> {
    fn of(problem: &'a Problem) -> Self {
        Self {
            r#type: "about:blank",
            title: status(problem.kind).canonical_reason().unwrap_or("Error"),
            status: problem.status,
            detail: &problem.message,
            timestamp: &problem.timestamp,
            request_id: &problem.request_id,
            fields: &problem.fields,
            operation: problem.operation,
            code: problem.code,
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};

    use super::*;

    fn context() -> ErrorContext {
        ErrorContext {
            request_id: RequestId::new(),
            now: DateTime::<Utc>::UNIX_EPOCH,
            wants_problem: false,
            offers_basic: false,
        }
    }

    async fn body(response: Response) -> Value {
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[tokio::test]
    async fn the_body_has_the_specified_shape() {
        let error = Error::field("title", "is required");
        let context = context();
        let expected = json!({"error": {
            "status": "400", "message": "`title` is required", "timestamp": "1970-01-01T00:00:00Z",
            "requestId": context.request_id.as_str(), "fields": [{"name": "title", "message": "is required"}],
        }});
        assert_eq!(body(respond(&error, &context)).await, expected);
        let problem = body(respond(
            &error,
            &ErrorContext {
                wants_problem: true,
                ..context
            },
        ))
        .await;
        assert_eq!(
            (&problem["status"], &problem["title"]),
            (&json!(400), &json!("Bad Request"))
        );
    }

    #[test]
    fn headers_say_what_to_do() {
        let refused = respond(
            &Error::method_not_allowed(vec![Verb::Get, Verb::Post]),
            &context(),
        );
        assert_eq!(refused.headers()[ALLOW], "GET, POST, HEAD, OPTIONS");
        let busy = respond(&Error::unavailable("later", 7), &context());
        assert_eq!(busy.headers()[RETRY_AFTER], "7");
        assert!(no_store::is_demanded(busy.headers()));
        let unknown = respond(&Error::outcome_unknown(), &context());
        assert_eq!(unknown.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(!unknown.headers().contains_key(RETRY_AFTER));
        for (offers_basic, schemes) in [(false, 1), (true, 2)] {
            let context = ErrorContext {
                offers_basic,
                ..context()
            };
            let refused = respond(&Error::unauthenticated(), &context);
            let told = refused.headers().get_all(WWW_AUTHENTICATE).iter();
            let told: Vec<&str> = told.filter_map(|it| it.to_str().ok()).collect();
            assert_eq!(told.len(), schemes, "{told:?}");
            assert!(told[0].starts_with("Bearer "));
        }
    }

    #[tokio::test]
    async fn rel_3_an_unknown_outcome_has_a_code_of_its_own() {
        for wants_problem in [false, true] {
            let context = ErrorContext {
                wants_problem,
                ..context()
            };
            let answer = body(respond(&Error::outcome_unknown(), &context)).await;
            let facts = if wants_problem {
                &answer
            } else {
                &answer["error"]
            };
            assert_eq!(facts["code"], json!("outcome_unknown"), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_defect_tells_nothing_of_its_cause() {
        let answer = body(respond(
            &Error::internal("SELECT secret FROM t"),
            &context(),
        ))
        .await;
        assert!(!answer.to_string().contains("secret"));
    }
}
