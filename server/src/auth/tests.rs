//! Logins and sessions on a database, with a clock that the tests own.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use entity_core::reply::Body;
use entity_core::testing::{FixedClock, KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{
    Caller, Clock, Context, DirectPath, Dispatcher, ErrorKind, Input, Origin, Registry, Reply,
    Request, Result, Route, Verb,
};
use entity_providers::db::{connect, migrate};
use secrecy::SecretString;
use tempfile::TempDir;

use super::evidence::{Account, Directory, Evidence, PasswordCheck, TrustedHeader};
use super::login::{LoggedIn, Login, LoginParts};
use super::password::Passwords;
use super::throttle::Throttle;
use crate::session::provider::SessionProvider;
use crate::session::store::{SessionStore, SqlSessions};
use crate::session::{Area, SessionId, SessionOptions, Sessions};

/// One account, `ada` with the password `right`, and `shut`, which may not be used.
struct TwoAccounts {
    hash: String,
}

#[async_trait]
impl Directory for TwoAccounts {
    async fn account(&self, _: &Context, username: &str) -> Result<Option<Account>> {
        let is_known = matches!(username, "ada" | "shut");
        Ok(is_known.then(|| Account {
            id: format!("u-{username}"),
            eid: username.to_owned(),
            display_name: "Ada Student".to_owned(),
            password_hash: Some(self.hash.clone()),
            is_disabled: username == "shut",
        }))
    }

    async fn note_login(&self, _: &Context, _: &str) -> Result<()> {
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
    store: Arc<SqlSessions>,
    sessions: Arc<Sessions>,
    login: Login,
    touches: Option<crate::session::cache::TouchWriter>,
}

impl Service {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("test.db").display());
        let db = connect(&url).await.unwrap();
        migrate(&db, crate::migration::migrations).await.unwrap();
        let clock = Arc::new(FixedClock::default());
        let store = Arc::new(SqlSessions::new(db.clone()));
        let options = SessionOptions {
            per_user: 3,
            ..SessionOptions::default()
        };
        let (sessions, touches) = Sessions::new(options, store.clone(), clock.clone());
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
        let passwords = Passwords::new(2).unwrap();
        let check = PasswordCheck {
            passwords: passwords.clone(),
            allows_basic: false,
        };
        let proxy = TrustedHeader {
            proxies: vec!["192.0.2.9".parse().unwrap()],
        };
        let login = Login::new(LoginParts {
            dispatcher: dispatcher.clone(),
            directory: Arc::new(TwoAccounts {
                hash: passwords.hash("right").await.unwrap(),
            }),
            authenticators: vec![Arc::new(check), Arc::new(proxy)],
            passwords,
            throttle: Throttle::default(),
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
            touches: Some(touches),
        }
    }

    async fn log_in(&self) -> LoggedIn {
        self.attempt("ada", "right", "192.0.2.1").await.unwrap()
    }

    async fn attempt(&self, name: &str, password: &str, from: &str) -> Result<LoggedIn> {
        self.login
            .attempt(typed(name, password), &from_address(from), None)
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
                if_match: None,
                wants_abilities: false,
                origin: origin(caller),
            })
            .await?;
        Ok(data(&reply))
    }
}

fn data(reply: &Reply) -> serde_json::Value {
    let of = |item: &entity_core::Item| serde_json::to_value(item.data()).unwrap();
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
        method: "POST".to_owned(),
        path: "/api/login".to_owned(),
        ..origin(Caller::anonymous())
    }
}

#[tokio::test]
async fn sess_2_each_login_has_a_new_id_and_ends_the_old_session() {
    let service = Service::start().await;
    let first = service.log_in().await;
    let second = service
        .login
        .attempt(
            typed("ada", "right"),
            &from_address("192.0.2.1"),
            Some(&first.session),
        )
        .await
        .unwrap();
    assert_ne!(first.id, second.id);
    assert!(!service.is_alive(&first.id).await);
    assert!(service.is_alive(&second.id).await);
    assert!(!service.is_alive(&SessionId::generate().unwrap()).await);
}

#[tokio::test]
async fn a_login_tells_who_logged_in() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let events = service.events.all();
    let told: Vec<_> = events
        .iter()
        .map(|it| (it.kind.as_str(), it.reference.clone(), it.actor.as_deref()))
        .collect();
    let reference = format!("/session/{}", logged_in.session.handle());
    assert_eq!(told, [("user.login.ws", reference, Some("u-ada"))]);
}

#[tokio::test]
async fn sess_3_the_id_is_in_no_file() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let mut bytes = 0;
    for file in std::fs::read_dir(service.directory.path()).unwrap() {
        let content = std::fs::read(file.unwrap().path()).unwrap();
        bytes += content.len();
        let holds = |text: &str| content.windows(text.len()).any(|it| it == text.as_bytes());
        assert!(!holds(logged_in.id.expose()));
    }
    assert!(bytes > 0);
}

#[tokio::test]
async fn auth_2_all_failures_are_told_in_the_same_words() {
    let service = Service::start().await;
    let mut messages = Vec::new();
    for (name, password) in [("ada", "wrong"), ("nobody", "right"), ("shut", "right")] {
        let error = service
            .attempt(name, password, "192.0.2.1")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        messages.push(error.message().to_owned());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1);
    assert!(
        service
            .events
            .all()
            .iter()
            .all(|it| it.kind == "user.login.failed")
    );
    assert_eq!(service.events.all().len(), 3);
}

#[tokio::test]
async fn auth_4_guesses_are_slowed_down_for_the_account_and_its_network_alone() {
    let service = Service::start().await;
    for _ in 0..5 {
        service
            .attempt("ada", "wrong", "192.0.2.1")
            .await
            .unwrap_err();
    }
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_err());
    assert!(service.attempt("ada", "right", "192.0.2.2").await.is_ok());
    service.clock.advance(TimeDelta::milliseconds(1001));
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_ok());
    // The success forgot the failures.
    service
        .attempt("ada", "wrong", "192.0.2.1")
        .await
        .unwrap_err();
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_ok());
}

#[tokio::test]
async fn auth_4_guesses_in_parallel_are_counted_one_by_one() {
    let service = Service::start().await;
    let tries = (0..12).map(|it| {
        let password = if it == 11 { "right" } else { "wrong" };
        service.attempt("ada", password, "192.0.2.1")
    });
    let done = futures::future::join_all(tries).await;
    assert!(done.iter().all(Result::is_err));
}

#[tokio::test]
async fn auth_4_many_accounts_from_one_network_are_told_to_wait() {
    let service = Service::start().await;
    for number in 0..20 {
        let error = service
            .attempt(&format!("n{number}"), "x", "192.0.2.1")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    }
    let error = service
        .attempt("ada", "right", "192.0.2.1")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyRequests);
    assert_eq!(error.retry_after(), Some(2));
}

#[tokio::test]
async fn auth_7_only_a_listed_proxy_is_believed() {
    let service = Service::start().await;
    let trusted = |peer: &str, name: &str| Evidence::Trusted {
        username: name.to_owned(),
        peer: peer.parse().unwrap(),
    };
    let origin = from_address("192.0.2.1");
    for (peer, name, expected) in [
        ("192.0.2.9", "ada", true),
        ("192.0.2.8", "ada", false),
        ("192.0.2.9", "shut", false),
        ("192.0.2.9", "nobody", false),
    ] {
        let done = service
            .login
            .attempt(trusted(peer, name), &origin, None)
            .await;
        assert_eq!(done.is_ok(), expected, "{peer} {name}");
    }
    let basic = Evidence::Basic {
        username: "ada".to_owned(),
        password: SecretString::from("right"),
    };
    assert!(service.login.authenticate(&basic, &origin).await.is_err());
}

#[tokio::test]
async fn sess_7_a_session_lives_as_long_as_it_is_used() {
    let service = Service::start().await;
    let (used, unused) = (service.log_in().await, service.log_in().await);
    service.clock.advance(TimeDelta::seconds(1800));
    assert!(service.is_alive(&used.id).await);
    assert!(service.is_alive(&unused.id).await);
    service.sessions.touch(&used.session);
    service.clock.advance(TimeDelta::seconds(1));
    assert!(service.is_alive(&used.id).await);
    assert!(!service.is_alive(&unused.id).await, "looking is no use");
}

#[tokio::test]
async fn sess_7_a_clock_set_back_before_the_login_ends_the_session() {
    let service = Service::start().await;
    service.clock.advance(TimeDelta::hours(5));
    let logged_in = service.log_in().await;
    service.clock.advance(TimeDelta::hours(-2));
    assert!(!service.is_alive(&logged_in.id).await);
}

#[tokio::test]
async fn sess_8_no_session_outlives_its_absolute_lifetime() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    for _ in 0..24 {
        assert!(service.is_alive(&logged_in.id).await);
        service.clock.advance(TimeDelta::minutes(30));
        service.sessions.touch(&logged_in.session);
    }
    assert!(service.is_alive(&logged_in.id).await);
    service.clock.advance(TimeDelta::milliseconds(1));
    assert!(!service.is_alive(&logged_in.id).await);
}

#[tokio::test]
async fn sess_9_uses_are_written_down_once_in_a_thirtieth_of_the_timeout() {
    let mut service = Service::start().await;
    let logged_in = service.log_in().await;
    let kept = async |service: &Service| {
        let row = service
            .store
            .find(logged_in.id.hash())
            .await
            .unwrap()
            .unwrap();
        row.last_accessed()
    };
    for _ in 0..59 {
        service.clock.advance(TimeDelta::seconds(1));
        service.sessions.touch(&logged_in.session);
    }
    service.clock.advance(TimeDelta::seconds(1));
    service.sessions.touch(&logged_in.session);
    let at = service.clock.now();
    service.clock.advance(TimeDelta::seconds(59));
    service.sessions.touch(&logged_in.session);
    assert_eq!(kept(&service).await, logged_in.session.created());
    // The task ends when the sessions are gone; until then it has nothing else to wait for.
    let writer = tokio::spawn(service.touches.take().unwrap().run());
    while kept(&service).await == logged_in.session.created() {
        tokio::task::yield_now().await;
    }
    writer.abort();
    assert_eq!(kept(&service).await, at);
}

#[tokio::test]
async fn sess_11_all_sessions_of_a_user_end_at_once() {
    let service = Service::start().await;
    let (one, two) = (service.log_in().await, service.log_in().await);
    assert!(service.is_alive(&one.id).await && service.is_alive(&two.id).await);
    let origin = from_address("192.0.2.1");
    let sessions = Arc::clone(&service.sessions);
    service
        .dispatcher
        .write(&origin, move |cx| {
            let sessions = Arc::clone(&sessions);
            Box::pin(async move {
                cx.emit("user.credentials", "/user/u-ada", None);
                sessions.follow(cx, &cx.events()).await?;
                Ok(((), entity_core::Effect::Read))
            })
        })
        .await
        .unwrap();
    assert!(!service.is_alive(&one.id).await && !service.is_alive(&two.id).await);
}

#[tokio::test]
async fn sess_12_the_oldest_session_beyond_the_cap_ends() {
    let service = Service::start().await;
    let mut logins = Vec::new();
    for _ in 0..4 {
        logins.push(service.log_in().await);
        service.clock.advance(TimeDelta::seconds(1));
    }
    let mut alive = Vec::new();
    for login in &logins {
        alive.push(service.is_alive(&login.id).await);
    }
    assert_eq!(alive, [false, true, true, true]);
}

#[tokio::test]
async fn sess_12_what_is_over_is_swept_away() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    service.clock.advance(TimeDelta::seconds(1800));
    assert_eq!(service.sessions.sweep().await.unwrap(), 0);
    service.clock.advance(TimeDelta::seconds(1));
    assert_eq!(service.sessions.sweep().await.unwrap(), 1);
    assert!(
        service
            .store
            .find(logged_in.id.hash())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn an_attribute_is_kept_with_its_session() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let area = Area::Tool("t".to_owned());
    let sessions = Arc::clone(&service.sessions);
    let session = Arc::clone(&logged_in.session);
    service
        .dispatcher
        .write(&from_address("192.0.2.1"), move |cx| {
            let (sessions, session) = (Arc::clone(&sessions), Arc::clone(&session));
            Box::pin(async move {
                let area = Area::Tool("t".to_owned());
                sessions
                    .set_attribute(cx, &session, area, "a", 5.into())
                    .await?;
                Ok(((), entity_core::Effect::Read))
            })
        })
        .await
        .unwrap();
    let found = service.sessions.find(&logged_in.id).await.unwrap().unwrap();
    assert_eq!(found.attributes().get(&area, "a"), Some(&5.into()));
}

#[tokio::test]
async fn the_current_session_is_shown_to_everybody_and_hides_its_id() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let nobody = service
        .ask(Verb::Get, "/session/current", Caller::anonymous())
        .await
        .unwrap();
    assert_eq!(nobody["userId"], serde_json::Value::Null);
    assert_eq!(nobody["active"], true);
    assert!(nobody.get("csrfToken").is_none());
    let own = service
        .ask(Verb::Get, "/session/current", logged_in.session.caller())
        .await
        .unwrap();
    assert_eq!(own["id"], serde_json::Value::Null);
    assert_eq!(own["userEid"], "ada");
    assert_eq!(own["maxInactiveInterval"], 1800);
    assert_eq!(own["csrfToken"], logged_in.session.csrf_token());
    assert!(!own.to_string().contains(logged_in.id.expose()));
}

#[tokio::test]
async fn sess_14_everybody_has_their_own_session_only() {
    let service = Service::start().await;
    let (mine, other) = (service.log_in().await, service.log_in().await);
    let caller = || mine.session.caller();
    let path = |it: &str| format!("/session/{it}");
    let own = service
        .ask(Verb::Get, &path(mine.session.handle()), caller())
        .await
        .unwrap();
    assert_eq!(own["id"], mine.session.handle());
    for foreign in [other.session.handle(), other.id.expose(), "nonsense"] {
        for verb in [Verb::Get, Verb::Delete] {
            let error = service
                .ask(verb, &path(foreign), caller())
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{verb:?} {foreign}");
        }
    }
    let error = service
        .ask(Verb::Get, &path(mine.session.handle()), Caller::anonymous())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let list = service.ask(Verb::Get, "/session", caller()).await.unwrap();
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    assert!(service.is_alive(&other.id).await);
}

#[tokio::test]
async fn a_session_is_ended_by_each_of_its_names() {
    let service = Service::start().await;
    for name in [
        |_: &LoggedIn| "current".to_owned(),
        |it: &LoggedIn| it.session.handle().to_owned(),
        |it: &LoggedIn| it.id.expose().to_owned(),
    ] {
        let logged_in = service.log_in().await;
        assert!(service.is_alive(&logged_in.id).await);
        let path = format!("/session/{}", name(&logged_in));
        service
            .ask(Verb::Delete, &path, logged_in.session.caller())
            .await
            .unwrap();
        assert!(!service.is_alive(&logged_in.id).await, "{path}");
    }
}

#[tokio::test]
async fn a_logout_ends_the_session() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let origin = from_address("192.0.2.1");
    service
        .login
        .logout(&logged_in.session, &origin)
        .await
        .unwrap();
    assert!(!service.is_alive(&logged_in.id).await);
}
