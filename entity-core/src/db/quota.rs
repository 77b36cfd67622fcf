//! Quotas: limits on how much an account and a site may have, checked at the end of each request that writes.
//!
//! The database [counts](super::usage) the usage in the same transaction. On PostgreSQL the row of the count is locked
//! until the transaction ends, and on SQLite only one unit of work writes at a time, so two concurrent requests can't
//! both take the last that is allowed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, Value};

use crate::contract::context::Context;
use crate::db::session::Session;
use crate::primitives::error::{Error, Result};

/// The limits for one account or one site. 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The maximum number of entities.
    pub entities: u64,
    /// The maximum number of bytes of text that clients wrote.
    pub bytes: u64,
}

/// The quotas of a service, one of the [services](crate::context::Shared::services) that its units of work share. Without this
/// service there are no quotas.
#[derive(derive_more::Debug)]
#[debug("Quotas {{ account: {:?}, site: {:?} }}", self.account, self.site)]
pub struct Quotas {
    account: Quota,
    site: Quota,
    reader: DatabaseConnection,
    refused: AtomicU64,
}

/// The kind of owner that a row of the table `usage` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Account,
    Site,
}

/// The usage of one account or one site.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Usage {
    kind: Kind,
    id: String,
    entities: u64,
    bytes: u64,
}

/// A limit, and how much of it is used.
struct LimitUsage {
    setting: &'static str,
    what: &'static str,
    most: u64,
    has: u64,
}

impl Quotas {
    /// Creates the quotas of each account and of each site; `reader` must see only what is committed.
    pub fn new(account: Quota, site: Quota, reader: DatabaseConnection) -> Self {
        Self {
            account,
            site,
            reader,
            refused: AtomicU64::new(0),
        }
    }

    /// Returns how many requests were refused because of a limit.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn of(&self, kind: Kind) -> Quota {
        match kind {
            Kind::Account => self.account,
            Kind::Site => self.site,
        }
    }

    fn limit_usages(&self, usage: &Usage) -> [LimitUsage; 2] {
        let Quota { entities, bytes } = self.of(usage.kind);
        let (of_entities, of_bytes) = match usage.kind {
            Kind::Account => ("quota.accountEntities", "quota.accountBytes"),
            Kind::Site => ("quota.siteEntities", "quota.siteBytes"),
        };
        [
            LimitUsage {
                setting: of_entities,
                what: "entities",
                most: entities,
                has: usage.entities,
            },
            LimitUsage {
                setting: of_bytes,
                what: "bytes",
                most: bytes,
                has: usage.bytes,
            },
        ]
    }

    /// Returns the error for a limit that `now` exceeds, and `before` exceeded by less or not at all, if there is one:
    /// an account or a site that has too much may still delete some of it, and change it in any way that takes no more.
    fn exceeded(&self, now: &Usage, before: &Usage) -> Option<Error> {
        let [before_entities, before_bytes] = self.limit_usages(before).map(|it| it.has);
        let [entities, bytes] = self.limit_usages(now);
        let met = [(entities, before_entities), (bytes, before_bytes)]
            .into_iter()
            .find(|(it, before)| it.is_exceeded() && it.has > *before)?;
        let (limit, before) = met;
        let LimitUsage {
            setting,
            what,
            most,
            has,
        } = limit;
        let whose = match now.kind {
            Kind::Account => "your account has".to_owned(),
            Kind::Site => format!("the site `{}` has", now.id),
        };
        Some(Error::limit_reached(format!(
            "{whose} {before} {what} and would have {has} of at most {most} (`{setting}`): delete something first, or ask an administrator for more"
        )))
    }
}

impl LimitUsage {
    fn is_exceeded(&self) -> bool {
        self.most > 0 && self.has > self.most
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Site => "site",
        }
    }

    fn of_name(name: &str) -> Self {
        match name {
            "account" => Self::Account,
            _ => Self::Site,
        }
    }
}

/// Refuses the writes of the request that runs in `cx` if they leave its caller, or a site that its events name, with
/// more than the quota and more than before. Super users have no limits.
///
/// # Errors
/// Returns an error if a limit is exceeded or the database can't be read, and a transient one if the request must be
/// run by itself to find out what there was before.
pub async fn check(cx: &Context) -> Result<()> {
    let Some(quotas) = cx.shared.services.get::<Quotas>() else {
        return Ok(());
    };
    let asked = concerned(cx, &quotas);
    let Some(Session::Writer(db)) = cx.unit.as_any().downcast_ref() else {
        return Ok(());
    };
    if asked.is_empty() {
        return Ok(());
    }
    let mut far = usage(db, &asked).await?;
    far.retain(|it| quotas.limit_usages(it).iter().any(LimitUsage::is_exceeded));
    if far.is_empty() || cx.authorizer().is_superuser(cx).await? {
        return Ok(());
    }
    let asked = far.iter().map(|it| (it.kind, it.id.clone())).collect();
    let before = usage(&quotas.reader, &asked).await?;
    for now in &far {
        let found = before
            .iter()
            .find(|it| (it.kind, &it.id) == (now.kind, &now.id));
        let none = Usage {
            entities: 0,
            bytes: 0,
            ..now.clone()
        };
        if let Some(error) = quotas.exceeded(now, found.unwrap_or(&none)) {
            quotas.refused.fetch_add(1, Ordering::Relaxed);
            return Err(error);
        }
    }
    Ok(())
}

/// Returns the account and the sites that have a limit and whose usage the request may have changed.
fn concerned(cx: &Context, quotas: &Quotas) -> BTreeSet<(Kind, String)> {
    let account = cx.caller().user_id().map(ToOwned::to_owned);
    let account = account.map(|it| (Kind::Account, it));
    let sites = cx.events().into_iter().filter_map(|it| it.site);
    let all = account.into_iter().chain(sites.map(|it| (Kind::Site, it)));
    all.filter(|(kind, _)| quotas.of(*kind) != Quota::default())
        .collect()
}

/// Returns the usage of those of `asked` that have something.
async fn usage(db: &impl ConnectionTrait, asked: &BTreeSet<(Kind, String)>) -> Result<Vec<Usage>> {
    let values = asked
        .iter()
        .flat_map(|(kind, id)| [Value::from(kind.name()), Value::from(id.as_str())]);
    let backend = db.get_database_backend();
    let places = places(backend, asked.len());
    let sql = format!(
        "SELECT kind, id, entities, bytes FROM usage WHERE (kind, id) IN (VALUES {places})"
    );
    let statement = Statement::from_sql_and_values(backend, sql, values);
    let rows = db.query_all_raw(statement).await?;
    let count = |it: i64| u64::try_from(it).unwrap_or_default();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        found.push(Usage {
            kind: Kind::of_name(&row.try_get_by_index::<String>(0)?),
            id: row.try_get_by_index(1)?,
            entities: count(row.try_get_by_index(2)?),
            bytes: count(row.try_get_by_index(3)?),
        });
    }
    Ok(found)
}

/// Returns the SQL placeholders for `pairs` pairs of values.
fn places(backend: sea_orm::DbBackend, pairs: usize) -> String {
    let place = |number: usize| match backend {
        sea_orm::DbBackend::Postgres => format!("${number}"),
        _ => "?".to_owned(),
    };
    let pair = |index: usize| format!("({}, {})", place(2 * index + 1), place(2 * index + 2));
    (0..pairs).map(pair).collect::<Vec<_>>().join(", ")
}
