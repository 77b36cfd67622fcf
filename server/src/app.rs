//! The service, put together: storage, providers, sessions, formats.

use std::convert::Infallible;
use std::num::NonZero;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::task::{self, Poll};
use std::thread::available_parallelism;

use axum::extract::Request;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use entity_core::db::{Quota, Quotas};
use entity_core::format::Formats;
use entity_core::{
    Clock, Dispatcher, Error, Ids, Registry, Result, Services, Shared, Turns, WriteLimit,
};
use entity_formats::openapi::Document;
use entity_providers::authorizer::RoleAuthorizer;
use entity_providers::limits::Limits;
use entity_providers::server_config::ServerFacts;
use entity_providers::user::{PasswordService, TryService};
use futures::future::BoxFuture;
use sea_orm::DbBackend;
use tokio_util::task::TaskTracker;

use crate::admission::{Admission, WriteTurns};
use crate::answers::AnswerMemory;
use crate::api::Endpoints;
use crate::audit::{AuditLog, AuditOptions};
use crate::auth::directory::Accounts;
use crate::auth::evidence::{PasswordCheck, TrustedHeader};
use crate::auth::login::{Login, LoginParts};
use crate::auth::password::{PasswordCost, Passwords};
use crate::auth::throttle::{Throttle, ThrottleOptions};
use crate::auth::tries::AccountTries;
use crate::capacity::Capacity;
use crate::config::{self, Config};
use crate::descriptions::Descriptions;
use crate::direct::idempotency::Bounds;
use crate::feed::pace::Pace;
use crate::health::{Counters, Health, Watch};
use crate::janitor::Janitor;
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::middleware::csrf::{self, CsrfOptions};
use crate::retention::Aging;
use crate::sanitizer::HtmlSanitizer;
use crate::session::{CookieOptions, SameSite, SessionOptions, Sessions, SqlSessions};
use crate::storage::Storage;
use crate::system::TokioTimer;
use crate::{openapi, pipeline, retention, supervise, telemetry};

/// What tests own and the real service takes from the machine.
#[derive(Clone)]
pub struct Parts {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// The registered types.
    pub registry: Registry,
    /// The endpoints of `/api`.
    pub endpoints: Arc<Endpoints>,
    /// The formats it speaks.
    pub formats: Arc<Formats>,
    /// What hashing a password costs.
    pub password_cost: PasswordCost,
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
    /// The endpoints of `/api`.
    pub endpoints: Arc<Endpoints>,
    /// The formats it speaks.
    pub formats: Arc<Formats>,
    /// What it says of itself.
    pub description: Document,
    /// The same as it was written.
    pub(crate) descriptions: Descriptions,
    /// Logs people in and out.
    pub login: Login,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// The session cookie.
    pub cookie: CookieOptions,
    /// Takes the audit rows of reads.
    pub audit: AuditLog,
    /// The databases.
    pub storage: Storage,
    /// The memory that large answers share.
    pub(crate) answers: AnswerMemory,
    /// Work that goes on when its client has gone.
    pub tasks: TaskTracker,
    /// What load balancers ask for.
    pub health: Health,
    /// What the service counts.
    pub metrics: Metrics,
    /// Who is let in, and when.
    pub(crate) admission: Arc<Admission>,
    /// Counts failures to log in.
    pub(crate) throttle: Throttle,
    /// Slows down who reads private feeds without a pause.
    pub(crate) pace: Pace,
    aging: Aging,
    sessions: Arc<Sessions>,
    pub(crate) csrf: CsrfOptions,
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
        let url = config.database.expose();
        let storage = Storage::open_with(url, &parts.registry, Capacity::pools(&config)).await?;
        let aging = Aging::begin(&storage, &*parts.clock).await?;
        let metrics = Metrics::default();
        let admission = Arc::new(Admission::new(&config, &metrics));
        let passwords = Passwords::new(cores(), parts.password_cost, Arc::clone(&admission))?;
        let authorizer = Arc::new(RoleAuthorizer::new());
        let (sessions, touches) = Sessions::new(
            session_options(&config),
            Arc::new(SqlSessions::new(storage.content.clone())),
            Arc::clone(&parts.clock),
        );
        let health = Health::of_migrated();
        watch_health(&health, &metrics);
        supervise::spawn(touches, health.clone());
        let sessions = Arc::new(sessions);
        let formats = Arc::clone(&parts.formats);
        let endpoints = Arc::clone(&parts.endpoints);
        let dispatcher = dispatcher(&config, parts, &storage, &authorizer, &sessions, &passwords)
            .with_turns(turns(&storage, &admission));
        watch_quotas(&dispatcher, &metrics);
        let cookie = cookie(&config).map_err(|error| Error::internal(error.to_string()))?;
        let csrf = csrf_options(&config)?;
        let throttle = Throttle::new(throttle_options(&config));
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
        let audit = audit_log(&config, &storage, dispatcher.registry(), &health);
        watch_audit(&audit, &metrics);
        let description = describe(dispatcher.registry(), &endpoints, &formats, &config)?;
        let app = Self(Arc::new(Inner {
            description,
            descriptions: Descriptions::default(),
            dispatcher,
            endpoints,
            formats,
            login,
            passwords,
            cookie,
            audit,
            storage,
            answers: AnswerMemory::new(config.answer_memory.0),
            tasks: TaskTracker::new(),
            health: health.clone(),
            metrics,
            admission,
            pace: Pace::new(config.feeds_burst, delta(config.feeds_interval)),
            aging,
            sessions,
            throttle,
            csrf,
            config,
        }));
        supervise::spawn(Janitor::of(&app), health.clone());
        supervise::spawn(Watch::of(Arc::downgrade(&app.0)), health);
        Ok(app)
    }

    /// The present instant.
    pub fn now(&self) -> DateTime<Utc> {
        self.dispatcher.shared().clock.now()
    }

    /// An instant to tell by how long ago something was.
    pub(crate) fn steady(&self) -> DateTime<Utc> {
        self.dispatcher.shared().clock.steady()
    }

    /// The instant by which things are old enough to be removed.
    pub(crate) fn aged(&self) -> DateTime<Utc> {
        self.aging.now(&*self.dispatcher.shared().clock)
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The service, as long as somebody else keeps it.
    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    /// Waits for work that its clients did not wait for, and for the audit log. On SQLite each file alone is whole then.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.audit.flush().await;
        telemetry::tell_repeated();
        if let Err(error) = self.storage.checkpoint().await {
            tracing::warn!(
                error = telemetry::cause(&error),
                "can't move the journal of the database into its file"
            );
        }
    }

    /// Removes what is over, as the service does every minute: sessions, audit rows, events and kept results.
    ///
    /// # Errors
    /// A database can't be written.
    pub async fn sweep(&self) -> Result<()> {
        retention::sweep(self).await
    }
}

/// The service is what answers its requests. It is always ready, and never fails: what goes wrong is an answer.
impl tower::Service<Request> for App {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, std::result::Result<Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut task::Context<'_>,
    ) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let app = self.clone();
        Box::pin(async move { Ok(pipeline::serve(&app, request).await) })
    }
}

fn dispatcher(
    config: &Config,
    parts: Parts,
    storage: &Storage,
    authorizer: &Arc<RoleAuthorizer>,
    sessions: &Arc<Sessions>,
    passwords: &Passwords,
) -> Dispatcher {
    let registry = Arc::new(parts.registry);
    let mut services = Services::default();
    services.insert(Arc::clone(authorizer));
    services.insert(Arc::clone(sessions));
    services.insert(Arc::new(PasswordService(Arc::new(passwords.clone()))));
    services.insert(Arc::new(limits(config)));
    services.insert(Arc::new(ServerFacts {
        server_id: config.cookie_suffix().to_owned(),
    }));
    services.insert(Arc::new(quotas(config, storage)));
    services.insert(Arc::new(TryService(Arc::new(AccountTries::default()))));
    services.insert(Arc::clone(&registry));
    services.insert(Arc::new(Bounds {
        keeps: config.retention_idempotency,
        keys: config.retention_idempotency_keys,
    }));
    services.insert(parts.formats);
    let shared = Shared {
        clock: parts.clock,
        ids: parts.ids,
        authorizer: authorizer.clone(),
        services,
        base_url: config.server_url().into(),
        answer_bytes: config.answer_bytes.0,
        sanitizer: Arc::new(HtmlSanitizer::new(cores())),
    };
    let journal = Journal {
        audit: storage.audit_of_writes.clone(),
        authorizer: Arc::clone(authorizer),
        sessions: Arc::clone(sessions),
    };
    Dispatcher::new(
        registry,
        Arc::new(storage.content.clone()),
        Arc::new(journal),
        shared,
    )
    .with_write_limit(Some(WriteLimit {
        length: config.write_hold,
        joined: WriteLimit::JOINED,
        timer: Arc::new(TokioTimer),
    }))
}

/// A file is written by one unit of work at a time; a server looks after its writers itself.
fn turns(storage: &Storage, admission: &Arc<Admission>) -> Option<Arc<dyn Turns>> {
    let is_file = storage.content.writer.get_database_backend() == DbBackend::Sqlite;
    let turns = || -> Arc<dyn Turns> { Arc::new(WriteTurns::new(Arc::clone(admission))) };
    is_file.then(turns)
}

fn quotas(config: &Config, storage: &Storage) -> Quotas {
    let account = Quota {
        entities: config.quota_account_entities.into(),
        bytes: count(config.quota_account_bytes.0),
    };
    let site = Quota {
        entities: config.quota_site_entities.into(),
        bytes: count(config.quota_site_bytes.0),
    };
    Quotas::new(account, site, storage.content.reader.clone())
}

fn watch_quotas(dispatcher: &Dispatcher, metrics: &Metrics) {
    let Some(quotas) = dispatcher.shared().services.get::<Quotas>() else {
        return;
    };
    let help = "Requests that were refused because an account or a site has all that it may have";
    metrics.ask("quota_refusals", help, move || {
        i64::try_from(quotas.refused()).unwrap_or(i64::MAX)
    });
}

fn count(it: usize) -> u64 {
    u64::try_from(it).unwrap_or(u64::MAX)
}

fn limits(config: &Config) -> Limits {
    Limits {
        sites_per_account: count(config.sites_per_account),
        invitations_per_site: count(config.invitations_per_site),
        invitations_per_account: count(config.invitations_per_account),
    }
}

fn watch_health(health: &Health, metrics: &Metrics) {
    health.report_to(metrics.clone());
    let ask = |name, help, read: fn(Counters) -> u64| {
        let health = health.clone();
        metrics.ask(name, help, move || {
            i64::try_from(read(health.counters())).unwrap_or(i64::MAX)
        });
    };
    ask("audit_lost", "Audit rows left out", |it| it.audit_lost);
    ask(
        "lines_repeated",
        "Log lines counted in place of written",
        |it| it.lines_repeated,
    );
    ask("lines_lost", "Log lines that could not be written", |it| {
        it.lines_lost
    });
}

/// Describes the service, after a check that its operations have different names.
fn describe(
    registry: &Registry,
    endpoints: &Endpoints,
    formats: &Formats,
    config: &Config,
) -> Result<Document> {
    let description = openapi::describe(registry, endpoints, formats, config);
    let checked = endpoints.check_beside(registry, &description);
    checked.map(|()| description).map_err(Error::internal)
}

fn audit_log(config: &Config, storage: &Storage, registry: &Registry, health: &Health) -> AuditLog {
    AuditLog::start(
        storage.audit_of_reads.clone(),
        AuditOptions {
            queue: config.audit_queue_rows,
            batch: config.audit_batch_rows,
            wait: config.audit_wait,
            is_required: config.audit_required,
            strangers: config.audit_strangers,
            places: pipeline::places(registry),
        },
        health.clone(),
    )
}

fn watch_audit(audit: &AuditLog, metrics: &Metrics) {
    let audit = audit.clone();
    metrics.ask(
        "audit_queue_rows",
        "Audit rows that wait to be written",
        move || audit.waiting(),
    );
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

fn throttle_options(config: &Config) -> ThrottleOptions {
    let count = |it| i64::try_from(it).unwrap_or(i64::MAX);
    ThrottleOptions {
        free_for_account: count(config.login_account_failures),
        burst_of_address: count(config.login_address_failures),
        interval_of_address: delta(config.login_address_interval),
        ..ThrottleOptions::default()
    }
}

fn delta(duration: std::time::Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}

fn session_options(config: &Config) -> SessionOptions {
    SessionOptions {
        timeout: delta(config.session_timeout),
        max_lifetime: delta(config.session_max_lifetime),
        per_user: u64::try_from(config.sessions_per_user).unwrap_or(u64::MAX),
    }
}

fn csrf_options(config: &Config) -> Result<CsrfOptions> {
    let origins: Vec<String> = config
        .csrf_trusted_origins
        .iter()
        .map(|it| it.as_str().to_owned())
        .collect();
    CsrfOptions::new(csrf_mode(config.csrf_mode), &config.server_url(), &origins)
        .map_err(Error::internal)
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
