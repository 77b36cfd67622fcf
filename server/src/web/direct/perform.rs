//! One request to the registered types: prepared, run, answered.
//!
//! The answer to a request that writes is made before anything is committed: what can't be answered is not done.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use entity_core::engine::{
    Atomic, Audit, Content, DirectPath, Finish, Preparation, Request, Streaming,
};
use entity_core::format::Format;
use entity_core::reply::{Body, Effect, Reply};
use entity_core::{Context, Error, Input, Preconditions, Result, Verb};

use super::idempotency::{self, Again, Key};
use super::prefer::{Preferences, Returned};
use super::request::Parsed;
use super::respond::{self, Preference};
use super::stream::{self, Begun};
use super::upload::Uploaded;
use super::{Runner, bundle, etag, file, first, negotiate, request, said};
use crate::guard::auth::http;
use crate::operate::archive;
use crate::web::app::App;
use crate::web::exchange::Exchange;
use crate::web::middleware::audit::Audited;

/// A request, ready to run, and how it wants to be answered.
pub(super) struct Prepared {
    pub(super) request: Request,
    format: Format,
    preferences: Preferences,
    preference: Preference,
}

/// Runs the request of `exchange`, whose body was read and which was sent as `sent`.
///
/// # Errors
/// Whatever is wrong with the request or with the service. Nothing was written then.
pub(super) async fn perform(
    app: &App,
    exchange: &mut Exchange,
    path: &DirectPath,
    sent: Verb,
    runner: Runner<'_, '_>,
) -> Result<Response> {
    let prepared = match prepare(app, exchange, path, sent) {
        Ok(prepared) => prepared,
        Err(error) if sent.is_safe() || !matches!(runner, Runner::Apart) => return Err(error),
        Err(error) => return Err(refusal(app, exchange, path, sent, error).await),
    };
    if prepared.request.verb.is_safe()
        && prepared.format.name == "html"
        && let Some(tidy) = request::tidy(&prepared.request.query)
    {
        return Ok(respond::see_tidy(
            &exchange.base_url,
            &exchange.parts.uri,
            &tidy,
        ));
    }
    let shared = &*exchange;
    let performance = Performance {
        app,
        exchange: shared,
        path,
        prepared: &prepared,
        key: Key::of(exchange, prepared.request.verb, prepared.preferences)?,
        answer: Mutex::new(None),
    };
    match runner {
        Runner::Apart if prepared.request.verb.is_safe() => {
            let reply = Box::pin(app.dispatcher.dispatch(&prepared.request)).await?;
            let (request, uri) = (&prepared.request, &exchange.parts.uri);
            match first::of_table(request, prepared.format, &reply.body, uri) {
                None => performance.answer(&reply).await,
                Some(other) => {
                    exchange.parts.uri = other;
                    Box::pin(perform(app, exchange, path, sent, Runner::Apart)).await
                }
            }
        }
        Runner::Apart => performance.run_apart().await,
        Runner::Together(atomic, preparation) => {
            Box::pin(performance.run_in(atomic, preparation)).await
        }
    }
}

/// What a write is told that can't be read, because of `error`: the refusal of whoever may not write there anyway, or
/// that there is nothing, if the path alone decides that.
async fn refusal(
    app: &App,
    exchange: &Exchange,
    path: &DirectPath,
    sent: Verb,
    error: Error,
) -> Error {
    let request = Request {
        verb: sent,
        is_dry_run: true,
        ..Request::reading(path.clone(), Vec::new(), exchange.origin.clone())
    };
    match app.dispatcher.permit(&request).await {
        Err(refused) if refused.is_refusal() => refused,
        _ => error,
    }
}

/// Reads the request of `exchange`, whose body was read.
///
/// # Errors
/// The request can't be understood.
pub(super) fn prepare(
    app: &App,
    exchange: &mut Exchange,
    path: &DirectPath,
    sent: Verb,
) -> Result<Prepared> {
    let headers = &exchange.parts.headers;
    let format = format(app, headers, path, sent)?;
    let preferences = Preferences::of(headers);
    let Parsed {
        mut input,
        method,
        version,
    } = read_input(app, exchange, path, sent)?;
    input.is_strict = preferences.is_strict;
    let verb = match (sent, method) {
        (Verb::Post, Some(other)) => other,
        _ => sent,
    };
    let query = exchange.query()?;
    let content = entity_core::engine::content(app.dispatcher.registry(), path, verb);
    let has_body = !exchange.body.is_empty() || exchange.uploaded.is_some();
    request::check_write(verb, content, &query, has_body)?;
    let registry = app.dispatcher.registry();
    let preference = match preference(headers, preferences, &input) {
        Preference::Page if entity_core::engine::is_shown(registry, path, verb) => {
            Preference::Usual
        }
        other => other,
    };
    let preconditions = match verb.is_safe() {
        // What is read is judged when it is answered, for then its format is known.
        true => Preconditions::default(),
        false => etag::of_write(headers, version.as_deref())?,
    };
    if verb != sent {
        exchange.origin.method = verb.name().into();
    }
    let mut request = Request {
        path: path.clone(),
        verb,
        query,
        input,
        preconditions,
        is_dry_run: preferences.is_dry_run,
        wants_abilities: format.name == "html",
        origin: exchange.origin.clone(),
    };
    first::of_format(&mut request, format, registry);
    Ok(Prepared {
        request,
        format,
        preferences,
        preference,
    })
}

/// The format to answer in: of those in which the address answers, as far as that is known before it does. What
/// has no body needs none of them, so that any other that the client accepts will do; bytes have none, and are
/// answered in that of what may go wrong.
fn format(app: &App, headers: &HeaderMap, path: &DirectPath, sent: Verb) -> Result<Format> {
    let (extension, formats) = (path.format.as_deref(), &app.formats);
    if extension.is_some() {
        return negotiate::format(extension, headers, formats);
    }
    let registry = app.dispatcher.registry();
    let expected = match entity_core::engine::sample(registry, path, sent) {
        Some(body) => negotiate::format_among(&formats.offered(&body), None, headers, formats),
        None => negotiate::format(None, headers, formats),
    };
    expected.or_else(|error| {
        let own = entity_core::engine::media_types(registry, path, sent);
        match own.iter().any(|it| negotiate::accepts(headers, it)) {
            true => negotiate::format(Some("json"), headers, formats),
            false => negotiate::format(None, headers, formats).or(Err(error)),
        }
    })
}

/// The body, and what a form says besides its fields.
fn read_input(app: &App, exchange: &Exchange, path: &DirectPath, sent: Verb) -> Result<Parsed> {
    let (headers, body) = (&exchange.parts.headers, &exchange.body);
    let content = entity_core::engine::content(app.dispatcher.registry(), path, sent);
    if sent.is_safe() || (sent == Verb::Delete && content == Content::Nothing) {
        // A body has no meaning where something is read or deleted, whatever it is.
        return Ok(Parsed::default());
    }
    if sent == Verb::Patch {
        return Ok(Parsed {
            input: request::patch(headers, body)?,
            ..Parsed::default()
        });
    }
    if let Some(Uploaded { form, files }) = &exchange.uploaded {
        let mut parsed = match form {
            Some(form) => request::form(form, &app.formats)?,
            None => Parsed::default(),
        };
        parsed.input.uploads.clone_from(files);
        return Ok(parsed);
    }
    let extension = path.format.as_deref();
    request::body(headers, extension, &path.prefix, body, &app.formats)
}

/// How a write is answered.
fn preference(headers: &HeaderMap, preferences: Preferences, input: &Input) -> Preference {
    match preferences.returned {
        Some(Returned::Minimal) => Preference::Minimal,
        Some(Returned::Representation) => Preference::Representation,
        None if input.is_form && negotiate::names(headers, "text/html") => Preference::Page,
        None if input.is_form => Preference::Id,
        None => Preference::Usual,
    }
}

/// A prepared request while it runs.
struct Performance<'a> {
    app: &'a App,
    exchange: &'a Exchange,
    path: &'a DirectPath,
    prepared: &'a Prepared,
    key: Option<Key>,
    /// The answer to a request that writes, made before the commit and sent after it.
    answer: Mutex<Option<Response>>,
}

impl Performance<'_> {
    async fn run_apart(&self) -> Result<Response> {
        let request = &self.prepared.request;
        let again = Again::Request(request);
        let once = idempotency::once(self.key.as_ref(), self.app, again, async {
            let reply = self.app.dispatcher.dispatch_and(request, self).await?;
            self.take_answer(reply)
        });
        // Writes need much room: who only reads is not to carry it along.
        Box::pin(once).await
    }

    async fn run_in(&self, atomic: &mut Atomic<'_>, preparation: Preparation) -> Result<Response> {
        let request = &self.prepared.request;
        let reply = atomic.run(request, preparation, self).await?;
        match request.verb.is_safe() {
            true => self.answer(&reply).await,
            false => self.take_answer(reply),
        }
    }

    /// Answers a request that reads.
    async fn answer(&self, reply: &Reply) -> Result<Response> {
        match &reply.body {
            Body::File(_) | Body::Bundle(_) if self.path.format.is_some() => {
                Err(Error::not_acceptable(&["file"]))
            }
            Body::Bundle(it) => bundle::answer(self.app, self.exchange, it),
            Body::File(file) => Box::pin(file::answer(self.app, self.exchange, file)).await,
            Body::Stream(it) => Box::pin(self.stream(reply, it)).await,
            _ => self.respond(reply),
        }
    }

    /// Answers what is made piece by piece; what is whole after the first piece as other bytes are.
    async fn stream(&self, reply: &Reply, streaming: &Streaming) -> Result<Response> {
        if self.path.format.is_some() {
            return Err(Error::not_acceptable(&[&streaming.media_type]));
        }
        match stream::begin(self.app, self.exchange, streaming).await? {
            Begun::Part(mut response) => {
                respond::remark(response.headers_mut(), &reply.remarks);
                Ok(response)
            }
            Begun::Whole(bytes) => self.respond(&Reply {
                body: Body::Bytes(bytes),
                effect: reply.effect.clone(),
                abilities: reply.abilities.clone(),
                remarks: reply.remarks.clone(),
            }),
        }
    }

    /// The answer to a write, which is over by now.
    fn take_answer(&self, reply: Reply) -> Result<Response> {
        if let Body::Incomplete(error) = reply.body {
            return Err(error);
        }
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer
            .take()
            .ok_or_else(|| Error::internal("a request that writes has no answer"))
    }

    /// The format of the answer, which is another one than expected where `reply` has something else in it than the
    /// address declares.
    fn format_of(&self, reply: &Reply) -> Format {
        let (expected, formats) = (self.prepared.format, &self.app.formats);
        if self.path.format.is_some() || formats.renderer_for(expected.name, &reply.body).is_ok() {
            return expected;
        }
        let headers = &self.exchange.parts.headers;
        let offered = formats.offered(&reply.body);
        // What has a body and can't be told in this one is refused where it is written.
        negotiate::format_among(&offered, None, headers, formats).unwrap_or(expected)
    }

    /// Answers the archive of `site`, which is never kept or sent as a part of something else.
    fn archive(&self, site: &str) -> Result<Response> {
        if self.exchange.is_part || self.key.is_some() {
            return Err(Error::bad_request(
                "an archive is neither part of a batch nor kept for a repetition: ask for it alone",
            ));
        }
        if self.prepared.request.is_dry_run {
            return Ok(Response::default());
        }
        let mut response = bundle::streamed(archive::body(self.app, site)?, &format!("{site}.zip"));
        response.extensions_mut().insert(Audited);
        Ok(response)
    }

    fn respond(&self, reply: &Reply) -> Result<Response> {
        if let Body::Archive(site) = &reply.body {
            return self.archive(site);
        }
        let prepared = self.prepared;
        let asked = super::asked(
            self.app,
            self.exchange,
            self.path,
            self.format_of(reply),
            prepared.preference,
            reply.abilities.clone(),
        );
        let mut response = self.app.answers.aside(&self.exchange.origin, || {
            respond::respond(reply, &asked, &self.app.formats)
        })?;
        respond::remark(response.headers_mut(), &reply.remarks);
        let registry = self.app.dispatcher.registry();
        if response.status() == StatusCode::NO_CONTENT
            && entity_core::engine::is_told_done(registry, self.path, prepared.request.verb)
        {
            *response.status_mut() = StatusCode::OK;
        }
        if prepared.request.verb.is_safe() {
            return Ok(response);
        }
        prepared.preferences.tell(response.headers_mut());
        if prepared.request.is_dry_run {
            return Ok(response);
        }
        response.extensions_mut().insert(Audited);
        if ends_session(self.exchange, prepared.request.verb, &reply.effect) {
            if prepared.preference == Preference::Page {
                respond::see_start(&mut response, &self.exchange.base_url);
            }
            let is_secure = self.exchange.arrival(&self.app.config).is_secure;
            response = http::without_session(response, &self.app.cookie, is_secure);
        } else if prepared.preference == Preference::Page {
            let is_secure = self.exchange.arrival(&self.app.config).is_secure;
            said::note(
                &mut response,
                &reply.effect,
                (self.path, registry),
                &prepared.request.input.fields,
                is_secure,
            );
        }
        Ok(response)
    }
}

#[async_trait]
impl Finish for Performance<'_> {
    async fn finish(&self, cx: &Context, reply: &Reply) -> Result<Audit> {
        if let Body::Incomplete(_) = reply.body {
            return Ok(Audit::Later);
        }
        let mut response = self.respond(reply)?;
        if let Some(key) = &self.key {
            response = key.keep(cx, response).await?;
        }
        let audit = Audit::Answered(response.status().as_u16());
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = Some(response);
        Ok(audit)
    }
}

/// Returns whether the request ended the session that it came with.
fn ends_session(exchange: &Exchange, verb: Verb, effect: &Effect) -> bool {
    match (effect, &exchange.session) {
        (Effect::Deleted(ended), Some(own)) => {
            ended.prefix == "session" && ended.id.as_deref() == Some(own.handle())
        }
        (Effect::Acted(on), Some(_)) => on.prefix == "session" && verb == Verb::Delete,
        _ => false,
    }
}
