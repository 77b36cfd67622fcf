//! Slows down clients that guess passwords. It counts failures, never successes.
//!
//! Two limits hold, both also for accounts that do not exist. The counts are in the database: all nodes share them and
//! a restart does not clear them.
//!
//! - An account together with the network that it is tried from, so that a stranger elsewhere can't lock the owner out:
//!   after five failures each further one doubles a wait, up to a quarter of an hour. That is at most 17 guesses in
//!   an hour, and 13 an hour for who goes on.
//! - A network, so that many accounts can't be tried from one place. A whole campus may share one address, so this
//!   is wide, and one failure never costs the others much: 100 failures may stand against a network, and every six
//!   seconds one of them no longer does. That is at most 700 guesses in the first hour, and 600 in each further one.
//!
//! A try that has to wait is refused before its password is checked, and counts towards neither: nobody locks out
//! others, or an account, by trying on.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::{Context, Result};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{IntoActiveModel as _, QuerySelect as _};
use sha2::{Digest as _, Sha256};

use crate::base::config::LoginSettings;
use crate::base::network::network;
use crate::base::system::{STEP, delta};

/// The most forgotten rows that one sweep removes.
const SWEEP: u64 = 500;

/// The first wait for an account; each further failure doubles it.
const FIRST_WAIT: TimeDelta = TimeDelta::seconds(1);
/// The longest wait for an account.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(15);
/// After this time without a failure, those of an account are forgotten.
const MEMORY: TimeDelta = TimeDelta::hours(1);

/// Counts failures and tells the time to wait.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    /// Failures of an account from one network before its next one has to wait.
    account_failures: i64,
    /// Failures that may stand against a network.
    address_failures: i64,
    /// The milliseconds until one of them no longer does.
    address_interval: i64,
}

/// The one whose failures are counted: a hash, so that the table tells nothing about who tried what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    key: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Each failure makes the wait longer.
    Backoff,
    /// Failures fade, one after the other.
    LeakyBucket,
}

impl Subject {
    /// An account, by its id or by the name that no account has, as tried from `address`.
    pub fn account(name: &str, address: IpAddr) -> Self {
        Self::of(Kind::Backoff, "account", name, address)
    }

    /// The network of `address`.
    pub fn address(address: IpAddr) -> Self {
        Self::of(Kind::LeakyBucket, "address", "", address)
    }

    fn of(kind: Kind, what: &str, name: &str, address: IpAddr) -> Self {
        let name = name.trim().to_lowercase();
        Self {
            key: digest(&[what, &name, &network(address).to_string()]),
            kind,
        }
    }
}

impl Throttle {
    /// As patient as `settings` say.
    pub fn new(settings: &LoginSettings) -> Self {
        let count = |it| i64::try_from(it).unwrap_or(i64::MAX);
        Self {
            account_failures: count(settings.account_failures),
            address_failures: count(settings.address_failures),
            address_interval: delta(settings.address_interval).num_milliseconds().max(1),
        }
    }

    /// Returns the time for which `subject` still has to wait; `None` if it may try now.
    pub async fn wait(&self, cx: &Context, subject: &Subject) -> Result<Option<TimeDelta>> {
        let row = Entity::find_by_id(&subject.key).one(cx.db()?).await?;
        Ok(row.and_then(|it| self.left(subject.kind, &it, cx.steady())))
    }

    /// Counts a failure of `subject`.
    pub async fn failed(&self, cx: &Context, subject: &Subject) -> Result<()> {
        // Locked, so that failures at the same time count one by one.
        let before = Entity::find_by_id(&subject.key)
            .lock_exclusive()
            .one(cx.db()?)
            .await?;
        let row = self.counted(subject, before, cx.steady());
        let replace = OnConflict::column(Column::Subject)
            .update_columns([Column::Failures, Column::LastFailure])
            .to_owned();
        Entity::insert(row.into_active_model())
            .on_conflict(replace)
            .exec_without_returning(cx.db()?)
            .await?;
        Ok(())
    }

    /// Forgets the failures of `subject`, which has authenticated.
    pub async fn forget(&self, cx: &Context, subject: &Subject) -> Result<()> {
        Entity::delete_by_id(subject.key.clone())
            .exec(cx.db()?)
            .await?;
        Ok(())
    }

    /// Removes counts that are forgotten anyway at `now`, a bounded number at a time; answers how many.
    pub async fn sweep(&self, cx: &Context, now: DateTime<Utc>) -> Result<u64> {
        let memory = MEMORY.num_milliseconds();
        let fading = self.address_interval.saturating_mul(self.address_failures);
        let horizon = now.timestamp_millis().saturating_sub(memory.max(fading));
        let old: Vec<String> = Entity::find()
            .select_only()
            .column(Column::Subject)
            .filter(Column::LastFailure.lt(horizon))
            .limit(SWEEP)
            .into_tuple()
            .all(cx.db()?)
            .await?;
        let done = Entity::delete_many()
            .filter(Column::Subject.is_in(old))
            .exec(cx.db()?)
            .await?;
        Ok(done.rows_affected)
    }

    /// The rest of the wait that `row` imposes.
    fn left(&self, kind: Kind, row: &Model, now: DateTime<Utc>) -> Option<TimeDelta> {
        let passed = row.age(now);
        let left = match kind {
            Kind::Backoff if passed > MEMORY.num_milliseconds() => 0,
            Kind::Backoff => self.pause(row.failures).saturating_sub(passed),
            Kind::LeakyBucket if row.failures < self.address_failures => 0,
            Kind::LeakyBucket => self.address_interval.saturating_sub(passed),
        };
        (left > 0).then(|| TimeDelta::milliseconds(left))
    }

    /// The row of `subject` after one more failure.
    fn counted(&self, subject: &Subject, before: Option<Model>, now: DateTime<Utc>) -> Model {
        let first = Model {
            subject: subject.key.clone(),
            failures: 1,
            last_failure: now.timestamp_millis(),
        };
        let Some(before) = before else {
            return first;
        };
        match subject.kind {
            Kind::Backoff if before.age(now) > MEMORY.num_milliseconds() => first,
            Kind::Backoff => Model {
                failures: before.failures.saturating_add(1),
                ..first
            },
            Kind::LeakyBucket => {
                let faded = before.age(now) / self.address_interval;
                let standing = before.failures.saturating_sub(faded);
                if standing <= 0 {
                    return first;
                }
                let since = before
                    .last_failure
                    .saturating_add(faded.saturating_mul(self.address_interval));
                Model {
                    failures: standing.saturating_add(1).min(self.address_failures),
                    last_failure: since,
                    ..first
                }
            }
        }
    }

    /// The milliseconds to wait after so many failures: none, then the first wait, then twice as long each time.
    fn pause(&self, failures: i64) -> i64 {
        let longest = LONGEST_WAIT.num_milliseconds();
        let Ok(doublings) = u32::try_from(failures.saturating_sub(self.account_failures)) else {
            return if failures < self.account_failures {
                0
            } else {
                longest
            };
        };
        2_i64
            .checked_pow(doublings)
            .and_then(|it| FIRST_WAIT.num_milliseconds().checked_mul(it))
            .map_or(longest, |it| it.min(longest))
    }
}

fn digest(parts: &[&str]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(parts.join("\0"))
        .iter()
        .fold(String::new(), |mut text, it| {
            // Writing to a string can't fail.
            let _ = write!(text, "{it:02x}");
            text
        })
}

/// The number of times that somebody failed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_failure")]
pub struct Model {
    /// The one who failed, as a hash.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    /// The number of failures that count.
    pub failures: i64,
    /// The time of the last one or, where they fade, since when so many count. In milliseconds since 1970.
    pub last_failure: i64,
}

impl Model {
    /// Milliseconds since then. A failure in the future was counted before the clock was set back: nobody knows how
    /// long ago it was, and nobody is to wait until that time comes, so that it is forgotten.
    fn age(&self, now: DateTime<Utc>) -> i64 {
        match now.timestamp_millis().saturating_sub(self.last_failure) {
            age if age < -STEP.num_milliseconds() => i64::MAX,
            age => age.max(0),
        }
    }
}

/// It belongs to no other table.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

#[cfg(test)]
mod tests;
