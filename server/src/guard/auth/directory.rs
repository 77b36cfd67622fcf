//! The accounts of the database, for logins.

use async_trait::async_trait;
use entity_core::{Context, Result};
use entity_providers::people::user;
use secrecy::SecretString;

use super::evidence::{Account, Directory};
use super::password::{Passwords, Verified};

/// The table of accounts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accounts;

#[async_trait]
impl Directory for Accounts {
    async fn account(&self, cx: &Context, username: &str) -> Result<Option<Account>> {
        let found = user::credentials(cx, username).await?;
        Ok(found.map(|it| Account {
            id: it.id,
            eid: it.eid,
            display_name: it.display_name,
            password_hash: it.password_hash.expose().map(ToOwned::to_owned),
            is_disabled: it.disabled == Some(true),
        }))
    }

    async fn note_login(&self, cx: &Context, user_id: &str) -> Result<()> {
        user::note_login(cx, user_id).await
    }

    async fn note_known(&self, cx: &Context, user_id: &str) -> Result<()> {
        user::known::note_account(cx, user_id).await
    }

    async fn keep_hash(&self, cx: &Context, user_id: &str, hash: &str) -> Result<()> {
        user::keep_hash(cx, user_id, hash).await
    }
}

#[async_trait]
impl user::Passwords for Passwords {
    async fn hash(&self, password: &str) -> Result<String> {
        Self::hash(self, password).await
    }

    async fn verify(&self, password: &str, stored: &str) -> Result<bool> {
        let place = self.queue_change().await?;
        let password = SecretString::from(password);
        let verified = Self::verify(self, &place, &password, Some(stored)).await?;
        Ok(verified != Verified::Wrong)
    }
}
