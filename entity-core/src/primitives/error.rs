//! Errors, in terms of the caller's request.
//!
//! An error has a public message, which a client may read, and a private source, which only the log gets. It is
//! independent of HTTP: the server maps each kind to a status in one place.

use std::borrow::Cow;
use std::error::Error as StdError;

use crate::primitives::verb::Verb;
use crate::primitives::version::Version;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The [code](Error::code) of an error after which it is unknown whether the request was carried out.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// The [code](Error::code) of the error for a request that would exceed a quota.
pub const QUOTA_EXCEEDED: &str = "quota_exceeded";

/// The [code](Error::code) of an error after which the fields that it does not name are written.
pub const PARTLY_SAVED: &str = "partly_saved";

/// The maximum number of fields that an error names.
const MOST_FIELDS: usize = 20;
/// The maximum length of the message about several fields, in bytes; what stands about one field is not cut.
const LONGEST_LIST: usize = 900;

/// The error of a failed request.
///
/// The message is in lower case, has no full stop and says what to do. It never contains SQL, file paths, secrets or
/// ids of things that the caller may not see.
#[derive(derive_more::Display, derive_more::Debug)]
#[debug("Error {{ kind: {:?}, message: {:?}, fields: {:?}, source: {:?} }}", self.0.kind, self.0.message, self.0.fields, self.0.source)]
#[display("{}", self.0.message)]
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
    /// The fault of its value.
    pub message: String,
}

/// The kind of an error, which says what the client can do about it. There is one kind for each different reaction.
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
    /// The file has no such bytes.
    RangeNotSatisfiable,
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
    /// Creates an error of `kind` with a public message.
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

    /// Creates the error for a malformed request.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// Creates the error for one invalid field of the input.
    pub fn field(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::fields(vec![FieldError {
            name: name.into(),
            message: message.into(),
        }])
    }

    /// Creates the error for two fields of the input whose values are in the wrong order, such as the end of something
    /// before its beginning. Either of them may be the wrong one, so the error names both.
    pub fn disordered(sooner: &str, later: &str) -> Self {
        let field = |name: &str, message| FieldError {
            name: name.to_owned(),
            message,
        };
        Self::fields(vec![
            field(later, format!("must not be before `{sooner}`")),
            field(sooner, format!("must not be after `{later}`")),
        ])
    }

    /// Creates the error for several invalid fields of the input. The first of them are named, and the rest is counted.
    pub fn fields(mut fields: Vec<FieldError>) -> Self {
        let count = fields.len();
        fields.truncate(MOST_FIELDS);
        let mut texts: Vec<String> = Vec::with_capacity(fields.len());
        let mut length = 0;
        for field in &fields {
            let text = format!("`{}` {}", field.name, field.message);
            length += text.len();
            if length > LONGEST_LIST && !texts.is_empty() {
                break;
            }
            texts.push(text);
        }
        let rest = count.saturating_sub(texts.len());
        if rest > 0 {
            texts.push(format!("and {rest} more"));
        }
        let mut error = Self::bad_request(texts.join("; "));
        error.0.fields = fields;
        error
    }

    /// Creates the error for invalid fields of an input whose other fields are written, with the code [`PARTLY_SAVED`]. An
    /// action returns it as [`ActionResult::Incomplete`](crate::ActionResult::Incomplete).
    pub fn partly(fields: Vec<FieldError>) -> Self {
        let mut error = Self::fields(fields);
        error.0.message = format!("{}; the rest is saved", error.0.message).into();
        error.with_code(PARTLY_SAVED)
    }

    /// Returns the same error about other fields: those that the client sent, where the error is about what follows from
    /// them. `name_of` returns the name of the field in place of another one, or `None` for one that is not replaced.
    #[must_use]
    pub fn rename_fields(mut self, name_of: impl Fn(&str) -> Option<&'static str>) -> Self {
        if !self.0.fields.iter().any(|it| name_of(&it.name).is_some()) {
            return self;
        }
        let mut fields = std::mem::take(&mut self.0.fields);
        for field in &mut fields {
            if let Some(name) = name_of(&field.name) {
                name.clone_into(&mut field.name);
            }
        }
        let renamed = *Self::fields(fields).0;
        (self.0.message, self.0.fields) = (renamed.message, renamed.fields);
        self
    }

    /// Creates the error for a field of the input whose value is already taken: a conflict.
    pub fn taken(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::field(name, message).of_kind(ErrorKind::Conflict)
    }

    /// Creates the error for a field of the input that names what is answered, where the caller sees no such thing (any
    /// more): nothing is found, as at its address.
    pub fn vanished(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::field(name, message).of_kind(ErrorKind::NotFound)
    }

    fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Creates the error for a request without a session that needs one.
    pub fn unauthenticated() -> Self {
        Self::new(
            ErrorKind::Unauthenticated,
            "authentication is required: log in first",
        )
    }

    /// Creates the error for a caller who may not do this.
    pub fn forbidden() -> Self {
        Self::new(
            ErrorKind::Forbidden,
            "you do not have permission to do this",
        )
    }

    /// Creates the error for an address with nothing behind it, or nothing that the caller may know of.
    pub fn not_found() -> Self {
        Self::new(ErrorKind::NotFound, "there is nothing at this address")
    }

    /// Creates the error for a verb that the address does not support; `allow` are the verbs that it supports.
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

    /// Creates the error for a format that is not offered here; `offered` are the names of the formats that are.
    pub fn not_acceptable(offered: &[&str]) -> Self {
        Self::new(
            ErrorKind::NotAcceptable,
            format!(
                "this format is not offered here; offered are {}",
                offered.join(", ")
            ),
        )
    }

    /// Creates the error for a request that contradicts the present state.
    pub fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Creates the error for an entity that changed since the caller read it.
    pub fn precondition_failed() -> Self {
        Self::new(
            ErrorKind::PreconditionFailed,
            "the entity changed since you read it: read it again",
        )
    }

    /// Creates the error for a request with `If-Match` where nothing exists that could match.
    pub fn nothing_matches() -> Self {
        Self::new(
            ErrorKind::PreconditionFailed,
            "there is nothing yet that `If-Match` could match: send the request without it",
        )
    }

    /// Creates the error for a quota that is used up, with the code [`QUOTA_EXCEEDED`]; `message` names the limit. It
    /// takes a person to make room, so the error does not invite programs to retry by themselves, as they do after
    /// failures of a service.
    pub fn limit_reached(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Forbidden, message).with_code(QUOTA_EXCEEDED)
    }

    /// Creates the error for an answer that would exceed a limit; `message` names the limit.
    pub fn insufficient_storage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InsufficientStorage, message)
    }

    /// Creates the error for a list that takes more bytes than an answer may have. Its first `fitting` entities fit.
    pub fn list_too_large(fitting: usize) -> Self {
        let mut error = Self::insufficient_storage(
            "the list takes more bytes than an answer may have: ask for fewer entities",
        );
        error.0.fitting = Some(fitting);
        error
    }

    /// Creates the error for a service that can't answer now; the client may try again after `seconds`.
    pub fn unavailable(message: impl Into<Cow<'static, str>>, seconds: u32) -> Self {
        let mut error = Self::new(ErrorKind::Unavailable, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// Creates the error for a request of which it is unknown whether it was carried out, because the response to the
    /// COMMIT was lost.
    pub fn outcome_unknown() -> Self {
        Self::new(
            ErrorKind::Unavailable,
            "it is unknown whether this was done: look before you send it again, or send it again with the same `Idempotency-Key`",
        )
        .with_code(OUTCOME_UNKNOWN)
    }

    /// Creates the error for a caller who sent too many requests; the client may try again after `seconds`.
    pub fn too_many_requests(message: impl Into<Cow<'static, str>>, seconds: u32) -> Self {
        let mut error = Self::new(ErrorKind::TooManyRequests, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// Creates the error for a defect of the service. The source goes to the log, never to the client.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(
            ErrorKind::Internal,
            "the service failed to answer; the failure was recorded",
        )
        .with_source(source)
    }

    /// Converts a refusal into [not found](Self::not_found), and leaves every other error as it is: who may not see
    /// something does not learn from the status that it exists.
    #[must_use]
    pub fn hide(self) -> Self {
        match self.kind() {
            ErrorKind::Forbidden => Self::not_found(),
            _ => self,
        }
    }

    /// Adds the private source, which only the log gets.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Tells the client to wait for `seconds` before it tries again.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Adds a code, by which programs tell this error from others of its kind.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Marks the error as transient: the same work may succeed when it is run again, as after a lost serialisation
    /// race. The dispatcher then runs the unit of work again.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.0.is_transient = true;
        self
    }

    /// Adds the current version of the entity.
    #[must_use]
    pub fn with_version(mut self, version: Option<Version>) -> Self {
        self.0.version = version;
        self
    }

    /// Adds the index of the operation of a batch that failed, counted from 0.
    #[must_use]
    pub fn in_operation(mut self, index: usize) -> Self {
        self.0.operation = Some(index);
        self
    }

    /// Returns the index of the operation of a batch that failed, counted from 0.
    pub fn operation(&self) -> Option<usize> {
        self.0.operation
    }

    /// Returns the code, by which programs tell this error from others of its kind.
    pub fn code(&self) -> Option<&'static str> {
        self.0.code
    }

    /// Returns the number of entities at the beginning of a list that fit into an answer, if the whole list does not.
    pub fn fitting(&self) -> Option<usize> {
        self.0.fitting
    }

    /// Returns whether the caller may not know, or may not do, what was asked for.
    pub fn is_refusal(&self) -> bool {
        use ErrorKind::{Forbidden, NotFound, Unauthenticated};
        matches!(self.kind(), Forbidden | NotFound | Unauthenticated)
    }

    /// Returns the kind, which says what the client can do about the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the public message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns what is wrong with the first field that was refused, without its name; without fields, the message.
    pub fn reason(&self) -> &str {
        let first = self.0.fields.first();
        first.map_or(self.message(), |it| &it.message)
    }

    /// Returns the fields of the input that were refused.
    pub fn field_errors(&self) -> &[FieldError] {
        &self.0.fields
    }

    /// Returns the verbs that the address supports, if the verb was the problem.
    pub fn allow(&self) -> &[Verb] {
        &self.0.allow
    }

    /// Returns the current version of the entity, if the caller named another one.
    pub fn version(&self) -> Option<Version> {
        self.0.version
    }

    /// Returns the number of seconds to wait before the next attempt, if waiting helps.
    pub fn retry_after(&self) -> Option<u32> {
        self.0.retry_after
    }

    /// Returns whether the same unit of work may succeed when it is run again at once.
    pub fn is_transient(&self) -> bool {
        self.0.is_transient
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
