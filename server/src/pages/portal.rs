//! `/portal` and `/access`: addresses at which existing clients log in and which payloads link to, as pages for
//! people.
//!
//! Invariant: [`ADDRESSES`] is all there is. The router and the access tests read this one list. No address leads to
//! another host: values of a request are used only, encoded as one segment, behind a path of ours.

mod files;
mod login;
mod pages;

use std::future::ready;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use entity_core::engine::DirectPath;
use entity_core::format::View;
use entity_core::reply::AllowedActions;
use entity_core::{Error, Result, Verb};
use futures::future::BoxFuture;

use crate::base::error;
use crate::base::mount::{FILES, PORTAL};
use crate::base::no_store;
use crate::web::app::App;
use crate::web::direct;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;

/// One address and how it is answered.
#[derive(derive_more::Debug, Clone, Copy)]
#[debug("Address({} {})", self.verb.name(), self.path)]
pub struct Address {
    /// The verb. `GET` includes `HEAD`.
    pub verb: Verb,
    /// The path. `{name}` stands for one segment, and `{*name}` at the end for one or more.
    pub path: &'static str,
    answer: Handler,
}

type Handler = for<'a> fn(Visit<'a>) -> BoxFuture<'a, Result<Response>>;

/// A request to one of the addresses.
struct Visit<'a> {
    app: &'a App,
    context: &'a RequestContext,
    body: &'a mut RequestBody,
    /// The segments for which the path of the address has variables, decoded.
    variables: Vec<String>,
}

const fn get(path: &'static str, answer: Handler) -> Address {
    let verb = Verb::Get;
    Address { verb, path, answer }
}

const fn post(path: &'static str, answer: Handler) -> Address {
    let verb = Verb::Post;
    Address { verb, path, answer }
}

/// All addresses.
pub const ADDRESSES: &[Address] = &[
    get("/portal", |it| Box::pin(pages::home(it))),
    get("/portal/xlogin", |it| Box::pin(login::form(it))),
    post("/portal/xlogin", |it| Box::pin(login::log_in(it))),
    get("/portal/relogin", |it| Box::pin(login::form(it))),
    post("/portal/relogin", |it| Box::pin(login::log_in(it))),
    get("/portal/logout", |it| Box::pin(ready(login::ask(&it)))),
    post("/portal/logout", |it| Box::pin(login::log_out(it))),
    get("/portal/favorites/list", |it| {
        Box::pin(pages::favorites(it))
    }),
    get("/portal/site/{siteId}", |it| Box::pin(pages::site(it))),
    get("/portal/site/{siteId}/page/{pageId}", |it| {
        Box::pin(pages::page(it))
    }),
    get("/portal/site/{siteId}/tool/{placementId}", |it| {
        Box::pin(pages::tool(it))
    }),
    get("/access/user/{userId}", |it| Box::pin(pages::user(it))),
    get("/access/content/{*path}", |it| Box::pin(files::file(it))),
];

/// Answers a request below [`PORTAL`], [`USERS`](crate::base::mount::USERS) or [`FILES`].
pub(crate) async fn handle(
    app: &App,
    context: Box<RequestContext>,
    mut body: Box<RequestBody>,
) -> Response {
    match answer(app, &context, &mut body).await {
        Ok(response) => response,
        Err(error) => fail(app, &context, &error),
    }
}

async fn answer(app: &App, context: &RequestContext, body: &mut RequestBody) -> Result<Response> {
    let path = context.parts.uri.path();
    let path = path
        .strip_suffix('/')
        .filter(|it| *it == PORTAL || it.starts_with(FILES))
        .unwrap_or(path);
    let DirectPath {
        prefix, segments, ..
    } = DirectPath::parse(path, |_| false)?;
    let sent: Vec<String> = std::iter::once(prefix).chain(segments).collect();
    let found = ADDRESSES
        .iter()
        .filter_map(|it| Some((it, variables(it.path, &sent)?)));
    let found: Vec<_> = found.collect();
    let verb = context.verb;
    let verbs: Vec<Verb> = found.iter().map(|(it, _)| it.verb).collect();
    let chosen = found.into_iter().find(|(it, _)| Some(it.verb) == verb);
    match chosen {
        Some((address, variables)) => {
            let visit = Visit {
                app,
                context,
                body,
                variables,
            };
            (address.answer)(visit).await
        }
        None if verbs.is_empty() => Err(Error::not_found()),
        None if context.parts.method == Method::OPTIONS => Ok(error::options(&verbs)),
        None => Err(Error::method_not_allowed(verbs)),
    }
}

/// The segments of `sent` for which `pattern` has variables, if the rest is equal.
fn variables(pattern: &str, sent: &[String]) -> Option<Vec<String>> {
    let declared: Vec<&str> = pattern.split('/').skip(1).collect();
    let has_rest = declared.last().is_some_and(|it| it.starts_with("{*"));
    let is_fit = sent.len() == declared.len() || (has_rest && sent.len() > declared.len());
    if !is_fit {
        return None;
    }
    let mut variables = Vec::new();
    for (index, declared) in declared.into_iter().enumerate() {
        let sent = sent.get(index..)?;
        if declared.starts_with("{*") {
            variables.push(sent.join("/"));
            break;
        }
        let sent = sent.first()?;
        if declared.starts_with('{') {
            variables.push(sent.clone());
        } else if declared != sent {
            return None;
        }
    }
    Some(variables)
}

impl Visit<'_> {
    /// The variable at `index`.
    fn variable(&self, index: usize) -> Result<&str> {
        let variable = self.variables.get(index).map(String::as_str);
        variable.ok_or_else(|| Error::internal("an address lacks a variable"))
    }

    /// The view of the request that pages get.
    fn view(&self) -> View<'_> {
        view(self.app, self.context)
    }

    /// The same, for a page with this `around` it.
    fn view_with(&self, around: AllowedActions) -> View<'_> {
        let view = self.view();
        View {
            allowed_actions: AllowedActions {
                zone: around.zone.or(view.allowed_actions.zone),
                account: view.allowed_actions.account,
                ..around
            },
            ..view
        }
    }
}

fn view<'a>(app: &'a App, context: &'a RequestContext) -> View<'a> {
    direct::request::view(app, context, None, AllowedActions::default())
}

/// An error as a page for those who ask for pages, else in JSON.
pub(crate) fn fail(app: &App, context: &RequestContext, error: &Error) -> Response {
    let errors = &context.errors;
    let wants_page = context.accept.names("text/html") && !errors.wants_problem;
    let renderer = app.formats.renderer("html").filter(|_| wants_page);
    let page = renderer.and_then(|it| {
        let problem = error::problem(error, errors);
        it.render_problem(&problem, &view(app, context))
    });
    match page {
        Some(bytes) => error::respond_with(error, errors, bytes, PAGE),
        None => error::respond(error, errors),
    }
}

/// The media type of pages.
const PAGE: &str = "text/html; charset=utf-8";

/// Makes a page that is not cached.
fn fresh_page(bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PAGE));
    no_store::demand(headers);
    response
}

/// Leads to `path` of this service, at whatever name the client knows it by.
///
/// # Errors
/// The path is none, or one that a browser would take for another host.
fn lead(path: &str) -> Result<Response> {
    if !path.starts_with('/') || path.starts_with("//") {
        return Err(Error::internal("a redirection must lead to a path"));
    }
    let location = HeaderValue::from_str(path).map_err(Error::internal)?;
    Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_stands_for_one_segment() {
        let sent = |path: &str| path.split('/').map(ToOwned::to_owned).collect::<Vec<_>>();
        for (pattern, path, expected) in [
            ("/portal", "portal", Some(vec![])),
            ("/portal", "access", None),
            ("/portal/site/{a}", "portal/site/x", Some(vec!["x"])),
            ("/portal/site/{a}", "portal/site", None),
            ("/access/{*a}", "access/x/y", Some(vec!["x/y"])),
            ("/access/{*a}", "access", None),
            (
                "/portal/site/{a}/page/{b}",
                "portal/site/x/page/y",
                Some(vec!["x", "y"]),
            ),
            ("/portal/site/{a}/page/{b}", "portal/site/x/tool/y", None),
        ] {
            let expected =
                expected.map(|it| it.into_iter().map(ToOwned::to_owned).collect::<Vec<_>>());
            assert_eq!(
                variables(pattern, &sent(path)),
                expected,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn out_8_no_redirection_leads_to_another_host() {
        for path in ["//evil.example", "https://evil.example", "evil", ""] {
            lead(path).unwrap_err();
        }
        assert_eq!(
            lead("/direct/site/a").unwrap().headers()[LOCATION],
            "/direct/site/a"
        );
    }
}
