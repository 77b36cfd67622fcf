//! Login and logout: evidence in, session out. Every path that checks a password goes through here.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::access::User;
use entity_core::engine::{Audit, Dispatcher, Origin};
use entity_core::{Caller, Context, Error, ErrorKind, Reference, Result};
use entity_providers::people::session_event::{self, LOGIN, LOGIN_FAILED, LOGOUT};
use entity_providers::people::user::known;
use http::StatusCode;
use moka::sync::Cache;
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::evidence::{Account, Authenticator, Directory, Evidence};
use super::password::{Passwords, Verified};
use super::throttle::{Subject, Throttle};
use crate::guard::session::{Session, SessionId, Sessions};

/// The event of a login. Other parts of the service wait for it under this name.
const LOGGED_IN: &str = "user.login.ws";
/// The event of a logout.
const LOGGED_OUT: &str = "user.logout";
/// The event of a login that failed.
const FAILED: &str = "user.login.failed";
/// The code of the error where credentials are right and no session can be begun.
pub(super) const NO_SESSION: &str = "no_session";
/// The message to clients in that case.
pub(super) const NOT_ESTABLISHED: &str = "the session could not be established";
/// The maximum number of logins without a session that this node remembers to have noted; others it looks up.
const MOST_NOTED: u64 = 100_000;
/// The maximum number of letters of a name that are told: no name of an account is longer.
const NAME_LETTERS: usize = 100;

/// The parts of a [`Login`].
#[derive(derive_more::Debug, Clone)]
#[debug("LoginParts")]
pub struct LoginParts {
    /// Runs units of work.
    pub dispatcher: Dispatcher,
    /// The accounts.
    pub directory: Arc<dyn Directory>,
    /// The authenticators, which check evidence; the first one that knows a kind checks it.
    pub authenticators: Vec<Arc<dyn Authenticator>>,
    /// Hashes and verifies passwords.
    pub passwords: Passwords,
    /// Counts failures.
    pub throttle: Throttle,
    /// The sessions.
    pub sessions: Arc<Sessions>,
}

/// Logs people in and out.
#[derive(derive_more::Debug, Clone)]
#[debug("Login")]
pub struct Login {
    parts: LoginParts,
    /// One try at a time for each account and network, so that guesses in parallel are counted as well.
    turns: Cache<Subject, Arc<Mutex<()>>>,
    /// The logins without a session that are noted already.
    noted: Cache<(String, IpAddr, &'static str), ()>,
}

/// A user who has just logged in.
#[derive(Clone, Debug)]
pub struct LoggedIn {
    /// The credential. Only the answer to the login carries it.
    pub id: SessionId,
    /// The session.
    pub session: Arc<Session>,
}

impl Login {
    /// A login of these parts.
    pub fn new(parts: LoginParts) -> Self {
        Self {
            turns: Cache::builder()
                .time_to_idle(std::time::Duration::from_mins(1))
                .build(),
            noted: Cache::builder()
                .max_capacity(MOST_NOTED)
                .time_to_live(parts.sessions.timeout().to_std().unwrap_or_default())
                .build(),
            parts,
        }
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.parts.sessions
    }

    /// Begins a session for the user of `evidence`; `old`, the session that the request came with, ends. The audit row
    /// has the status `answered`; that of a failure is the status of the answer.
    ///
    /// # Errors
    /// Unauthenticated, in the same words and after the same time whatever is wrong with the account or the
    /// evidence; too many failures from this network; too many logins at once.
    pub async fn attempt(
        &self,
        evidence: Evidence,
        origin: &Origin,
        old: Option<&Session>,
        answered: StatusCode,
    ) -> Result<LoggedIn> {
        let (account, verified) = self.check(&evidence, origin).await?;
        let stronger = match (verified, &evidence) {
            (Verified::RightButWeak, Evidence::Password { password, .. }) => {
                self.rehash(password).await
            }
            _ => None,
        };
        let is_known = match &evidence {
            Evidence::Password { password, .. } => {
                known::is_known(password.expose_secret(), &[&account.eid])
            }
            _ => false,
        };
        let session = self.open(account, origin)?;
        let work = Begin {
            sessions: Arc::clone(&self.parts.sessions),
            directory: Arc::clone(&self.parts.directory),
            throttle: self.parts.throttle,
            session: Arc::clone(&session.session),
            is_known,
            stronger,
            old: old.map(Session::id),
            answered,
        };
        self.begin(work, origin).await.map(|()| session)
    }

    /// Authenticates the user of `evidence` for this request alone: no session begins.
    ///
    /// # Errors
    /// As [`Login::attempt`].
    pub async fn authenticate(&self, evidence: &Evidence, origin: &Origin) -> Result<User> {
        let (account, _verified) = self.check(evidence, origin).await?;
        let user = User {
            id: account.id,
            eid: account.eid,
        };
        if let Some(kind) = evidence.kind_without_session() {
            self.note(&user, kind, origin).await?;
        }
        Ok(user)
    }

    /// Notes that the user logged in without a session, unless the same was noted within the time of one.
    async fn note(&self, user: &User, kind: &'static str, origin: &Origin) -> Result<()> {
        let key = (user.id.clone(), origin.address, kind);
        if !self.noted.entry(key.clone()).or_insert(()).is_fresh() {
            return Ok(());
        }
        let directory = Arc::clone(&self.parts.directory);
        let timeout = self.parts.sessions.timeout();
        let (id, eid) = (user.id.clone(), user.eid.clone());
        let origin = Origin {
            caller: Caller::user(id.clone(), eid.clone()),
            ..origin.clone()
        };
        let work = self.parts.dispatcher.write(&origin, move |cx| {
            let (directory, id, eid) = (Arc::clone(&directory), id.clone(), eid.clone());
            Box::pin(async move {
                // Another node may have noted it.
                if !session_event::was_noted(cx, kind, &id, timeout).await? {
                    directory.note_login(cx, &id).await?;
                    session_event::note(cx, kind, &id).await?;
                    let reference = Reference::collection("session").to_string();
                    cx.emit_with(LOGGED_IN, reference, None, facts(cx, Some(&id), &eid));
                }
                Ok(((), Audit::Later))
            })
        });
        let done = work.await;
        if done.is_err() {
            self.noted.invalidate(&key);
        }
        done
    }

    /// Ends `session`, which is answered with `answered`.
    pub async fn logout(
        &self,
        session: &Session,
        origin: &Origin,
        answered: StatusCode,
    ) -> Result<()> {
        let (id, handle) = (session.id(), session.handle().to_owned());
        let user = session.user().id.clone();
        let sessions = Arc::clone(&self.parts.sessions);
        self.parts
            .dispatcher
            .write(origin, move |cx| {
                let (sessions, handle) = (Arc::clone(&sessions), handle.clone());
                let user = user.clone();
                Box::pin(async move {
                    end(&sessions, cx, id, (&handle, &user)).await?;
                    Ok(((), Audit::Answered(answered.as_u16())))
                })
            })
            .await
    }

    /// Finds and checks the account. A failure is counted and recorded before this returns.
    async fn check(&self, evidence: &Evidence, origin: &Origin) -> Result<(Account, Verified)> {
        let authenticator = self
            .parts
            .authenticators
            .iter()
            .find(|it| it.accepts(evidence))
            .ok_or_else(refused)?;
        let queued = self
            .parts
            .passwords
            .queue(evidence.username(), origin.address);
        let place = queued.await?;
        let network = Subject::address(origin.address);
        self.refuse_busy(&network, origin).await?;
        let account = self.find(evidence.username(), origin).await?;
        let name = account
            .as_ref()
            .map_or(evidence.username(), |it| it.id.as_str());
        let subject = Subject::account(name, origin.address);
        let turn = self.turns.get_with(subject.clone(), Arc::default);
        // Held across the verification on purpose: the next try must see whether this one failed. Those
        // who wait for it have a place in the bounded queue.
        let turn = turn.lock().await;
        self.refuse_busy(&subject, origin).await?;
        let verified = authenticator
            .verify(evidence, account.as_ref(), &place)
            .await?;
        let target = account.as_ref().map(|it| it.id.clone());
        let known = account.filter(|it| !it.is_disabled);
        if let (Some(account), Verified::Right | Verified::RightButWeak) = (known, verified) {
            return Ok((account, verified));
        }
        let failure = Failure {
            counted: vec![subject, network],
            target,
            username: evidence.username().chars().take(NAME_LETTERS).collect(),
        };
        self.tell_failure(failure, origin).await?;
        drop(turn);
        Err(refused())
    }

    /// Refuses before anything is hashed, with the time to wait: names without an account wait as accounts do, so that
    /// it does not disclose which accounts exist.
    async fn refuse_busy(&self, subject: &Subject, origin: &Origin) -> Result<()> {
        let Some(left) = self.wait(subject, origin).await? else {
            return Ok(());
        };
        let seconds = left.num_milliseconds().saturating_add(999) / 1000;
        Err(Error::too_many_requests(
            "too many failed logins: wait and try again",
            u32::try_from(seconds).unwrap_or(u32::MAX),
        ))
    }

    async fn find(&self, username: &str, origin: &Origin) -> Result<Option<Account>> {
        let directory = Arc::clone(&self.parts.directory);
        let username = username.to_owned();
        self.parts
            .dispatcher
            .read(origin, |cx| {
                Box::pin(async move { directory.account(cx, &username).await })
            })
            .await
    }

    async fn wait(&self, subject: &Subject, origin: &Origin) -> Result<Option<TimeDelta>> {
        let (throttle, subject) = (self.parts.throttle, subject.clone());
        self.parts
            .dispatcher
            .read(origin, |cx| {
                Box::pin(async move { throttle.wait(cx, &subject).await })
            })
            .await
    }

    /// Records the failure in a unit of work of its own, which is committed although the request fails.
    async fn tell_failure(&self, failure: Failure, origin: &Origin) -> Result<()> {
        let throttle = self.parts.throttle;
        self.parts
            .dispatcher
            .write(origin, move |cx| {
                let failure = failure.clone();
                Box::pin(async move {
                    for subject in &failure.counted {
                        throttle.failed(cx, subject).await?;
                    }
                    let reference = Reference::collection("session").to_string();
                    let facts = facts(cx, failure.target.as_deref(), &failure.username);
                    cx.emit_with(FAILED, reference, None, facts);
                    if let Some(account) = &failure.target {
                        session_event::note(cx, LOGIN_FAILED, account).await?;
                    }
                    Ok(((), Audit::Later))
                })
            })
            .await
    }

    /// The login counts for more than a stronger hash of its password: without one it goes on.
    async fn rehash(&self, password: &secrecy::SecretString) -> Option<String> {
        self.parts
            .passwords
            .hash(password.expose_secret())
            .await
            .ok()
    }

    /// Makes a session of `account`, which is not stored yet.
    fn open(&self, account: Account, origin: &Origin) -> Result<LoggedIn> {
        let sessions = &self.parts.sessions;
        let id = SessionId::generate().map_err(no_session)?;
        let session = Session::begin(
            id.hash(),
            User {
                id: account.id,
                eid: account.eid,
            },
            account.display_name,
            origin.address,
            sessions.now(),
            sessions.timeout(),
        )
        .map_err(no_session)?;
        Ok(LoggedIn {
            id,
            session: Arc::new(session),
        })
    }

    async fn begin(&self, work: Begin, origin: &Origin) -> Result<()> {
        let origin = Origin {
            caller: work.session.caller(),
            ..origin.clone()
        };
        self.parts
            .dispatcher
            .write(&origin, move |cx| {
                let work = work.clone();
                Box::pin(async move { work.run(cx).await })
            })
            .await
            .map_err(no_session)
    }
}

/// A unit of work that records one failure.
#[derive(Clone)]
struct Failure {
    /// The subjects for which it counts.
    counted: Vec<Subject>,
    /// The id of the account that was tried, if there is one.
    target: Option<String>,
    /// The name that was typed.
    username: String,
}

/// Returns the facts of the event of a login: the user, and the origin of the request.
fn facts(cx: &Context, user_id: Option<&str>, username: &str) -> Map<String, Value> {
    let origin = cx.origin();
    let facts = [
        ("userId", user_id.map(ToOwned::to_owned)),
        ("username", Some(username.to_owned())),
        ("address", Some(origin.address.to_string())),
        ("path", Some(origin.path.to_string())),
    ];
    facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name.to_owned(), fact?.into())))
        .collect()
}

/// A unit of work that begins the session of one successful login.
#[derive(Clone)]
struct Begin {
    sessions: Arc<Sessions>,
    directory: Arc<dyn Directory>,
    throttle: Throttle,
    session: Arc<Session>,
    /// True if everybody knows the password.
    is_known: bool,
    stronger: Option<String>,
    old: Option<crate::guard::session::IdHash>,
    answered: StatusCode,
}

impl Begin {
    async fn run(&self, cx: &Context) -> Result<((), Audit)> {
        let User { id: user, eid } = self.session.user();
        let subject = Subject::account(user, cx.origin().address);
        self.throttle.forget(cx, &subject).await?;
        self.directory.note_login(cx, user).await?;
        if self.is_known {
            self.directory.note_known(cx, user).await?;
        }
        if let Some(hash) = &self.stronger {
            self.directory.keep_hash(cx, user, hash).await?;
        }
        if let Some(old) = self.old {
            self.sessions.end(cx, old).await?;
        }
        self.sessions.create(cx, &self.session).await?;
        let reference = Reference::entity("session", self.session.handle());
        let facts = facts(cx, Some(user), eid);
        cx.emit_with(LOGGED_IN, reference.to_string(), None, facts);
        session_event::note(cx, LOGIN, user).await?;
        Ok(((), Audit::Answered(self.answered.as_u16())))
    }
}

/// Ends the session of a user in the unit of work of `cx`, and tells so.
pub(crate) async fn end(
    sessions: &Sessions,
    cx: &Context,
    id: crate::guard::session::IdHash,
    (handle, user): (&str, &str),
) -> Result<()> {
    if sessions.end(cx, id).await? {
        session_event::note(cx, LOGOUT, user).await?;
        let reference = Reference::entity("session", handle);
        cx.emit(LOGGED_OUT, reference.to_string(), None);
    }
    Ok(())
}

/// The one answer to every login that does not succeed.
fn refused() -> Error {
    Error::new(
        ErrorKind::Unauthenticated,
        "the username or the password is wrong, or the account can't be used",
    )
}

/// Makes the error of a session that can't be begun: in the words that clients of this interface expect, unless waiting
/// helps or the outcome is unknown.
fn no_session(error: Error) -> Error {
    match (error.kind(), error.code()) {
        (ErrorKind::Unavailable, None) => error.with_code(NO_SESSION),
        (ErrorKind::Unavailable, Some(_)) => error,
        _ => Error::new(ErrorKind::Internal, NOT_ESTABLISHED)
            .with_code(NO_SESSION)
            .with_source(error),
    }
}

/// The caller of the requests that follow the login.
impl From<&LoggedIn> for Caller {
    fn from(logged_in: &LoggedIn) -> Self {
        logged_in.session.caller()
    }
}
