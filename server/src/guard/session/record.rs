//! A session as the service keeps it.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::access::User;
use entity_core::{Caller, Error, Result};

use super::attributes::Attributes;
use super::id::{IdHash, new_csrf_token, new_handle};
use super::table::Model;

/// The time by which the clock of another node may be ahead.
const SKEW: TimeDelta = TimeDelta::minutes(1);

/// A session: its user, its times, and its origin.
#[derive(derive_more::Debug, Clone)]
#[debug("Session {{ handle: {:?}, user: {:?} }}", self.handle, self.user.id)]
pub struct Session {
    pub(crate) id: IdHash,
    pub(crate) handle: Arc<str>,
    pub(crate) user: Arc<User>,
    pub(crate) display_name: String,
    pub(crate) created: DateTime<Utc>,
    pub(crate) last_accessed: DateTime<Utc>,
    pub(crate) max_inactive: TimeDelta,
    pub(crate) csrf_token: String,
    pub(crate) address: String,
    pub(crate) attributes: Attributes,
}

impl Session {
    /// A new session of `user`, which begins `now`.
    ///
    /// # Errors
    /// The operating system has no randomness to give.
    pub fn begin(
        id: IdHash,
        user: User,
        display_name: String,
        address: IpAddr,
        now: DateTime<Utc>,
        max_inactive: TimeDelta,
    ) -> Result<Self> {
        Ok(Self {
            id,
            handle: new_handle()?.into(),
            user: Arc::new(user),
            display_name,
            created: now,
            last_accessed: now,
            max_inactive,
            csrf_token: new_csrf_token()?,
            address: address.to_string(),
            attributes: Attributes::default(),
        })
    }

    /// Returns the hash of the id, under which the table has it.
    pub fn id(&self) -> IdHash {
        self.id
    }

    /// Its public name.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// Returns the user who is logged in.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// Returns the name by which people call the user.
    pub fn display_name(&self) -> &str {
        &self.display_name
    }

    /// Returns the time at which it began.
    pub fn created(&self) -> DateTime<Utc> {
        self.created
    }

    /// Returns the time of its last use, as the table has it.
    pub fn last_accessed(&self) -> DateTime<Utc> {
        self.last_accessed
    }

    /// Returns the time for which it may go unused.
    pub fn max_inactive(&self) -> TimeDelta {
        self.max_inactive
    }

    /// The token against forged requests.
    pub fn csrf_token(&self) -> &str {
        &self.csrf_token
    }

    /// Returns the address that the login came from.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its named attributes and those of its sub-sessions.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns the caller of its requests.
    pub fn caller(&self) -> Caller {
        Caller {
            user: Some(Arc::clone(&self.user)),
            session: Some(Arc::clone(&self.handle)),
        }
    }

    /// Returns whether it is over at `now`, when it was last used at `last_accessed`.
    ///
    /// One that begins in the future was made before the clock was set back; nobody knows its age, so it
    /// is over.
    pub(crate) fn is_over(
        &self,
        now: DateTime<Utc>,
        last_accessed: DateTime<Utc>,
        max_lifetime: TimeDelta,
    ) -> bool {
        let age = now.signed_duration_since(self.created);
        let unused = now.signed_duration_since(last_accessed);
        unused > self.max_inactive || age > max_lifetime || age < -SKEW
    }

    pub(crate) fn to_row(&self) -> Result<Model> {
        Ok(Model {
            id_hash: self.id.to_hex(),
            handle: self.handle.to_string(),
            user_id: self.user.id.clone(),
            user_eid: self.user.eid.clone(),
            display_name: self.display_name.clone(),
            created: self.created.timestamp_millis(),
            last_accessed: self.last_accessed.timestamp_millis(),
            max_inactive: self.max_inactive.num_seconds(),
            csrf_token: self.csrf_token.clone(),
            address: self.address.clone(),
            attributes: self.attributes.to_text()?,
        })
    }

    pub(crate) fn from_row(row: Model) -> Result<Self> {
        let unreadable = || Error::internal("a row of the table `session` can't be read");
        let instant = |millis| DateTime::from_timestamp_millis(millis).ok_or_else(unreadable);
        Ok(Self {
            id: IdHash::from_hex(&row.id_hash).ok_or_else(unreadable)?,
            handle: row.handle.into(),
            user: Arc::new(User {
                id: row.user_id,
                eid: row.user_eid,
            }),
            display_name: row.display_name,
            created: instant(row.created)?,
            last_accessed: instant(row.last_accessed)?,
            max_inactive: TimeDelta::try_seconds(row.max_inactive).ok_or_else(unreadable)?,
            csrf_token: row.csrf_token,
            address: row.address,
            attributes: Attributes::from_text(&row.attributes)?,
        })
    }
}
