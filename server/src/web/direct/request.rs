//! A request below `/direct`: what its head and its address say, handed on by reference to all that answer it.

use std::sync::Arc;

use axum::http::Uri;
use axum::response::Response;
use entity_core::engine::DirectPath;
use entity_core::format::{Format, View};
use entity_core::reply::{AllowedActions, Body, Effect, Reply};
use entity_core::{Error, Registry, Result};

use super::respond::{self, Preference, ResponseOptions};
use super::{etag, said};
use crate::base::error;
use crate::web::app::App;
use crate::web::request_context::RequestContext;
use crate::web::zone;

/// A request to an address below `/direct`.
#[derive(Clone, Copy)]
pub(crate) struct DirectRequest<'a> {
    /// The service.
    pub(crate) app: &'a App,
    /// The request without its body.
    pub(crate) context: &'a RequestContext,
    /// Its address.
    pub(crate) path: &'a DirectPath,
}

/// The address of `uri`, behind `/direct`.
pub(crate) fn parse_path(app: &App, uri: &Uri) -> Result<DirectPath> {
    DirectPath::parse(behind_mount(uri), |it| app.formats.is_format(it))
}

impl<'a> DirectRequest<'a> {
    /// The types that are registered.
    pub(super) fn registry(&self) -> &'a Registry {
        self.app.dispatcher.registry()
    }

    /// The extension of the address, which names a format.
    pub(super) fn extension(&self) -> Option<&'a str> {
        self.path.format.as_deref()
    }

    /// The format in which to answer, of all there are.
    pub(super) fn format(&self) -> Result<Format> {
        let accept = &self.context.accept;
        accept.format(self.extension(), &self.app.formats)
    }

    /// The format in which to answer, of those with the names `offered`.
    pub(super) fn format_among(&self, offered: &[&'static str]) -> Result<Format> {
        let accept = &self.context.accept;
        accept.format_among(offered, self.extension(), &self.app.formats)
    }

    /// The facts on which the response depends besides the reply.
    pub(super) fn options(
        &self,
        format: Format,
        preference: Preference,
        allowed_actions: AllowedActions,
    ) -> ResponseOptions<'a> {
        ResponseOptions {
            headers: &self.context.parts.headers,
            accept: &self.context.accept,
            now: self.context.errors.now,
            format,
            is_named: self.path.format.is_some(),
            preference,
            view: self.view(allowed_actions),
        }
    }

    /// Answers `body`, which the service itself made, in the format that was asked for.
    ///
    /// # Errors
    /// The client accepts none in which it can be told.
    pub(super) fn show(&self, body: Body) -> Result<Response> {
        let format = self.format_among(&self.app.formats.offered(&body))?;
        let options = self.options(format, Preference::Usual, AllowedActions::default());
        let reply = Reply {
            body,
            effect: Effect::Read,
            allowed_actions: AllowedActions::default(),
            headers: Vec::new(),
        };
        respond::respond(&reply, &options, &self.app.formats)
    }

    /// The facts that renderers may know of the request.
    pub(super) fn view(&self, allowed_actions: AllowedActions) -> View<'a> {
        view(self.app, self.context, self.extension(), allowed_actions)
    }

    /// Answers an error in the format that was asked for; in JSON where that format does not tell errors.
    pub(super) fn fail(&self, error: &Error) -> Response {
        fail(self.app, self.context, self.extension(), error)
    }
}

/// Answers an error to a request whose address has this extension.
pub(super) fn fail(
    app: &App,
    context: &RequestContext,
    extension: Option<&str>,
    error: &Error,
) -> Response {
    let errors = &context.errors;
    let format = context.accept.format(extension, &app.formats).ok();
    let format = format.filter(|_| !errors.wants_problem);
    let Some(renderer) = format.and_then(|it| app.formats.renderer(it.name)) else {
        return error::respond(error, errors);
    };
    let problem = error::problem(error, errors);
    let view = view(app, context, extension, AllowedActions::default());
    let mut response = match renderer.render_problem(&problem, &view) {
        Some(bytes) => error::respond_with(error, errors, bytes, renderer.format().media_type),
        None => error::respond(error, errors),
    };
    etag::name_version(response.headers_mut(), error, renderer.format());
    response
}

/// The facts that renderers may know of a request, whose address has this extension.
pub(crate) fn view<'a>(
    app: &'a App,
    context: &'a RequestContext,
    extension: Option<&str>,
    allowed_actions: AllowedActions,
) -> View<'a> {
    let mounted = behind_mount(&context.parts.uri);
    let suffix = extension.map_or(0, |it| it.len() + 1);
    let without_format = mounted
        .len()
        .checked_sub(suffix)
        .and_then(|end| mounted.get(..end))
        .unwrap_or(mounted);
    let session: Option<&Arc<_>> = context.session.as_ref();
    let account = context.origin.caller.user.as_ref();
    let registry = app.dispatcher.registry();
    let said = said::sentence(&context.parts.headers, registry);
    View {
        base_url: &context.base_url,
        path: without_format,
        query: context.parts.uri.query().unwrap_or_default(),
        now: context.errors.now,
        own_address: None,
        allowed_actions: AllowedActions {
            said,
            account: account.map(|it| it.id.clone()),
            zone: allowed_actions
                .zone
                .or_else(|| zone::of_browser(&context.parts.headers)),
            ..allowed_actions
        },
        formats: &app.formats,
        registry,
        absolute: entity_providers::base::html::absolute,
        user: session
            .map(|it| it.display_name())
            .or(account.map(|it| it.eid.as_str())),
        csrf_token: session.map(|it| it.csrf_token()),
        most_bytes: context
            .answer_bytes
            .unwrap_or(app.config.limits.answer_bytes.0),
    }
}

fn behind_mount(uri: &Uri) -> &str {
    let path = uri.path();
    match path.strip_prefix("/direct").unwrap_or(path) {
        "/" => "",
        behind => behind,
    }
}
