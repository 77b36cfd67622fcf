//! The fields of a request, read from its body and checked against its query.

use axum::http::HeaderMap;
use entity_core::engine::{Content, Patch};
use entity_core::format::Formats;
use entity_core::{Error, ErrorKind, FieldError, Input, Result, Verb, recurrence};
use serde_json::Value;

use super::request::DirectRequest;
use super::upload;
use crate::base::media;
use crate::guard::csrf::{self, TOKEN_FIELD};
use crate::web::request_body::{RequestBody, Uploaded};
use crate::web::request_context::VALIDATE_SESSION;

/// A patch by RFC 7396.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
/// A patch by RFC 6902.
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
/// The field of a form that overrides its method.
const METHOD_FIELD: &str = "_method";
/// The field of a form that names the version of the entity that it was filled with.
const VERSION_FIELD: &str = "_version";
/// The field of a form that names the zone by whose clock its times are.
const ZONE_FIELD: &str = "_zone";

/// The parameters of a query that say how to answer.
const ANSWER_PARAMETERS: [&str; 10] = [
    "_",
    "_expand",
    "_fields",
    "_sessionId",
    VALIDATE_SESSION,
    "auto",
    "envelope",
    "last-modified",
    "no-cache",
    "nocache",
];

/// A body, taken apart: what it says for the entity, and what it says for the service.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The fields for the entity.
    pub(crate) input: Input,
    /// The method that a form asks for instead of POST.
    pub(crate) method: Option<Verb>,
    /// The version that a form was filled with.
    pub(crate) version: Option<String>,
}

/// Reads the body, as a file or a form with files where the address takes such. One that `logs_in` is short.
pub(super) async fn read(
    direct: DirectRequest<'_>,
    body: &mut RequestBody,
    sent: Verb,
    logs_in: bool,
) -> Result<()> {
    let DirectRequest { app, context, path } = direct;
    let config = &app.config;
    match upload::reception(app, &context.parts, path, sent) {
        Some(reception) if !context.is_part => {
            Box::pin(upload::receive(direct, body, sent, reception)).await?;
        }
        _ => {
            let limit = match (logs_in, context.has_form()) {
                (true, _) => config.limits.login_body.0,
                (false, true) => config.limits.form_body.0,
                (false, false) => config.limits.other_body.0,
            };
            body.read(context, limit, config.timeouts.body).await?;
        }
    }
    match body.owed_token {
        Some(_) => Err(csrf::without_token()),
        None => Ok(()),
    }
}

impl Parsed {
    /// The fields that a request to write sends, by the media type of its body or the extension of its address.
    pub(crate) fn of(direct: DirectRequest<'_>, body: &RequestBody) -> Result<Self> {
        let formats = &direct.app.formats;
        let Some(Uploaded { form, files }) = &body.uploaded else {
            let headers = &direct.context.parts.headers;
            let prefix = &direct.path.prefix;
            return parse(headers, direct.extension(), prefix, &body.bytes, formats);
        };
        let mut parsed = match form {
            Some(form) => parse_form(form, formats)?,
            None => Self::default(),
        };
        parsed.input.uploads.clone_from(files);
        Ok(parsed)
    }
}

/// Reads a body that patches: its content type says which kind of patch it is.
pub(crate) fn patch(headers: &HeaderMap, bytes: &[u8]) -> Result<Input> {
    let essence = media::essence(headers, bytes)?.unwrap_or_default();
    let patch = match essence.as_str() {
        MERGE_PATCH | "application/json" => Patch::merge(entity_formats::parse_json(bytes)?)?,
        JSON_PATCH => Patch::operations(entity_formats::parse_json(bytes)?)?,
        _ => {
            return Err(Error::new(
                ErrorKind::UnsupportedMediaType,
                format!("send the patch as {MERGE_PATCH} or {JSON_PATCH}"),
            ));
        }
    };
    Ok(Input {
        patch: Some(patch),
        ..Input::default()
    })
}

/// Reads a body by its content type or, without one, by the URL's extension.
///
/// # Errors
/// The type is not read here; the body is malformed; a form asks for a method that it can't have.
fn parse(
    headers: &HeaderMap,
    extension: Option<&str>,
    prefix: &str,
    bytes: &[u8],
    formats: &Formats,
) -> Result<Parsed> {
    if bytes.is_empty() {
        return Ok(Parsed::default());
    }
    let parser = match media::essence(headers, bytes)? {
        Some(essence) if essence == MERGE_PATCH || essence == JSON_PATCH => None,
        Some(essence) => formats.parser(&essence),
        None => extension.and_then(|it| formats.parser_named(it)),
    };
    let input = parser.ok_or_else(media::unsupported)?.parse(bytes)?;
    match input.is_form {
        true => taken_apart(input),
        false => Ok(Parsed {
            input: input.unwrap_root(prefix),
            ..Parsed::default()
        }),
    }
}

/// Reads the fields of a form that came with files.
pub(super) fn parse_form(bytes: &[u8], formats: &Formats) -> Result<Parsed> {
    let parser = formats.parser(media::FORM).ok_or_else(media::unsupported)?;
    taken_apart(parser.parse(bytes)?)
}

fn taken_apart(mut input: Input) -> Result<Parsed> {
    let method = take(&mut input, METHOD_FIELD)?
        .map(|it| method_override(&it))
        .transpose()?;
    let version = take(&mut input, VERSION_FIELD)?;
    // The layer in front has looked at it.
    take(&mut input, TOKEN_FIELD)?;
    if let Some(name) = take(&mut input, ZONE_FIELD)? {
        let zone = recurrence::zone(&name);
        let unknown = || Error::bad_request("`_zone` must be a time zone such as Europe/Berlin");
        input.zone = Some(zone.ok_or_else(unknown)?);
    }
    Ok(Parsed {
        input,
        method,
        version,
    })
}

/// Refuses a write with something in its `query` that belongs into its body, and one without a body that needs one.
pub(crate) fn check_write(
    verb: Verb,
    content: Content,
    query: &[(String, String)],
    has_body: bool,
) -> Result<()> {
    if verb.is_safe() {
        return Ok(());
    }
    let mut misplaced = query.iter().filter(|(name, _)| match content {
        Content::Fields => !is_about_the_answer(name),
        Content::Nothing | Content::Arguments => name == METHOD_FIELD,
    });
    let errors: Vec<_> = misplaced.by_ref().map(|it| in_query(&it.0)).collect();
    if !errors.is_empty() {
        return Err(Error::fields(errors));
    }
    match content == Content::Fields && !has_body {
        true => Err(Error::bad_request(
            "the request must have a body with the fields to write",
        )),
        false => Ok(()),
    }
}

fn in_query(name: &str) -> FieldError {
    let message = match name {
        METHOD_FIELD => "counts in the body of a form only",
        _ => "is in the query: send it in the body",
    };
    FieldError {
        name: name.to_owned(),
        message: message.to_owned(),
    }
}

/// Returns whether a parameter of a query says how to answer, and nothing of what to write.
fn is_about_the_answer(name: &str) -> bool {
    ANSWER_PARAMETERS.contains(&name)
}

/// A query without the pairs that say nothing, encoded; `None` if it has no such pairs. A browser sends
/// all fields of a form, those in which nobody wrote anything too. A cursor without a value begins a walk.
pub(crate) fn tidy(query: &[(String, String)]) -> Option<String> {
    let (said, empty): (Vec<_>, Vec<_>) = query
        .iter()
        .partition(|(name, value)| !value.is_empty() || name == "_cursor");
    (!empty.is_empty())
        .then(|| entity_formats::write_pairs(said.iter().map(|(name, value)| (&**name, &**value))))
}

/// The pairs of a body that is a form; none if there is no body.
pub(crate) fn form_pairs(headers: &HeaderMap, bytes: &[u8]) -> Result<Vec<(String, String)>> {
    match media::essence(headers, bytes)?.as_deref() {
        _ if bytes.is_empty() => Ok(Vec::new()),
        Some(media::FORM) => entity_formats::parse_pairs(bytes),
        _ => Err(media::unsupported()),
    }
}

fn take(input: &mut Input, name: &str) -> Result<Option<String>> {
    match input.fields.shift_remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::field(name, "is given more than once")),
    }
}

fn method_override(text: &str) -> Result<Verb> {
    match text.trim().to_ascii_uppercase().as_str() {
        "PUT" => Ok(Verb::Put),
        "DELETE" => Ok(Verb::Delete),
        "POST" => Ok(Verb::Post),
        _ => Err(Error::field(METHOD_FIELD, "must be PUT or DELETE")),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::CONTENT_TYPE;
    use serde_json::json;

    use super::*;

    fn parse(
        content_type: Option<&'static str>,
        extension: Option<&str>,
        bytes: &str,
    ) -> Result<Parsed> {
        let headers = content_type
            .map(|it| (CONTENT_TYPE, HeaderValue::from_static(it)))
            .into_iter()
            .collect();
        super::parse(
            &headers,
            extension,
            "note",
            bytes.as_bytes(),
            &entity_formats::standard().unwrap(),
        )
    }

    #[test]
    fn the_content_type_picks_the_parser_then_the_extension() {
        let expected = json!({"title": "x"});
        for (content_type, extension, bytes) in [
            (Some("application/json"), None, r#"{"title":"x"}"#),
            (
                Some("application/json; charset=UTF-8"),
                Some("xml"),
                r#"{"note":{"title":"x"}}"#,
            ),
            (Some("application/vnd.api+json"), None, r#"{"title":"x"}"#),
            (
                Some("application/x-www-form-urlencoded"),
                Some("json"),
                "title=x",
            ),
            (Some("text/xml"), None, "<note><title>x</title></note>"),
            (None, Some("json"), r#"{"title":"x"}"#),
        ] {
            let parsed = parse(content_type, extension, bytes).unwrap();
            assert_eq!(
                Value::Object(parsed.input.fields),
                expected,
                "{content_type:?} {extension:?}"
            );
        }
    }

    #[test]
    fn other_types_are_refused() {
        for content_type in [Some("text/plain"), None, Some("multipart/form-data")] {
            let error = parse(content_type, None, "{}").unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::UnsupportedMediaType,
                "{content_type:?}"
            );
        }
    }

    #[test]
    fn a_form_may_override_its_method_and_carry_a_token_and_a_version() {
        let form = Some("application/x-www-form-urlencoded");
        let fields = "_method=DELETE&_version=ff&sakai_csrf_token=t&title=x";
        let parsed = parse(form, None, fields).unwrap();
        assert_eq!(parsed.method, Some(Verb::Delete));
        assert_eq!(parsed.version.as_deref(), Some("ff"));
        assert_eq!(Value::Object(parsed.input.fields), json!({"title": "x"}));
        assert!(parse(form, None, "_method=TRACE").is_err());
        assert!(parse(form, None, "_method=PUT&_method=DELETE").is_err());
        assert!(parse(form, None, "_version=1&_version=2").is_err());
    }
}
