//! The rows in the databases of a service, read by something else than the service.

use std::path::Path;

use rusqlite::OpenFlags;
use sea_orm::{ConnectionTrait, Database as Connection, DatabaseConnection, Statement};

use crate::{Backend, TestApp};

/// The databases of `app`: its content and, on SQLite, beside it the audit rows of what only read.
pub async fn databases(app: &TestApp) -> Vec<DatabaseConnection> {
    let url = app.database().url();
    let mut urls = vec![url.to_owned()];
    if app.database().backend() == Backend::Sqlite {
        urls.push(url.replace(".db?", ".db.audit?"));
    }
    let mut connections = Vec::new();
    for url in urls {
        connections.push(Connection::connect(url).await.expect("it connects"));
    }
    connections
}

/// The column `line` of what `sql` asks for.
pub async fn texts(connection: &DatabaseConnection, sql: &str) -> Vec<String> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await.expect("rows");
    rows.iter()
        .map(|it| it.try_get("", "line").expect("text"))
        .collect()
}

/// Returns the rows of the audit log for the request with this id: methods, paths and statuses, sorted.
pub async fn audited(app: &TestApp, request_id: &str) -> Vec<String> {
    app.service().audit.flush().await;
    let sql = format!(
        "SELECT method || ' ' || path || ' ' || status AS line FROM audit WHERE request_id = '{request_id}'"
    );
    let mut lines = Vec::new();
    for connection in databases(app).await {
        lines.extend(texts(&connection, &sql).await);
    }
    lines.sort();
    lines
}

/// The first column of what `sql` finds in the SQLite file `file`, which is opened as it is, without journals.
pub fn column(file: &Path, sql: &str) -> Vec<String> {
    let url = format!("file:{}?immutable=1", file.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = rusqlite::Connection::open_with_flags(url, flags).expect("a database");
    let mut statement = connection.prepare(sql).expect("its tables");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}
