//! One file with all of a service's data, made while the service works, and the way back.
//!
//! On SQLite a backup is itself a database: a copy of the content as it was at one moment, and in further tables the
//! audit rows of reads, which a service keeps in a second file. It is written beside its place and moved there when it
//! is complete and checked, so that a file with the name of a backup is one. PostgreSQL has programs of its own.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use entity_core::{Error, Registry, Result};
use entity_providers::storage::db::{self, offline};

use super::{AUDIT, Storage, sqlite_file, url_of, with_ending};

/// The table in which a backup keeps the audit rows of reads.
const READS: &str = "audit_of_reads";

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
    let part = with_ending(file, ".part");
    remove(&part)?;
    db::make_private(&part)?;
    let done = offline::copy(&content, &part, &mut tell)
        .and_then(|()| copy_reads(&with_ending(&content, AUDIT), &part))
        .and_then(|()| check(&part))
        .and_then(|()| place(&part, file, is_forced));
    if done.is_err() {
        remove(&part)?;
    }
    done
}

/// Makes the databases at `url` from the backup in `file`, and brings them up to date. Existing databases are replaced
/// if `is_forced`.
///
/// # Errors
/// The database is not one of SQLite; `file` is no backup, or is damaged; there is a database already, or a service
/// that uses it.
pub async fn restore(url: &str, file: &Path, is_forced: bool, registry: &Registry) -> Result<()> {
    let content = may_restore(url, file, is_forced)?;
    let part = with_ending(&content, ".part");
    remove_database(&part)?;
    db::make_private(&part)?;
    let done = unpack(file, &part, registry).await;
    if done.is_err() {
        remove_database(&part)?;
    }
    done?;
    // Left-over journals would be taken for those of the new files.
    remove_database(&content)?;
    for ending in [AUDIT, ""] {
        rename(&with_ending(&part, ending), &with_ending(&content, ending))?;
    }
    sync_folder(&content)
}

/// Checks that [`restore`] may make the databases at `url` from the backup in `file`. Returns the path of the content.
///
/// # Errors
/// Returns the errors of [`restore`] but those of writing.
pub fn may_restore(url: &str, file: &Path, is_forced: bool) -> Result<PathBuf> {
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
        if offline::is_in_use(&content) {
            return Err(refused(format!(
                "{} is in use: stop the service first",
                content.display()
            )));
        }
    }
    check(file)?;
    Ok(content)
}

/// Adds the audit rows of reads in the file `audit`, if there is one.
fn copy_reads(audit: &Path, part: &Path) -> Result<()> {
    if audit.is_file() {
        offline::copy_table(audit, "audit", part, READS)?;
    }
    offline::close_journal(part)
}

/// Makes a database at `part` from the backup in `file`, with a second file for the audit rows of reads.
async fn unpack(file: &Path, part: &Path, registry: &Registry) -> Result<()> {
    fs::copy(file, part).map_err(|error| failed("can't copy the backup", &error))?;
    private(part)?;
    // As it is, it lacks what a newer version of the service has added, and the second file.
    let storage = Storage::open(&url_of(part), registry).await?;
    storage.close().await?;
    offline::move_table(part, READS, &with_ending(part, AUDIT), "audit")?;
    for ending in ["", AUDIT] {
        let file = File::open(with_ending(part, ending));
        file.and_then(|it| it.sync_all())
            .map_err(|error| failed("can't store the database", &error))?;
    }
    check(part)
}

/// Refuses a file that is no database of this service, or a damaged one.
fn check(file: &Path) -> Result<()> {
    if !file.is_file() {
        return Err(refused(format!("there is no file {}", file.display())));
    }
    let damage = offline::damage(file, true)?;
    if !damage.is_empty() {
        return Err(refused(format!(
            "{} is damaged: {}",
            file.display(),
            damage.join("; ")
        )));
    }
    if !offline::holds_table(file, "seaql_migrations")? {
        return Err(refused(format!(
            "{} is no backup of this service",
            file.display()
        )));
    }
    Ok(())
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
            remove(&with_ending(path, &format!("{file}{journal}")))?;
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
