//! The file of a SQLite database: it is created and tried, and errors name it.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use entity_core::{Error, Result};
use sea_orm::sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _};

use super::failure;

/// The time for which a service that starts waits for another one that makes the same SQLite file.
const MAKING: Duration = Duration::from_secs(10);
/// Result codes of SQLite.
const BUSY: i32 = 5;
const READ_ONLY: i32 = 8;
const CORRUPT: i32 = 11;
const CANT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

/// Makes the file at `path`, if there is none, so that nobody but its owner may read it. What SQLite writes
/// beside it is then as private.
///
/// # Errors
/// It can't be made.
pub fn make_private(path: &Path) -> Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => {
            let text = format!(
                "can't make the file {}: let the user of the service write its folder, or name another file in the \
                 setting `database`",
                path.display()
            );
            Err(failure(text).with_source(error))
        }
    }
}

/// Makes the SQLite file at `path`, if there is none, as one that only its owner may read, and that can shrink: what is
/// free can be given back a part at a time. This can be chosen for an empty file only.
///
/// # Errors
/// It can't be made.
pub async fn make_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(failure(format!(
            "{} is a folder: name a file in it in the setting `database`",
            path.display()
        )));
    }
    make_private(path)?;
    if std::fs::metadata(path).is_ok_and(|it| it.len() > 0) {
        return Ok(());
    }
    let made = SqliteConnectOptions::new()
        .filename(path)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(MAKING)
        .disable_statement_logging()
        .connect()
        .await
        .map_err(|error| unusable_file(path, error))?;
    let closed = made.close().await;
    closed.map_err(|error| unusable_file(path, error))
}

/// Tries whether the file can be written, and leaves it as it is: SQLite opens one that can't be for reading, where even a
/// transaction that is to write begins, and says so only when something is written.
pub(super) async fn try_to_write(writer: &sqlx::SqlitePool) -> Result<(), sqlx::Error> {
    let mut connection = writer.acquire().await?;
    match sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut *connection)
        .await
    {
        Ok(_) => {}
        // Somebody else writes to it.
        Err(sqlx::Error::Database(error)) if primary_code(&*error) == Some(BUSY) => return Ok(()),
        Err(error) => return Err(error),
    }
    let tried = sqlx::query("CREATE TABLE tried_to_write (it bigint)")
        .execute(&mut *connection)
        .await;
    let undone = sqlx::query("ROLLBACK").execute(&mut *connection).await;
    tried.and(undone).map(drop)
}

/// The result code of SQLite without what it adds for details.
fn primary_code(error: &dyn sqlx::error::DatabaseError) -> Option<i32> {
    let code: i32 = error.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Returns the error for the SQLite file at `path`, which says what to do.
pub(super) fn unusable_file(path: &Path, error: sqlx::Error) -> Error {
    let code = match &error {
        sqlx::Error::Database(it) => primary_code(&**it),
        _ => None,
    };
    let path = path.display();
    let text = match code {
        Some(NOT_A_DATABASE | CORRUPT) => format!(
            "{path} is no SQLite database, or a damaged one, as `lectern doctor` tells: name another file in the setting \
             `database`, or put a backup in its place with `lectern restore`"
        ),
        Some(READ_ONLY) => format!(
            "the database {path} can't be written: let the user of the service write the file and its folder"
        ),
        Some(CANT_OPEN) => format!(
            "the database {path} can't be opened: let the user of the service read and write the file and its folder"
        ),
        _ => format!("the database {path} can't be opened: check the setting `database`"),
    };
    failure(text).with_source(error)
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait as _;

    use super::super::connect;
    use super::*;

    async fn told(path: &Path, ending: &str) -> String {
        let url = format!("sqlite://{}{ending}", path.display());
        connect(&url).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn x52_what_is_no_database_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "no database ".repeat(1000)).unwrap();
        let error = told(&text, "").await;
        assert!(error.contains("notes.txt is no SQLite database"), "{error}");
        let error = told(folder.path(), "").await;
        assert!(error.contains("is a folder: name a file in it"), "{error}");
        let nowhere = folder.path().join("no/folder.db");
        let error = told(&nowhere, "").await;
        assert!(error.contains("can't make the file"), "{error}");
        assert!(error.contains("no/folder.db"), "{error}");
    }

    #[tokio::test]
    async fn x54_a_file_that_can_not_be_written_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.db");
        let db = connect(&format!("sqlite://{}", path.display())).await;
        let db = db.unwrap();
        db.writer
            .execute_unprepared("CREATE TABLE it (id bigint)")
            .await
            .unwrap();
        // SQLite opens a file that may not be written in the same way.
        let error = told(&path, "?mode=ro").await;
        assert!(error.contains("kept.db can't be written"), "{error}");
        connect(&format!("sqlite://{}", path.display()))
            .await
            .unwrap();
    }
}
