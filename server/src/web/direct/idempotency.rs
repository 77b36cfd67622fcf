//! `Idempotency-Key`: a POST that is sent again, because its answer got lost, is answered and not done again.
//!
//! The first response is stored in the transaction of its write, for a day unless a setting says otherwise. Failures
//! are not stored: nothing was done, so that trying again does no harm. Logins and logouts have no keys: their
//! responses are never stored.
//!
//! Invariant: a stored response is replayed to nobody who could not send the request now. Where no permission changed
//! since, it is replayed whole. Otherwise the gate decides as for a new request, and may refuse it; where the entity is
//! gone or hidden by now, and for a batch, whose reads the gate does not check again, only the status is told.

use axum::body::{Body, Bytes};
use axum::http::request::Parts as RequestParts;
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use entity_core::engine::{OUTCOME_UNKNOWN, Origin, Request};
use entity_core::{Context, Error, ErrorKind, Result, Verb};
use http_body_util::BodyExt as _;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Order, Query};
use sea_orm::{ConnectionTrait as _, Value};
use sha2::{Digest as _, Sha256};

use crate::base::config::RetentionSettings;
use crate::base::media;
use crate::base::no_store;
use crate::operate::idempotency::{TABLE, oldest};
use crate::web::app::App;
use crate::web::middleware::audit::Audited;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;

/// The maximum number of characters of a key.
const MAX_KEY: usize = 255;
/// The maximum number of bytes of a body that is stored. Of a longer answer, only the head is.
const MAX_BODY: usize = 64 * 1024;

/// The bytes of a row beside the head and the body, about: the hashes, the user, the entries of indexes.
const ROW: usize = 400;

/// The header that carries the key.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The headers of the first answer that are stored.
const KEPT_HEADERS: [&str; 12] = [
    "content-disposition",
    "content-type",
    "etag",
    "location",
    "entityid",
    "entityreference",
    "cache-control",
    "last-modified",
    "preference-applied",
    "x-success-count",
    "x-warning-already-members",
    "x-warning-not-found",
];
/// The prefix of the headers by which clients find their way through a batch.
const BATCH_HEADERS: &str = "batch";

/// A key, as one user sent it with one request.
///
/// The table holds neither the key nor the request, which may hold a password: both are hashed, and the request is
/// hashed together with the key, so that nobody who reads the table can try passwords.
#[derive(Clone, Debug)]
pub(super) struct Key {
    user: String,
    /// The hash of the key.
    text: String,
    /// The hash that tells this request from others.
    request: String,
}

impl Key {
    /// Reads the key of a request that makes something, if it has one. Anonymous requests have none.
    pub(super) fn of(
        context: &RequestContext,
        body: &RequestBody,
        verb: Verb,
    ) -> Result<Option<Self>> {
        let mut values = context.parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let (Some(value), Some(user)) = (values.next(), context.origin.caller.user_id()) else {
            return Ok(None);
        };
        if verb != Verb::Post || context.preferences.is_dry_run {
            return Ok(None);
        }
        // A structured header has quotes around a text; not all clients know.
        let text = value.to_str().unwrap_or_default().trim().trim_matches('"');
        if text.is_empty() || text.len() > MAX_KEY || values.next().is_some() {
            return Err(Error::bad_request(format!(
                "`Idempotency-Key` must be one text of 1 to {MAX_KEY} visible characters"
            )));
        }
        let kind = media::essence(&context.parts.headers, &body.bytes)?.unwrap_or_default();
        Ok(Some(Self {
            user: user.to_owned(),
            text: digest([text.as_bytes()]),
            request: digest(whole(&context.parts, [text, &kind, &files_of(body)], body)),
        }))
    }

    /// The key of the request at `index` of a batch that has this one.
    pub(super) fn of_part(&self, index: usize) -> Result<HeaderValue> {
        let text = format!("{}-{index}", self.text);
        HeaderValue::try_from(text).map_err(Error::internal)
    }

    /// Finds the first answer to this key, if there was one, as far as the caller of `again` may read it now.
    ///
    /// # Errors
    /// It was the answer to another request; the caller may no longer send this one; the database can't be read.
    async fn find(&self, app: &App, again: &Replay<'_>) -> Result<Option<Response>> {
        let found = app
            .dispatcher
            .read(again.origin(), |cx| {
                let key = self.clone();
                Box::pin(async move {
                    let Some(kept) = key.look_up(cx).await? else {
                        return Ok(None);
                    };
                    let epoch = cx.authorizer().epoch(cx).await?;
                    let is_current = epoch.is_some() && kept.epoch == epoch;
                    Ok(Some((kept, is_current)))
                })
            })
            .await?;
        let Some((kept, is_current)) = found else {
            return Ok(None);
        };
        if kept.key.request != self.request {
            return Err(Error::new(
                ErrorKind::Unprocessable,
                "this `Idempotency-Key` came with another request before: choose a new one",
            ));
        }
        match is_current || again.is_permitted(app).await? {
            _ if kept.was_told_once() => Err(Error::conflict(
                "this was done before, and what it was answered with is told only once: look for what it made",
            )),
            true => Ok(Some(kept.into_response())),
            false => Ok(Some(kept.into_brief().into_response())),
        }
    }

    async fn look_up(&self, cx: &Context) -> Result<Option<StoredResponse>> {
        let db = cx.db()?;
        let mut statement = Query::select();
        statement
            .columns(["request", "status", "headers", "body", "epoch", "brief"].map(Alias::new))
            .from(Alias::new(TABLE))
            .and_where(Expr::col(Alias::new("user_id")).eq(self.user.as_str()))
            .and_where(Expr::col(Alias::new("key")).eq(self.text.as_str()))
            .and_where(Expr::col(Alias::new("created")).gt(oldest(cx, cx.steady())?));
        let Some(row) = db.query_one(&statement).await? else {
            return Ok(None);
        };
        let body: Vec<u8> = row.try_get("", "body")?;
        let brief: Option<Vec<u8>> = row.try_get("", "brief")?;
        Ok(Some(StoredResponse {
            key: Self {
                request: row.try_get("", "request")?,
                ..self.clone()
            },
            status: row.try_get("", "status")?,
            headers: row.try_get("", "headers")?,
            body: body.into(),
            epoch: row.try_get("", "epoch")?,
            brief: brief.map(Bytes::from),
        }))
    }

    /// Stores `response` in the unit of work of `cx`. Of one that must not be stored, only the head is.
    ///
    /// # Errors
    /// There is another answer to this key already; the database can't be written.
    pub(super) async fn keep(&self, cx: &Context, response: Response) -> Result<Response> {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Error::internal)?.to_bytes();
        self.kept(&parts, bytes.clone(), None)?.store(cx).await?;
        Ok(Response::from_parts(parts, Body::from(bytes)))
    }

    /// `response` as it is kept, and `brief`, which says no more than how it went.
    pub(super) async fn to_kept(
        &self,
        response: Response,
        brief: Response,
    ) -> Result<StoredResponse> {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Error::internal)?.to_bytes();
        let brief = brief.into_body().collect().await.map_err(Error::internal)?;
        self.kept(&parts, bytes, Some(brief.to_bytes()))
    }

    fn kept(&self, parts: &Parts, body: Bytes, brief: Option<Bytes>) -> Result<StoredResponse> {
        let is_short = body.len() <= MAX_BODY;
        Ok(StoredResponse {
            key: self.clone(),
            status: i32::from(parts.status.as_u16()),
            headers: write_headers(&parts.headers, is_short)?,
            body: match is_short && !no_store::is_demanded(&parts.headers) {
                true => body,
                false => Bytes::new(),
            },
            epoch: None,
            brief: brief.filter(|it| it.len() <= MAX_BODY),
        })
    }
}

/// The origin of a replay.
#[derive(Debug)]
pub(super) enum Replay<'a> {
    /// This request.
    Request(&'a Request),
    /// A batch from here.
    Batch(&'a Origin),
}

impl Replay<'_> {
    fn origin(&self) -> &Origin {
        match self {
            Self::Request(request) => &request.origin,
            Self::Batch(origin) => origin,
        }
    }

    /// Returns whether its response may be replayed whole, although permissions have changed; otherwise, only in brief.
    async fn is_permitted(&self, app: &App) -> Result<bool> {
        let Self::Request(request) = self else {
            return Ok(false);
        };
        match app.dispatcher.permit(request).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Replays the response that is stored for `key`, as far as `again` may read it, or else does `work`.
///
/// # Errors
/// Fails as `work` does, when the key came with another request before, and when the caller may no longer do this.
pub(super) async fn once(
    key: Option<&Key>,
    app: &App,
    again: Replay<'_>,
    work: impl Future<Output = Result<Response>>,
) -> Result<Response> {
    let Some(key) = key else {
        return work.await;
    };
    if let Some(kept) = key.find(app, &again).await? {
        return Ok(kept);
    }
    match work.await {
        // The result is kept with what it tells of: where it is found, the COMMIT came through. Where it is not found,
        // or nobody can look, the outcome remains unknown.
        Err(error) if error.code() == Some(OUTCOME_UNKNOWN) => {
            let kept = key.find(app, &again).await;
            kept.ok().flatten().ok_or(error)
        }
        // Another request with the same key may have been faster: then its result is the answer.
        Err(error) => key.find(app, &again).await?.ok_or(error),
        done => done,
    }
}

/// An answer as it is kept.
#[derive(Clone, Debug)]
pub(super) struct StoredResponse {
    key: Key,
    status: i32,
    headers: String,
    body: Bytes,
    /// The version of the permissions; known when it was stored.
    epoch: Option<i64>,
    /// The body of a replay in brief; nothing where the status is enough.
    brief: Option<Bytes>,
}

impl StoredResponse {
    /// Stores it in the unit of work of `cx`.
    ///
    /// # Errors
    /// There is another answer to its key already; the database can't be written.
    pub(super) async fn store(&self, cx: &Context) -> Result<()> {
        let key = &self.key;
        let mut expired = Query::delete();
        expired
            .from_table(Alias::new(TABLE))
            .and_where(Expr::col(Alias::new("user_id")).eq(key.user.as_str()))
            .and_where(Expr::col(Alias::new("key")).eq(key.text.as_str()))
            .and_where(Expr::col(Alias::new("created")).lte(oldest(cx, cx.steady())?));
        let epoch = cx.authorizer().epoch(cx).await?;
        let brief = self.brief.as_ref().map(|it| it.to_vec());
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new(TABLE))
            .columns(
                [
                    "user_id", "key", "request", "created", "status", "headers", "body", "bytes",
                    "epoch", "brief",
                ]
                .map(Alias::new),
            )
            .values_panic([
                Expr::val(key.user.as_str()),
                Expr::val(key.text.as_str()),
                Expr::val(key.request.as_str()),
                Expr::val(cx.steady().timestamp_millis()),
                Expr::val(self.status),
                Expr::val(self.headers.as_str()),
                Expr::val(Value::Bytes(Some(self.body.to_vec()))),
                Expr::val(self.bytes()),
                Expr::val(epoch),
                Expr::val(Value::Bytes(brief)),
            ]);
        cx.db()?.execute(&expired).await?;
        cx.db()?.execute(&insert).await?;
        self.make_room(cx).await
    }

    /// Returns the approximate size of the row in bytes.
    fn bytes(&self) -> i64 {
        let brief = self.brief.as_ref().map_or(0, Bytes::len);
        let bytes = self.body.len() + brief + self.headers.len() + ROW;
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// Removes the oldest results of the account, if it has too many.
    async fn make_room(&self, cx: &Context) -> Result<()> {
        let keys = cx.service::<RetentionSettings>()?.idempotency_keys;
        let keys = u64::try_from(keys).unwrap_or(u64::MAX);
        let user = self.key.user.as_str();
        let created = || Expr::col(Alias::new("created"));
        let of_user = || Expr::col(Alias::new("user_id")).eq(user);
        let mut beyond = Query::select();
        beyond
            .column(Alias::new("created"))
            .from(Alias::new(TABLE))
            .and_where(of_user())
            .order_by(Alias::new("created"), Order::Desc)
            .offset(keys)
            .limit(1);
        let db = cx.db()?;
        let Some(row) = db.query_one(&beyond).await? else {
            return Ok(());
        };
        let oldest: i64 = row.try_get("", "created")?;
        let mut delete = Query::delete();
        delete
            .from_table(Alias::new(TABLE))
            .and_where(of_user())
            .and_where(Expr::col(Alias::new("key")).ne(self.key.text.as_str()))
            .and_where(created().lte(oldest));
        db.execute(&delete).await?;
        Ok(())
    }

    /// Returns whether the answer must not be stored (`no-store`), so that it can't be replayed.
    fn was_told_once(&self) -> bool {
        let headers: Vec<(String, String)> =
            serde_json::from_str(&self.headers).unwrap_or_default();
        let is_secret =
            |(name, value): &(String, String)| no_store::is_said(name, value.as_bytes());
        self.body.is_empty() && headers.iter().any(is_secret)
    }

    /// Reduces the response to its status and the body in brief.
    fn into_brief(self) -> Self {
        let body = self.brief.clone().unwrap_or_default();
        let headers = match body.is_empty() {
            true => without_content(&self.headers),
            false => self.headers.clone(),
        };
        Self {
            headers,
            body,
            ..self
        }
    }

    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        let status = u16::try_from(self.status).unwrap_or_default();
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        let headers: Vec<(String, String)> =
            serde_json::from_str(&self.headers).unwrap_or_default();
        for (name, value) in headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                response.headers_mut().append(name, value);
            }
        }
        let replayed = HeaderValue::from_static("true");
        response.headers_mut().insert(REPLAYED, replayed);
        // What it did is in the audit log since the first time; this request did nothing.
        response.extensions_mut().remove::<Audited>();
        response
    }
}

/// Writes the headers that are stored. Where the body was too long to be stored, those about it are left out.
fn write_headers(headers: &HeaderMap, has_type: bool) -> Result<String> {
    let kept: Vec<(&str, &str)> = headers
        .iter()
        .filter(|(name, _)| {
            let name = name.as_str();
            let is_kept = KEPT_HEADERS.contains(&name) || name.starts_with(BATCH_HEADERS);
            is_kept && (has_type || !name.starts_with("content-"))
        })
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    serde_json::to_string(&kept).map_err(Error::internal)
}

/// Removes the headers of the body from headers that [`write_headers`] wrote.
fn without_content(headers: &str) -> String {
    let mut kept: Vec<(String, String)> = serde_json::from_str(headers).unwrap_or_default();
    kept.retain(|(name, _)| !name.starts_with("content-"));
    serde_json::to_string(&kept).unwrap_or_default()
}

/// The parts of a request that must be the same when its key comes again: method, address, kind of body, body. The kind is
/// the media type: its parameters say nothing, for whatever is read is UTF-8.
fn whole<'a>(
    parts: &'a RequestParts,
    [key, kind, files]: [&'a str; 3],
    body: &'a RequestBody,
) -> [&'a [u8]; 7] {
    [
        key.as_bytes(),
        parts.method.as_str().as_bytes(),
        parts.uri.path().as_bytes(),
        parts.uri.query().unwrap_or_default().as_bytes(),
        kind.as_bytes(),
        &body.bytes,
        files.as_bytes(),
    ]
}

/// The files of a request, so that they can be told from others.
fn files_of(body: &RequestBody) -> String {
    let files = body.uploaded.iter().flat_map(|it| &it.files);
    let lines = files.map(|it| {
        let name = it.name.as_deref().unwrap_or_default();
        [it.field.as_str(), &it.blob.to_column(), name].join("\n")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn digest<const N: usize>(parts: [&[u8]; N]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}
