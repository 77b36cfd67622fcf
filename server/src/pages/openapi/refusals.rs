//! The answers that say no, which all operations have in common.

use axum::http::StatusCode;
use entity_core::format::{Problem, View};
use entity_core::reply::AllowedActions;
use entity_core::{ErrorKind, Need, Verb, shape};
use entity_formats::json::ProblemBody;
use entity_formats::openapi::{Answer, Content, Response};

use super::{Builder, empty, text_header};
use crate::base::accept::PROBLEM_JSON;
use crate::base::config::{Config, RATE_LIMITS};
use crate::base::error::{Rfc9457, status};

/// The mount of an operation: errors of `/direct` are told in the format that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mount {
    /// Below `/api`.
    Api,
    /// Below `/direct`.
    Direct,
}

/// The errors of a client and their meanings. A defect of the service is no answer to anything it may send.
const MEANINGS: [(ErrorKind, &str); 15] = [
    (
        ErrorKind::BadRequest,
        "The request is malformed, or fields of it are wrong.",
    ),
    (
        ErrorKind::Unauthenticated,
        "Nobody is logged in, or the session is over.",
    ),
    (
        ErrorKind::Forbidden,
        "The caller may not do this, has as much as they may have, or the request seems to be forged.",
    ),
    (
        ErrorKind::NotFound,
        "There is nothing here that the caller may know of.",
    ),
    (
        ErrorKind::MethodNotAllowed,
        "The form asks for a method that this address does not take.",
    ),
    (
        ErrorKind::NotAcceptable,
        "It can't be written in this format.",
    ),
    (
        ErrorKind::Conflict,
        "The request contradicts what there is.",
    ),
    (
        ErrorKind::PreconditionFailed,
        "The entity is no longer in the version that `If-Match` names.",
    ),
    (ErrorKind::TooLarge, "The body is too large."),
    (ErrorKind::UriTooLong, "The address is too long."),
    (
        ErrorKind::UnsupportedMediaType,
        "The body is of a type that is not read here.",
    ),
    (
        ErrorKind::Unprocessable,
        "The body is well-formed and contradicts itself or an earlier request.",
    ),
    (
        ErrorKind::TooManyRequests,
        "Too many requests came, or failed: wait.",
    ),
    (
        ErrorKind::Unavailable,
        "The service can't answer now: try again.",
    ),
    (
        ErrorKind::InsufficientStorage,
        "A limit of what is answered is reached; the message names it.",
    ),
];

const RETRY_AFTER: (&str, &str) = ("Retry-After", "How many seconds to wait.");
/// The headers of an answer that refuses a request because of a rate limit.
const RATE_LIMITED: [(&str, &str); 3] = [
    RETRY_AFTER,
    (
        "RateLimit-Policy",
        "How many requests (`q`) may come in how many seconds (`w`), if that is the limit: `\"writes\";q=200;w=10`.",
    ),
    (
        "RateLimit",
        "How many are left (`r`), and in how many seconds (`t`) there is room for another one. Other answers have \
         these two when less than half is left.",
    ),
];

/// The name of the answer to requests whose header is too long.
const OVERLONG: &str = "HeaderTooLong";

/// The errors that every operation of this kind can have.
pub(super) fn of(mount: Mount, verb: Verb, need: Need, config: &Config) -> Vec<ErrorKind> {
    let is_open = need == Need::Public;
    let has_evidence = config.auth.basic || config.auth.trusted_header.is_some();
    let is_limited = RATE_LIMITS.iter().any(|it| (it.rate)(&config.rate) > 0);
    let all = [
        (ErrorKind::BadRequest, true),
        (ErrorKind::UriTooLong, true),
        (ErrorKind::Unavailable, true),
        (ErrorKind::InsufficientStorage, true),
        (ErrorKind::Unauthenticated, !is_open || has_evidence),
        (ErrorKind::TooManyRequests, has_evidence || is_limited),
        (ErrorKind::Forbidden, !is_open || !verb.is_safe()),
        (ErrorKind::NotAcceptable, mount == Mount::Direct),
        (ErrorKind::TooLarge, !verb.is_safe()),
        (ErrorKind::UnsupportedMediaType, !verb.is_safe()),
        // An `Idempotency-Key` came with another request before.
        (
            ErrorKind::Unprocessable,
            mount == Mount::Direct && verb == Verb::Post,
        ),
        // What stands in the place of an id may be the name of an action.
        (
            ErrorKind::MethodNotAllowed,
            mount == Mount::Direct && !verb.is_safe(),
        ),
    ];
    all.into_iter()
        .filter_map(|(kind, may_be)| may_be.then_some(kind))
        .collect()
}

/// The status of `kind`, and where its answer is kept.
pub(super) fn answer(mount: Mount, kind: ErrorKind) -> (String, Answer) {
    let answer = Answer::Shared {
        reference: format!("#/components/responses/{}", name(mount, kind)),
    };
    (status(kind).as_u16().to_string(), answer)
}

/// The answer of the listener itself, which knows neither paths nor formats.
pub(super) fn overlong() -> (String, Answer) {
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    let answer = Answer::Shared {
        reference: format!("#/components/responses/{OVERLONG}"),
    };
    (status.as_u16().to_string(), answer)
}

fn name(mount: Mount, kind: ErrorKind) -> String {
    format!("{mount:?}{kind:?}")
}

impl Builder<'_> {
    pub(super) fn add_refusals(&mut self) {
        let overlong = empty("The header, the address included, is too long.");
        let responses = &mut self.document.components.responses;
        responses.insert(OVERLONG.to_owned(), overlong);
        for mount in [Mount::Api, Mount::Direct] {
            for (kind, meaning) in MEANINGS {
                let response = self.refusal(mount, kind, meaning);
                let responses = &mut self.document.components.responses;
                responses.insert(name(mount, kind), response);
            }
        }
    }

    fn refusal(&mut self, mount: Mount, kind: ErrorKind, meaning: &str) -> Response {
        let others: Vec<String> = match mount {
            Mount::Api => Vec::new(),
            Mount::Direct => self.tellers(),
        };
        let told = Content {
            schema: Some(shape::of::<ProblemBody<'static>>(&mut self.generator)),
            example: None,
        };
        let problem = Content {
            schema: Some(shape::of::<Rfc9457<'static>>(&mut self.generator)),
            example: None,
        };
        let mut response = Response {
            description: meaning.to_owned(),
            content: others
                .into_iter()
                .map(|it| (it, Content::default()))
                .collect(),
            ..Response::default()
        };
        response.content.extend([
            ("application/json".to_owned(), told),
            (PROBLEM_JSON.to_owned(), problem),
        ]);
        let headers: &[_] = match kind {
            ErrorKind::MethodNotAllowed => &[("Allow", "The methods that this address takes.")],
            ErrorKind::TooManyRequests => &RATE_LIMITED,
            ErrorKind::Unavailable => &[RETRY_AFTER],
            ErrorKind::Unauthenticated if self.config.auth.basic => {
                &[("WWW-Authenticate", "How else one may say who one is.")]
            }
            _ => &[],
        };
        let headers = headers.iter();
        let headers = headers.map(|(name, meaning)| (*name, text_header(meaning)));
        response.headers.extend(headers);
        response
    }

    /// The media types in which errors are told besides JSON: those of the formats that do tell one.
    fn tellers(&self) -> Vec<String> {
        let sample = Problem {
            status: 400,
            kind: ErrorKind::BadRequest,
            message: String::new(),
            timestamp: String::new(),
            request_id: String::new(),
            fields: Vec::new(),
            operation: None,
            code: None,
        };
        let view = View {
            base_url: "",
            path: "",
            query: "",
            now: entity_core::DateTimeUtc::UNIX_EPOCH,
            own_address: None,
            formats: self.formats,
            registry: self.registry,
            absolute: |html, _base| html.to_owned(),
            allowed_actions: AllowedActions::default(),
            user: None,
            csrf_token: None,
            most_bytes: usize::MAX,
        };
        self.formats
            .all()
            .filter(|it| {
                let renderer = self.formats.renderer(it.name);
                renderer.is_some_and(|it| it.render_problem(&sample, &view).is_some())
            })
            .map(|it| it.essence().to_owned())
            .collect()
    }
}
