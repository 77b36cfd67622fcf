//! New passwords, and what is stored of them. Hashing one takes long, so it is done before the unit of work opens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use entity_core::{Context, Error, ErrorKind, Fields, Prepare, Result, Shared};

use super::tries::{Guess, TryService};
use super::{User, Users, is_self, known, query};
use crate::fields::text;

const LEAST_PASSWORD: usize = 8;
const MOST_PASSWORD: usize = 1024;
/// The field with the present password.
const CURRENT: &str = "currentPassword";

/// Turns passwords into what is stored.
#[async_trait]
pub trait Passwords: Send + Sync {
    /// The hash of `password`, with everything that is needed to verify it.
    async fn hash(&self, password: &str) -> Result<String>;

    /// Whether `stored` is a hash of `password`.
    async fn verify(&self, password: &str, stored: &str) -> Result<bool>;
}

/// The way of the service to turn passwords into what is stored.
#[derive(Clone)]
pub struct PasswordService(pub Arc<dyn Passwords>);

/// A password that somebody chose.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPassword(String);

/// What is stored of a password.
#[derive(Clone)]
pub struct PasswordHash {
    pub(super) hash: String,
    /// What it was made of.
    password: NewPassword,
}

impl PasswordHash {
    /// Notes that everybody knows the password that `user` has now, if that is so.
    pub(super) async fn note(&self, cx: &Context, user: &User) -> Result<()> {
        match self.is_known(user) {
            true => known::note(cx, &self.hash).await,
            false => Ok(()),
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
        known::is_known(&self.password.0, &[&user.eid, &user.email])
    }
}

impl NewPassword {
    /// This one.
    ///
    /// # Errors
    /// It is too short or too long.
    pub fn new(password: &str) -> Result<Self> {
        match (LEAST_PASSWORD..=MOST_PASSWORD).contains(&password.len()) {
            true => Ok(Self(password.to_owned())),
            false => Err(Error::field(
                "password",
                format!("must have {LEAST_PASSWORD} to {MOST_PASSWORD} bytes"),
            )),
        }
    }

    /// What is stored of it.
    ///
    /// # Errors
    /// Too many passwords are hashed right now.
    pub async fn hash(&self, shared: &Shared) -> Result<PasswordHash> {
        let passwords = shared.service::<PasswordService>()?;
        Ok(PasswordHash {
            hash: passwords.0.hash(&self.0).await?,
            password: self.clone(),
        })
    }
}

/// A change of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Change {
    password: String,
    current: Option<String>,
    /// Of whoever changes their own, what it has to fit to.
    own: Option<Own>,
}

/// What is known of the caller's own account.
#[derive(Clone, PartialEq, Eq)]
struct Own {
    id: String,
    stored: Option<String>,
}

impl Prepare for Users {
    type Raw = Change;
    type Prepared = PasswordHash;

    /// The password, if there is one: a form that leaves it as it is has an empty one.
    fn raw(fields: &Fields) -> Option<Change> {
        let given = |name| text(fields, name).flatten().filter(|it| !it.is_empty());
        Some(Change {
            password: given("password")?,
            current: given(CURRENT),
            own: None,
        })
    }

    /// Whoever changes their own password has to know the present one. An administrator who changes that of somebody
    /// else can't.
    async fn complete(cx: &Context, id: &str, change: Change) -> Result<Change> {
        if id.is_empty() || !is_self(cx, id) {
            return Ok(change);
        }
        let id = cx.user_id()?;
        let account = query::by_id(cx, id).await?.ok_or_else(Error::not_found)?;
        let own = Own {
            id: account.id,
            stored: account.password_hash,
        };
        Ok(Change {
            own: Some(own),
            ..change
        })
    }

    async fn prepare(shared: &Shared, change: &Change) -> Result<PasswordHash> {
        let password = NewPassword::new(&change.password)?;
        if let Some(own) = &change.own {
            own.check(shared, change.current.as_deref()).await?;
        }
        password.hash(shared).await
    }
}

impl Own {
    /// Insists that `current` is the present password.
    async fn check(&self, shared: &Shared, current: Option<&str>) -> Result<()> {
        let current = current
            .ok_or_else(|| Error::field(CURRENT, "is required: send your present password"))?;
        let Some(stored) = &self.stored else {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "your account has no password here: ask an administrator to give it one",
            ));
        };
        let tries = shared.service::<TryService>()?;
        tries
            .0
            .ask(Guess::Password, &self.id, shared.clock.steady())?;
        let passwords = shared.service::<PasswordService>()?;
        match passwords.0.verify(current, stored).await? {
            true => Ok(()),
            false => Err(Error::field(CURRENT, "is not your present password")),
        }
    }
}

/// What is stored of the password in `fields`, which are of the account `id`, if there is one.
pub(super) async fn hash(cx: &Context, id: &str, fields: &Fields) -> Result<Option<PasswordHash>> {
    let Some(change) = Users::raw(fields) else {
        return Ok(None);
    };
    let change = Users::complete(cx, id, change).await?;
    let hash = cx.prepared::<Users>(&change).await?;
    Ok(Some((*hash).clone()))
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

impl fmt::Debug for PasswordService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordService")
    }
}

impl fmt::Debug for NewPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewPassword")
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash")
    }
}
