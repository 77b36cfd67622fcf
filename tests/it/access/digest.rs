//! The content of the database in few numbers, to see whether a request changed anything.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sea_orm::{ConnectionTrait, Database as Connection, DatabaseConnection, Statement};
use tests::{Backend, Database};

/// Tables that requests write into without being allowed anything. A file is stored before the row that names it, which is
/// then refused; nobody can reach it, and it is removed an hour later. The service notes by itself, a minute after its start,
/// which columns name files, every ten seconds who visits which site, and what its followers have made of the events.
const BESIDES: [&str; 8] = [
    "audit",
    "follower",
    "presence",
    "session",
    "site_activity",
    "login_failure",
    "stored_file",
    "stored_file_column",
];

/// Looks at a database.
#[derive(Debug)]
pub(super) struct Witness {
    connection: DatabaseConnection,
    /// One statement for all tables: name and content.
    statement: String,
}

/// The content, by table.
pub(super) type Digest = BTreeMap<String, u64>;

impl Witness {
    pub(super) async fn of(database: &Database) -> Self {
        let connection = Connection::connect(database.url())
            .await
            .expect("it connects");
        let tables = match database.backend() {
            Backend::Sqlite => "SELECT name AS word FROM sqlite_master WHERE type = 'table'",
            Backend::Postgres => {
                "SELECT tablename::text AS word FROM pg_tables WHERE schemaname = 'public'"
            }
        };
        let mut selects = Vec::new();
        for table in words(&connection, tables.to_owned()).await {
            if BESIDES.contains(&table.as_str()) || table.starts_with("sqlite_") {
                continue;
            }
            let row = match database.backend() {
                Backend::Sqlite => {
                    let columns = format!("SELECT name AS word FROM pragma_table_info('{table}')");
                    let columns = words(&connection, columns).await;
                    let quoted: Vec<_> = columns
                        .iter()
                        .map(|it| format!("quote(\"{it}\")"))
                        .collect();
                    quoted.join(" || '|' || ")
                }
                Backend::Postgres => "t::text".to_owned(),
            };
            let joined = match database.backend() {
                Backend::Sqlite => "group_concat(line, char(10))",
                Backend::Postgres => "string_agg(line, chr(10) ORDER BY line)",
            };
            selects.push(format!(
                "SELECT '{table}' AS word, coalesce({joined}, '') AS content \
                 FROM (SELECT {row} AS line FROM \"{table}\" t ORDER BY 1) x"
            ));
        }
        assert!(selects.len() > 10, "these are not the tables: {selects:?}");
        Self {
            connection,
            statement: selects.join(" UNION ALL "),
        }
    }

    pub(super) async fn digest(&self) -> Digest {
        let rows = query(&self.connection, self.statement.clone()).await;
        let hash = |content: String| {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            hasher.finish()
        };
        rows.iter()
            .map(|it| {
                let word = it.try_get("", "word").expect("a name");
                let content = it.try_get("", "content").expect("text");
                (word, hash(content))
            })
            .collect()
    }
}

/// The tables that differ.
pub(super) fn difference<'a>(before: &'a Digest, after: &Digest) -> Vec<&'a str> {
    let differs = |it: &(&String, &u64)| after.get(it.0) != Some(it.1);
    before
        .iter()
        .filter(differs)
        .map(|it| it.0.as_str())
        .collect()
}

async fn words(connection: &DatabaseConnection, sql: String) -> Vec<String> {
    let rows = query(connection, sql).await;
    rows.iter()
        .map(|it| it.try_get("", "word").expect("a word"))
        .collect()
}

async fn query(connection: &DatabaseConnection, sql: String) -> Vec<sea_orm::QueryResult> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    connection
        .query_all_raw(statement)
        .await
        .expect("an answer")
}
