//! The databases of a service: the content, and on SQLite a second file for the audit rows of reads.

mod backup;
mod keep;

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use entity_core::db::{Db, Faults, QueryPools, is_at_rest};
use entity_core::{Error, ErrorKind, Registry, Result};
use entity_providers::storage::db::{Pools, offline};
use rustix::fs::statvfs;
use sea_orm::sqlx::Sqlite;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{DbBackend, SqlxSqliteConnector};
use sea_orm_migration::MigrationTrait;

use crate::guard::audit::AuditStore;
use crate::operate::migration;

pub use backup::{backup, may_restore, restore};

/// The databases, open and up to date.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The content, with the outbox and the audit rows of writes.
    pub content: Db,
    /// The store of the audit rows of reads.
    pub audit_of_reads: AuditStore,
    /// The store of the audit rows of writes, in the transactions of the content.
    pub audit_of_writes: AuditStore,
}

impl Storage {
    /// Waits until a database has failed so that nothing more may be acknowledged.
    pub async fn broken(&self) {
        let reads = self.audit_of_reads.broken();
        tokio::select! {
            () = self.content.faults.broken() => {}
            () = reads => {}
        }
    }

    /// Opens the databases at `url` and brings them up to date, with the tables of the types in `registry`.
    ///
    /// # Errors
    /// The database can't be reached or was changed by a newer version of the service.
    pub async fn open(url: &str, registry: &Registry) -> Result<Self> {
        Self::open_with(url, registry, Pools::default()).await
    }

    /// The same with so many connections.
    ///
    /// # Errors
    /// Fails as [`Storage::open`] does.
    pub async fn open_with(url: &str, registry: &Registry, pools: Pools) -> Result<Self> {
        let content = entity_providers::storage::db::connect_with(url, pools).await?;
        entity_providers::storage::db::migrate(&content, migrations).await?;
        entity_providers::storage::db::ensure_tables(&content, registry).await?;
        entity_providers::storage::db::count_tables(&content, registry).await?;
        entity_core::db::check_declared_sql(&content, registry).await?;
        let reads = match content.writer.get_database_backend() {
            DbBackend::Sqlite => beside(url).await?,
            _ => content.clone(),
        };
        Ok(Self {
            audit_of_reads: AuditStore::new(reads.writer, reads.faults),
            audit_of_writes: AuditStore::new(content.writer.clone(), content.faults.clone()),
            content,
        })
    }
}

/// The right to serve a database, which ends with the process at the latest.
#[derive(Debug)]
pub struct Claim(
    #[expect(dead_code, reason = "the lock is held as long as it is open")] Option<File>,
);

/// Claims the database at `url` for a service: only one may serve a SQLite file, because what a service remembers of it
/// is changed by nobody else. Commands of the operator work beside it, and many services share a PostgreSQL database.
///
/// # Errors
/// Another service serves it; the lock file beside it can't be made.
pub fn claim(url: &str) -> Result<Claim> {
    let Some(path) = beside_content(url, LOCK)? else {
        return Ok(Claim(None));
    };
    let told = |text: String| Error::new(ErrorKind::Internal, text);
    let content = beside_content(url, "")?.unwrap_or_default();
    if content.is_dir() {
        // Said by whoever opens it.
        return Ok(Claim(None));
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path);
    let file = file.map_err(|error| {
        let text = format!(
            "can't make the file {}: let the service write the folder, or name another file in the setting `database`",
            path.display()
        );
        told(text).with_source(error)
    })?;
    match file.try_lock() {
        Ok(()) => {
            // What can't be kept is missed by nobody yet.
            drop(reserve(&file, is_full(&path)));
            Ok(Claim(Some(file)))
        }
        Err(TryLockError::WouldBlock) => Err(told(format!(
            "another service serves the database {}: stop it first, or name another file in the setting `database`",
            content.display()
        ))),
        // Some file systems know no locks.
        Err(TryLockError::Error(error)) => {
            tracing::warn!(
                error = crate::base::telemetry::cause(&error),
                "the database can't be locked: see to it that no second service serves it"
            );
            Ok(Claim(Some(file)))
        }
    }
}

/// Returns whether less than a megabyte is free on the disk of `path`.
pub(crate) fn is_full(path: &Path) -> bool {
    // A file system in memory may have no limit of its own.
    statvfs(path)
        .is_ok_and(|it| it.f_blocks > 0 && it.f_bavail.saturating_mul(it.f_frsize) < 1 << 20)
}

/// Keeps bytes in the lock file for a start on a full disk: SQLite can't open a file without some, not even to read it.
fn reserve(mut file: &File, is_full: bool) -> io::Result<()> {
    match is_full {
        true => file.set_len(0),
        false => file.write_all(&vec![0; RESERVE]),
    }
}

/// A database that is only looked at.
#[derive(Clone, Debug)]
pub struct Look {
    /// The content. Nothing can be written to it.
    pub content: Db,
    /// The file with the audit rows of reads; `None` if they are with the content, or if the file is not there.
    pub audit_of_reads: Option<Db>,
    /// The names of the pending migrations, tables and files that [`Storage::open`] would add.
    pub lacks: Vec<String>,
}

/// Looks at the databases at `url`. They stay as they are, and none is made. Of SQLite every page is read and, if it
/// `is_thorough`, every entry of every index.
///
/// # Errors
/// There is none, it can't be read, it is damaged, or it was changed by a newer version of the service.
pub async fn look(url: &str, registry: &Registry, is_thorough: bool) -> Result<Look> {
    refuse_damaged(url, is_thorough)?;
    glance(url, registry).await
}

/// The same without a search for damage, which takes long where there is much.
///
/// # Errors
/// There is none, it can't be read, or it was changed by a newer version of the service.
pub async fn glance(url: &str, registry: &Registry) -> Result<Look> {
    let content = entity_providers::storage::db::look(url).await?;
    let mut lacks = entity_providers::storage::db::lacks(&content, migrations, registry).await?;
    let mut audit_of_reads = None;
    if content.reader.get_database_backend() == DbBackend::Sqlite {
        let options = SqliteConnectOptions::from_str(url).map_err(Error::internal)?;
        let path = with_ending(options.get_filename(), AUDIT);
        if path.is_file() {
            let db = entity_providers::storage::db::look_at_file(&path).await?;
            let no_types = Registry::new([]).map_err(Error::internal)?;
            lacks.extend(
                entity_providers::storage::db::lacks(&db, audit_migrations, &no_types).await?,
            );
            audit_of_reads = Some(db);
        } else {
            lacks.push(path.display().to_string());
        }
    }
    Ok(Look {
        content,
        audit_of_reads,
        lacks,
    })
}

/// Refuses a database with a damaged file.
fn refuse_damaged(url: &str, is_thorough: bool) -> Result<()> {
    let Some(content) = sqlite_file(url)? else {
        return Ok(());
    };
    for file in ["", AUDIT].map(|it| with_ending(&content, it)) {
        let damage = match file.is_file() {
            true => offline::damage(&file, is_thorough)?,
            false => continue,
        };
        if !damage.is_empty() {
            let text = format!(
                "{} is damaged ({}): stop the service and put a backup in its place with `lectern restore`; `lectern \
                 doctor` tells whether all is well then",
                file.display(),
                damage.join("; ")
            );
            return Err(Error::new(ErrorKind::Internal, text));
        }
    }
    Ok(())
}

/// The damage to a file of the database at `url` that `failure` is about, if it is: the file by its name, with what to
/// do. To find it, every page is read.
pub(crate) fn damage_behind(
    url: &str,
    failure: &(dyn std::error::Error + 'static),
) -> Option<Error> {
    let mut causes = std::iter::successors(Some(failure), |it| it.source());
    // What SQLite says of it, whichever driver and layer pass it on.
    let is_damage = |text: String| {
        ["disk image is malformed", "file is not a database"]
            .iter()
            .any(|it| text.contains(it))
    };
    match causes.any(|it| is_damage(it.to_string())) {
        true => refuse_damaged(url, false).err(),
        false => None,
    }
}

/// The size in bytes to which SQLite truncates the journal of that file after a checkpoint.
const JOURNAL: &str = "16777216";
/// The suffix of the name of the lock file of a service. The file itself may stay.
const LOCK: &str = ".lock";
/// The number of bytes in that file.
const RESERVE: usize = 512 << 10;
/// The suffix of the name of the file with the audit rows of reads.
const AUDIT: &str = ".audit";

/// All files that a database at `url` may consist of, those that SQLite writes beside its own included; none if
/// another program looks after them.
///
/// # Errors
/// The address is none.
pub fn files(url: &str) -> Result<Vec<PathBuf>> {
    let Some(content) = sqlite_file(url)? else {
        return Ok(Vec::new());
    };
    let endings = ["", AUDIT].iter().flat_map(|file| {
        let beside = |it| format!("{file}{it}");
        ["", "-wal", "-shm"].map(beside)
    });
    Ok(endings.map(|it| with_ending(&content, &it)).collect())
}

/// The file with the content of the database at `url`, if it is one of SQLite.
fn sqlite_file(url: &str) -> Result<Option<PathBuf>> {
    if !url.starts_with("sqlite:") {
        return Ok(None);
    }
    let options = SqliteConnectOptions::from_str(url).map_err(Error::internal)?;
    Ok(Some(options.get_filename().to_owned()))
}

/// The address of the database in the file at `path`.
fn url_of(path: &Path) -> String {
    format!("sqlite://{}", offline::encoded(path))
}

/// The path beside the file with the content of the database at `url`, with `ending` behind its name; `None` if another
/// program looks after the database.
///
/// # Errors
/// The address is none.
pub fn beside_content(url: &str, ending: &str) -> Result<Option<PathBuf>> {
    let content = sqlite_file(url)?;
    Ok(content.map(|it| with_ending(&it, ending)))
}

pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    name.into()
}

/// All steps of the content's database, in order.
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    let mut steps = entity_providers::storage::migration::migrations();
    steps.extend(migration::migrations());
    steps
}

/// All steps of the file that holds the audit log of reads on SQLite, in order.
pub fn audit_migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(migration::AUDIT)]
}

/// Opens the file beside the content's. It may lose its last rows when the power fails: none of them was acknowledged
/// to a client.
async fn beside(url: &str) -> Result<Db> {
    let options = SqliteConnectOptions::from_str(url).map_err(Error::internal)?;
    let name = with_ending(options.get_filename(), AUDIT);
    entity_providers::storage::db::make_file(&name).await?;
    let faults = Faults::new(Some(name.clone()));
    let options = options
        .filename(name)
        .create_if_missing(true)
        .pragma("journal_size_limit", JOURNAL)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .before_acquire(|connection, _| {
            let may_serve = is_at_rest::<Sqlite>(connection);
            Box::pin(async move { Ok(may_serve) })
        })
        .connect_with(options)
        .await
        .map_err(Error::internal)?;
    let connection = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool);
    let db = Db {
        reader: connection.clone(),
        writer: connection,
        file: None,
        query_pools: QueryPools::default(),
        faults,
        stops: None,
    };
    entity_providers::storage::db::migrate(&db, audit_migrations).await?;
    Ok(db)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y11_a_start_on_a_full_disk_has_the_room_that_was_kept_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("lock")).unwrap();
        for (is_full, kept) in [(false, 512 << 10), (true, 0), (true, 0)] {
            reserve(&file, is_full).unwrap();
            assert_eq!(file.metadata().unwrap().len(), kept);
        }
        assert!(!is_full(Path::new("/nowhere")));
    }

    #[test]
    fn x52_a_file_is_served_by_one_service_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let url = url_of(&folder.path().join("one.db"));
        let first = claim(&url).unwrap();
        let error = claim(&url).unwrap_err().to_string();
        assert!(error.contains("one.db: stop it first"), "{error}");
        claim(&url_of(&folder.path().join("other.db"))).unwrap();
        drop(first);
        claim(&url).unwrap();
        claim("postgres://host/one").unwrap();
        let nowhere = url_of(&folder.path().join("no/folder.db"));
        let error = claim(&nowhere).unwrap_err().to_string();
        assert!(error.contains("no/folder.db.lock"), "{error}");
    }
}
