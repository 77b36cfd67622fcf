//! An empty database of its own for each test, on each kind of storage that is installed.

use std::env;
use std::future::Future;
use std::path::PathBuf;

use rustix::fs::statvfs;
use tempfile::TempDir;

use crate::postgres::{self, PostgresDatabase};

/// The file system in memory of Linux.
const MEMORY: &str = "/dev/shm";
/// The number of bytes that must be free there: containers often have 64 MiB.
const ROOM: u64 = 2 << 30;

/// The kinds of database that the service works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A SQLite file.
    Sqlite,
    /// A database of a PostgreSQL server.
    Postgres,
}

/// A type of argument of tests, which can be made on each kind of database.
pub trait OnBackend: Sized {
    /// Makes a fresh value. Returns `None` where this kind of database is not installed.
    fn on_backend(backend: Backend) -> impl Future<Output = Option<Self>> + Send;
}

/// Runs `body` with a fresh `T`, or not at all where this kind of database is not installed.
pub async fn on<T: OnBackend, F: Future<Output = ()>>(backend: Backend, body: impl FnOnce(T) -> F) {
    if let Some(fresh) = T::on_backend(backend).await {
        body(fresh).await;
    }
}

/// A database, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Database {
    backend: Backend,
    url: String,
    keeper: Keeper,
}

/// The owner of resources that have to live as long as the database does.
#[derive(Debug)]
enum Keeper {
    Folder(TempDir),
    Postgres {
        /// Files beside the database: audit, uploads.
        folder: TempDir,
        database: PostgresDatabase,
    },
}

impl Database {
    /// Returns the URL of the database, for the setting `database` of the service.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the kind of the database.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns the folder for files that belong to the database.
    pub fn folder(&self) -> PathBuf {
        match &self.keeper {
            Keeper::Folder(folder) | Keeper::Postgres { folder, .. } => folder.path().to_owned(),
        }
    }

    /// Returns the name of the database on the PostgreSQL server.
    pub fn name(&self) -> &str {
        match &self.keeper {
            Keeper::Folder(_) => "",
            Keeper::Postgres { database, .. } => database.name(),
        }
    }

    /// Returns the socket of the PostgreSQL server.
    ///
    /// # Panics
    /// Panics if the database is a file, or on a server of a test's own.
    pub fn socket(&self) -> PathBuf {
        match &self.keeper {
            Keeper::Postgres { database, .. } => database.socket(),
            Keeper::Folder(_) => panic!("a file has no server"),
        }
    }

    /// Describes a database of a PostgreSQL server that the caller keeps, which is at `url`.
    pub fn of_server(url: String) -> Self {
        Self {
            backend: Backend::Postgres,
            url,
            keeper: Keeper::Folder(new_folder()),
        }
    }

    /// Describes the same database, which the service is to reach at `url`.
    #[must_use]
    pub fn reached_at(mut self, url: String) -> Self {
        self.url = url;
        self
    }

    /// Refuses all connections to the PostgreSQL database, as if the server had gone.
    pub async fn go_away(&self) {
        postgres::freeze(self.name()).await;
    }

    /// Allows connections to the PostgreSQL database again.
    pub async fn come_back(&self) {
        postgres::thaw(self.name()).await;
    }

    fn sqlite() -> Self {
        let folder = new_folder();
        let file = folder.path().join("lectern.db");
        Self {
            backend: Backend::Sqlite,
            url: format!("sqlite://{}?mode=rwc", file.display()),
            keeper: Keeper::Folder(folder),
        }
    }

    /// Makes a PostgreSQL database: a copy of `template` or, without one, an empty database.
    pub async fn postgres(template: Option<&str>) -> Option<Self> {
        let database = postgres::fresh(template).await?;
        Some(Self {
            backend: Backend::Postgres,
            url: database.url(),
            keeper: Keeper::Postgres {
                folder: new_folder(),
                database,
            },
        })
    }
}

impl OnBackend for Database {
    async fn on_backend(backend: Backend) -> Option<Self> {
        match backend {
            Backend::Sqlite => Some(Self::sqlite()),
            Backend::Postgres => Self::postgres(None).await,
        }
    }
}

fn new_folder() -> TempDir {
    let place = memory().map_or_else(env::temp_dir, PathBuf::from);
    let folder = TempDir::with_prefix_in("lectern-test-", place);
    folder.expect("a folder for temporary files can be made")
}

/// Returns a file system in memory, if there is one with room: a database of PostgreSQL is more than a thousand files, and
/// each write waits until a disk has it.
pub(crate) fn memory() -> Option<&'static str> {
    let free = statvfs(MEMORY).map_or(0, |it| it.f_bavail.saturating_mul(it.f_frsize));
    (free >= ROOM).then_some(MEMORY)
}
