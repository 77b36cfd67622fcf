//! The kinds of database errors.

use sea_orm::DbErr;

use super::{failure, query_pool};
use crate::primitives::error::Error;

/// Maps a database error to its kind, in this one place.
impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        use sea_orm::SqlErr::{ForeignKeyConstraintViolation, UniqueConstraintViolation};
        if let Some(refused) = query_pool::refused(&error) {
            return refused.with_source(error);
        }
        match error.sql_err() {
            Some(UniqueConstraintViolation(_)) => {
                return Self::conflict("this already exists").with_source(error);
            }
            Some(ForeignKeyConstraintViolation(_)) => {
                return Self::conflict(
                    "something this belongs to, or that belongs to this, stands against it",
                )
                .with_source(error);
            }
            _ => {}
        }
        match sql_state(&error).as_deref() {
            // PostgreSQL: serialisation failure, deadlock.
            Some("40001" | "40P01") => {
                Self::unavailable("others changed the same data: try again", 1)
                    .with_source(error)
                    .transient()
            }
            // PostgreSQL and SQLite: stopped, because its time was over.
            Some("57014" | "9") => query_pool::too_long().with_source(error),
            // PostgreSQL: lock timeout. SQLite: busy, locked.
            Some("55P03" | "5" | "6" | "261" | "517" | "262") => busy().with_source(error),
            // PostgreSQL: disk full.
            Some("53100") => full().with_source(error),
            _ => match failure::fault_or_loss(&error) {
                Some(it) => it.with_source(error),
                None => Self::internal(error),
            },
        }
    }
}

pub(super) fn busy() -> Error {
    Error::unavailable("the database is busy: try again", 1)
}

fn full() -> Error {
    failure::Fault::Full.to_error()
}

fn sql_state(error: &DbErr) -> Option<String> {
    let error = failure::driver_error(error)?.as_database_error()?;
    error.code().map(std::borrow::Cow::into_owned)
}
