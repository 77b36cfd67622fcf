//! New passwords, and what is stored of them. Hashing one takes long, so it is done before the unit of work opens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use entity_core::context::Shared;
use entity_core::db::Secret;
use entity_core::engine::Prepare;
use entity_core::{Context, Error, ErrorKind, Fields, Result};

use super::tries::{Guess, TryService};
use super::{User, find, known, own_id};

const LEAST_PASSWORD: usize = 8;
const MOST_PASSWORD: usize = 1024;
/// The field with the present password.
const CURRENT: &str = "currentPassword";

/// Turns passwords into what is stored.
#[async_trait]
pub trait Passwords: fmt::Debug + Send + Sync {
    /// The hash of `password`, with everything that is needed to verify it.
    async fn hash(&self, password: &str) -> Result<String>;

    /// Returns whether `stored` is a hash of `password`.
    async fn verify(&self, password: &str, stored: &str) -> Result<bool>;
}

/// The way of the service to turn passwords into what is stored.
#[derive(Clone, Debug)]
pub struct PasswordService(pub Arc<dyn Passwords>);

/// A password that somebody chose.
#[derive(Clone, Debug)]
pub struct NewPassword(Secret);

/// The hash of a password, as it is stored.
#[derive(Clone, Debug)]
pub struct PasswordHash {
    pub(super) hash: Secret,
    /// The password of which it was made.
    password: Secret,
}

impl PasswordHash {
    /// Notes that everybody knows the password that `user` has now, if that is so.
    pub(super) async fn note(&self, cx: &Context, user: &User) -> Result<()> {
        match self.hash.expose().filter(|_| self.is_known(user)) {
            Some(hash) => known::note(cx, hash).await,
            None => Ok(()),
        }
    }

    /// Refuses the password for `user` if everybody knows it: with such an account, a service may refuse to start.
    ///
    /// # Errors
    /// Everybody knows it.
    pub(super) fn refuse_known(&self, user: &User) -> Result<()> {
        match self.is_known(user) {
            true => Err(Error::field(
                "password",
                "is one that everybody tries first: choose another",
            )),
            false => Ok(()),
        }
    }

    fn is_known(&self, user: &User) -> bool {
        let password = self.password.expose();
        password.is_some_and(|it| known::is_known(it, &[&user.eid, &user.email]))
    }
}

impl NewPassword {
    /// This one.
    ///
    /// # Errors
    /// It is too short or too long.
    pub fn new(password: &str) -> Result<Self> {
        match (LEAST_PASSWORD..=MOST_PASSWORD).contains(&password.len()) {
            true => Ok(Self(Secret::new(password))),
            false => Err(Error::field(
                "password",
                format!("must have {LEAST_PASSWORD} to {MOST_PASSWORD} bytes"),
            )),
        }
    }

    /// Returns the hash of it, as it is stored.
    ///
    /// # Errors
    /// Too many passwords are hashed right now.
    pub async fn hash(self, shared: &Shared) -> Result<PasswordHash> {
        let passwords = shared.service::<PasswordService>()?;
        let hash = passwords.0.hash(self.0.expose().unwrap_or_default());
        Ok(PasswordHash {
            hash: Secret::new(hash.await?),
            password: self.0,
        })
    }
}

/// A change of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    password: Secret,
    current: Secret,
    /// The id of whoever changes their own, and what is stored of the present one.
    own: Option<(String, Secret)>,
}

impl Change {
    /// None without a new password: a form that leaves it as it is has an empty one.
    fn of(password: Option<&str>, current: Option<&str>) -> Option<Self> {
        let given = |text: Option<&str>| text.filter(|it| !it.is_empty()).map(Secret::new);
        Some(Self {
            password: given(password)?,
            current: given(current).unwrap_or_default(),
            own: None,
        })
    }

    /// The same, of the own account of the caller.
    fn of_own(self, account: &User) -> Self {
        Self {
            own: Some((account.id.clone(), account.password_hash.clone())),
            ..self
        }
    }
}

impl Prepare for User {
    type Raw = Change;
    type Prepared = PasswordHash;

    fn raw(fields: &Fields) -> Option<Change> {
        Change::of(fields.text("password"), fields.text(CURRENT))
    }

    /// Whoever changes their own password has to know the present one. An administrator who changes that of somebody
    /// else can't.
    async fn complete(cx: &Context, id: &str, change: Change) -> Result<Change> {
        let Some(own) = own_id(cx, id) else {
            return Ok(change);
        };
        let account = find::find(cx, own).await?.ok_or_else(Error::not_found)?;
        Ok(change.of_own(&account))
    }

    async fn prepare(shared: &Shared, change: &Change) -> Result<PasswordHash> {
        let password = NewPassword::new(change.password.expose().unwrap_or_default())?;
        if let Some((id, stored)) = &change.own {
            check_current(shared, id, stored, change.current.expose()).await?;
        }
        password.hash(shared).await
    }
}

/// Insists that `current` is the present password of the account `id`.
async fn check_current(
    shared: &Shared,
    id: &str,
    stored: &Secret,
    current: Option<&str>,
) -> Result<()> {
    let current =
        current.ok_or_else(|| Error::field(CURRENT, "is required: send your present password"))?;
    let Some(stored) = stored.expose() else {
        return Err(Error::new(
            ErrorKind::Forbidden,
            "your account has no password here: ask an administrator to give it one",
        ));
    };
    let tries = shared.service::<TryService>()?;
    tries.0.ask(Guess::Password, id, shared.clock.steady())?;
    let passwords = shared.service::<PasswordService>()?;
    match passwords.0.verify(current, stored).await? {
        true => Ok(()),
        false => Err(Error::field(CURRENT, "is not your present password")),
    }
}

/// Takes the new password out of `user`, who was `before`, and answers what is stored of it, if there is one.
pub(super) async fn hash(
    cx: &Context,
    user: &mut User,
    before: Option<&User>,
) -> Result<Option<Arc<PasswordHash>>> {
    let (password, current) = (user.password.take(), user.current_password.take());
    let Some(mut change) = Change::of(password.as_deref(), current.as_deref()) else {
        return Ok(None);
    };
    if let Some(own) = before.filter(|it| cx.caller().user_id() == Some(&it.id)) {
        change = change.of_own(own);
    }
    cx.prepared::<User>(&change).await.map(Some)
}
