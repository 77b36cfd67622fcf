//! The clock by which things become old enough to be removed.
//!
//! A row that was removed does not come back when the clock does. So a clock that is set while the service runs, or that tells
//! a day more at the start than the newest row, is believed a day later; until then things get older as time passes.

use std::time::Instant;

use chrono::{DateTime, Utc};
use entity_core::Result;
use entity_core::context::Clock;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};

use crate::base::system::{self, DOUBT};
use crate::operate::journal::OUTBOX;
use crate::operate::storage::Storage;

/// The time by which things become old enough to be removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustedClock {
    /// The time of the newest row at the start, and when that was, if the clock told much more.
    doubted: Option<(DateTime<Utc>, Instant)>,
}

impl TrustedClock {
    /// Compares `clock` with the newest rows of `storage`.
    pub(crate) async fn begin(storage: &Storage, clock: &dyn Clock) -> Result<Self> {
        let content = &storage.content.reader;
        let mut newest = None;
        for (db, table) in [
            (content, OUTBOX),
            (content, "audit"),
            (storage.audit_of_reads.db(), "audit"),
        ] {
            newest = newest.max(time_of_last(db, table).await?);
        }
        let is_doubted = |it: &DateTime<Utc>| clock.steady().signed_duration_since(it) > DOUBT;
        Ok(Self {
            doubted: newest.filter(is_doubted).map(|it| (it, Instant::now())),
        })
    }

    /// The present instant.
    pub(crate) fn now(&self, clock: &dyn Clock) -> DateTime<Utc> {
        let steady = clock.steady();
        let Some((newest, start)) = self.doubted else {
            return steady;
        };
        let passed = system::since(start, Instant::now());
        match passed < DOUBT {
            true => steady.min(newest + passed),
            false => steady,
        }
    }
}

/// The time in the last row of `table`.
async fn time_of_last(db: &DatabaseConnection, table: &str) -> Result<Option<DateTime<Utc>>> {
    let sql = format!("SELECT time FROM {table} ORDER BY sequence DESC LIMIT 1");
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await?;
    let time: Option<i64> = row.map(|it| it.try_get("", "time")).transpose()?;
    Ok(time.and_then(DateTime::from_timestamp_millis))
}
