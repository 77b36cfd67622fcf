//! One request to the registered types: prepared, run, answered.
//!
//! The answer to a request that writes is made before anything is committed: what can't be answered is not done.

use async_trait::async_trait;
use axum::http::StatusCode;
use axum::response::Response;
use entity_core::engine::{Atomic, Audit, Content, Finish, Preparation, Request, Streaming};
use entity_core::format::Format;
use entity_core::reply::{Body, Effect, Reply};
use entity_core::{Context, Error, Input, Preconditions, Result, Verb};
use parking_lot::Mutex;

use super::body::Parsed;
use super::idempotency::{self, Key, Replay};
use super::request::DirectRequest;
use super::respond::{self, Preference};
use super::stream::{self, Begun};
use super::{Runner, body, bundle, etag, file, first, said};
use crate::guard::auth::http;
use crate::operate::archive;
use crate::web::middleware::audit::Audited;
use crate::web::prefer::Returned;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;

/// A request, ready to run, and how it wants to be answered.
pub(super) struct Prepared {
    pub(super) request: Request,
    format: Format,
    preference: Preference,
}

/// Runs a request whose body was read, and which was sent as `sent`.
///
/// # Errors
/// Whatever is wrong with the request or with the service. Nothing was written then.
pub(super) async fn perform(
    direct: DirectRequest<'_>,
    body: &RequestBody,
    sent: Verb,
    runner: Runner<'_, '_>,
) -> Result<Response> {
    let DirectRequest { app, context, path } = direct;
    let prepared = match prepare(direct, body, sent) {
        Ok(prepared) => prepared,
        Err(error) if sent.is_safe() || !matches!(runner, Runner::Apart) => return Err(error),
        Err(error) => return Err(refusal(direct, sent, error).await),
    };
    if prepared.request.verb.is_safe()
        && prepared.format.name == "html"
        && let Some(tidy) = body::tidy(&prepared.request.query)
    {
        let (base_url, uri) = (&context.base_url, &context.parts.uri);
        return Ok(respond::see_tidy(base_url, uri, &tidy));
    }
    let performance = Performance {
        direct,
        prepared: &prepared,
        key: Key::of(context, body, prepared.request.verb)?,
        answer: Mutex::new(None),
    };
    match runner {
        Runner::Apart if prepared.request.verb.is_safe() => {
            let reply = Box::pin(app.dispatcher.dispatch(&prepared.request)).await?;
            let (request, uri) = (&prepared.request, &context.parts.uri);
            match first::of_table(request, prepared.format, &reply.body, uri) {
                None => performance.answer(&reply).await,
                Some(other) => {
                    let mut context = context.clone();
                    context.parts.uri = other;
                    let context = &context;
                    let other = DirectRequest { app, context, path };
                    Box::pin(perform(other, body, sent, Runner::Apart)).await
                }
            }
        }
        Runner::Apart => performance.run_apart().await,
        Runner::Together(atomic, preparation) => {
            Box::pin(performance.run_in(atomic, preparation)).await
        }
    }
}

/// The error that answers a write that can't be read, because of `error`: the refusal of whoever may not write there
/// anyway, or that there is nothing, if the path alone decides that.
async fn refusal(direct: DirectRequest<'_>, sent: Verb, error: Error) -> Error {
    let DirectRequest { app, context, path } = direct;
    let request = Request {
        verb: sent,
        is_dry_run: true,
        ..Request::reading(path.clone(), Vec::new(), context.origin.clone())
    };
    match app.dispatcher.permit(&request).await {
        Err(refused) if refused.is_refusal() => refused,
        _ => error,
    }
}

/// Reads a request whose body was read.
pub(super) fn prepare(
    direct: DirectRequest<'_>,
    body: &RequestBody,
    sent: Verb,
) -> Result<Prepared> {
    let DirectRequest { context, path, .. } = direct;
    let format = format(direct, sent)?;
    let Parsed {
        mut input,
        method,
        version,
    } = read_input(direct, body, sent)?;
    input.is_strict = context.preferences.is_strict;
    let verb = match (sent, method) {
        (Verb::Post, Some(other)) => other,
        _ => sent,
    };
    let (query, registry) = (context.query()?, direct.registry());
    let content = entity_core::engine::content(registry, path, verb);
    body::check_write(verb, content, &query, !body.is_empty())?;
    let preference = match preference(context, &input) {
        Preference::Page if entity_core::engine::is_shown(registry, path, verb) => {
            Preference::Usual
        }
        other => other,
    };
    let preconditions = match verb.is_safe() {
        // What is read is judged when it is answered, for then its format is known.
        true => Preconditions::default(),
        false => etag::of_write(&context.parts.headers, version.as_deref())?,
    };
    let mut origin = context.origin.clone();
    if verb != sent {
        origin.method = verb.name().into();
    }
    let mut request = Request {
        path: path.clone(),
        verb,
        query,
        input,
        preconditions,
        is_dry_run: context.preferences.is_dry_run,
        wants_allowed_actions: format.name == "html",
        origin,
    };
    first::of_format(&mut request, format, registry);
    Ok(Prepared {
        request,
        format,
        preference,
    })
}

/// The format to answer in: of those in which the address answers, as far as that is known before it does. What
/// has no body needs none of them, so that any other that the client accepts will do; bytes have none, and are
/// answered in that of what may go wrong.
fn format(direct: DirectRequest<'_>, sent: Verb) -> Result<Format> {
    if direct.path.format.is_some() {
        return direct.format();
    }
    let (registry, path) = (direct.registry(), direct.path);
    let (accept, formats) = (&direct.context.accept, &direct.app.formats);
    let expected = match entity_core::engine::sample(registry, path, sent) {
        Some(body) => direct.format_among(&formats.offered(&body)),
        None => direct.format(),
    };
    expected.or_else(|error| {
        let own = entity_core::engine::media_types(registry, path, sent);
        match own.iter().any(|it| accept.allows(it)) {
            true => accept.format(Some("json"), formats),
            false => direct.format().or(Err(error)),
        }
    })
}

/// The body, and what a form says besides its fields.
fn read_input(direct: DirectRequest<'_>, body: &RequestBody, sent: Verb) -> Result<Parsed> {
    let content = entity_core::engine::content(direct.registry(), direct.path, sent);
    if sent.is_safe() || (sent == Verb::Delete && content == Content::Nothing) {
        // A body has no meaning where something is read or deleted, whatever it is.
        return Ok(Parsed::default());
    }
    if sent == Verb::Patch {
        return Ok(Parsed {
            input: body::patch(&direct.context.parts.headers, &body.bytes)?,
            ..Parsed::default()
        });
    }
    Parsed::of(direct, body)
}

/// The form in which a write is answered.
fn preference(context: &RequestContext, input: &Input) -> Preference {
    match context.preferences.returned {
        Some(Returned::Minimal) => Preference::Minimal,
        Some(Returned::Representation) => Preference::Representation,
        None if input.is_form && context.accept.names("text/html") => Preference::Page,
        None if input.is_form => Preference::Id,
        None => Preference::Usual,
    }
}

/// A prepared request while it runs.
struct Performance<'a> {
    direct: DirectRequest<'a>,
    prepared: &'a Prepared,
    key: Option<Key>,
    /// The answer to a request that writes, made before the commit and sent after it.
    answer: Mutex<Option<Response>>,
}

impl Performance<'_> {
    async fn run_apart(&self) -> Result<Response> {
        let request = &self.prepared.request;
        let again = Replay::Request(request);
        let once = idempotency::once(self.key.as_ref(), self.direct.app, again, async {
            let reply = self
                .direct
                .app
                .dispatcher
                .dispatch_and(request, self)
                .await?;
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
        let DirectRequest { app, context, path } = self.direct;
        match &reply.body {
            Body::File(_) | Body::Bundle(_) if path.format.is_some() => {
                Err(Error::not_acceptable(&["file"]))
            }
            Body::Bundle(it) => bundle::answer(app, context, it),
            Body::File(file) => Box::pin(file::answer(app, context, file)).await,
            Body::Stream(it) => Box::pin(self.stream(reply, it)).await,
            _ => self.respond(reply),
        }
    }

    /// Answers what is made piece by piece; what is whole after the first piece as other bytes are.
    async fn stream(&self, reply: &Reply, streaming: &Streaming) -> Result<Response> {
        let DirectRequest { app, context, path } = self.direct;
        if path.format.is_some() {
            return Err(Error::not_acceptable(&[&streaming.media_type]));
        }
        match stream::begin(app, context, streaming).await? {
            Begun::Part(mut response) => {
                respond::remark(response.headers_mut(), &reply.headers);
                Ok(response)
            }
            Begun::Whole(bytes) => self.respond(&Reply {
                body: Body::Bytes(bytes),
                effect: reply.effect.clone(),
                allowed_actions: reply.allowed_actions.clone(),
                headers: reply.headers.clone(),
            }),
        }
    }

    /// The answer to a write, which is over by now.
    fn take_answer(&self, reply: Reply) -> Result<Response> {
        if let Body::Incomplete(error) = reply.body {
            return Err(error);
        }
        let mut answer = self.answer.lock();
        answer
            .take()
            .ok_or_else(|| Error::internal("a request that writes has no answer"))
    }

    /// The format of the answer, which is another one than expected where `reply` has something else in it than the
    /// address declares.
    fn format_of(&self, reply: &Reply) -> Format {
        let (expected, formats) = (self.prepared.format, &self.direct.app.formats);
        if self.direct.path.format.is_some()
            || formats.renderer_for(expected.name, &reply.body).is_ok()
        {
            return expected;
        }
        let offered = formats.offered(&reply.body);
        // What has a body and can't be told in this one is refused where it is written.
        self.direct.format_among(&offered).unwrap_or(expected)
    }

    /// Answers the archive of `site`, which is never kept or sent as a part of something else.
    fn archive(&self, site: &str) -> Result<Response> {
        if self.direct.context.is_part || self.key.is_some() {
            return Err(Error::bad_request(
                "an archive is neither part of a batch nor kept for a repetition: ask for it alone",
            ));
        }
        if self.prepared.request.is_dry_run {
            return Ok(Response::default());
        }
        let mut response = bundle::streamed(
            archive::body(self.direct.app, site)?,
            &format!("{site}.zip"),
        );
        response.extensions_mut().insert(Audited);
        Ok(response)
    }

    fn respond(&self, reply: &Reply) -> Result<Response> {
        if let Body::Archive(site) = &reply.body {
            return self.archive(site);
        }
        let (direct, prepared) = (self.direct, self.prepared);
        let DirectRequest { app, context, path } = direct;
        let allowed_actions = reply.allowed_actions.clone();
        let options = direct.options(self.format_of(reply), prepared.preference, allowed_actions);
        let mut response = app.answers.aside(&context.origin, || {
            respond::respond(reply, &options, &app.formats)
        })?;
        respond::remark(response.headers_mut(), &reply.headers);
        let registry = direct.registry();
        if response.status() == StatusCode::NO_CONTENT
            && entity_core::engine::is_told_done(registry, path, prepared.request.verb)
        {
            *response.status_mut() = StatusCode::OK;
        }
        if prepared.request.verb.is_safe() {
            return Ok(response);
        }
        context.preferences.tell(response.headers_mut());
        if prepared.request.is_dry_run {
            return Ok(response);
        }
        response.extensions_mut().insert(Audited);
        if ends_session(context, prepared.request.verb, &reply.effect) {
            if prepared.preference == Preference::Page {
                respond::see_start(&mut response, &context.base_url);
            }
            let is_secure = context.arrived.is_secure;
            response = http::without_session(response, &app.cookie, is_secure);
        } else if prepared.preference == Preference::Page {
            said::note(
                &mut response,
                &reply.effect,
                (path, registry),
                &prepared.request.input.fields,
                context.arrived.is_secure,
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
        let mut answer = self.answer.lock();
        *answer = Some(response);
        Ok(audit)
    }
}

/// Returns whether the request ended the session that it came with.
fn ends_session(context: &RequestContext, verb: Verb, effect: &Effect) -> bool {
    match (effect, &context.session) {
        (Effect::Deleted(ended), Some(own)) => {
            ended.prefix == "session" && ended.id.as_deref() == Some(own.handle())
        }
        (Effect::Acted(on), Some(_)) => on.prefix == "session" && verb == Verb::Delete,
        _ => false,
    }
}
