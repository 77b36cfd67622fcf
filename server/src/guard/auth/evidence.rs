//! Evidence: the credentials of a user, and the authenticators that check them.

use std::net::IpAddr;

use async_trait::async_trait;
use entity_core::{Context, Result};
use entity_providers::people::session_event::{LOGIN_BASIC, LOGIN_HEADER};
use secrecy::SecretString;

use super::password::{Passwords, Permit, Verified};
use crate::base::config::ProxySettings;

/// The credentials that a client shows.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A name and a password, typed into a form or sent by a client.
    Password {
        /// The external id, or an e-mail address that only one account has.
        username: String,
        /// The password.
        password: SecretString,
    },
    /// A name and a password in the `Authorization` header of a request.
    Basic {
        /// As in [`Evidence::Password`].
        username: String,
        /// The password.
        password: SecretString,
    },
    /// A name in a header that a single sign-on proxy in front of the service has set.
    Trusted {
        /// As in [`Evidence::Password`].
        username: String,
        /// The address of the connection itself, whatever its headers say.
        peer: IpAddr,
    },
}

impl Evidence {
    /// Returns the user name that the evidence claims.
    pub fn username(&self) -> &str {
        match self {
            Self::Password { username, .. }
            | Self::Basic { username, .. }
            | Self::Trusted { username, .. } => username,
        }
    }
}

impl Evidence {
    /// The kind of login that this is where no session begins; nothing for evidence that begins one.
    pub(super) fn kind_without_session(&self) -> Option<&'static str> {
        match self {
            Self::Password { .. } => None,
            Self::Basic { .. } => Some(LOGIN_BASIC),
            Self::Trusted { .. } => Some(LOGIN_HEADER),
        }
    }
}

/// The properties of an account that a login needs.
#[derive(derive_more::Debug, Clone)]
#[debug("Account {{ id: {:?} }}", self.id)]
pub struct Account {
    /// The internal id.
    pub id: String,
    /// The external id.
    pub eid: String,
    /// The name by which people call the user.
    pub display_name: String,
    /// The hash of the password, if the account has one.
    pub password_hash: Option<String>,
    /// True if it may not be used.
    pub is_disabled: bool,
}

/// Knows the accounts.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The account of `username`: an external id, or an e-mail address that only one account has.
    async fn account(&self, cx: &Context, username: &str) -> Result<Option<Account>>;

    /// Notes that the user has just logged in.
    async fn note_login(&self, cx: &Context, user_id: &str) -> Result<()>;

    /// Notes that the user has just logged in with a password that everybody knows.
    async fn note_known(&self, cx: &Context, user_id: &str) -> Result<()>;

    /// Keeps a stronger hash of the password that the account has already.
    async fn keep_hash(&self, cx: &Context, user_id: &str, hash: &str) -> Result<()>;
}

/// Checks one or more kinds of evidence.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Returns whether it knows this kind.
    fn accepts(&self, evidence: &Evidence) -> bool;

    /// Checks `evidence` against `account`. It must take as long without an account as with one.
    async fn verify(
        &self,
        evidence: &Evidence,
        account: Option<&Account>,
        place: &Permit,
    ) -> Result<Verified>;
}

/// Checks passwords, those of the `Authorization` header only if they were switched on.
#[derive(Clone, Debug)]
pub struct PasswordCheck {
    /// Hashes and verifies passwords.
    pub passwords: Passwords,
    /// True if [`Evidence::Basic`] is taken.
    pub allows_basic: bool,
}

#[async_trait]
impl Authenticator for PasswordCheck {
    fn accepts(&self, evidence: &Evidence) -> bool {
        match evidence {
            Evidence::Password { .. } => true,
            Evidence::Basic { .. } => self.allows_basic,
            Evidence::Trusted { .. } => false,
        }
    }

    async fn verify(
        &self,
        evidence: &Evidence,
        account: Option<&Account>,
        place: &Permit,
    ) -> Result<Verified> {
        let (Evidence::Password { password, .. } | Evidence::Basic { password, .. }) = evidence
        else {
            return Ok(Verified::Wrong);
        };
        let stored = account.and_then(|it| it.password_hash.as_deref());
        self.passwords.verify(place, password, stored).await
    }
}

/// Believes what a proxy at one of these addresses says.
#[derive(Clone, Debug)]
pub struct TrustedHeader(pub ProxySettings);

#[async_trait]
impl Authenticator for TrustedHeader {
    fn accepts(&self, evidence: &Evidence) -> bool {
        matches!(evidence, Evidence::Trusted { peer, .. } if self.0.trusts(*peer))
    }

    async fn verify(
        &self,
        _evidence: &Evidence,
        account: Option<&Account>,
        _place: &Permit,
    ) -> Result<Verified> {
        Ok(account.map_or(Verified::Wrong, |_account| Verified::Right))
    }
}
