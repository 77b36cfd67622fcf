//! Reads of a SQLite file in the calling thread.
//!
//! A statement that finds its few rows by an index takes less time than handing it to another thread and waiting for
//! the answer. A statement that may take longer goes through the pool: [`Session::scan`](crate::db::Session::scan). A
//! statement that turns out not to be short is interrupted here, before it occupies the thread for long.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::types::{ToSql, ToSqlOutput, Value as Cell, ValueRef};
use rusqlite::{Connection, OpenFlags};
use sea_orm::{Statement, Value};

use super::Row;
use super::failure::Fault;
use crate::primitives::error::{Error, Result};

/// The time for which a reader waits for a process that changes the journal of the file.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
/// The time for which a statement may occupy the calling thread.
const SHORT: Duration = Duration::from_millis(50);
/// The number of steps of the SQLite virtual machine between two checks of the time: some microseconds.
const STEPS: i32 = 2_000;
/// The number of statements that a connection keeps prepared.
const PREPARED: usize = 128;
/// The maximum number of bytes of the file that are mapped into memory.
const MAPPED: i64 = 268_435_456;
/// The size of a connection's page cache, in KiB as the pragma expects it: a negative number.
const CACHED: i64 = -8192;

/// A SQLite file, with connections that only read it.
#[derive(derive_more::Debug, Clone)]
#[debug("File({})", self.0.path.display())]
pub struct File(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// The readers that nobody uses at the moment: never more than there are threads that read.
    idle: Mutex<Vec<Reader>>,
}

/// A connection, and the time until which its statement may run.
struct Reader {
    connection: Connection,
    end: Arc<Mutex<Option<Instant>>>,
}

impl File {
    /// Creates a handle to the file at `path`, which must exist and be in the journal mode WAL.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            path: path.into(),
            idle: Mutex::default(),
        }))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Runs `statement` and passes its rows to `take` one by one, until `take` wants no more. Returns `false` if that
    /// takes too long for the calling thread; `take` may have seen rows by then.
    pub(super) fn each(
        &self,
        statement: &Statement,
        take: &mut dyn FnMut(&mut Row<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let reader = self.take()?;
        reader.set_end(Some(Instant::now() + SHORT));
        let done = query(&reader.connection, statement, take);
        reader.set_end(None);
        match done {
            Ok(()) => {
                self.0.idle.lock().push(reader);
                Ok(true)
            }
            Err(error) if is_interrupted(&error) => {
                self.0.idle.lock().push(reader);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn take(&self) -> Result<Reader> {
        let idle = self.0.idle.lock().pop();
        match idle {
            Some(reader) => Ok(reader),
            None => Ok(open(&self.0.path)?),
        }
    }
}

impl Reader {
    fn set_end(&self, end: Option<Instant>) {
        *self.end.lock() = end;
    }
}

fn is_interrupted(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let source = source.and_then(|it| it.downcast_ref::<rusqlite::Error>());
    source.and_then(rusqlite::Error::sqlite_error_code)
        == Some(rusqlite::ErrorCode::OperationInterrupted)
}

fn open(path: &Path) -> rusqlite::Result<Reader> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "mmap_size", MAPPED)?;
    connection.pragma_update(None, "cache_size", CACHED)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    let end = Arc::new(Mutex::new(None::<Instant>));
    let until = Arc::clone(&end);
    let is_over = move || {
        let end = *until.lock();
        end.is_some_and(|it| it <= Instant::now())
    };
    connection.progress_handler(STEPS, Some(is_over))?;
    Ok(Reader { connection, end })
}

fn query(
    connection: &Connection,
    statement: &Statement,
    take: &mut dyn FnMut(&mut Row<'_>) -> Result<bool>,
) -> Result<()> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let values = statement.values.iter().flat_map(|it| &it.0).map(Bound);
    let mut rows = prepared.query(rusqlite::params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        if !take(&mut Row::of_file(row))? {
            break;
        }
    }
    Ok(())
}

/// A value that rusqlite can bind.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |it: Option<i64>| it.map_or(Cell::Null, Cell::Integer);
        let cell = match self.0 {
            Value::String(Some(text)) => return Ok(text.as_str().into()),
            Value::Bytes(Some(bytes)) => return Ok(ToSqlOutput::Borrowed(ValueRef::Blob(bytes))),
            Value::String(None) | Value::Bytes(None) => Cell::Null,
            Value::Bool(it) => integer(it.map(i64::from)),
            Value::Int(it) => integer(it.map(i64::from)),
            Value::BigInt(it) => integer(*it),
            Value::Unsigned(it) => integer(it.map(i64::from)),
            Value::BigUnsigned(it) => integer(it.map(i64::try_from).transpose().map_err(refuse)?),
            Value::Double(it) => it.map_or(Cell::Null, Cell::Real),
            other => return Err(refuse(format!("{other:?} can't be bound"))),
        };
        Ok(ToSqlOutput::Owned(cell))
    }
}

fn refuse(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

/// Maps an error of rusqlite to the same kind as an error of the pool.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        if let Some(DatabaseBusy | DatabaseLocked) = error.sqlite_error_code() {
            return crate::db::error::busy().with_source(error);
        }
        let code = error.sqlite_error().map(|it| it.extended_code);
        let code = code.and_then(|it| u32::try_from(it).ok());
        match code.and_then(Fault::of_code) {
            // A read that fails ends nothing: nothing was written.
            Some(Fault::Broken) => Fault::Failing.to_error().with_source(error),
            Some(fault) => fault.to_error().with_source(error),
            None => Self::internal(error),
        }
    }
}
