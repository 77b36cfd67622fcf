//! The demo university, made once for each kind of storage and copied for each test.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::app::TestApp;
use crate::database::{Backend, Database, OnBackend};
use crate::postgres;

/// The name of the folder of stored files beside a database.
const STORE: &str = "files";

/// Makes a database with the demo university. Returns `None` where this kind of database is not installed.
pub async fn copy(backend: Backend) -> Option<Database> {
    match backend {
        Backend::Sqlite => {
            static FILE: OnceCell<(Vec<u8>, Files)> = OnceCell::const_new();
            let (template, files) = FILE.get_or_init(make_file).await;
            let database = Database::on_backend(backend).await?;
            fs::write(database.folder().join("lectern.db"), template).expect("room for a copy");
            files.put(&database);
            Some(database)
        }
        Backend::Postgres => {
            static NAME: OnceCell<Option<(String, Files)>> = OnceCell::const_new();
            let (template, files) = NAME.get_or_init(make_database).await.as_ref()?;
            let database = Database::postgres(Some(template)).await?;
            files.put(&database);
            Some(database)
        }
    }
}

/// The stored files of the demo university: the path of each below the folder of the database, and its bytes.
struct Files(Vec<(PathBuf, Vec<u8>)>);

impl Files {
    /// Reads the stored files in the folder of a database.
    fn of(folder: &Path) -> Self {
        let (mut files, mut folders) = (Vec::new(), vec![folder.join(STORE)]);
        while let Some(next) = folders.pop() {
            let entries = fs::read_dir(next).into_iter().flatten().flatten();
            for path in entries.map(|it| it.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(own) = path.strip_prefix(folder) {
                    files.push((
                        own.to_owned(),
                        fs::read(&path).expect("a file of the service"),
                    ));
                }
            }
        }
        Self(files)
    }

    /// Copies the files into the folder of `database`.
    fn put(&self, database: &Database) {
        for (path, bytes) in &self.0 {
            let path = database.folder().join(path);
            let folder = path.parent().expect("a file is in a folder");
            // As private as the service makes it.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.expect("room for a folder");
            fs::write(path, bytes).expect("room for a copy");
        }
    }
}

/// The content of a file with the demo university, and the stored files.
async fn make_file() -> (Vec<u8>, Files) {
    let database = Database::on_backend(Backend::Sqlite).await;
    let database = database.expect("files are always there");
    let folder = database.folder();
    let file = folder.join("lectern.db");
    let app = TestApp::start(database, &[]).await;
    app.fill().await;
    let files = Files::of(&folder);
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let copy = folder.path().join("copy.db");
    vacuum(file, &copy.display().to_string());
    (fs::read(copy).expect("the copy"), files)
}

fn vacuum(file: PathBuf, into: &str) {
    let connection = Connection::open(file).expect("a file of the service's making");
    connection
        .execute("VACUUM INTO ?1", [into])
        .expect("room for a copy");
}

/// The name of a database with the demo university, to which nobody can connect any more, and the stored files.
async fn make_database() -> Option<(String, Files)> {
    let database = Database::postgres(None).await?;
    let (name, folder) = (database.name().to_owned(), database.folder());
    let app = TestApp::start(database, &[]).await;
    app.fill().await;
    postgres::freeze(&name).await;
    // It is not dropped as other databases are: the copies need it to the end.
    std::mem::forget(app);
    Some((name, Files::of(&folder)))
}
