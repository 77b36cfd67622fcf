//! Work on SQLite files that no service has open: copies, tables that move between files, and damage.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use entity_core::{Error, ErrorKind, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, NotADatabase};
use rusqlite::{Connection, OpenFlags};

/// The characters of a path that stand in a URL as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// The time to wait for whoever holds a database.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time to wait until a database counts as one that is in use.
const USED: Duration = Duration::from_millis(500);
/// The interval at which progress is reported.
const TELL: Duration = Duration::from_millis(200);
/// The maximum number of lines that are printed about a damaged file.
const LINES: usize = 5;

/// Copies the database `from` as it is at this moment to `to`, an empty file, while others read and write it. `tell` is
/// called now and then with the part that is done, in percent.
///
/// # Errors
/// A file can't be read or written.
pub fn copy(from: &Path, to: &Path, tell: &mut impl FnMut(u64)) -> Result<()> {
    let connection = open(from)?;
    let pages: i64 = pragma(&connection, "page_count")?;
    let size: i64 = pragma(&connection, "page_size")?;
    if pragma::<u32>(&connection, "auto_vacuum")? == 0 {
        // The copy can shrink, even if it is one of a file that can't.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let whole = u64::try_from(pages.saturating_mul(size))
        .unwrap_or_default()
        .max(1);
    let name = to.to_string_lossy().into_owned();
    thread::scope(|scope| {
        let copying = scope.spawn(move || connection.execute("VACUUM INTO ?1", [name]));
        while !copying.is_finished() {
            thread::sleep(TELL);
            let done = fs::metadata(to).map_or(0, |it| it.len());
            tell((done.saturating_mul(100) / whole).min(99));
        }
        let copied = copying.join().map_err(|_panic| {
            Error::new(ErrorKind::Internal, "the copy was given up: try again")
        })?;
        copied?;
        tell(100);
        Ok(())
    })
}

/// Copies the table `table` of the database `from` to the database `to`, where it is called `name`.
///
/// # Errors
/// A file can't be read or written.
pub fn copy_table(from: &Path, table: &str, to: &Path, name: &str) -> Result<()> {
    let connection = open(to)?;
    attach(&connection, from)?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = OFF; CREATE TABLE {name} AS SELECT * FROM other.{table}; DETACH other"
    ))?;
    Ok(())
}

/// Moves the rows of the table `name` of the database `from`, if it has one, behind those of the table `table` of the
/// database `to`, in the order of their column `sequence`.
///
/// # Errors
/// A file can't be read or written.
pub fn move_table(from: &Path, name: &str, to: &Path, table: &str) -> Result<()> {
    let connection = open(from)?;
    if !has_table(&connection, name)? {
        return Ok(());
    }
    attach(&connection, to)?;
    let columns = columns(&connection, name)?.join(", ");
    connection.execute_batch(&format!(
        "INSERT INTO other.{table} ({columns}) SELECT {columns} FROM {name} ORDER BY sequence; DETACH other;
         DROP TABLE {name}; PRAGMA incremental_vacuum"
    ))?;
    Ok(())
}

/// Makes one file of a database, beside which no journal stays.
///
/// # Errors
/// The file can't be written.
pub fn close_journal(path: &Path) -> Result<()> {
    open(path)?.pragma_update(None, "journal_mode", "DELETE")?;
    Ok(())
}

/// Returns whether the database at `path` has a table called `name`.
///
/// # Errors
/// The file can't be read.
pub fn holds_table(path: &Path, name: &str) -> Result<bool> {
    has_table(&open(path)?, name)
}

/// Returns the mark that tells the database at `path` from all others, if it has one.
///
/// # Errors
/// The file can't be read.
pub fn identity(path: &Path) -> Result<Option<String>> {
    let connection = open(path)?;
    if !has_table(&connection, "database_identity")? {
        return Ok(None);
    }
    let mut statement = connection.prepare("SELECT id FROM database_identity WHERE place = 1")?;
    let id = statement.query_map([], |row| row.get(0))?.next();
    Ok(id.transpose()?)
}

/// Returns whether somebody has the database at `path` open: whoever has, holds a lock against a change of the
/// journal's mode.
pub fn is_in_use(path: &Path) -> bool {
    let Ok(connection) = open(path) else {
        return false;
    };
    let changed = connection
        .busy_timeout(USED)
        .and_then(|()| connection.pragma_update(None, "journal_mode", "DELETE"));
    // A damaged database can't be changed either, and is what backups are for.
    changed.is_err_and(|it| it.sqlite_error_code() == Some(DatabaseBusy))
}

/// Returns the faults of the SQLite file at `path`, which is only read: every page of it and, if it `is_thorough`,
/// whether every index tells the same as its table. Those of searches are left out: what is damaged of them is made anew.
///
/// # Errors
/// It can't be opened.
pub fn damage(path: &Path, is_thorough: bool) -> Result<Vec<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    // Whoever has it open keeps a journal beside it. Without one, looking must not make it.
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    let mode = match Path::new(&journal).exists() {
        true => "",
        false => "?immutable=1",
    };
    let url = format!("file:{}{mode}", encoded(path));
    let connection = Connection::open_with_flags(url, flags)?;
    let check = match is_thorough {
        true => "integrity_check",
        false => "quick_check",
    };
    let lines = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare(&format!("PRAGMA {check}({LINES})"))?;
        let lines = statement.query_map([], |row| row.get(0))?;
        lines.collect()
    };
    match lines() {
        Ok(lines) => Ok(lines.into_iter().filter(|it| it != "ok").collect()),
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(DatabaseCorrupt | NotADatabase)
            ) =>
        {
            Ok(vec![error.to_string()])
        }
        Err(error) => Err(error.into()),
    }
}

/// `path` as a part of a URL.
pub fn encoded(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes(), PLAIN).to_string()
}

fn has_table(connection: &Connection, name: &str) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE name = ?1";
    let count: u32 = connection.query_row(sql, [name], |row| row.get(0))?;
    Ok(count > 0)
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

fn open(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn attach(connection: &Connection, other: &Path) -> Result<()> {
    connection.execute("ATTACH ?1 AS other", [other.to_string_lossy()])?;
    Ok(())
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> Result<T> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}
