//! The store of audit rows.

use std::fmt::Write as _;

use entity_core::db::{Faults, Transaction};
use entity_core::{Error, Result};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, Value};

use super::AuditRow;

/// The table.
const TABLE: &str = "audit";
/// Its columns, in the order in which values are bound.
const COLUMNS: [&str; 9] = [
    "time",
    "request_id",
    "user_id",
    "session",
    "address",
    "method",
    "path",
    "status",
    "times",
];
/// The number of rows that go into one statement: as many as one of these says, the first that fits.
const CHUNKS: [usize; 3] = [64, 8, 1];

/// Stores audit rows in one database.
#[derive(Clone, Debug)]
pub struct AuditStore {
    db: DatabaseConnection,
    faults: Faults,
    /// A statement for each of [`CHUNKS`].
    statements: [String; 3],
}

impl AuditStore {
    /// Makes the store of `db`, which has the table, and whose faults are reported to `faults`.
    pub fn new(db: DatabaseConnection, faults: Faults) -> Self {
        let backend = db.get_database_backend();
        Self {
            statements: CHUNKS.map(|rows| insert(backend, rows)),
            db,
            faults,
        }
    }

    /// Waits until the database has failed so that nothing more may be acknowledged.
    pub(crate) async fn broken(&self) {
        self.faults.broken().await;
    }

    /// The database.
    pub(crate) fn db(&self) -> &DatabaseConnection {
        &self.db
    }

    /// The known faults of the database.
    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Stores `rows` in one transaction.
    pub async fn insert(&self, rows: &[AuditRow]) -> Result<()> {
        let transaction = Transaction::begin(&self.db, &self.faults).await?;
        let mut left = rows;
        for (size, statement) in CHUNKS.iter().zip(&self.statements) {
            let chunks = left.chunks_exact(*size);
            left = chunks.remainder();
            for chunk in chunks {
                self.execute(&transaction, statement, chunk).await?;
            }
        }
        transaction.commit().await
    }

    /// Stores `row` in the transaction of the caller.
    pub async fn insert_in(
        &self,
        transaction: &impl ConnectionTrait,
        row: &AuditRow,
    ) -> Result<()> {
        let [.., single] = &self.statements;
        self.execute(transaction, single, std::slice::from_ref(row))
            .await
    }

    async fn execute(&self, db: &impl ConnectionTrait, sql: &str, rows: &[AuditRow]) -> Result<()> {
        let values: Vec<Value> = rows.iter().flat_map(values).collect();
        let statement = Statement::from_sql_and_values(self.db.get_database_backend(), sql, values);
        db.execute_raw(statement)
            .await
            .map(|_done| ())
            .map_err(Error::from)
    }
}

fn values(row: &AuditRow) -> [Value; 9] {
    let origin = &row.origin;
    [
        row.time.timestamp_millis().into(),
        (&*origin.request_id).into(),
        origin.caller.user_id().into(),
        origin.caller.session.as_deref().into(),
        origin.address.to_string().into(),
        (&*origin.method).into(),
        (&*origin.path).into(),
        i32::from(row.status).into(),
        i64::try_from(row.times).unwrap_or(i64::MAX).into(),
    ]
}

fn insert(backend: DbBackend, rows: usize) -> String {
    let mut sql = format!("INSERT INTO {TABLE} ({}) VALUES ", COLUMNS.join(", "));
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..COLUMNS.len() {
            sql.push_str(if column == 0 { "" } else { ", " });
            match backend {
                DbBackend::Postgres => drop(write!(sql, "${}", row * COLUMNS.len() + column + 1)),
                _ => sql.push('?'),
            }
        }
        sql.push(')');
    }
    sql
}
