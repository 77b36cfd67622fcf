//! Logins and sessions on a database, with a clock that the tests own: shared parts of the tests.

mod lifetime;
mod login;
mod provider;

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use entity_core::engine::{DirectPath, Dispatcher, Origin, Request, Route};
use entity_core::reply::{Body, Reply};
use entity_core::testing::{FixedClock, KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{Caller, Context, Input, Preconditions, Registry, Result, Verb};
use entity_providers::storage::db::{connect, ensure_tables, migrate};
use http::StatusCode;
use secrecy::SecretString;
use tempfile::TempDir;

use super::evidence::{Account, Directory, Evidence, PasswordCheck, TrustedHeader};
use super::login::{LoggedIn, Login, LoginParts};
use super::password::{PasswordCost, Passwords};
use super::throttle::Throttle;
use crate::base::config::Config;
use crate::guard::session::provider::SessionProvider;
use crate::guard::session::store::SqlSessions;
use crate::guard::session::{SessionId, Sessions};

/// The account `ada` with the password `right`, `shut`, which may not be used, and `elsewhere`, whose password is not
/// kept here.
struct SomeAccounts {
    hash: String,
}

#[async_trait]
impl Directory for SomeAccounts {
    async fn account(&self, _: &Context, username: &str) -> Result<Option<Account>> {
        let is_known = matches!(username, "ada" | "shut" | "elsewhere");
        Ok(is_known.then(|| Account {
            id: format!("u-{username}"),
            eid: username.to_owned(),
            display_name: "Ada Student".to_owned(),
            password_hash: (username != "elsewhere").then(|| self.hash.clone()),
            is_disabled: username == "shut",
        }))
    }

    async fn note_login(&self, _: &Context, _: &str) -> Result<()> {
        Ok(())
    }

    async fn note_known(&self, _: &Context, _: &str) -> Result<()> {
        Ok(())
    }

    async fn keep_hash(&self, _: &Context, _: &str, _: &str) -> Result<()> {
        Ok(())
    }
}

struct Service {
    directory: TempDir,
    clock: Arc<FixedClock>,
    dispatcher: Dispatcher,
    events: Arc<KeptEvents>,
    store: SqlSessions,
    sessions: Arc<Sessions>,
    login: Login,
    passwords: Passwords,
    touches: Option<crate::guard::session::cache::TouchWriter>,
}

impl Service {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("test.db").display());
        let db = connect(&url).await.unwrap();
        migrate(&db, crate::operate::storage::migrations)
            .await
            .unwrap();
        let linked = Registry::from_inventory().unwrap();
        let events = linked.route("session-event").cloned();
        let noting = Registry::new(events).unwrap();
        ensure_tables(&db, &noting).await.unwrap();
        let clock = Arc::new(FixedClock::default());
        let store = SqlSessions::new(db.clone());
        let config = Config::with(&[
            ("session.perUser", "3"),
            ("login.addressFailures", "20"),
            ("proxy.trusted", "192.0.2.9"),
        ]);
        let (sessions, touches) = Sessions::new(&config.session, store.clone(), clock.clone());
        let sessions = Arc::new(sessions);
        // Ahead of the monotonic clock, which goes on while a test runs.
        clock.advance(TimeDelta::hours(1));
        let mut shared = shared(ToldAuthorizer::default());
        shared.clock = clock.clone();
        shared.services.insert(Arc::clone(&sessions));
        let route = Route::of::<SessionProvider>(("server", "0"))
            .read()
            .list()
            .delete()
            .actions()
            .build();
        let events = Arc::new(KeptEvents::default());
        let dispatcher = Dispatcher::new(
            Arc::new(Registry::new([route]).unwrap()),
            Arc::new(db.clone()),
            events.clone(),
            shared,
        );
        let passwords = Passwords::new(
            2,
            PasswordCost::default(),
            crate::guard::admission::Admission::for_tests(),
        )
        .unwrap();
        let check = PasswordCheck {
            passwords: passwords.clone(),
            allows_basic: false,
        };
        let proxy = TrustedHeader(config.proxy);
        let login = Login::new(LoginParts {
            dispatcher: dispatcher.clone(),
            directory: Arc::new(SomeAccounts {
                hash: passwords.hash("right").await.unwrap(),
            }),
            authenticators: vec![Arc::new(check), Arc::new(proxy)],
            passwords: passwords.clone(),
            throttle: Throttle::new(&config.login),
            sessions: Arc::clone(&sessions),
        });
        Self {
            directory,
            clock,
            dispatcher,
            events,
            store,
            sessions,
            login,
            passwords,
            touches: Some(touches),
        }
    }

    async fn log_in(&self) -> LoggedIn {
        self.attempt("ada", "right", "192.0.2.1").await.unwrap()
    }

    async fn attempt(&self, name: &str, password: &str, from: &str) -> Result<LoggedIn> {
        self.login
            .attempt(
                typed(name, password),
                &from_address(from),
                None,
                StatusCode::OK,
            )
            .await
    }

    async fn is_alive(&self, id: &SessionId) -> bool {
        self.sessions.find(id).await.unwrap().is_some()
    }

    async fn ask(&self, verb: Verb, path: &str, caller: Caller) -> Result<serde_json::Value> {
        let reply = self
            .dispatcher
            .dispatch(&Request {
                path: DirectPath::parse(path, |_| false).unwrap(),
                verb,
                query: Vec::new(),
                input: Input::default(),
                preconditions: Preconditions::default(),
                is_dry_run: false,
                wants_allowed_actions: false,
                origin: origin(caller),
            })
            .await?;
        Ok(data(&reply))
    }
}

fn data(reply: &Reply) -> serde_json::Value {
    let of = |item: &entity_core::reply::Item| serde_json::to_value(item.data()).unwrap();
    match &reply.body {
        Body::Entity(item) => of(item),
        Body::Collection(collection) => collection.items.iter().map(of).collect(),
        _ => serde_json::Value::Null,
    }
}

fn typed(name: &str, password: &str) -> Evidence {
    Evidence::Password {
        username: name.to_owned(),
        password: SecretString::from(password),
    }
}

fn from_address(address: &str) -> Origin {
    Origin {
        address: address.parse::<IpAddr>().unwrap(),
        method: "POST".into(),
        path: "/api/login".into(),
        ..origin(Caller::anonymous())
    }
}
