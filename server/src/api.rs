//! `/api`: curated views over the same providers, for the portal.
//!
//! Invariant: [`ENDPOINTS`] is all there is. An endpoint is closed to callers without a session unless its
//! line says `.open()`; the router, the access tests and the description read this one list.

mod announcements;
mod call;
mod docs;
mod login;
mod sites;
mod user;

use std::future::ready;

use axum::http::header::LINK;
use axum::http::{Method, Uri};
use axum::response::Response;
use entity_core::{DirectPath, Error, Result, Verb};
use futures::future::BoxFuture;

pub(crate) use call::{Answer, Call, ENVELOPE, envelope_schema};

use crate::app::App;
use crate::exchange::Exchange;
use crate::middleware::audit::Audited;
use crate::openapi::Contract;

/// One endpoint.
pub struct Endpoint {
    /// The method it takes; GET includes HEAD.
    pub method: Method,
    /// Its path; `{name}` stands for one segment.
    pub path: &'static str,
    /// What it answers.
    pub doc: &'static str,
    /// What it takes and answers, for the description.
    pub contract: Contract,
    /// Whether callers without a session may use it.
    pub is_open: bool,
    run: Run,
}

type Run = for<'a> fn(Call<'a>) -> BoxFuture<'a, Result<Answer>>;

/// All endpoints, in the order of the specification.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::post(
        "/api/login",
        "Logs in and sets the session cookie.",
        login::LOGIN,
        |call| Box::pin(login::login(call)),
    )
    .open(),
    Endpoint::post("/api/logout", "Ends the session.", login::LOGOUT, |call| {
        Box::pin(login::logout(call))
    }),
    Endpoint::get(
        "/api/user/roles",
        "Whether the caller is a super user.",
        user::ROLES,
        |call| Box::pin(user::roles(call)),
    ),
    Endpoint::get(
        "/api/users/{userId}/sites",
        "The sites of a user.",
        sites::OF_USER,
        |call| Box::pin(sites::of_user(call)),
    ),
    Endpoint::get(
        "/api/users/me/announcements",
        "The announcements of the caller's pinned sites.",
        announcements::MINE,
        |call| Box::pin(announcements::mine(call)),
    ),
    Endpoint::get(
        docs::DOCUMENT_PATH,
        "This description, as an OpenAPI document.",
        docs::DOCUMENT,
        |call| Box::pin(ready(docs::document(&call))),
    )
    .open(),
    Endpoint::get(
        docs::PAGE_PATH,
        "This description, as a page.",
        docs::PAGE,
        |call| Box::pin(ready(docs::page(&call))),
    )
    .open(),
    Endpoint::get(
        "/api/docs/try",
        "Leads to an operation that reads, with the values of a form.",
        docs::TRY,
        |call| Box::pin(ready(docs::lead(&call))),
    )
    .open(),
];

impl Endpoint {
    const fn get(path: &'static str, doc: &'static str, contract: Contract, run: Run) -> Self {
        Self::new(Method::GET, path, doc, contract, run)
    }

    const fn post(path: &'static str, doc: &'static str, contract: Contract, run: Run) -> Self {
        Self::new(Method::POST, path, doc, contract, run)
    }

    const fn new(
        method: Method,
        path: &'static str,
        doc: &'static str,
        contract: Contract,
        run: Run,
    ) -> Self {
        Self {
            method,
            path,
            doc,
            contract,
            is_open: false,
            run,
        }
    }

    /// Lets callers without a session in.
    const fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// The values of the path's variables, if `segments` is a path of this endpoint.
    fn matches<'a>(&self, segments: &'a [String]) -> Option<Vec<(&'static str, &'a str)>> {
        let mut pattern = self.path.split('/').skip(2);
        let mut variables = Vec::new();
        for segment in segments {
            let expected = pattern.next()?;
            match expected
                .strip_prefix('{')
                .and_then(|it| it.strip_suffix('}'))
            {
                Some(name) => variables.push((name, segment.as_str())),
                None if expected == segment => {}
                None => return None,
            }
        }
        pattern.next().is_none().then_some(variables)
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Endpoint({} {})", self.method, self.path)
    }
}

/// Answers a request below `/api`.
pub(crate) async fn handle(app: &App, mut exchange: Box<Exchange>) -> Response {
    match answer(app, &mut exchange).await {
        Ok(response) => response,
        Err(error) => exchange.fail(&error),
    }
}

async fn answer(app: &App, exchange: &mut Exchange) -> Result<Response> {
    let segments = segments(&exchange.parts.uri)?;
    let found: Vec<_> = ENDPOINTS
        .iter()
        .filter_map(|it| Some((it, it.matches(&segments)?)))
        .collect();
    let method = match exchange.parts.method {
        Method::HEAD => Method::GET,
        ref other => other.clone(),
    };
    let chosen = found.iter().find(|(endpoint, _)| endpoint.method == method);
    if !chosen.is_some_and(|(endpoint, _)| endpoint.is_open)
        && exchange.origin.caller.is_anonymous()
    {
        return Err(Error::unauthenticated());
    }
    let Some((endpoint, variables)) = chosen else {
        let allowed: Vec<Verb> = found
            .iter()
            .filter_map(|(endpoint, _)| crate::direct::request::verb(&endpoint.method))
            .collect();
        return match (allowed.is_empty(), method == Method::OPTIONS) {
            (true, _) => Err(Error::not_found()),
            (false, true) => Ok(crate::error::options(&allowed)),
            (false, false) => Err(Error::method_not_allowed(allowed)),
        };
    };
    let limit = if endpoint.is_open {
        app.config.login_body.0
    } else {
        app.config.other_body.0
    };
    exchange.read_body(limit, app.config.body_timeout).await?;
    let exchange = &*exchange;
    let call = Call {
        app,
        exchange,
        variables: variables.clone(),
        query: exchange.query()?,
    };
    let envelope = call.parameter(ENVELOPE) == Some("true");
    let json = |data| {
        app.answers
            .aside(&exchange.origin, || call::json(data, envelope, app.now()))
    };
    match (endpoint.run)(call).await? {
        Answer::Response(mut response) => {
            response.extensions_mut().insert(Audited);
            Ok(response)
        }
        Answer::Document(response) => Ok(response),
        Answer::Json(data) => json(&*data),
        Answer::Part(data, next) => {
            let mut response = json(&*data)?;
            let base_url = &app.dispatcher.shared().base_url;
            let link = next.and_then(|it| call::link(base_url, &exchange.parts.uri, it));
            if let Some(link) = link {
                response.headers_mut().insert(LINK, link);
            }
            Ok(response)
        }
    }
}

/// The path behind `/api`, decoded by the same grammar as that of `/direct`.
fn segments(uri: &Uri) -> Result<Vec<String>> {
    let path = DirectPath::parse(uri.path(), |_| false)?;
    Ok(path.segments)
}
