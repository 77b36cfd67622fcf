//! A batch of operations: a list in the body, each with its own method, path and body.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT, CONTENT_TYPE, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::Response;
use entity_core::engine::Preparation;
use entity_core::{Error, ErrorKind, Result, Verb, shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Part;
use super::places::{Made, Results, fill, fill_path, fill_query, made};
use super::result::{Outcome, Told};
use super::room::{self, SizeBudget};
use crate::base::media;
use crate::guard::admission::Units;
use crate::guard::admission::rate::MAX_PARTS;
use crate::guard::audit::AuditRow;
use crate::web::app::App;
use crate::web::direct::Runner;
use crate::web::direct::idempotency::Key;
use crate::web::prefer::Preferences;
use crate::web::request_context::RequestContext;

/// The maximum number of attempts of an atomic batch that lost a race.
const TRIES: u32 = 4;
/// The headers that an operation may have of its own.
pub(crate) const HEADERS: [HeaderName; 7] = [
    ACCEPT,
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    IF_MODIFIED_SINCE,
    IF_UNMODIFIED_SINCE,
    HeaderName::from_static("prefer"),
];

/// The body of the batch, and how it is answered.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_field_names,
    reason = "the interface names what clients send"
)]
pub(super) struct Operations {
    /// True if all of them are done or none.
    #[serde(default)]
    atomic: bool,
    operations: Vec<Operation>,
    #[serde(skip)]
    is_xml: bool,
}

/// One of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Operation {
    method: String,
    path: String,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    headers: HashMap<String, String>,
    /// The id by which later operations refer to this one.
    #[serde(default)]
    id: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    atomic: bool,
    results: Vec<Told<'a>>,
}

impl Operations {
    /// Reads the body.
    ///
    /// # Errors
    /// It is no list of operations; there are too many; a path leads elsewhere; an id is given twice.
    pub(super) fn read(context: &RequestContext, body: &[u8], is_xml: bool) -> Result<Self> {
        let essence = media::essence(&context.parts.headers, body)?;
        if essence.is_some_and(|it| it != media::JSON) {
            return Err(Error::new(
                ErrorKind::UnsupportedMediaType,
                "send the operations as application/json",
            ));
        }
        let body = entity_formats::parse_json(body)?;
        if body.get("operations").is_none() {
            return Err(Error::bad_request(
                "list the references in `_refs`, or send an object with `operations`",
            ));
        }
        let mut batch: Self = shape::decode(body)?;
        if batch.operations.is_empty() || batch.operations.len() > MAX_PARTS {
            return Err(super::too_many());
        }
        let mut ids = Vec::new();
        for (index, operation) in batch.operations.iter().enumerate() {
            operation
                .check(batch.atomic)
                .map_err(|error| at(index, error))?;
            if let Some(id) = operation.id.as_deref() {
                if ids.contains(&id) || id.is_empty() || id.contains(['.', '$']) {
                    return Err(Error::bad_request(format!(
                        "operation {index}: the id must be the only one of its kind, without dots"
                    )));
                }
                ids.push(id);
            }
        }
        batch.is_xml = is_xml;
        Ok(batch)
    }

    /// Counts the reads and the writes of the batch.
    pub(super) fn units(&self) -> Units {
        let is_read = |it: &&Operation| it.method == Verb::Get.name();
        let reads = self.operations.iter().filter(is_read).count();
        let writes = self.operations.len().saturating_sub(reads);
        Units { reads, writes }
    }

    /// Runs them, one after the other, and stores the results for `key`.
    ///
    /// # Errors
    /// The batch is atomic and one of them failed: nothing was done then.
    pub(super) async fn run(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
    ) -> Result<Response> {
        if self.atomic {
            return self.run_atomic(app, outer, key).await;
        }
        let (addresses, outcomes) = self.run_apart(app, outer, key).await?;
        let answer = |it: &[Outcome]| self.answer(outer, &addresses, it);
        super::keep_apart(key, app, outer, &outcomes, answer).await?;
        app.answers.aside(&outer.origin, || answer(&outcomes))
    }

    fn answer(
        &self,
        outer: &RequestContext,
        addresses: &[Option<String>],
        outcomes: &[Outcome],
    ) -> Result<Response> {
        let base_url = &outer.base_url;
        let url = |address: &String| format!("{base_url}{address}");
        let urls: Vec<Option<String>> = addresses.iter().map(|it| it.as_ref().map(url)).collect();
        let body = match self.is_xml {
            true => self.write_xml(outcomes, &urls)?,
            false => self.write_json(outcomes, &urls)?,
        };
        let mut response = super::respond_with(outcomes, body, self.is_xml);
        Preferences::of(&outer.parts.headers).tell(response.headers_mut());
        Ok(response)
    }

    async fn run_apart(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
    ) -> Result<(Vec<Option<String>>, Vec<Outcome>)> {
        let (mut results, mut room) = (Results::new(), SizeBudget::of(app, self.is_xml));
        let (mut addresses, mut outcomes) = (Vec::new(), Vec::new());
        for (index, operation) in self.operations.iter().enumerate() {
            demand_awaited(outer)?;
            let (address, part) = match operation.prepare(app, outer, &results, self.is_xml) {
                Ok((address, part)) => (Some(address), Ok(part)),
                Err(error) => (None, Err(error)),
            };
            let send = async |part: Part| {
                let sent = part.send(app, outer, key, index);
                match operation.is_read() {
                    true => while_awaited(outer, sent).await,
                    false => sent.await,
                }
            };
            let outcome = room::fill(&mut room, outer, part, send).await?;
            operation.remember(&outcome, &mut results);
            addresses.push(address);
            outcomes.push(outcome);
        }
        Ok((addresses, outcomes))
    }

    async fn run_atomic(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
    ) -> Result<Response> {
        let preparations = self.prepare(app, outer).await?;
        let mut tries = 1;
        loop {
            match self.try_atomic(app, outer, key, &preparations).await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// The work that is done at the edge for each operation. The ids that earlier operations make are not known then:
    /// placeholders stand in their places.
    async fn prepare(&self, app: &App, outer: &RequestContext) -> Result<Vec<Preparation>> {
        let mut preparations = Vec::with_capacity(self.operations.len());
        let mut results = Results::new();
        for (index, operation) in self.operations.iter().enumerate() {
            let known = operation.prepare(app, outer, &results, self.is_xml);
            preparations.push(match known {
                Ok((_, part)) if !operation.is_read() => {
                    let done = part.prepare(app, outer).await;
                    done.map_err(|error| at(index, error))?
                }
                _ => Preparation::default(),
            });
            if let Some(id) = operation.id.as_deref() {
                results.insert(id, Some(Made::unknown()));
            }
        }
        Ok(preparations)
    }

    async fn try_atomic(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
        preparations: &[Preparation],
    ) -> Result<Response> {
        let mut rows = Vec::new();
        let done = self
            .run_together(app, outer, key, preparations, &mut rows)
            .await;
        // The right to write was given back: waiting for the audit log keeps nobody else waiting.
        for row in rows {
            app.audit.record(row).await?;
        }
        done
    }

    /// Runs them all in one unit of work, which is over when this returns. The audit rows that remain to be stored then
    /// are put into `rows`.
    async fn run_together(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
        preparations: &[Preparation],
        rows: &mut Vec<AuditRow>,
    ) -> Result<Response> {
        let mut atomic = app.dispatcher.atomic(&outer.origin).await?;
        let (mut results, mut room) = (Results::new(), SizeBudget::of(app, self.is_xml));
        let (mut addresses, mut outcomes) = (Vec::new(), Vec::new());
        for (index, (operation, preparation)) in
            self.operations.iter().zip(preparations).enumerate()
        {
            demand_awaited(outer)?;
            let (address, part) = operation
                .prepare(app, outer, &results, self.is_xml)
                .map_err(|error| at(index, error))?;
            let runner = Runner::Together(&mut atomic, preparation.clone());
            let part = part.within(room.left()?);
            let (response, row) = part.send_within(app, outer, runner).await;
            rows.extend(row);
            let outcome = Outcome::of(response.map_err(|error| at(index, error))?).await?;
            let taken = room.take(&outer.origin, &outcome).await;
            taken.map_err(|error| at(index, error))?;
            operation.remember(&outcome, &mut results);
            addresses.push(Some(address));
            outcomes.push(outcome);
        }
        let answer = |it: &[Outcome]| self.answer(outer, &addresses, it);
        if let Some((key, response, brief)) = super::kept(key, &outcomes, answer)? {
            let kept = key.to_kept(response, brief).await?;
            atomic
                .during(|cx| Box::pin(async move { kept.store(cx).await }))
                .await?;
        }
        let response = app.answers.aside(&outer.origin, || answer(&outcomes))?;
        if !Preferences::of(&outer.parts.headers).is_dry_run {
            let (log, told) = (app.storage.audit_of_writes.clone(), rows.clone());
            // What was only read is told in the same transaction as what was written.
            atomic
                .during(|cx| {
                    Box::pin(async move {
                        for row in &told {
                            log.insert_in(cx.db()?, row).await?;
                        }
                        Ok(())
                    })
                })
                .await?;
            atomic.commit().await?;
            rows.clear();
        }
        Ok(response)
    }

    fn write_json(&self, outcomes: &[Outcome], urls: &[Option<String>]) -> Result<Vec<u8>> {
        let told = self.operations.iter().zip(outcomes).zip(urls);
        let answer = Answer {
            atomic: self.atomic,
            results: told
                .map(|((operation, outcome), url)| {
                    Told::of(outcome, url.as_deref()).with_id(operation.id.as_deref())
                })
                .collect(),
        };
        let mut bytes = Vec::with_capacity(super::size(outcomes)?);
        serde_json::to_writer(&mut bytes, &answer).map_err(Error::internal)?;
        Ok(bytes)
    }

    fn write_xml(&self, outcomes: &[Outcome], urls: &[Option<String>]) -> Result<Vec<u8>> {
        let told = self.operations.iter().zip(outcomes).zip(urls).enumerate();
        let elements: Vec<_> = told
            .map(|(index, ((operation, outcome), url))| {
                let given = operation.id.as_deref().map(|it| ("id", it));
                outcome.to_element(format!("op{index}"), given, url.as_deref())
            })
            .collect();
        entity_formats::batch::write("results", &elements)
    }
}

impl Operation {
    /// Checks the operation. One of an atomic batch can't be rolled back alone.
    fn check(&self, is_atomic: bool) -> Result<()> {
        super::address(&self.path)?;
        self.method()?;
        let headers = self.own_headers()?;
        match is_atomic && Preferences::of(&headers).is_dry_run {
            true => Err(Error::bad_request(
                "an operation of an atomic batch can't be rolled back alone: send `tx=rollback` with the batch",
            )),
            false => Ok(()),
        }
    }

    fn method(&self) -> Result<Method> {
        let verb = Verb::ALL.into_iter().find(|it| it.name() == self.method);
        let refuse = || Error::bad_request("the method must be GET, POST, PUT, PATCH or DELETE");
        let verb = verb.ok_or_else(refuse)?;
        verb.name()
            .parse()
            .map_err(|error| refuse().with_source(error))
    }

    fn own_headers(&self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let known = HEADERS
                .into_iter()
                .find(|it| it.as_str().eq_ignore_ascii_case(name));
            let known = known.ok_or_else(|| {
                Error::bad_request(format!("an operation can't have the header `{name}`"))
            })?;
            headers.insert(known, super::header(value)?);
        }
        Ok(headers)
    }

    /// Makes its request, with the ids that earlier ones made put in.
    fn prepare(
        &self,
        app: &App,
        outer: &RequestContext,
        results: &Results<'_>,
        is_xml: bool,
    ) -> Result<(String, Part)> {
        let address = super::address(&fill_path(&self.path, results)?)?;
        let mut headers = self.own_headers()?;
        let json = HeaderValue::from_static(media::JSON);
        let accepted = match is_xml {
            true => HeaderValue::from_static("application/xml"),
            false => json.clone(),
        };
        headers.entry(ACCEPT).or_insert(accepted);
        if Preferences::of(&outer.parts.headers).is_dry_run {
            let rollback = HeaderValue::from_static("tx=rollback");
            headers.append(HeaderName::from_static("prefer"), rollback);
        }
        if self.body.is_some() {
            headers.entry(CONTENT_TYPE).or_insert(json);
        }
        let body = self.body(app, media::essence(&headers, b"")?.as_deref(), results)?;
        let uri = address.parse().map_err(|error| {
            Error::bad_request(format!("`{}` is no address", self.path)).with_source(error)
        })?;
        let part = Part {
            method: self.method()?,
            uri,
            headers,
            body,
            answer_bytes: None,
        };
        Ok((address, part))
    }

    /// The body as it is sent: JSON is written, forms and XML are text and stay as they are. Other types are refused
    /// whatever is in them.
    fn body(&self, app: &App, essence: Option<&str>, results: &Results<'_>) -> Result<Bytes> {
        let Some(body) = &self.body else {
            return Ok(Bytes::new());
        };
        let parser = essence.and_then(|it| app.formats.parser(it));
        if parser.is_none_or(|it| it.name() == "json") {
            let filled = fill(body, results)?;
            return Ok(serde_json::to_vec(&filled).map_err(Error::internal)?.into());
        }
        match body {
            Value::String(form) if essence == Some(media::FORM) => {
                Ok(fill_query(form, results)?.into())
            }
            Value::String(text) => Ok(text.clone().into()),
            _ => Err(Error::field(
                "body",
                "must be text, because the `Content-Type` of the operation is not that of JSON",
            )),
        }
    }

    /// Returns whether it only reads. If it was given up, a later one that refers to it fails, and nothing is stored.
    fn is_read(&self) -> bool {
        self.method == Verb::Get.name()
    }

    fn remember<'a>(&'a self, outcome: &Outcome, results: &mut Results<'a>) {
        if let Some(id) = self.id.as_deref() {
            results.insert(id, made(outcome));
        }
    }
}

/// Returns what `sent` comes to. It is dropped as soon as nobody waits for the batch any more.
async fn while_awaited(outer: &RequestContext, sent: impl Future<Output = Response>) -> Response {
    let done = outer.abandoned.run_until_cancelled(sent).await;
    done.unwrap_or_else(|| outer.fail(&nobody_waits()))
}

/// Checks that somebody waits for the batch: no operation begins after its deadline, or when the client has gone. An
/// atomic batch is then rolled back. Otherwise the earlier operations stay, and are not done again with the same key.
fn demand_awaited(outer: &RequestContext) -> Result<()> {
    match outer.abandoned.is_cancelled() {
        true => Err(nobody_waits()),
        false => Ok(()),
    }
}

fn nobody_waits() -> Error {
    Error::unavailable("nobody waits for the answer", 1)
}

/// The same error, of the operation at `index`.
fn at(index: usize, error: Error) -> Error {
    error.in_operation(index)
}
