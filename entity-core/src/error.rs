//! What went wrong, in terms of the caller's request.
//!
//! An error has a public text, which a client may read, and a private source, which only the log gets.
//! It knows nothing of HTTP: the server turns a kind into a status in one place.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use crate::entity::Version;
use crate::request::Verb;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The [code](Error::code) of a request of which nobody knows whether it was carried out.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// The [code](Error::code) of a request that would let somebody have more than they may have.
pub const QUOTA_EXCEEDED: &str = "quota_exceeded";

/// A failed request.
///
/// The text is lower case, has no full stop and says what to do.
/// It never holds SQL, paths, secrets or ids of things that the caller may not see.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    fields: Vec<FieldError>,
    allow: Vec<Verb>,
    retry_after: Option<u32>,
    is_transient: bool,
    version: Option<Version>,
    operation: Option<usize>,
    code: Option<&'static str>,
    fitting: Option<usize>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// One field of the input that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct FieldError {
    /// The field's name on the wire.
    pub name: String,
    /// What is wrong with its value.
    pub message: String,
}

/// What a client can do about an error. There is one kind for each different reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is malformed: send another one.
    BadRequest,
    /// There is no session: log in.
    Unauthenticated,
    /// The caller may not do this.
    Forbidden,
    /// There is nothing at this address that the caller may know of.
    NotFound,
    /// The address exists, but not with this verb.
    MethodNotAllowed,
    /// The address exists, but not in this format.
    NotAcceptable,
    /// The request contradicts the present state.
    Conflict,
    /// The entity is no longer in the version that the caller named.
    PreconditionFailed,
    /// The body is larger than the limit.
    TooLarge,
    /// The address is longer than the limit.
    UriTooLong,
    /// The body is of a type that is not read here.
    UnsupportedMediaType,
    /// The body is well-formed and contradicts itself.
    Unprocessable,
    /// Too many requests: wait.
    TooManyRequests,
    /// The service can't answer now: try again.
    Unavailable,
    /// The answer would exceed a limit: ask for less.
    InsufficientStorage,
    /// A defect of the service.
    Internal,
}

impl Error {
    /// An error of `kind` with a public text.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            fields: Vec::new(),
            allow: Vec::new(),
            retry_after: None,
            is_transient: false,
            version: None,
            operation: None,
            code: None,
            fitting: None,
            source: None,
        }))
    }

    /// The request is malformed.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// One field of the input is wrong.
    pub fn field(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::fields(vec![FieldError {
            name: name.into(),
            message: message.into(),
        }])
    }

    /// Several fields of the input are wrong.
    pub fn fields(fields: Vec<FieldError>) -> Self {
        let text = fields
            .iter()
            .map(|it| format!("`{}` {}", it.name, it.message))
            .collect::<Vec<_>>()
            .join("; ");
        let mut error = Self::bad_request(text);
        error.0.fields = fields;
        error
    }

    /// What one field of the input says is taken.
    pub fn taken(name: impl Into<String>, message: impl Into<String>) -> Self {
        let mut error = Self::field(name, message);
        error.0.kind = ErrorKind::Conflict;
        error
    }

    /// There is no session.
    pub fn unauthenticated() -> Self {
        Self::new(
            ErrorKind::Unauthenticated,
            "authentication is required: log in first",
        )
    }

    /// The caller may not do this.
    pub fn forbidden() -> Self {
        Self::new(
            ErrorKind::Forbidden,
            "you do not have permission to do this",
        )
    }

    /// There is nothing here, or nothing that the caller may know of.
    pub fn not_found() -> Self {
        Self::new(ErrorKind::NotFound, "there is nothing at this address")
    }

    /// The address does not take this verb; `allow` are those it takes.
    pub fn method_not_allowed(allow: Vec<Verb>) -> Self {
        let names = allow
            .iter()
            .map(|it| it.name())
            .collect::<Vec<_>>()
            .join(", ");
        let mut error = Self::new(
            ErrorKind::MethodNotAllowed,
            format!("this address takes {names} only"),
        );
        error.0.allow = allow;
        error
    }

    /// The format is not offered here; `offered` are those that are.
    pub fn not_acceptable(offered: &[&str]) -> Self {
        Self::new(
            ErrorKind::NotAcceptable,
            format!(
                "this format is not offered here; offered are {}",
                offered.join(", ")
            ),
        )
    }

    /// The request contradicts the present state.
    pub fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// The entity changed since the caller read it.
    pub fn precondition_failed() -> Self {
        Self::new(
            ErrorKind::PreconditionFailed,
            "the entity changed since you read it: read it again",
        )
    }

    /// The request is meant for something that is there, and there is nothing.
    pub fn nothing_matches() -> Self {
        Self::new(
            ErrorKind::PreconditionFailed,
            "there is nothing yet that `If-Match` could match: send the request without it",
        )
    }

    /// Somebody has as much as they may have; the text names the limit. It is for them to change that, so that nobody
    /// should try again of itself, as programs do after failures of a service.
    pub fn limit_reached(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Forbidden, message).with_code(QUOTA_EXCEEDED)
    }

    /// A limit of what may be answered is reached; the text names it.
    pub fn insufficient_storage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InsufficientStorage, message)
    }

    /// A list takes more bytes than an answer may have: its first `fitting` entities do not.
    pub fn list_too_large(fitting: usize) -> Self {
        let mut error = Self::insufficient_storage(
            "the list takes more bytes than an answer may have: ask for fewer entities",
        );
        error.0.fitting = Some(fitting);
        error
    }

    /// The service can't answer now; try again after `seconds`.
    pub fn unavailable(message: impl Into<Cow<'static, str>>, seconds: u32) -> Self {
        let mut error = Self::new(ErrorKind::Unavailable, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// Nobody knows whether the request was carried out: the answer to the COMMIT got lost.
    pub fn outcome_unknown() -> Self {
        Self::new(
            ErrorKind::Unavailable,
            "it is unknown whether this was done: look before you send it again, or send it again with the same `Idempotency-Key`",
        )
        .with_code(OUTCOME_UNKNOWN)
    }

    /// A unit of work shares a transaction that is lost, or it must not share one. Nothing of it was kept: the dispatcher
    /// runs it again, by itself.
    pub(crate) fn run_apart() -> Self {
        Self::unavailable("the database is busy: try again", 1).transient()
    }

    /// The caller asked too often; the next try may come after `seconds`.
    pub fn too_many_requests(message: impl Into<Cow<'static, str>>, seconds: u32) -> Self {
        let mut error = Self::new(ErrorKind::TooManyRequests, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// A defect of the service. The source goes to the log, never to the client.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(
            ErrorKind::Internal,
            "the service failed to answer; the failure was recorded",
        )
        .with_source(source)
    }

    /// Adds the private cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds a word by which programs tell this error from others of its kind.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Marks a failure that the same work may not meet again, such as a lost serialisation race.
    /// The dispatcher then runs the unit of work once more.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.0.is_transient = true;
        self
    }

    /// Adds the version that the entity is in.
    #[must_use]
    pub fn with_version(mut self, version: Option<Version>) -> Self {
        self.0.version = version;
        self
    }

    /// Says which operation of a batch failed, counted from 0.
    #[must_use]
    pub fn in_operation(mut self, index: usize) -> Self {
        self.0.operation = Some(index);
        self
    }

    /// Which operation of a batch failed, counted from 0.
    pub fn operation(&self) -> Option<usize> {
        self.0.operation
    }

    /// The word by which programs tell this error from others of its kind.
    pub fn code(&self) -> Option<&'static str> {
        self.0.code
    }

    /// How many entities of a list can be answered, if all of them are too many.
    pub fn fitting(&self) -> Option<usize> {
        self.0.fitting
    }

    /// What the client can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The public text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The fields of the input that were refused.
    pub fn field_errors(&self) -> &[FieldError] {
        &self.0.fields
    }

    /// The verbs that the address takes, when the verb was the problem.
    pub fn allow(&self) -> &[Verb] {
        &self.0.allow
    }

    /// The version that the entity is in, when the caller named another one.
    pub fn version(&self) -> Option<Version> {
        self.0.version
    }

    /// Seconds to wait before the next try, when waiting helps.
    pub fn retry_after(&self) -> Option<u32> {
        self.0.retry_after
    }

    /// Whether the same unit of work may succeed when it is run again at once.
    pub fn is_transient(&self) -> bool {
        self.0.is_transient
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("fields", &self.0.fields)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}
