//! What an endpoint is called with, and what it answers.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::schemars::{Schema, json_schema};
use entity_core::{Context, Error, MAX_LIMIT, Result, Window};
use futures::future::BoxFuture;
use serde::Serialize;

use crate::app::App;
use crate::exchange::Exchange;

/// One call of an endpoint.
pub(crate) struct Call<'a> {
    /// The service.
    pub(crate) app: &'a App,
    /// The request, and who sent it.
    pub(crate) exchange: &'a Exchange,
    /// The values of the path's variables.
    pub(crate) variables: Vec<(&'static str, &'a str)>,
    /// The query's pairs.
    pub(crate) query: Vec<(String, String)>,
}

/// What an endpoint answers.
pub(crate) enum Answer {
    /// Data, as JSON.
    Json(Box<dyn erased_serde::Serialize + Send>),
    /// A part of a list, as JSON, and where the list goes on.
    Part(Box<dyn erased_serde::Serialize + Send>, Option<Window>),
    /// A response of its own making, which was audited already.
    Response(Response),
    /// A response of its own making to a request that only read.
    Document(Response),
}

impl Answer {
    pub(crate) fn json(data: impl Serialize + Send + 'static) -> Self {
        Self::Json(Box::new(data))
    }

    /// `data` are the part `window` of a list, which goes on behind the first `next` of it, if it does.
    pub(crate) fn part(
        data: impl Serialize + Send + 'static,
        window: Window,
        next: Option<u64>,
    ) -> Self {
        let next = next.map(|start| Window { start, ..window });
        Self::Part(Box::new(data), next)
    }
}

impl Call<'_> {
    /// The value of the path's variable `name`.
    pub(crate) fn variable(&self, name: &str) -> &str {
        self.variables
            .iter()
            .find(|it| it.0 == name)
            .map_or("", |it| it.1)
    }

    /// The value of the query parameter `name`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|it| it.0 == name)
            .map(|it| it.1.as_str())
    }

    /// The truth value of the query parameter `name`.
    ///
    /// # Errors
    /// It is neither `true` nor `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        match self.parameter(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Error::field(name, "must be true or false")),
        }
    }

    /// The part of a list that the query asks for.
    ///
    /// # Errors
    /// A number is none; it is named.
    pub(crate) fn window(&self) -> Result<Window> {
        Window::parse(&self.query, MAX_LIMIT)
    }

    /// Reads on behalf of the caller.
    pub(crate) async fn read<T>(
        &self,
        work: impl for<'c> FnOnce(&'c Context) -> BoxFuture<'c, Result<T>>,
    ) -> Result<T> {
        self.app.dispatcher.read(&self.exchange.origin, work).await
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

/// What the envelope says of all data that are answered.
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
pub(super) fn link(base_url: &str, uri: &Uri, window: Window) -> Option<HeaderValue> {
    let (start, limit) = (window.start, window.limit);
    let place = format!("_start={start}&_limit={limit}");
    let own = entity_formats::filters(uri.query().unwrap_or_default());
    let query = own.chain([place.as_str()]).collect::<Vec<_>>().join("&");
    let link = format!("<{base_url}{}?{query}>; rel=\"next\"", uri.path());
    HeaderValue::from_str(&link).ok()
}

/// `data` as an answer.
pub(super) fn json(
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
