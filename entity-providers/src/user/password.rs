//! New passwords, and what is stored of them. Hashing one takes long, so it is done before the unit of work opens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use entity_core::{Context, Error, Fields, Prepare, Result, Shared};

use super::Users;
use crate::fields::text;

const LEAST_PASSWORD: usize = 8;
const MOST_PASSWORD: usize = 1024;

/// Turns passwords into what is stored.
#[async_trait]
pub trait Passwords: Send + Sync {
    /// The hash of `password`, with everything that is needed to verify it.
    async fn hash(&self, password: &str) -> Result<String>;
}

/// The way of the service to turn passwords into what is stored.
#[derive(Clone)]
pub struct PasswordService(pub Arc<dyn Passwords>);

/// A password that somebody chose.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPassword(String);

/// What is stored of a password.
#[derive(Clone)]
pub struct PasswordHash(pub(super) String);

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
        passwords.0.hash(&self.0).await.map(PasswordHash)
    }
}

impl Prepare for Users {
    type Raw = String;
    type Prepared = PasswordHash;

    /// The password, if there is one: a form that leaves it as it is has an empty one.
    fn raw(fields: &Fields) -> Option<String> {
        text(fields, "password")
            .flatten()
            .filter(|it| !it.is_empty())
    }

    async fn prepare(shared: &Shared, password: &String) -> Result<PasswordHash> {
        NewPassword::new(password)?.hash(shared).await
    }
}

/// What is stored of the password in `fields`, if there is one.
pub(super) async fn hash(cx: &Context, fields: &Fields) -> Result<Option<PasswordHash>> {
    let Some(password) = Users::raw(fields) else {
        return Ok(None);
    };
    let hash = cx.prepared::<Users>(&password).await?;
    Ok(Some((*hash).clone()))
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
