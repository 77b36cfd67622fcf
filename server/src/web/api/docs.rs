//! `/api/openapi.json` and `/api/docs`: the description of the whole service.

use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::IntoResponse as _;
use entity_core::endpoint::{Endpoint, Success};
use entity_core::format::{Renderer, View};
use entity_core::reply::AllowedActions;
use entity_core::schemars::{Schema, SchemaGenerator, json_schema};
use entity_core::{Error, ErrorKind, Result, encode_segment};
use entity_formats::html::explorer_page;
use entity_formats::openapi::{Location, Operation};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{OwnAnswer, OwnCall};

/// The path of the description as a document.
pub(super) const DOCUMENT_PATH: &str = "/api/openapi.json";
/// The path of it as a page.
pub(super) const PAGE_PATH: &str = "/api/docs";
/// The parameter that names the operation to try.
const OPERATION: &str = "operation";
/// The parameter that names the format to try it in.
const FORMAT: &str = "format";

/// `GET /api/openapi.json`
pub(super) const DOCUMENT: Endpoint = Endpoint::get(DOCUMENT_PATH, "readDescription")
    .doc("This description, as an OpenAPI document.")
    .tag("description")
    .versioned()
    .refuses(&[ErrorKind::Unauthenticated])
    .answers_as(Success::Json(any_object))
    .open();

/// `GET /api/docs`
pub(super) const PAGE: Endpoint = Endpoint::get(PAGE_PATH, "showDescription")
    .doc("This description, as a page.")
    .tag("description")
    .versioned()
    .refuses(&[ErrorKind::Unauthenticated])
    .answers_as(Success::Page)
    .open();

/// `GET /api/docs/try`
pub(super) const TRY: Endpoint = Endpoint::get("/api/docs/try", "tryOperation")
    .doc("Leads to an operation that reads, with the values of a form.")
    .tag("description")
    .text(
        OPERATION,
        "the `operationId`; its own parameters stand beside it",
    )
    .text(FORMAT, "the media type to read it in")
    .refuses(&[ErrorKind::Unauthenticated, ErrorKind::NotFound])
    .answers_as(Success::SeeOther)
    .open();

/// An object of which no more is said.
fn any_object(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The answer to [`DOCUMENT`].
pub(super) fn document(call: &OwnCall<'_>) -> Result<OwnAnswer> {
    describe(call, (DOCUMENT_PATH, "json"), |_view| {
        serde_json::to_vec(call.app.description()?).map_err(Error::internal)
    })
}

/// The answer to [`PAGE`].
pub(super) fn page(call: &OwnCall<'_>) -> Result<OwnAnswer> {
    describe(call, (PAGE_PATH, "html"), |view| {
        explorer_page(call.app.description()?, view)
    })
}

/// The description at `path`, as `write` makes it in the format `name`.
fn describe(
    call: &OwnCall<'_>,
    (path, name): (&str, &str),
    write: impl FnOnce(&View<'_>) -> Result<Vec<u8>>,
) -> Result<OwnAnswer> {
    admit(call)?;
    let (app, context) = (call.app, call.context);
    let format = app.formats.renderer(name).map(Renderer::format);
    let format = format.ok_or_else(|| Error::internal("a format of every service is missing"))?;
    let view = crate::web::direct::request::view(app, context, None, AllowedActions::default());
    let headers = &context.parts.headers;
    let described = app
        .descriptions
        .answer((path, format), headers, &view, write);
    described.map(OwnAnswer::Read)
}

/// The answer to [`TRY`], which puts values into a path: a form without a script can't.
pub(super) fn lead(call: &OwnCall<'_>) -> Result<OwnAnswer> {
    admit(call)?;
    let name = call
        .call
        .parameter(OPERATION)
        .ok_or_else(|| Error::field(OPERATION, "is required"))?;
    let (method, path, operation) = call
        .app
        .description()?
        .operation(name)
        .ok_or_else(Error::not_found)?;
    if !operation.can_be_tried(method) {
        return Err(Error::field(
            OPERATION,
            "must be one that reads, and takes no secret",
        ));
    }
    let media_type = call.call.parameter(FORMAT).filter(|it| !it.is_empty());
    let format = media_type.map(|it| format(call, it)).transpose()?;
    let base = &call.context.base_url;
    let address = format!("{base}{}", address(call, path, operation, format)?);
    let address = HeaderValue::from_str(&address).map_err(Error::internal)?;
    let response = (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response();
    Ok(OwnAnswer::Read(response))
}

/// The extension of the format with this media type.
fn format(call: &OwnCall<'_>, media_type: &str) -> Result<&'static str> {
    let mut all = call.app.formats.all();
    all.find(|it| it.essence() == media_type)
        .map(|it| it.name)
        .ok_or_else(|| Error::field(FORMAT, "must be a media type of this service"))
}

/// The address of `operation`, filled with the parameters of `call`; those that are empty are left out.
fn address(
    call: &OwnCall<'_>,
    path: &str,
    operation: &Operation,
    format: Option<&str>,
) -> Result<String> {
    let mut address = path.to_owned();
    let mut query = Vec::new();
    for parameter in &operation.parameters {
        let name = parameter.name.as_str();
        let value = call.call.parameter(name).filter(|it| !it.is_empty());
        match (parameter.location, value) {
            (Location::Path, None) => return Err(Error::field(name, "is required")),
            (Location::Path, Some(value)) => {
                address = address.replace(&format!("{{{name}}}"), &encode_segment(value));
            }
            (Location::Query, Some(value)) => {
                let encoded = utf8_percent_encode(value, NON_ALPHANUMERIC);
                query.push(format!("{name}={encoded}"));
            }
            (Location::Query | Location::Header, _) => {}
        }
    }
    if let Some(format) = format.filter(|_| path.starts_with("/direct/")) {
        address.push('.');
        address.push_str(format);
    }
    if !query.is_empty() {
        address.push('?');
        address.push_str(&query.join("&"));
    }
    Ok(address)
}

/// The description is for those for whom the description of the types is.
fn admit(call: &OwnCall<'_>) -> Result<()> {
    let is_anonymous = call.context.origin.caller.is_anonymous();
    match is_anonymous && !call.app.config.describe_public {
        true => Err(Error::unauthenticated()),
        false => Ok(()),
    }
}
