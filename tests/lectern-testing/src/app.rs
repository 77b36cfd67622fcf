//! The whole service in this process, over demo data, with a clock that the test owns.

use std::sync::{Arc, OnceLock};

use chrono::TimeDelta;
use entity_core::engine::{Origin, ReadBudget, Route};
use entity_core::testing::FixedClock;
use entity_core::{Caller, Registry};
use entity_providers::face::demo;
use server::base::config::{self, Config, ConfigSources};
use server::base::system::UuidIds;
use server::guard::auth::PasswordCost;
use server::web::api::Endpoints;
use server::{App, Parts};

use crate::database::{Backend, Database, OnBackend};
use crate::{Client, Role, SITE, template};

/// The password of every user of the demo university.
pub const PASSWORD: &str = "lectern-demo";

/// A running service with all linked types, on a database of its own with the demo university.
#[derive(Debug)]
pub struct TestApp {
    app: App,
    clock: Arc<FixedClock>,
    database: Database,
    /// The clients that [`role`](Self::role) returns, once they are known.
    clients: OnceLock<Vec<(Role, Client)>>,
}

impl TestApp {
    /// Starts the service with further `settings` on `database`, which is empty or was made by a service.
    pub async fn start(database: Database, settings: &[(&str, &str)]) -> Self {
        Self::start_parts(database, settings, parts).await
    }

    /// Starts the service with further `settings` on a database of this kind with the demo university. Returns `None`
    /// where this kind of database is not installed.
    pub async fn with_settings(backend: Backend, settings: &[(&str, &str)]) -> Option<Self> {
        let database = template::copy(backend).await?;
        Some(Self::start(database, settings).await)
    }

    pub(crate) async fn start_parts(
        database: Database,
        settings: &[(&str, &str)],
        parts: impl FnOnce(Arc<FixedClock>) -> Parts,
    ) -> Self {
        let clock = Arc::new(FixedClock::default());
        let files = database.folder().join("files").display().to_string();
        let own = [("files.folder", &*files)];
        let settings = [&own, settings].concat();
        let app = App::start(config(database.url(), &settings), parts(clock.clone()))
            .await
            .expect("a service that starts");
        Self {
            app,
            clock,
            database,
            clients: OnceLock::new(),
        }
    }

    /// Starts the service with the type `added` beside the linked ones, on a database of this kind with the demo
    /// university. Returns `None` where this kind of database is not installed.
    pub async fn with_type(backend: Backend, added: Route) -> Option<Self> {
        Self::with_type_and_settings(backend, added, &[]).await
    }

    /// Starts the service as [`with_type`](Self::with_type) does, with further `settings`.
    pub async fn with_type_and_settings(
        backend: Backend,
        added: Route,
        settings: &[(&str, &str)],
    ) -> Option<Self> {
        let database = template::copy(backend).await?;
        Some(Self::start_with_type(database, added, settings).await)
    }

    /// Starts the service with the type `added` beside the linked ones and further `settings` on `database`, which is
    /// empty or was made by a service.
    pub async fn start_with_type(
        database: Database,
        added: Route,
        settings: &[(&str, &str)],
    ) -> Self {
        let parts = |clock| {
            let parts = parts(clock);
            let routes = parts.registry.routes().cloned().chain([added]);
            Parts {
                registry: Registry::new(routes).expect("types that go together"),
                ..parts
            }
        };
        Self::start_parts(database, settings, parts).await
    }

    /// Adds the demo university to the database, which must be empty.
    pub async fn fill(&self) {
        let hash = self.app.passwords.hash(PASSWORD).await;
        let hash = hash.expect("a password can be hashed");
        let origin = origin();
        let dispatcher = self.app.dispatcher.clone().with_write_limit(None);
        let filled = demo::fill(&dispatcher, &origin, &hash).await;
        let filled = filled.expect("the demo data fit");
        filled.expect("an empty database");
    }

    /// Returns a client that is not logged in.
    pub fn anonymous(&self) -> Client {
        Client::of(self.app.clone())
    }

    /// Returns a client that is logged in as a user of the demo university: `admin`, `student1` to `student20` …
    pub async fn user(&self, eid: &str) -> Client {
        self.anonymous().log_in(eid, PASSWORD).await
    }

    /// Returns a client of the user with this role.
    pub async fn role(&self, role: Role) -> Client {
        let mut known = self.clients.get().into_iter().flatten();
        if let Some((_, client)) = known.find(|it| it.0 == role) {
            return client.clone();
        }
        match role.eid() {
            Some(eid) => self.user(eid).await,
            None => self.anonymous(),
        }
    }

    /// Keeps `clients` for those who ask for somebody with a role: an account has few sessions at a time.
    pub(crate) fn keep(&self, clients: Vec<(Role, Client)>) {
        self.clients.get_or_init(|| clients);
    }

    /// Returns the ids of the groups of [`SITE`]: that of [`Role::Student`], and that of [`Role::OtherStudent`].
    pub async fn groups(&self) -> Vec<String> {
        let admin = self.role(Role::Superuser).await;
        let site = admin.get(&format!("/direct/site/{SITE}.json")).await.json();
        let groups = site["siteGroups"].as_array().expect("groups").iter();
        let ids = groups.filter_map(|it| it["id"].as_str());
        ids.map(ToOwned::to_owned).collect()
    }

    /// Moves the clock of the service on.
    pub fn advance(&self, by: TimeDelta) {
        self.clock.advance(by);
    }

    /// Returns the service itself.
    pub fn service(&self) -> &App {
        &self.app
    }

    /// Returns the database of the service.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Stops using the database, and returns it.
    pub fn into_database(self) -> Database {
        self.database
    }
}

/// Returns the parts of a service with this clock and all linked types.
pub fn parts(clock: Arc<FixedClock>) -> Parts {
    Parts {
        clock,
        ids: Arc::new(UuidIds::default()),
        registry: Registry::from_inventory().expect("types that go together"),
        endpoints: Arc::new(Endpoints::from_inventory().expect("endpoints that go together")),
        formats: Arc::new(entity_formats::standard().expect("formats that go together")),
        password_cost: PasswordCost::NEXT_TO_NONE,
    }
}

impl OnBackend for TestApp {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let database = template::copy(backend).await?;
        Some(Self::start(database, &[]).await)
    }
}

/// The settings without the limits on how much clients may send, which tests exceed.
pub const WITHOUT_LIMITS: [(&str, &str); 5] = [
    ("rate.reads", "0"),
    ("rate.writes", "0"),
    ("rate.strangers", "0"),
    ("admission.queue", "100000"),
    ("admission.wait", "60"),
];

/// The settings with so long limits on time that no test reaches them, however busy its machine is.
pub const PATIENT: [(&str, &str); 4] = [
    ("limits.requestDeadline", "120"),
    ("limits.statementTime", "60"),
    ("limits.writeHold", "60"),
    ("pool.wait", "60"),
];

/// The same settings as a service has them that nobody has set up, but for the time that a write may take on a busy
/// machine: for tests of what happens when a limit is reached.
pub const HURRIED: [(&str, &str); 4] = [
    ("limits.requestDeadline", "10"),
    ("limits.statementTime", "2"),
    ("limits.writeHold", "30"),
    ("pool.wait", "1"),
];

/// Returns the configuration of a service on the database at `url`, with further `settings`. They go before [`PATIENT`] and
/// [`WITHOUT_LIMITS`], which hold for every other test.
pub fn config(url: &str, settings: &[(&str, &str)]) -> Config {
    let is_given = |key: &str| settings.iter().any(|it| it.0 == key);
    let usual = PATIENT.iter().chain(&WITHOUT_LIMITS);
    let usual = usual.filter(|it| !is_given(it.0));
    let database = [("database", url)];
    let arguments = database.iter().chain(usual).chain(settings);
    let given = ConfigSources {
        arguments: arguments
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..ConfigSources::default()
    };
    config::load(&given)
        .config
        .expect("settings that make sense")
}

/// Returns the origin of the writes of the harness itself.
fn origin() -> Origin {
    Origin {
        caller: Caller::anonymous(),
        address: std::net::IpAddr::from([127, 0, 0, 1]),
        method: "POST".into(),
        path: "demo".into(),
        request_id: "demo".into(),
        read_budget: ReadBudget::default(),
    }
}
