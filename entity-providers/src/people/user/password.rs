//! New passwords, and their hashes. Hashing one takes long, so it is done before the unit of work opens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use entity_core::db::Secret;
use entity_core::engine::{Made, Work};
use entity_core::{Context, Error, ErrorKind, Fields, Result, gate};
use futures::future::BoxFuture;

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
    /// The stored secret of the present password, which its owner knew.
    verified: Option<Secret>,
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
    pub async fn hash(self, passwords: &PasswordService) -> Result<PasswordHash> {
        let hash = passwords.0.hash(self.0.expose().unwrap_or_default());
        Ok(PasswordHash {
            hash: Secret::new(hash.await?),
            password: self.0,
            verified: None,
        })
    }
}

/// Hashes the new password in what is `sent`, if the caller may set it. Whoever changes their own has to know the present
/// one. An administrator who changes that of somebody else can't.
pub(super) fn edge<'a>(
    cx: &'a Context,
    id: &'a str,
    sent: &'a Fields,
) -> BoxFuture<'a, Result<Option<Work>>> {
    Box::pin(async move {
        let given = |name: &str| sent.text(name).filter(|it| !it.is_empty());
        let Some(password) = given("password") else {
            return Ok(None);
        };
        let own = own_id(cx, id);
        let may_set = match (own, id) {
            (Some(_), _) => true,
            (None, "") => gate::may_create::<User>(cx, None).await?,
            (None, _) => cx.authorizer().is_superuser(cx).await?,
        };
        if !may_set {
            return Ok(None);
        }
        let password = NewPassword::new(password)?;
        let current = given(CURRENT).map(ToOwned::to_owned);
        let check = match own {
            Some(own) => Some(present(cx, own, current).await?),
            None => None,
        };
        let passwords = cx.service::<PasswordService>()?;
        let work: Work = Box::pin(async move {
            if let Some((current, stored)) = &check
                && !passwords.0.verify(current, stored).await?
            {
                return Err(Error::field(CURRENT, "is not your present password"));
            }
            let made: Made = Arc::new(PasswordHash {
                verified: check.map(|it| Secret::new(it.1)),
                ..password.hash(&passwords).await?
            });
            Ok(made)
        });
        Ok(Some(work))
    })
}

/// Returns `current`, which is to be the present password of the account `id`, and what is stored of that.
async fn present(cx: &Context, id: &str, current: Option<String>) -> Result<(String, String)> {
    let current =
        current.ok_or_else(|| Error::field(CURRENT, "is required: send your present password"))?;
    let account = find::find(cx, id).await?.ok_or_else(Error::not_found)?;
    let Some(stored) = account.password_hash.expose() else {
        return Err(Error::new(
            ErrorKind::Forbidden,
            "your account has no password here: ask an administrator to give it one",
        ));
    };
    let tries = cx.service::<TryService>()?;
    tries.0.ask(Guess::Password, id, cx.steady())?;
    Ok((current, stored.to_owned()))
}

/// Takes the new password out of `user`, who was `before`, and returns what is stored of it, if there is one.
pub(super) fn take(
    cx: &Context,
    user: &mut User,
    before: Option<&User>,
) -> Result<Option<Arc<PasswordHash>>> {
    let (password, _current) = (user.password.take(), user.current_password.take());
    let Some(password) = password.filter(|it| !it.is_empty()) else {
        return Ok(None);
    };
    let made = cx.made::<PasswordHash>();
    let made = made.filter(|it| it.password.expose() == Some(&password));
    let made =
        made.ok_or_else(|| Error::field("password", "must be sent whole: no patch copies one"))?;
    let own = before.filter(|it| cx.caller().user_id() == Some(&it.id));
    match made.verified.as_ref() == own.map(|it| &it.password_hash) {
        true => Ok(Some(made)),
        false => Err(Error::conflict(
            "the account was changed meanwhile: try again",
        )),
    }
}
