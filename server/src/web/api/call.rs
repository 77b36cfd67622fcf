//! The calls of endpoints, and how answers are written.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LINK, LOCATION};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::endpoint::{Answer, Call, Endpoint};
use entity_core::engine::Origin;
use entity_core::primitives::to_uri_part;
use entity_core::schemars::{Schema, json_schema};
use entity_core::{Error, ErrorKind, Result, Window};
use http_body_util::BodyExt as _;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::base::media;
use crate::web::app::App;
use crate::web::request_context::RequestContext;

/// One call of an endpoint of the service itself.
pub(crate) struct OwnCall<'a> {
    /// The service.
    pub(crate) app: &'a App,
    /// The request, and who sent it.
    pub(crate) context: &'a RequestContext,
    /// Its body.
    pub(crate) body: &'a [u8],
    /// The variables of the path and the parameters of the query.
    pub(crate) call: Call,
}

/// The answer of an endpoint of the service itself.
pub(crate) enum OwnAnswer {
    /// The response to a request that was audited already.
    Audited(Response),
    /// The response to a request that only read.
    Read(Response),
}

/// The body of a request for `endpoint`, if that takes one.
pub(super) fn body(
    context: &RequestContext,
    bytes: &[u8],
    endpoint: &Endpoint,
) -> Result<Option<Value>> {
    let Some(body) = endpoint.body else {
        return Ok(None);
    };
    let sent = media::essence(&context.parts.headers, bytes)?;
    match sent.is_some_and(|it| body.media_types.contains(&it.as_ref())) {
        true => entity_formats::parse_json(bytes).map(Some),
        false => Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            format!(
                "send the body as {}, in UTF-8",
                body.media_types.join(" or ")
            ),
        )),
    }
}

/// The options of the answer to a request.
#[derive(Clone)]
pub(super) struct AnswerWriter {
    origin: Origin,
    uri: Uri,
    base_url: Arc<str>,
    is_enveloped: bool,
}

impl AnswerWriter {
    /// As the request asks for it.
    pub(super) fn to(context: &RequestContext, call: &Call) -> Self {
        Self {
            origin: context.origin.clone(),
            uri: context.parts.uri.clone(),
            base_url: Arc::clone(&context.base_url),
            is_enveloped: call.flag(ENVELOPE).unwrap_or_default(),
        }
    }

    /// `answer` as a response.
    pub(super) fn write(&self, app: &App, answer: &Answer) -> Result<Response> {
        if answer.is_empty {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            return Ok(response);
        }
        let write = || json(&*answer.data, self.is_enveloped, app.now());
        let mut response = app.answers.aside(&self.origin, write)?;
        let link = answer
            .next
            .and_then(|it| link(&self.base_url, &self.uri, it));
        if let Some(link) = link {
            response.headers_mut().insert(LINK, link);
        }
        if let Some(path) = &answer.created {
            let place = HeaderValue::from_str(&format!("{}{path}", self.base_url));
            let place = place.map_err(Error::internal)?;
            response.headers_mut().insert(LOCATION, place);
            *response.status_mut() = StatusCode::CREATED;
        }
        Ok(response)
    }
}

impl OwnCall<'_> {
    /// `response`, whose body is JSON, in the envelope if the request asks for it.
    pub(super) async fn told(&self, response: Response) -> Result<Response> {
        let is_enveloped = self.call.flag(ENVELOPE).unwrap_or_default();
        if !is_enveloped || !response.status().is_success() {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Error::internal)?.to_bytes();
        let data: Box<RawValue> = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        let enveloped = json(&data, true, self.app.now())?;
        Ok(Response::from_parts(parts, enveloped.into_body()))
    }
}

/// The query parameter that asks for the envelope.
pub(crate) const ENVELOPE: &str = "envelope";

/// The envelope that a client may ask for.
#[derive(Serialize)]
struct Envelope<'a> {
    data: &'a (dyn erased_serde::Serialize + Send),
    status: &'static str,
    timestamp: String,
}

/// The status in the envelope of all data that are answered.
const SUCCESS: &str = "success";

/// The shape of the envelope around data of the shape `data`.
pub(crate) fn envelope_schema(data: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "required": ["data", "status", "timestamp"],
        "properties": {
            "data": data,
            "status": { "const": SUCCESS },
            "timestamp": { "type": "string", "format": "date-time" },
        },
    })
}

/// The header that leads to the part `window` of the list that `uri` names.
fn link(base_url: &str, uri: &Uri, window: Window) -> Option<HeaderValue> {
    let (start, limit) = (window.start, window.limit);
    let place = format!("_start={start}&_limit={limit}");
    let own = entity_formats::filters(uri.query().unwrap_or_default());
    let query = own.chain([place.as_str()]).collect::<Vec<_>>().join("&");
    let (path, query) = (to_uri_part(uri.path()), to_uri_part(&query));
    let link = format!("<{base_url}{path}?{query}>; rel=\"next\"");
    HeaderValue::from_str(&link).ok()
}

/// `data` as an answer.
fn json(
    data: &(dyn erased_serde::Serialize + Send),
    is_enveloped: bool,
    now: DateTime<Utc>,
) -> Result<Response> {
    let bytes = match is_enveloped {
        true => {
            let envelope = Envelope {
                data,
                status: SUCCESS,
                timestamp: entity_core::wire::iso(now),
            };
            serde_json::to_vec(&envelope)
        }
        false => serde_json::to_vec(data),
    };
    let mut response = Response::new(Body::from(bytes.map_err(Error::internal)?));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
