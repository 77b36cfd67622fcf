//! Building a service: storage, providers, sessions, formats, and what works in the background.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use entity_core::context::{Clock, Ids};
use entity_core::format::Formats;
use entity_core::{Error, Registry, Result};
use entity_providers::people::authorizer::RoleAuthorizer;
use tokio::sync::{Semaphore, watch as watched};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::{assembly, figures as counted, pipeline};
use crate::base::capacity::Capacity;
use crate::base::config::Config;
use crate::base::health::Health;
use crate::base::metrics::MetricsRegistry;
use crate::base::system::delta;
use crate::guard::admission::Admission;
use crate::guard::audit::AuditLog;
use crate::guard::auth::directory::Accounts;
use crate::guard::auth::evidence::{Authenticator, PasswordCheck, TrustedHeader};
use crate::guard::auth::login::{Login, LoginParts};
use crate::guard::auth::password::{PasswordCost, Passwords};
use crate::guard::auth::throttle::Throttle;
use crate::guard::csrf::CsrfOptions;
use crate::guard::rate_limiter::RateLimiter;
use crate::guard::session::{SessionCookie, Sessions, SqlSessions};
use crate::operate::files::{self, owner};
use crate::operate::follower::{self, Activity, Follower, Notifications};
use crate::operate::janitor::Janitor;
use crate::operate::jobs::{self, Jobs};
use crate::operate::node::{self, Node};
use crate::operate::position::Position;
use crate::operate::presence::Keeper;
use crate::operate::storage::Storage;
use crate::operate::trusted_clock::TrustedClock;
use crate::operate::watch::Watch;
use crate::operate::webhooks::{Deliveries, Post, Sender};
use crate::web::answers::ResponseBudget;
use crate::web::api::Endpoints;
use crate::web::app::{App, Inner};
use crate::web::descriptions::Descriptions;
use crate::web::direct::upload::Underway;
use crate::{
    base::{supervise, telemetry},
    operate::{presence, retention, webhooks},
};

/// Parts that tests own and the real service takes from the machine.
#[derive(derive_more::Debug, Clone)]
#[debug("Parts {{ registry: {:?} }}", self.registry)]
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
    /// The cost of hashing a password.
    pub password_cost: PasswordCost,
}

/// The number of archives that are written for clients at once: each reads all of a site, and the processor compresses it.
const ARCHIVES: usize = 2;
/// The time that what connections leave may take, after the time in which those end.
const LAST_WORK: Duration = Duration::from_secs(3);
/// The time for which it is tried to store what is left when there is no more time.
const LAST_TRY: Duration = Duration::from_secs(1);
/// The number of answers that are sent at once that are made piece by piece: each has a piece of a few megabytes in memory.
const STREAMS: usize = 16;

impl App {
    /// Opens the databases and starts what works in the background.
    ///
    /// # Errors
    /// The database can't be reached or is newer than the service; a setting makes no sense.
    pub async fn start(config: Config, parts: Parts) -> Result<Self> {
        let url = config.database.expose();
        check(&parts.registry)?;
        let storage = Storage::open_with(url, &parts.registry, Capacity::pools(&config)).await?;
        let blobs = files::open(&config).await?;
        owner::claim(blobs.store(), &files::place(&config)?, &storage.content).await?;
        let trusted_clock = TrustedClock::begin(&storage, &*parts.clock).await?;
        let figures = MetricsRegistry::default();
        let admission = Arc::new(Admission::new(&config, &figures));
        let passwords = Passwords::new(cores(), parts.password_cost, Arc::clone(&admission))?;
        let authorizer = Arc::new(RoleAuthorizer::new());
        let health = Health::of_migrated();
        counted::health(&health, &figures);
        let sessions = sessions(&config, &storage, &parts.clock, &health);
        let (formats, endpoints) = (Arc::clone(&parts.formats), Arc::clone(&parts.endpoints));
        let news = watched::Sender::new(());
        let stores = (&storage, blobs, &news);
        let dispatcher = assembly::dispatcher(
            (&config, parts),
            stores,
            &authorizer,
            &sessions,
            (&passwords, &admission),
        )
        .await?;
        counted::quotas(&dispatcher, &figures);
        let throttle = Throttle::new(&config.login);
        let login = Login::new(LoginParts {
            dispatcher: dispatcher.clone(),
            directory: Arc::new(Accounts),
            authenticators: authenticators(&config, &passwords),
            passwords: passwords.clone(),
            throttle,
            sessions: Arc::clone(&sessions),
        });
        let audit = AuditLog::start(
            storage.audit_of_reads.clone(),
            &config.audit,
            pipeline::places(dispatcher.registry()),
            health.clone(),
        );
        counted::audit(&audit, &figures);
        let node = Node::from(Arc::new(node::Inner {
            dispatcher,
            storage,
            tasks: TaskTracker::new(),
            health: health.clone(),
            metrics: figures.metrics().clone(),
            figures,
            archives: Arc::new(Semaphore::new(ARCHIVES)),
            post: Post::new(config.webhooks_private),
            followed: watched::Sender::new(0),
            throttle,
            sessions,
            swept_files: Position::default(),
            collected: Position::default(),
            trusted_clock,
            config,
        }));
        let config = &node.config;
        let app = Self::from(Inner {
            description: OnceLock::new(),
            descriptions: Descriptions::default(),
            endpoints,
            formats,
            login,
            passwords,
            cookie: SessionCookie::new(&config.session),
            audit,
            answers: ResponseBudget::new(config.limits.answer_memory.0),
            admission,
            streams: Arc::new(Semaphore::new(STREAMS)),
            underway: Underway::default(),
            feed_limiter: RateLimiter::new(config.feeds.burst, delta(config.feeds.interval)),
            csrf: CsrfOptions::new(&config.csrf, &config.server_url()),
            node,
        });
        app.begin(&news, &health);
        Ok(app)
    }

    /// Starts what works in the background.
    fn begin(&self, news: &watched::Sender<()>, health: &Health) {
        supervise::spawn(Janitor::of(self), health.clone());
        let notifications = Follower::<Notifications>::of(self, news.subscribe());
        supervise::spawn(notifications, health.clone());
        let webhooks = Follower::<Deliveries>::of(self, news.subscribe());
        supervise::spawn(webhooks, health.clone());
        let activity = Follower::<Activity>::of(self, news.subscribe());
        supervise::spawn(activity, health.clone());
        supervise::spawn(Keeper::of(self), health.clone());
        supervise::spawn(Sender::of(self), health.clone());
        if !entity_core::engine::Job::all().is_empty() {
            supervise::spawn(Jobs::of(self), health.clone());
        }
        supervise::spawn(Watch::of(self.node.downgrade()), health.clone());
    }

    /// Waits for work that its clients did not wait for, and for the audit log, as long as a stop may take. On SQLite each
    /// file alone is whole then.
    pub async fn finish(&self) {
        if timeout(self.stop_time(), self.tidy_up()).await.is_err() {
            tracing::warn!("not everything could be finished");
        }
        self.cut_off().await;
    }

    /// Returns the time that a stop takes at most, until what is left is cut off.
    pub(crate) fn stop_time(&self) -> Duration {
        self.config.shutdown.hard_stop + LAST_WORK
    }

    /// Waits for what is left to be done, however long it takes.
    pub(crate) async fn tidy_up(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.audit.flush().await;
        if let Err(error) = self.storage.checkpoint().await {
            tracing::warn!(
                error = telemetry::cause(&error),
                "can't move the journal of the database into its file"
            );
        }
    }

    /// Ends what could not be finished, and tells what is lost.
    pub(crate) async fn cut_off(&self) {
        self.audit.flush_within(LAST_TRY).await;
        telemetry::tell_repeated();
    }

    /// Makes the notifications, deliveries and figures of all events that are committed, as the service does within seconds.
    pub async fn catch_up(&self) -> Result<()> {
        follower::catch_up::<Notifications>(self).await?;
        follower::catch_up::<Deliveries>(self).await?;
        follower::catch_up::<Activity>(self).await
    }

    /// Keeps who visits which site where other nodes find it, as the service does every few seconds.
    pub async fn keep_visits(&self) -> Result<()> {
        presence::keep(self).await
    }

    /// Sends to webhooks what is due, as the service does within seconds, and returns when nothing is.
    pub async fn deliver(&self) -> Result<()> {
        webhooks::deliver(self).await
    }

    /// Runs the jobs that are due, as the service does within seconds.
    pub async fn run_jobs(&self) -> Result<()> {
        jobs::run_due(self).await
    }

    /// Removes what is over, as the service does every minute: sessions, audit rows, events and kept results.
    pub async fn sweep(&self) -> Result<()> {
        retention::sweep(self).await
    }
}

/// Checks what the types say of each other.
fn check(registry: &Registry) -> Result<()> {
    follower::check()?;
    let references = registry.check_references();
    references.map_err(|it| Error::internal(it.to_string()))
}

/// The ways to say who one is, in the order in which they are tried.
fn authenticators(config: &Config, passwords: &Passwords) -> Vec<Arc<dyn Authenticator>> {
    vec![
        Arc::new(PasswordCheck {
            passwords: passwords.clone(),
            allows_basic: config.auth.basic,
        }),
        Arc::new(TrustedHeader(config.proxy.clone())),
    ]
}

pub(super) fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Makes the sessions, and starts what notes that they are used.
fn sessions(
    config: &Config,
    storage: &Storage,
    clock: &Arc<dyn Clock>,
    health: &Health,
) -> Arc<Sessions> {
    let store = SqlSessions::new(storage.content.clone());
    let (sessions, touches) = Sessions::new(&config.session, store, Arc::clone(clock));
    supervise::spawn(touches, health.clone());
    Arc::new(sessions)
}
