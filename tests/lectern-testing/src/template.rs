//! The demo university, made once for each kind of storage and copied for each test.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::app::TestApp;
use crate::database::{Backend, Database, OnBackend};
use crate::postgres;

/// Makes a database with the demo university. Returns `None` where this kind of database is not installed.
pub async fn copy(backend: Backend) -> Option<Database> {
    match backend {
        Backend::Sqlite => {
            static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
            let template = FILE.get_or_init(make_file).await;
            let database = Database::on_backend(backend).await?;
            fs::write(database.folder().join("lectern.db"), template).expect("room for a copy");
            Some(database)
        }
        Backend::Postgres => {
            static NAME: OnceCell<Option<String>> = OnceCell::const_new();
            let template = NAME.get_or_init(make_database).await.as_ref()?;
            Database::postgres(Some(template)).await
        }
    }
}

/// The content of a file with the demo university.
async fn make_file() -> Vec<u8> {
    let database = Database::on_backend(Backend::Sqlite).await;
    let database = database.expect("files are always there");
    let file = database.folder().join("lectern.db");
    let app = TestApp::start(database, &[]).await;
    app.fill().await;
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let copy = folder.path().join("copy.db");
    vacuum(file, &copy.display().to_string());
    fs::read(copy).expect("the copy")
}

fn vacuum(file: PathBuf, into: &str) {
    let connection = Connection::open(file).expect("a file of the service's making");
    connection
        .execute("VACUUM INTO ?1", [into])
        .expect("room for a copy");
}

/// The name of a database with the demo university, to which nobody can connect any more.
async fn make_database() -> Option<String> {
    let database = Database::postgres(None).await?;
    let name = database.name().to_owned();
    let app = TestApp::start(database, &[]).await;
    app.fill().await;
    postgres::freeze(&name).await;
    // It is not dropped as other databases are: the copies need it to the end.
    std::mem::forget(app);
    Some(name)
}
