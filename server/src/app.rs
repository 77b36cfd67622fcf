//! The service, put together: storage, providers, sessions, formats, and the router around them.

use std::num::NonZero;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::available_parallelism;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use chrono::{DateTime, TimeDelta, Utc};
use entity_core::format::Formats;
use entity_core::{Clock, Dispatcher, Error, Ids, Registry, Result, Services, Shared};
use entity_providers::authorizer::RoleAuthorizer;
use entity_providers::user::PasswordService;
use tokio_util::task::TaskTracker;

use crate::audit::{AuditLog, AuditOptions};
use crate::auth::directory::Accounts;
use crate::auth::evidence::{PasswordCheck, TrustedHeader};
use crate::auth::login::{Login, LoginParts};
use crate::auth::password::Passwords;
use crate::auth::throttle::{Throttle, ThrottleOptions};
use crate::config::{self, Config};
use crate::error::{self, ErrorContext};
use crate::exchange::Exchange;
use crate::health::Health;
use crate::journal::Journal;
use crate::middleware::csrf::{self, Csrf, CsrfOptions};
use crate::middleware::session::{self, SessionLayer};
use crate::middleware::{Refuse, address, audit, guard, headers, identify, panic, request_id};
use crate::session::{CookieOptions, SameSite, SessionOptions, Sessions, SqlSessions};
use crate::storage::Storage;
use crate::{api, direct, janitor};

/// What tests own and the real service takes from the machine.
#[derive(Clone)]
pub struct Parts {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// The registered types.
    pub registry: Registry,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

/// A running service. Cloning it is cheap; all clones are the same service.
#[derive(Clone, Debug)]
pub struct App(Arc<Inner>);

/// What a service is made of.
pub struct Inner {
    /// The settings.
    pub config: Config,
    /// Runs requests.
    pub dispatcher: Dispatcher,
    /// The formats it speaks.
    pub formats: Formats,
    /// Logs people in and out.
    pub login: Login,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// The session cookie.
    pub cookie: Arc<CookieOptions>,
    /// Takes the audit rows of reads.
    pub audit: AuditLog,
    /// The databases.
    pub storage: Storage,
    /// Work that goes on when its client has gone.
    pub tasks: TaskTracker,
    /// What load balancers ask for.
    pub health: Health,
    /// Counts failures to log in.
    pub(crate) throttle: Throttle,
    sessions: Arc<Sessions>,
    csrf: Arc<CsrfOptions>,
}

impl From<Arc<Inner>> for App {
    fn from(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Opens the databases and starts what works in the background.
    ///
    /// # Errors
    /// The database can't be reached or is newer than the service; a setting makes no sense.
    pub async fn start(config: Config, parts: Parts) -> Result<Self> {
        let storage = Storage::open(config.database.expose(), &parts.registry).await?;
        let passwords = Passwords::new(available_parallelism().map_or(1, NonZero::get))?;
        let authorizer = Arc::new(RoleAuthorizer::new());
        let (sessions, touches) = Sessions::new(
            session_options(&config),
            Arc::new(SqlSessions::new(storage.content.clone())),
            Arc::clone(&parts.clock),
        );
        tokio::spawn(touches.run());
        let sessions = Arc::new(sessions);
        let dispatcher = dispatcher(&config, parts, &storage, &authorizer, &sessions, &passwords);
        let cookie = cookie(&config).map_err(|error| Error::internal(error.to_string()))?;
        let origins: Vec<String> = config
            .csrf_trusted_origins
            .iter()
            .map(|it| it.as_str().to_owned())
            .collect();
        let csrf = CsrfOptions::new(csrf_mode(config.csrf_mode), &config.server_url(), &origins)
            .map_err(Error::internal)?;
        let throttle = Throttle::new(ThrottleOptions::default());
        let login = Login::new(LoginParts {
            dispatcher: dispatcher.clone(),
            directory: Arc::new(Accounts),
            authenticators: vec![
                Arc::new(PasswordCheck {
                    passwords: passwords.clone(),
                    allows_basic: config.auth_basic,
                }),
                Arc::new(TrustedHeader {
                    proxies: config.trusted_proxies.clone(),
                }),
            ],
            passwords: passwords.clone(),
            throttle,
            sessions: Arc::clone(&sessions),
        });
        let audit = AuditLog::start(
            storage.audit_of_reads.clone(),
            AuditOptions {
                queue: config.audit_queue_rows,
                batch: config.audit_batch_rows,
                wait: config.audit_wait,
            },
        );
        let app = Self(Arc::new(Inner {
            dispatcher,
            formats: entity_formats::standard(),
            login,
            passwords,
            cookie: Arc::new(cookie),
            audit,
            storage,
            tasks: TaskTracker::new(),
            health: Health::default(),
            sessions,
            throttle,
            csrf: Arc::new(csrf),
            config,
        }));
        tokio::spawn(janitor::run(Arc::downgrade(&app.0)));
        Ok(app)
    }

    /// The present instant.
    pub fn now(&self) -> DateTime<Utc> {
        self.dispatcher.shared().clock.now()
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Waits for work that its clients did not wait for, and for the audit log.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.audit.flush().await;
    }

    /// The service as something that answers requests.
    pub fn router(&self) -> Router {
        let app = self.clone();
        let refuse = Refuse::new(move |error, headers| app.refuse(error, headers));
        let session = SessionLayer {
            sessions: Arc::clone(&self.sessions),
            cookie: Arc::clone(&self.cookie),
            refuse: refuse.clone(),
        };
        let csrf = Csrf {
            options: Arc::clone(&self.csrf),
            refuse,
        };
        let proxies: Arc<[_]> = self.config.trusted_proxies.clone().into();
        Router::new()
            .fallback(answer)
            .with_state(self.clone())
            .layer(from_fn_with_state(csrf, csrf::guard))
            .layer(from_fn_with_state(self.clone(), guard::check))
            .layer(from_fn_with_state(self.clone(), panic::catch))
            .layer(from_fn_with_state(self.clone(), audit::record))
            .layer(from_fn_with_state(self.clone(), identify::believe))
            .layer(from_fn_with_state(session, session::find))
            .merge(self.outside())
            .layer(from_fn(headers::add))
            .layer(from_fn_with_state(proxies, address::find))
            .layer(from_fn(request_id::assign))
    }

    /// What is neither audited nor tied to a session.
    fn outside(&self) -> Router {
        Router::new()
            .route("/livez", get(|| async { Health::live() }))
            .route(
                "/readyz",
                get(|State(app): State<Self>| async move {
                    app.health.ready(&app.storage.content).await
                }),
            )
            .route(entity_formats::STYLESHEET_PATH, get(stylesheet))
            .with_state(self.clone())
    }

    /// Answers `error` to a request with these headers.
    pub(crate) fn refuse(&self, error: &Error, headers: &HeaderMap) -> Response {
        let request_id = headers
            .get(request_id::REQUEST_ID)
            .and_then(|it| it.to_str().ok());
        error::respond(
            error,
            &ErrorContext {
                request_id: request_id.unwrap_or_default(),
                now: self.now(),
                wants_problem: direct::negotiate::names(headers, direct::negotiate::PROBLEM_JSON),
                offers_basic: self.config.auth_basic,
            },
        )
    }
}

/// Everything that is audited: `/direct`, `/api`, and the answer that there is nothing else.
/// What may write goes on to its end even if the client goes away.
async fn answer(State(app): State<App>, request: Request) -> Response {
    if request.method().is_safe() {
        return route(&app, request).await;
    }
    let headers = request.headers().clone();
    let task = app.tasks.spawn({
        let app = app.clone();
        async move { route(&app, request).await }
    });
    match task.await {
        Ok(response) => response,
        Err(error) => app.refuse(&Error::internal(error), &headers),
    }
}

async fn route(app: &App, request: Request) -> Response {
    let (exchange, body) = match Exchange::new(request) {
        Ok(exchange) => exchange,
        Err(error) => return app.refuse(&error, &HeaderMap::new()),
    };
    let path = exchange.parts.uri.path();
    let is_below = |mount: &str| {
        path.strip_prefix(mount)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    if is_below("/direct") {
        direct::handle(app, exchange, body).await
    } else if is_below("/api") {
        api::handle(app, exchange, body).await
    } else if path == "/" {
        (
            StatusCode::FOUND,
            [(LOCATION, HeaderValue::from_static("/direct"))],
        )
            .into_response()
    } else {
        exchange.fail(app, &Error::not_found())
    }
}

async fn stylesheet() -> impl axum::response::IntoResponse {
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/css; charset=utf-8"),
        ),
        (
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=3600"),
        ),
    ];
    (headers, entity_formats::STYLESHEET)
}

fn dispatcher(
    config: &Config,
    parts: Parts,
    storage: &Storage,
    authorizer: &Arc<RoleAuthorizer>,
    sessions: &Arc<Sessions>,
    passwords: &Passwords,
) -> Dispatcher {
    let mut services = Services::default();
    services.insert(Arc::clone(authorizer));
    services.insert(Arc::clone(sessions));
    services.insert(Arc::new(PasswordService(Arc::new(passwords.clone()))));
    let shared = Shared {
        clock: parts.clock,
        ids: parts.ids,
        authorizer: authorizer.clone(),
        services,
        base_url: config.server_url().into(),
        sanitize: entity_providers::html::sanitize,
    };
    let journal = Journal {
        audit: storage.audit_of_writes.clone(),
        authorizer: Arc::clone(authorizer),
        sessions: Arc::clone(sessions),
    };
    Dispatcher::new(
        Arc::new(parts.registry),
        Arc::new(storage.content.clone()),
        Arc::new(journal),
        shared,
    )
}

fn session_options(config: &Config) -> SessionOptions {
    let delta = |it| TimeDelta::from_std(it).unwrap_or(TimeDelta::MAX);
    SessionOptions {
        timeout: delta(config.session_timeout),
        max_lifetime: delta(config.session_max_lifetime),
        per_user: u64::try_from(config.sessions_per_user).unwrap_or(u64::MAX),
    }
}

fn csrf_mode(mode: config::CsrfMode) -> csrf::CsrfMode {
    match mode {
        config::CsrfMode::FetchMetadata => csrf::CsrfMode::FetchMetadata,
        config::CsrfMode::Token => csrf::CsrfMode::Token,
    }
}

fn same_site(same_site: config::SameSite) -> SameSite {
    match same_site {
        config::SameSite::Lax => SameSite::Lax,
        config::SameSite::Strict => SameSite::Strict,
        config::SameSite::None => SameSite::None,
    }
}

fn cookie(config: &Config) -> Result<CookieOptions, crate::session::CookieError> {
    let options = CookieOptions::new(&config.cookie_name, &config.server_id)?
        .http_only(config.cookie_http_only)
        .always_secure(config.cookie_says_secure(false))
        .same_site(same_site(config.cookie_same_site));
    match &config.cookie_domain {
        Some(domain) => options.with_domain(domain),
        None => Ok(options),
    }
}
