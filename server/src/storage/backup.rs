//! One file with all of a service's data, made while the service works, and the way back.
//!
//! On SQLite a backup is itself a database: a copy of the content as it was at one moment, and in further tables the
//! audit rows of reads, which a service keeps in a second file. It is written beside its place and moved there when it
//! is complete and checked, so that a file with the name of a backup is one. PostgreSQL has programs of its own.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use entity_core::{Error, Registry, Result};
use rusqlite::{Connection, OpenFlags};

use super::{AUDIT, Storage, damage, sqlite_file, url_of};

/// Where a backup keeps the audit rows of reads.
const READS: &str = "audit_of_reads";
/// How long to wait for whoever holds a database.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often progress is told.
const TELL: Duration = Duration::from_millis(200);

/// Writes a backup of the databases at `url` to `file`, which is replaced if `is_forced`. `tell` is called now and then
/// with the part that is done, in percent.
///
/// # Errors
/// The database is not one of SQLite, or can't be read; there is a file already; there is no room for it.
pub fn backup(url: &str, file: &Path, is_forced: bool, mut tell: impl FnMut(u64)) -> Result<()> {
    let Some(content) = sqlite_file(url)? else {
        return Err(refused(
            "PostgreSQL makes its own backups: run `pg_dump --format=custom --file=FILE DATABASE` with the address of \
             the setting `database`",
        ));
    };
    if !content.is_file() {
        return Err(refused(format!(
            "there is no database at {}",
            content.display()
        )));
    }
    if file.exists() && !is_forced {
        return Err(exists(file));
    }
    let part = beside(file, ".part");
    remove(&part)?;
    entity_providers::db::make_private(&part)?;
    let done = copy_content(&content, &part, &mut tell)
        .and_then(|()| copy_reads(&beside(&content, AUDIT), &part))
        .and_then(|()| check(&part))
        .and_then(|()| place(&part, file, is_forced));
    if done.is_err() {
        remove(&part)?;
    }
    done
}

/// Makes the databases at `url` from the backup in `file`, and brings them up to date. What is there is replaced if
/// `is_forced`.
///
/// # Errors
/// The database is not one of SQLite; `file` is no backup, or is damaged; there is a database already, or a service
/// that uses it.
pub async fn restore(url: &str, file: &Path, is_forced: bool, registry: &Registry) -> Result<()> {
    let Some(content) = sqlite_file(url)? else {
        return Err(refused(
            "PostgreSQL restores its own backups: run `pg_restore --clean --if-exists --dbname=DATABASE FILE` while no \
             service uses the database, then `lectern migrate`",
        ));
    };
    if content.exists() {
        if !is_forced {
            return Err(exists(&content));
        }
        refuse_in_use(&content)?;
    }
    check(file)?;
    let part = beside(&content, ".part");
    remove_database(&part)?;
    entity_providers::db::make_private(&part)?;
    let done = unpack(file, &part, registry).await;
    if done.is_err() {
        remove_database(&part)?;
    }
    done?;
    // Left-over journals would be taken for those of the new files.
    remove_database(&content)?;
    for ending in [AUDIT, ""] {
        rename(&beside(&part, ending), &beside(&content, ending))?;
    }
    sync_folder(&content)
}

/// Copies the database `content` as it is now to `part`, an empty file.
fn copy_content(content: &Path, part: &Path, tell: &mut impl FnMut(u64)) -> Result<()> {
    let connection = open(content)?;
    let pages: i64 = pragma(&connection, "page_count")?;
    let size: i64 = pragma(&connection, "page_size")?;
    if pragma::<u32>(&connection, "auto_vacuum")? == 0 {
        // The copy can shrink, even if it is one of a file that can't.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let whole = u64::try_from(pages.saturating_mul(size))
        .unwrap_or_default()
        .max(1);
    let name = part.to_string_lossy().into_owned();
    thread::scope(|scope| {
        let copying = scope.spawn(move || connection.execute("VACUUM INTO ?1", [name]));
        while !copying.is_finished() {
            thread::sleep(TELL);
            let done = fs::metadata(part).map_or(0, |it| it.len());
            tell((done.saturating_mul(100) / whole).min(99));
        }
        let copied = copying
            .join()
            .map_err(|_panic| refused("the copy was given up: try again"))?;
        copied?;
        tell(100);
        Ok(())
    })
}

/// Adds the audit rows of reads in the file `audit`, if there is one.
fn copy_reads(audit: &Path, part: &Path) -> Result<()> {
    let connection = open(part)?;
    if audit.is_file() {
        attach(&connection, audit)?;
        connection.execute_batch(&format!(
            "PRAGMA synchronous = OFF; CREATE TABLE {READS} AS SELECT * FROM reads.audit; DETACH reads"
        ))?;
    }
    // One file: no journal stays beside it.
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    Ok(())
}

/// Makes a database at `part` from the backup in `file`, with a second file for the audit rows of reads.
async fn unpack(file: &Path, part: &Path, registry: &Registry) -> Result<()> {
    fs::copy(file, part).map_err(|error| failed("can't copy the backup", &error))?;
    private(part)?;
    // As it is, it lacks what a newer version of the service has added, and the second file.
    let storage = Storage::open(&url_of(part), registry).await?;
    storage.close().await?;
    let connection = open(part)?;
    let has_reads = "SELECT COUNT(*) FROM sqlite_schema WHERE name = ?1";
    let has_reads: u32 = connection.query_row(has_reads, [READS], |row| row.get(0))?;
    if has_reads > 0 {
        attach(&connection, &beside(part, AUDIT))?;
        let columns = columns(&connection)?.join(", ");
        connection.execute_batch(&format!(
            "INSERT INTO reads.audit ({columns}) SELECT {columns} FROM {READS} ORDER BY sequence; DETACH reads;
             DROP TABLE {READS}; PRAGMA incremental_vacuum"
        ))?;
    }
    drop(connection);
    for ending in ["", AUDIT] {
        let file = File::open(beside(part, ending));
        file.and_then(|it| it.sync_all())
            .map_err(|error| failed("can't store the database", &error))?;
    }
    check(part)
}

/// The columns of the audit rows in the backup.
fn columns(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([READS], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Refuses a file that is no database of this service, or a damaged one.
fn check(file: &Path) -> Result<()> {
    if !file.is_file() {
        return Err(refused(format!("there is no file {}", file.display())));
    }
    let damage = damage(file, true)?;
    if !damage.is_empty() {
        return Err(refused(format!(
            "{} is damaged: {}",
            file.display(),
            damage.join("; ")
        )));
    }
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'seaql_migrations'";
    match open(file)?.query_row(sql, [], |row| row.get(0))? {
        0 => Err(refused(format!(
            "{} is no backup of this service",
            file.display()
        ))),
        1_u32.. => Ok(()),
    }
}

/// Refuses to touch a database that somebody has open: whoever has, holds a lock against a change of the journal's mode.
fn refuse_in_use(content: &Path) -> Result<()> {
    let Ok(connection) = open(content) else {
        return Ok(());
    };
    let changed = connection
        .busy_timeout(Duration::from_millis(500))
        .and_then(|()| connection.pragma_update(None, "journal_mode", "DELETE"));
    match changed {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            Err(refused(format!(
                "{} is in use: stop the service first",
                content.display()
            )))
        }
        // A damaged one can't be changed, and is what backups are for.
        _ => Ok(()),
    }
}

fn open(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn attach(connection: &Connection, audit: &Path) -> Result<()> {
    connection.execute("ATTACH ?1 AS reads", [audit.to_string_lossy()])?;
    Ok(())
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> Result<T> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

/// Moves `part` to `file`, once it is on the disk.
fn place(part: &Path, file: &Path, is_forced: bool) -> Result<()> {
    let written = OpenOptions::new().write(true).open(part);
    written
        .and_then(|it| it.sync_all())
        .map_err(|error| failed("can't store the backup", &error))?;
    if is_forced {
        rename(part, file)?;
    } else {
        // Unlike a change of the name, this never replaces what somebody else put there meanwhile.
        fs::hard_link(part, file).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => exists(file),
            _ => failed("can't name the backup", &error),
        })?;
        remove(part)?;
    }
    sync_folder(file)
}

fn sync_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or_else(|| Path::new(".")));
    folder
        .and_then(|it| it.sync_all())
        .map_err(|error| failed("can't store the name of the file", &error))
}

/// Makes `file` readable for nobody else.
fn private(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
        .map_err(|error| failed("can't protect the file", &error))
}

/// Removes all files of the database at `path`.
fn remove_database(path: &Path) -> Result<()> {
    for file in ["", AUDIT] {
        for journal in ["-wal", "-shm", "-journal", ""] {
            remove(&beside(path, &format!("{file}{journal}")))?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(failed("can't remove a file", &error))
        }
        _ => Ok(()),
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| failed("can't put the file in its place", &error))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn exists(file: &Path) -> Error {
    refused(format!(
        "there is a file {} already: `--force` replaces it",
        file.display()
    ))
}

fn failed(what: &'static str, error: &std::io::Error) -> Error {
    refused(format!("{what}: {error}"))
}

/// A failure that the operator reads.
fn refused(text: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(entity_core::ErrorKind::Internal, text)
}
