//! Slows down whoever guesses passwords. It counts failures, never successes.
//!
//! Failures are counted for an account together with the network they come from, so that a stranger
//! elsewhere can't lock the owner out, and for that network alone, so that many accounts can't be tried
//! from one place. The counts are in the database: all nodes share them and a restart does not clear them.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::{Context, Result};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue, QuerySelect as _};
use sha2::{Digest as _, Sha256};

/// The most forgotten rows that one sweep removes.
const SWEEP: u64 = 500;

/// How patient the service is.
#[derive(Clone, Copy, Debug)]
pub struct ThrottleOptions {
    /// Failures of an account from one network before its next one has to wait.
    pub free_for_account: i64,
    /// Failures of a network before it has to wait. A whole campus may share one address.
    pub free_for_address: i64,
    /// The first wait; each further failure doubles it.
    pub first_wait: TimeDelta,
    /// The longest wait for an account.
    pub longest_wait: TimeDelta,
    /// The longest wait for a network.
    pub longest_wait_for_address: TimeDelta,
    /// After this time without a failure, all is forgotten.
    pub memory: TimeDelta,
}

impl Default for ThrottleOptions {
    fn default() -> Self {
        Self {
            free_for_account: 5,
            free_for_address: 20,
            first_wait: TimeDelta::seconds(1),
            longest_wait: TimeDelta::minutes(15),
            longest_wait_for_address: TimeDelta::minutes(1),
            memory: TimeDelta::hours(1),
        }
    }
}

/// Counts failures and says how long to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttle {
    options: ThrottleOptions,
}

/// Whose failures are counted: a hash, so that the table tells nothing about who tried what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    key: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Account,
    Address,
}

impl Subject {
    /// An account, by its id or by the name that no account has, as tried from `address`.
    pub fn account(name: &str, address: IpAddr) -> Self {
        let name = name.trim().to_lowercase();
        Self {
            key: digest(&["account", &name, &network(address)]),
            kind: Kind::Account,
        }
    }

    /// The network of `address`.
    pub fn address(address: IpAddr) -> Self {
        Self {
            key: digest(&["address", &network(address)]),
            kind: Kind::Address,
        }
    }
}

impl Throttle {
    /// As patient as `options` say.
    pub fn new(options: ThrottleOptions) -> Self {
        Self { options }
    }

    /// How long `subject` still has to wait; `None` if it may try now.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn wait(&self, cx: &Context, subject: &Subject) -> Result<Option<TimeDelta>> {
        let Some(row) = self.count(cx, subject).await? else {
            return Ok(None);
        };
        let passed = TimeDelta::milliseconds(cx.now().timestamp_millis() - row.last_failure);
        let left = self.pause(subject.kind, row.failures) - passed;
        Ok((left > TimeDelta::zero()).then_some(left))
    }

    /// Counts a failure of `subject`.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn failed(&self, cx: &Context, subject: &Subject) -> Result<()> {
        let before = self.count(cx, subject).await?.map_or(0, |it| it.failures);
        let row = ActiveModel {
            subject: ActiveValue::Set(subject.key.clone()),
            failures: ActiveValue::Set(before.saturating_add(1)),
            last_failure: ActiveValue::Set(cx.now().timestamp_millis()),
        };
        let replace = OnConflict::column(Column::Subject)
            .update_columns([Column::Failures, Column::LastFailure])
            .to_owned();
        Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(cx.db()?)
            .await?;
        Ok(())
    }

    /// Forgets the failures of `subject`, who has shown to be who they say.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn forget(&self, cx: &Context, subject: &Subject) -> Result<()> {
        Entity::delete_by_id(subject.key.clone())
            .exec(cx.db()?)
            .await?;
        Ok(())
    }

    /// Removes counts that are forgotten anyway, a bounded number at a time; answers how many.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn sweep(&self, cx: &Context) -> Result<u64> {
        let old: Vec<String> = Entity::find()
            .select_only()
            .column(Column::Subject)
            .filter(Column::LastFailure.lt(self.horizon(cx.now())))
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

    async fn count(&self, cx: &Context, subject: &Subject) -> Result<Option<Model>> {
        let row = Entity::find_by_id(subject.key.clone())
            .one(cx.db()?)
            .await?;
        Ok(row.filter(|it| it.last_failure >= self.horizon(cx.now())))
    }

    fn horizon(&self, now: DateTime<Utc>) -> i64 {
        (now - self.options.memory).timestamp_millis()
    }

    /// The wait after so many failures: none, then the first one, then twice as long each time.
    fn pause(&self, kind: Kind, failures: i64) -> TimeDelta {
        let (free, longest) = match kind {
            Kind::Account => (self.options.free_for_account, self.options.longest_wait),
            Kind::Address => (
                self.options.free_for_address,
                self.options.longest_wait_for_address,
            ),
        };
        let beyond = failures.saturating_sub(free);
        if beyond < 0 {
            return TimeDelta::zero();
        }
        let doublings = u32::try_from(beyond).unwrap_or(u32::MAX);
        2_i32
            .checked_pow(doublings)
            .and_then(|it| self.options.first_wait.checked_mul(it))
            .map_or(longest, |it| it.min(longest))
    }
}

/// The network that an address stands for: in IPv6 one household has 2^64 of them.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(it) => it.to_string(),
        IpAddr::V6(it) => {
            let [a, b, c, d, ..] = it.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
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

/// How often somebody failed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_failure")]
pub struct Model {
    /// Who, as a hash.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    /// How often in a row.
    pub failures: i64,
    /// When last, in milliseconds since 1970.
    pub last_failure: i64,
}

/// It belongs to no other table.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_from_the_fifth_failure_on_up_to_a_quarter_of_an_hour() {
        let throttle = Throttle::default();
        let seconds = |kind, failures| throttle.pause(kind, failures).num_seconds();
        let account: Vec<_> = (0..18).map(|it| seconds(Kind::Account, it)).collect();
        assert_eq!(
            account,
            [
                0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900
            ]
        );
        assert_eq!(seconds(Kind::Account, i64::MAX), 900);
        assert_eq!(seconds(Kind::Address, 19), 0);
        assert_eq!(seconds(Kind::Address, 20), 1);
        assert_eq!(seconds(Kind::Address, 99), 60);
    }

    #[test]
    fn a_household_is_one_network() {
        let of = |it: &str| Subject::account("a", it.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        let address = "192.0.2.1".parse().unwrap();
        assert_eq!(
            Subject::account(" Ada ", address),
            Subject::account("ada", address)
        );
    }
}
