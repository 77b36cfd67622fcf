//! Reads the audit log, newest rows first, in pages: neither the log nor the service that writes it notices.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use entity_core::db::{Row, Sql};
use entity_core::{Error, Result};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbErr, QueryResult};
use serde::Serialize;

/// The number of rows that are in memory at a time, of each table and of the result.
const PAGE: usize = 500;
/// The number of rows one statement takes a look at: as many as it gets through long before the database stops it.
const WINDOW: i64 = 20_000;
/// The maximum time by which a row is stored late, and by which the machine's clock may have been set back.
const LATE: TimeDelta = TimeDelta::days(1);

/// The conditions on rows: a row must meet each that is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFilter {
    /// The internal id of the account.
    pub(crate) user: Option<String>,
    /// The first instant at which a request came in.
    pub(crate) since: Option<DateTime<Utc>>,
    /// The instant before which a request came in.
    pub(crate) until: Option<DateTime<Utc>>,
    /// The beginning of the path.
    pub(crate) path: Option<String>,
    /// The method, in any case.
    pub(crate) method: Option<String>,
    /// The lowest and the highest status of the answer.
    pub(crate) status: Option<(u16, u16)>,
}

/// A row of the log: one request, or several that are alike.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEntry {
    #[serde(skip)]
    sequence: i64,
    #[serde(skip)]
    milliseconds: i64,
    /// The time of the request, as ISO 8601 writes it.
    pub(crate) time: String,
    pub(crate) request_id: String,
    pub(crate) user_id: Option<String>,
    /// The external id that the account has now; `None` if it is gone.
    pub(crate) user_eid: Option<String>,
    /// The handle of the session, with which nobody can do anything.
    pub(crate) session: Option<String>,
    pub(crate) address: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: i64,
    /// The number of requests that it stands for.
    pub(crate) times: i64,
}

/// Reads the rows of the log, wherever they are, as far as they were stored when this was made.
#[derive(Debug)]
pub(crate) struct AuditReader {
    content: DatabaseConnection,
    tables: Vec<Table>,
    filter: AuditFilter,
    left: usize,
}

impl AuditReader {
    /// Reads no more than `most` rows: those in `content`, and those in the file beside it if there is one.
    pub(crate) async fn new(
        content: &DatabaseConnection,
        beside: Option<&DatabaseConnection>,
        filter: AuditFilter,
        most: usize,
    ) -> Result<Self> {
        let mut tables = Vec::new();
        for db in [Some(content), beside].into_iter().flatten() {
            tables.push(Table::of(db.clone()).await?);
        }
        Ok(Self {
            content: content.clone(),
            tables,
            filter,
            left: most,
        })
    }

    /// The next rows; none when there are no more.
    pub(crate) async fn next(&mut self) -> Result<Vec<AuditEntry>> {
        let mut page = Vec::new();
        while page.len() < PAGE.min(self.left) {
            for table in &mut self.tables {
                table.fill(&self.filter).await?;
            }
            let newest = self
                .tables
                .iter_mut()
                .max_by_key(|it| it.rows.front().map(|it| it.milliseconds));
            match newest.and_then(|it| it.rows.pop_front()) {
                Some(row) => page.push(row),
                None => break,
            }
        }
        self.left = self.left.saturating_sub(page.len());
        // Rows are stored a little later than requests come in, and not quite in their order.
        page.sort_by_key(|it| std::cmp::Reverse(it.milliseconds));
        self.name(&mut page).await?;
        Ok(page)
    }

    /// Adds the external ids of the accounts.
    async fn name(&self, page: &mut [AuditEntry]) -> Result<()> {
        let mut ids: Vec<&str> = page.iter().filter_map(|it| it.user_id.as_deref()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut sql = Sql::new(
            self.content.get_database_backend(),
            "SELECT id, eid FROM user_account WHERE id IN (",
        );
        for (number, id) in ids.iter().enumerate() {
            sql.push(if number == 0 { "" } else { ", " }).bind(*id);
        }
        if ids.is_empty() {
            return Ok(());
        }
        sql.push(")");
        let mut names = HashMap::new();
        for row in self.content.query_all_raw(sql.into_statement()).await? {
            let mut row = Row::of(&row);
            names.insert(row.take::<String>()?, row.take::<String>()?);
        }
        for row in page {
            let id = row.user_id.as_ref();
            row.user_eid = id.and_then(|it| names.get(it)).cloned();
        }
        Ok(())
    }
}

/// One table with rows of the log.
#[derive(Debug)]
struct Table {
    db: DatabaseConnection,
    /// The first and the last row that was not looked at yet.
    first: i64,
    last: i64,
    /// The rows that were read and not yet returned.
    rows: VecDeque<AuditEntry>,
}

impl Table {
    async fn of(db: DatabaseConnection) -> Result<Self> {
        let sql = Sql::new(
            db.get_database_backend(),
            "SELECT (SELECT min(sequence) FROM audit), (SELECT max(sequence) FROM audit)",
        );
        let found = db.query_one_raw(sql.into_statement()).await?;
        let (first, last) = match &found {
            Some(row) => {
                let mut row = Row::of(row);
                (row.take::<Option<i64>>()?, row.take::<Option<i64>>()?)
            }
            None => (None, None),
        };
        Ok(Self {
            db,
            first: first.unwrap_or(1),
            last: last.unwrap_or(0),
            rows: VecDeque::new(),
        })
    }

    /// Reads on, if all that was read is told.
    async fn fill(&mut self, filter: &AuditFilter) -> Result<()> {
        while self.rows.is_empty() && self.first <= self.last {
            let end = self
                .last
                .saturating_sub(WINDOW)
                .max(self.first.saturating_sub(1));
            let found = self.db.query_all_raw(self.statement(filter, end)).await?;
            let rows = found
                .iter()
                .map(told)
                .collect::<std::result::Result<_, _>>();
            self.rows = rows.map_err(Error::from)?;
            if let Some(row) = self.rows.back().filter(|_| self.rows.len() >= PAGE) {
                self.last = row.sequence.saturating_sub(1);
                continue;
            }
            let is_over = self.rows.is_empty() && self.is_older(filter.since, end).await?;
            self.last = if is_over { 0 } else { end };
        }
        Ok(())
    }

    fn statement(&self, filter: &AuditFilter, end: i64) -> sea_orm::Statement {
        let mut sql = self.window(
            "SELECT sequence, time, request_id, user_id, session, address, method, path, \
             CAST(status AS BIGINT), times",
            end,
        );
        if let Some(user) = &filter.user {
            sql.push(" AND user_id = ").bind(user.as_str());
        }
        if let Some(since) = filter.since {
            sql.push(" AND time >= ").bind(since.timestamp_millis());
        }
        if let Some(until) = filter.until {
            sql.push(" AND time < ").bind(until.timestamp_millis());
        }
        if let Some(path) = &filter.path {
            // `LIKE` would take some of its characters for others.
            let length = path.chars().count();
            sql.push(&format!(" AND substr(path, 1, {length}) = "))
                .bind(path.as_str());
        }
        if let Some(method) = &filter.method {
            sql.push(" AND upper(method) = ")
                .bind(method.to_ascii_uppercase());
        }
        if let Some((least, most)) = filter.status {
            sql.push(" AND status >= ").bind(i32::from(least));
            sql.push(" AND status <= ").bind(i32::from(most));
        }
        sql.push(&format!(" ORDER BY sequence DESC LIMIT {PAGE}"));
        sql.into_statement()
    }

    /// Returns whether all requests of the rows from `end` on backwards came in before `since`.
    async fn is_older(&self, since: Option<DateTime<Utc>>, end: i64) -> Result<bool> {
        let Some(long_before) = since.and_then(|it| it.checked_sub_signed(LATE)) else {
            return Ok(false);
        };
        let sql = self.window("SELECT max(time)", end);
        let found = self.db.query_one_raw(sql.into_statement()).await?;
        let newest: Option<i64> = match &found {
            Some(row) => Row::of(row).take()?,
            None => None,
        };
        Ok(newest.is_some_and(|it| it < long_before.timestamp_millis()))
    }

    /// A statement about the rows that come next, those behind `end`.
    fn window(&self, select: &str, end: i64) -> Sql {
        let mut sql = Sql::new(self.db.get_database_backend(), select);
        sql.push(" FROM audit WHERE sequence <= ").bind(self.last);
        sql.push(" AND sequence > ").bind(end);
        sql
    }
}

fn told(row: &QueryResult) -> std::result::Result<AuditEntry, DbErr> {
    let mut row = Row::of(row);
    let sequence = row.take()?;
    let milliseconds = row.take()?;
    let time = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    Ok(AuditEntry {
        sequence,
        milliseconds,
        time: time.to_rfc3339_opts(SecondsFormat::Millis, true),
        request_id: row.take()?,
        user_id: row.take()?,
        user_eid: None,
        session: row.take()?,
        address: row.take()?,
        method: row.take()?,
        path: row.take()?,
        status: row.take()?,
        times: row.take()?,
    })
}
