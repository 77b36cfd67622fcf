//! The meaning of a database error: for the client, for the connection, for the transaction.

use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::{PgDatabaseError, PgSeverity};
use sea_orm::sqlx::sqlite::SqliteError;
use sea_orm::sqlx::{self, Error as DriverError};
use sea_orm::{DbErr, RuntimeErr};

use crate::primitives::error::Error;

/// A fault of the storage under a SQLite file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The disk is full. Room can be made while the service runs.
    Full,
    /// Nothing can be written. This can be changed while the service runs.
    ReadOnly,
    /// A write or a sync failed: the content of the file is known only after recovery.
    Broken,
    /// Any other failure, such as a read error, a corrupt file or a lack of memory.
    Failing,
}

/// Result codes of SQLite: <https://www.sqlite.org/rescode.html>.
mod code {
    pub(super) const ERROR: u32 = 1;
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const NOMEM: u32 = 7;
    pub(super) const READONLY: u32 = 8;
    pub(super) const IOERR: u32 = 10;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANTOPEN: u32 = 14;
    pub(super) const TOOBIG: u32 = 18;
    pub(super) const CONSTRAINT: u32 = 19;
    pub(super) const MISMATCH: u32 = 20;
    pub(super) const RANGE: u32 = 25;
    pub(super) const NOTADB: u32 = 26;

    pub(super) const IOERR_WRITE: u32 = 778;
    pub(super) const IOERR_FSYNC: u32 = 1034;
    pub(super) const IOERR_DIR_FSYNC: u32 = 1290;
    pub(super) const IOERR_TRUNCATE: u32 = 1546;
    /// The index of the write-ahead log can't grow, because the disk is full.
    pub(super) const IOERR_SHMSIZE: u32 = 4874;
}

impl Fault {
    /// Returns the fault that `error` reports, if it reports one.
    pub(super) fn of(error: &DriverError) -> Option<Self> {
        Self::of_code(sqlite_code(error.as_database_error()?)?)
    }

    pub(super) fn of_code(extended: u32) -> Option<Self> {
        match (extended, extended & 0xff) {
            (_, code::FULL) | (code::IOERR_SHMSIZE, _) => Some(Self::Full),
            (_, code::READONLY) => Some(Self::ReadOnly),
            (
                code::IOERR_WRITE
                | code::IOERR_FSYNC
                | code::IOERR_DIR_FSYNC
                | code::IOERR_TRUNCATE,
                _,
            ) => Some(Self::Broken),
            (_, code::IOERR | code::CORRUPT | code::NOTADB | code::CANTOPEN | code::NOMEM) => {
                Some(Self::Failing)
            }
            _ => None,
        }
    }

    /// Returns the error that the client receives.
    pub(super) fn to_error(self) -> Error {
        match self {
            Self::Full => Error::unavailable(
                "the storage is full: reading works, and writing does when the operators have made room",
                30,
            )
            .with_code("storage_full"),
            Self::ReadOnly => Error::unavailable("the storage can only be read at the moment", 30)
                .with_code("storage_read_only"),
            Self::Broken => broken(),
            Self::Failing => Error::unavailable("the storage fails: try again", 5),
        }
    }
}

/// Returns the error for a storage failure after which this process writes nothing any more.
pub(super) fn broken() -> Error {
    Error::unavailable(
        "the storage failed, and the service restarts: try again",
        10,
    )
    .with_code("storage_failed")
}

/// Returns the extended result code of a SQLite error.
fn sqlite_code(error: &dyn DatabaseError) -> Option<u32> {
    error.try_downcast_ref::<SqliteError>()?;
    error.code()?.parse().ok()
}

/// Returns whether a SQLite connection is certainly as it was before the statement that failed with `error`. After some
/// other errors SQLite has rolled back by itself, without the driver knowing it.
pub(super) fn spares_sqlite(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(sqlite_code);
    code.is_some_and(|it| {
        matches!(
            it & 0xff,
            code::ERROR | code::TOOBIG | code::CONSTRAINT | code::MISMATCH | code::RANGE
        )
    })
}

/// Returns whether SQLite waited in vain for another process.
pub(super) fn is_busy(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(sqlite_code);
    code.is_some_and(|it| matches!(it & 0xff, code::BUSY | code::LOCKED))
}

/// Returns whether SQLite refused a COMMIT, so that nothing was written. After an I/O error of the disk this is not
/// certain: the commit may be in the journal and be found there at the next start.
pub(super) fn sqlite_refuses_commit(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(sqlite_code);
    code.is_some_and(|it| it & 0xff != code::IOERR)
}

/// Returns whether a PostgreSQL connection stays usable after `error`.
pub(super) fn spares_postgres(error: &DriverError) -> bool {
    let error = error.as_database_error();
    let error = error.and_then(|it| it.try_downcast_ref::<PgDatabaseError>());
    error.is_some_and(|it| it.severity() == PgSeverity::Error && !is_lost_state(it.code()))
}

/// Returns whether PostgreSQL refused a COMMIT, so that nothing was written.
pub(super) fn postgres_refuses_commit(error: &DriverError) -> bool {
    let state = error.as_database_error().and_then(DatabaseError::code);
    // Statement completion unknown.
    spares_postgres(error) && state.as_deref() != Some("40003")
}

/// Returns whether the connection to a server is lost, or none could be obtained.
pub(super) fn is_lost(error: &DriverError) -> bool {
    match error {
        DriverError::Io(_) | DriverError::Tls(_) | DriverError::WorkerCrashed => true,
        DriverError::Database(error) => {
            let error = error.try_downcast_ref::<PgDatabaseError>();
            error.is_some_and(|it| is_lost_state(it.code()))
        }
        _ => false,
    }
}

/// Returns whether the driver's error within `error` says that the connection to a server is lost.
pub(super) fn is_lost_in(error: &DbErr) -> bool {
    driver_error(error).is_some_and(is_lost)
}

/// Returns whether a server has no room for another connection. The existing connections may be as good as ever.
pub(super) fn is_crowded(error: &DriverError) -> bool {
    let state = error.as_database_error().and_then(DatabaseError::code);
    state.as_deref() == Some("53300")
}

/// Returns whether this SQLSTATE says that the server goes away, is still starting, has no room for another connection,
/// has closed an idle session, or refuses writes because another server takes them.
pub(super) fn is_lost_state(state: &str) -> bool {
    matches!(
        state,
        "57P01" | "57P02" | "57P03" | "57P05" | "53300" | "25006" | "25P03"
    ) || state.starts_with("08")
}

/// Returns the driver's error within an error of sea-orm.
pub(super) fn driver_error(error: &DbErr) -> Option<&DriverError> {
    match error {
        DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error))
        | DbErr::Conn(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

/// Returns the error that the client receives after a storage fault or the loss of a connection; `None` for all other
/// errors.
pub(super) fn fault_or_loss(error: &DbErr) -> Option<Error> {
    let Some(driver) = driver_error(error) else {
        return matches!(error, DbErr::ConnectionAcquire(_)).then(unreachable_now);
    };
    if let Some(fault) = Fault::of(driver) {
        return Some(fault.to_error());
    }
    let is_out = matches!(driver, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed);
    (is_out || is_lost(driver)).then(unreachable_now)
}

fn unreachable_now() -> Error {
    Error::unavailable("the database can't be reached: try again", 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rel_11_only_a_failed_write_or_sync_ends_the_service() {
        let expected = [
            (13, Some(Fault::Full)),
            (4874, Some(Fault::Full)),
            (8, Some(Fault::ReadOnly)),
            (1032, Some(Fault::ReadOnly)),
            (778, Some(Fault::Broken)),
            (1034, Some(Fault::Broken)),
            (1290, Some(Fault::Broken)),
            (1546, Some(Fault::Broken)),
            (10, Some(Fault::Failing)),
            (266, Some(Fault::Failing)),
            (522, Some(Fault::Failing)),
            (14, Some(Fault::Failing)),
            (11, Some(Fault::Failing)),
            (5, None),
            (2067, None),
        ];
        for (code, fault) in expected {
            assert_eq!(Fault::of_code(code), fault, "{code}");
        }
    }

    #[test]
    fn rel_10_a_server_that_restarts_is_one_to_try_again() {
        for state in [
            "57P01", "57P02", "57P03", "08006", "08P01", "53300", "25006",
        ] {
            assert!(is_lost_state(state), "{state}");
        }
        for state in ["23505", "40001", "57014", "42P01"] {
            assert!(!is_lost_state(state), "{state}");
        }
    }
}
