//! The storage that a service uses: bytes and rows.

use std::fs;
use std::path::PathBuf;

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};

use super::ground::Ground;
use crate::Backend;

/// The files of SQLite, beside each other.
const FILES: [&str; 4] = [
    "lectern.db",
    "lectern.db-wal",
    "lectern.db.audit",
    "lectern.db.audit-wal",
];

/// Looks into the databases of a service from outside.
#[derive(Debug)]
pub(super) struct Stored {
    backend: Backend,
    folder: PathBuf,
    /// Each with what stands behind the names of its tables.
    databases: Vec<(&'static str, DatabaseConnection)>,
}

impl Stored {
    /// Opens the storage of the service of `ground`.
    pub(super) async fn of(ground: &Ground) -> Self {
        let (backend, folder) = (ground.database.backend(), ground.database.folder());
        let databases = match backend {
            Backend::Sqlite => {
                let url = |file| format!("sqlite://{}?mode=ro", folder.join(file).display());
                vec![
                    ("", connect(url("lectern.db")).await),
                    (" (second file)", connect(url("lectern.db.audit")).await),
                ]
            }
            Backend::Postgres => vec![("", connect(ground.database.url().to_owned()).await)],
        };
        Self {
            backend,
            folder,
            databases,
        }
    }

    /// The bytes of each file, or of the database.
    pub(super) async fn bytes(&self) -> Vec<(String, u64)> {
        if self.backend == Backend::Sqlite {
            let size = |it: &str| fs::metadata(self.folder.join(it)).map_or(0, |it| it.len());
            return FILES.map(|it| (it.to_owned(), size(it))).into();
        }
        let sql = "SELECT pg_database_size(current_database())";
        let mut all = Vec::new();
        for (_, connection) in &self.databases {
            all.push(("database".to_owned(), number(connection, sql).await));
        }
        all
    }

    /// The rows of each table.
    pub(super) async fn rows(&self) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        for (ending, connection) in &self.databases {
            for table in self.tables(connection).await {
                let rows = number(connection, &format!("SELECT COUNT(*) FROM {table}")).await;
                all.push((format!("{table}{ending}"), rows));
            }
        }
        all
    }

    async fn tables(&self, connection: &DatabaseConnection) -> Vec<String> {
        let sql = match self.backend {
            Backend::Sqlite => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
            }
            Backend::Postgres => {
                "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
            }
        };
        let statement = Statement::from_string(connection.get_database_backend(), sql);
        let rows = connection.query_all_raw(statement).await;
        let rows = rows.expect("a list of tables").into_iter();
        rows.map(|it| it.try_get_by_index(0).expect("a name"))
            .collect()
    }
}

async fn connect(url: String) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let connection = Database::connect(options).await;
    connection.expect("the database is there")
}

/// The number that `sql` answers.
async fn number(connection: &DatabaseConnection, sql: &str) -> u64 {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await;
    let row = row.expect("an answer").expect("a row");
    let number: i64 = row.try_get_by_index(0).expect("a number");
    number.unsigned_abs()
}
