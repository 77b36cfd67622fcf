//! One request to the registered types: prepared, run, answered.
//!
//! The answer to a request that writes is made before anything is committed: what can't be answered is not done.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::response::Response;
use entity_core::format::Format;
use entity_core::{
    Context, DirectPath, Effect, Error, Finish, Input, Reply, Request, Result, Verb,
};

use super::idempotency::Key;
use super::prefer::{Preferences, Returned};
use super::respond::{self, Preference};
use super::{Runner, etag, negotiate, request};
use crate::app::App;
use crate::auth::http;
use crate::exchange::Exchange;
use crate::middleware::audit::Audited;

/// A request, ready to run, and how it wants to be answered.
struct Prepared {
    request: Request,
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
    let prepared = prepare(app, exchange, path, sent)?;
    let exchange = &*exchange;
    if prepared.request.verb.is_safe()
        && prepared.format.name == "html"
        && let Some(tidy) = request::tidy(&prepared.request.query)
    {
        let base_url = &app.dispatcher.shared().base_url;
        return Ok(respond::see_tidy(base_url, &exchange.parts.uri, &tidy));
    }
    let performance = Performance {
        app,
        exchange,
        path,
        prepared: &prepared,
        key: Key::of(exchange, prepared.request.verb, prepared.preferences)?,
        answer: Mutex::new(None),
    };
    match runner {
        Runner::Apart => performance.run_apart().await,
        Runner::Together(atomic) => {
            let reply = atomic.run(&prepared.request).await?;
            performance.respond(&reply)
        }
    }
}

fn prepare(app: &App, exchange: &mut Exchange, path: &DirectPath, sent: Verb) -> Result<Prepared> {
    let headers = &exchange.parts.headers;
    let format = negotiate::format(path.format.as_deref(), headers, &app.formats)?;
    let preferences = Preferences::of(headers);
    let (mut input, method) = read_input(app, exchange, path, sent)?;
    input.is_strict = preferences.is_strict;
    let verb = match (sent, method) {
        (Verb::Post, Some(other)) => other,
        _ => sent,
    };
    let preference = preference(headers, preferences, &input);
    let if_match = etag::if_match(headers)?;
    if verb != sent {
        verb.name().clone_into(&mut exchange.origin.method);
    }
    let request = Request {
        path: path.clone(),
        verb,
        query: exchange.query()?,
        input,
        if_match,
        is_dry_run: preferences.is_dry_run,
        wants_abilities: format.name == "html",
        origin: exchange.origin.clone(),
    };
    Ok(Prepared {
        request,
        format,
        preferences,
        preference,
    })
}

/// The body, and the method that a form asks for instead of POST.
fn read_input(
    app: &App,
    exchange: &Exchange,
    path: &DirectPath,
    sent: Verb,
) -> Result<(Input, Option<Verb>)> {
    let (headers, body) = (&exchange.parts.headers, &exchange.body);
    if sent == Verb::Patch {
        return Ok((request::patch(headers, body)?, None));
    }
    let extension = path.format.as_deref();
    let parsed = request::body(headers, extension, &path.prefix, body, &app.formats)?;
    Ok((parsed.input, parsed.method))
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
        if request.verb.is_safe() {
            let reply = self.app.dispatcher.dispatch(request).await?;
            return self.respond(&reply);
        }
        if let Some(kept) = self.kept().await? {
            return Ok(kept);
        }
        match self.app.dispatcher.dispatch_and(request, self).await {
            Ok(_reply) => self.take_answer(),
            // Another request with the same key may have been faster: then its result is the answer.
            Err(error) => match self.kept().await? {
                Some(kept) => Ok(kept),
                None => Err(error),
            },
        }
    }

    async fn kept(&self) -> Result<Option<Response>> {
        match &self.key {
            Some(key) => key.find(self.app, &self.exchange.origin).await,
            None => Ok(None),
        }
    }

    fn take_answer(&self) -> Result<Response> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer
            .take()
            .ok_or_else(|| Error::internal("a request that writes has no answer"))
    }

    fn respond(&self, reply: &Reply) -> Result<Response> {
        let prepared = self.prepared;
        let asked = super::asked(
            self.app,
            self.exchange,
            self.path,
            prepared.format,
            prepared.preference,
            reply.abilities.clone(),
        );
        let mut response = respond::respond(reply, &asked, &self.app.formats)?;
        respond::remark(response.headers_mut(), &reply.remarks);
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
                respond::see_start(&mut response, &self.app.dispatcher.shared().base_url);
            }
            let is_secure = self.exchange.arrival(&self.app.config).is_secure;
            response = http::without_session(response, &self.app.cookie, is_secure);
        }
        Ok(response)
    }
}

#[async_trait]
impl Finish for Performance<'_> {
    async fn finish(&self, cx: &Context, reply: &Reply) -> Result<()> {
        let mut response = self.respond(reply)?;
        if let Some(key) = &self.key {
            response = key.keep(cx, response).await?;
        }
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = Some(response);
        Ok(())
    }
}

/// Whether the request ended the session that it came with.
fn ends_session(exchange: &Exchange, verb: Verb, effect: &Effect) -> bool {
    match (effect, &exchange.session) {
        (Effect::Deleted(ended), Some(own)) => {
            ended.prefix == "session" && ended.id.as_deref() == Some(own.handle())
        }
        (Effect::Acted(on), Some(_)) => on.prefix == "session" && verb == Verb::Delete,
        _ => false,
    }
}
