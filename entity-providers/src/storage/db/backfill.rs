//! The backfill of rows after a change of their table: it is done some hundred rows at a time, each time in a
//! transaction of its own, so that those who read and write the table meanwhile wait for no more than that.
//!
//! The work that is left stands in the table `backlog`, in the transaction of the change. A process that is stopped in
//! between goes on at the next start. Invariant: what was done already, or written by others meanwhile, stays.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use entity_core::db::Db;
use entity_core::schema::{FOLDED, Field, Kind};
use entity_core::{Error, ErrorKind, Result};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, Order, Query, SimpleExpr};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, QueryResult};
use sea_orm_migration::{IntoSchemaManagerConnection, SchemaManager};
use tokio::time::sleep;

use super::migrate::begin_write;

const TABLE: &str = "backlog";
const CREATE: &str = "CREATE TABLE IF NOT EXISTS backlog (
    table_name TEXT NOT NULL, key_name TEXT NOT NULL, column_name TEXT NOT NULL, work TEXT NOT NULL,
    PRIMARY KEY (table_name, column_name)
)";
/// The maximum number of rows that are changed in one transaction.
const ROWS_AT_ONCE: u64 = 500;
/// The time for which they are changed in one transaction: who writes one of them waits for its end, and not for two seconds.
const TIME_AT_ONCE: Duration = Duration::from_millis(250);
/// The time for which others have the tables to themselves between two transactions.
const PAUSE: Duration = Duration::from_millis(5);
/// The maximum number of tries of a transaction that others were in the way of.
const TRIES: usize = 20;
/// The maximum number of passes over a table: a node of a former version may write rows that lack something again.
const PASSES: usize = 10;

/// The work to be done with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Its text is folded.
    FoldText,
    /// The text of its HTML is folded.
    FoldHtml,
}

impl Work {
    const ALL: [(Self, &'static str); 2] = [(Self::FoldText, "text"), (Self::FoldHtml, "html")];

    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|it| it.0 == self);
        found.map_or("", |it| it.1)
    }
}

/// Work on one column of a table.
#[derive(derive_more::Display, Clone, Debug, PartialEq, Eq)]
#[display("{}.{} in all rows", self.table, self.column)]
pub(crate) struct Task {
    table: String,
    /// The column by which the rows are gone through: a text that is the key.
    key: String,
    column: String,
    work: Work,
}

impl Task {
    /// Filling the folded column of `field`, if it has one.
    pub(crate) fn fold(table: &str, key: &str, field: &Field) -> Option<Self> {
        field.folded_column()?;
        Some(Self {
            table: table.to_owned(),
            key: key.to_owned(),
            column: field.column?.to_owned(),
            work: match field.kind {
                Kind::Html(_) => Work::FoldHtml,
                _ => Work::FoldText,
            },
        })
    }

    fn read(row: &QueryResult) -> Result<Self, DbErr> {
        let name: String = row.try_get("", "work")?;
        let work = Work::ALL.iter().find(|it| it.1 == name);
        let (work, _name) = work.ok_or_else(|| DbErr::Custom(format!("unknown work `{name}`")))?;
        Ok(Self {
            table: row.try_get("", "table_name")?,
            key: row.try_get("", "key_name")?,
            column: row.try_get("", "column_name")?,
            work: *work,
        })
    }

    /// The column that is written.
    fn target(&self) -> Alias {
        Alias::new(format!("{}{FOLDED}", self.column))
    }

    /// The rows in which there is something to do.
    fn is_due(&self) -> SimpleExpr {
        let own = Expr::col(Alias::new(&*self.column));
        own.is_not_null().and(Expr::col(self.target()).is_null())
    }

    /// Returns the text that is written where the column is `text`.
    fn made_of(&self, text: &str) -> String {
        let kind = match self.work {
            Work::FoldText => Kind::Text(0),
            Work::FoldHtml => Kind::Html(0),
        };
        Field::new("", kind, "").folded(text)
    }

    /// Does it in all rows.
    async fn run(&self, db: &Db) -> Result<()> {
        for _ in 0..PASSES {
            let mut last = None;
            let mut is_clean = true;
            while let Some(end) = self.run_part(db, last.as_deref()).await? {
                last = Some(end);
                is_clean = false;
                sleep(PAUSE).await;
            }
            if is_clean {
                break;
            }
        }
        Ok(())
    }

    /// Does it in the next rows behind `last`. The last of them, if there were any.
    async fn run_part(&self, db: &Db, last: Option<&str>) -> Result<Option<String>> {
        let mut tries = 1;
        loop {
            let done = self.try_part(db, last).await.map_err(Error::from);
            match done {
                Err(error) if tries < TRIES && is_in_the_way(&error) => tries += 1,
                done => return done,
            }
            sleep(PAUSE).await;
        }
    }

    async fn try_part(&self, db: &Db, last: Option<&str>) -> Result<Option<String>, DbErr> {
        let transaction = begin_write(&db.writer).await?;
        patiently(&transaction).await?;
        let (key, own) = (|| Alias::new(&*self.key), || Alias::new(&*self.column));
        let mut part = Query::select();
        part.columns([key(), own()])
            .from(Alias::new(&*self.table))
            .and_where(self.is_due())
            .and_where_option(last.map(|it| Expr::col(key()).gt(it)))
            .order_by(key(), Order::Asc)
            .limit(ROWS_AT_ONCE);
        let rows = transaction.query_all(&part).await?;
        let (mut end, begin) = (None, Instant::now());
        for row in rows {
            let (id, text): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
            let mut statement = Query::update();
            statement
                .table(Alias::new(&*self.table))
                .value(self.target(), self.made_of(&text))
                .and_where(Expr::col(key()).eq(&*id))
                // A writer of another text since has written its folded text too.
                .and_where(Expr::col(own()).eq(text));
            transaction.execute(&statement).await?;
            end = Some(id);
            if begin.elapsed() > TIME_AT_ONCE {
                break;
            }
        }
        transaction.commit().await?;
        Ok(end)
    }
}

/// Returns whether it may go well when it is tried again: others hold rows, or wait for ours.
fn is_in_the_way(error: &Error) -> bool {
    error.is_transient() || error.kind() == ErrorKind::Unavailable
}

/// It takes as long as it takes to find rows; nobody waits for that.
async fn patiently(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let sql = "SET LOCAL statement_timeout = 0";
        transaction.execute_unprepared(sql).await?;
    }
    Ok(())
}

/// Leaves `tasks` to be done when the transaction of `connection` is over.
pub(crate) async fn add(connection: &impl ConnectionTrait, tasks: Vec<Task>) -> Result<(), DbErr> {
    connection.execute_unprepared(CREATE).await?;
    for task in tasks {
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new(TABLE))
            .columns(["table_name", "key_name", "column_name", "work"].map(Alias::new))
            .values_panic([
                Expr::val(task.table),
                Expr::val(task.key),
                Expr::val(task.column),
                Expr::val(task.work.name()),
            ])
            .on_conflict(OnConflict::new().do_nothing().to_owned());
        connection.execute(&insert).await?;
    }
    Ok(())
}

/// Lets what is left to be done in `table` follow its column `former`, which is called `now`.
pub(super) async fn rename(
    transaction: &DatabaseTransaction,
    table: &str,
    former: &str,
    now: &str,
) -> Result<(), DbErr> {
    transaction.execute_unprepared(CREATE).await?;
    for name in ["column_name", "key_name"].map(Alias::new) {
        let mut update = Query::update();
        update
            .table(Alias::new(TABLE))
            .value(name.clone(), now)
            .and_where(Expr::col(Alias::new("table_name")).eq(table))
            .and_where(Expr::col(name).eq(former));
        transaction.execute(&update).await?;
    }
    Ok(())
}

/// Leaves out what is left to be done with `column` of `table`, which goes.
pub(super) async fn drop_column(
    transaction: &DatabaseTransaction,
    table: &str,
    column: &str,
) -> Result<(), DbErr> {
    transaction.execute_unprepared(CREATE).await?;
    let mut delete = Query::delete();
    delete
        .from_table(Alias::new(TABLE))
        .and_where(Expr::col(Alias::new("table_name")).eq(table))
        .and_where(Expr::col(Alias::new("column_name")).eq(column));
    transaction.execute(&delete).await?;
    Ok(())
}

/// Returns the work that is left.
pub(crate) async fn left<'c, C>(connection: &'c C) -> Result<Vec<Task>, DbErr>
where
    C: ConnectionTrait,
    &'c C: IntoSchemaManagerConnection<'c>,
{
    if !SchemaManager::new(connection).has_table(TABLE).await? {
        return Ok(Vec::new());
    }
    let mut question = Query::select();
    question
        .columns(["table_name", "key_name", "column_name", "work"].map(Alias::new))
        .from(Alias::new(TABLE))
        .order_by(Alias::new("table_name"), Order::Asc)
        .order_by(Alias::new("column_name"), Order::Asc);
    let rows = connection.query_all(&question).await?;
    rows.iter().map(Task::read).collect()
}

/// Does what is left, table by table.
///
/// # Errors
/// A statement fails; what was done stays done.
pub(crate) async fn work_off(db: &Db) -> Result<()> {
    let left = left(&db.writer).await?;
    let mut tables: BTreeMap<&str, usize> = BTreeMap::new();
    for task in &left {
        *tables.entry(&task.table).or_default() += 1;
    }
    for (table, columns) in tables {
        tracing::info!(table, columns, "bringing the rows of `{table}` up to date");
    }
    for task in &left {
        task.run(db).await?;
        let mut delete = Query::delete();
        delete
            .from_table(Alias::new(TABLE))
            .and_where(Expr::col(Alias::new("table_name")).eq(&*task.table))
            .and_where(Expr::col(Alias::new("column_name")).eq(&*task.column));
        db.writer.execute(&delete).await?;
    }
    Ok(())
}
