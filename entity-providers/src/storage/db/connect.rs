//! Connecting: pools whose settings are the same on every machine, and checked.

mod file;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use entity_core::db::{Db, Faults, File, QueryPools, is_at_rest};
use entity_core::{Error, Result};
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Database, pool::PoolOptions};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, RuntimeErr, SqlxPostgresConnector,
    SqlxSqliteConnector, Statement,
};
use tokio::time::timeout;

use super::pool::Pools;
use super::pooler::{is_pooled, lost_settings, refused_by_pooler, shared_processes};
use super::stop::{FileStops, ServerStops};

use file::{try_to_write, unusable_file};

pub use file::{make_file, make_private};

/// A connection that was idle for this long is tried before it is used.
const PING_AFTER: Duration = Duration::from_secs(30);
/// Statements that a connection keeps prepared.
const PREPARED: usize = 500;
/// Rows that SQLite may be ahead of whoever reads them: a page, so that it does not stop in the middle.
const ROWS: usize = 1024;
/// The name by which a PostgreSQL server knows this service.
const APPLICATION: &str = "lectern";
/// The time for which a statement may write to PostgreSQL.
const WRITING: Duration = Duration::from_secs(15);
/// The time for which a statement waits for the lock of a row at least.
const LOCKED: Duration = Duration::from_secs(5);
/// The size that the journal of a SQLite file keeps when it was larger, in bytes.
const JOURNAL: &str = "67108864";
/// The part of a SQLite file that is mapped into memory, in bytes.
const MAPPED: &str = "268435456";
/// The cache of the SQLite connection that writes, in KiB, as the pragma counts it.
const CACHED: &str = "-8192";
/// The cache of each of the many that read: the file is mapped, so that only pages of the journal are copied.
const CACHED_BY_READER: &str = "-2048";

/// Opens the database at `url`: `sqlite:///path/to/file` or `postgres://…`. A SQLite file is made if there
/// is none.
///
/// # Errors
/// The address is none of these; the database can't be reached; it does not take the settings that keep
/// data safe.
pub async fn connect(url: &str) -> Result<Db> {
    connect_with(url, Pools::default()).await
}

/// The same with so many connections.
///
/// # Errors
/// Fails as [`connect`] does.
pub async fn connect_with(url: &str, pools: Pools) -> Result<Db> {
    match Address::parse(url)? {
        Address::Sqlite(options) => sqlite(*options, pools).await,
        Address::Postgres(options) => postgres(*options, pools).await,
    }
}

/// Opens the database at `url` to look at it: none is made, and nothing in it can change.
///
/// # Errors
/// The address is none; there is no database, or it can't be reached.
pub async fn look(url: &str) -> Result<Db> {
    match Address::parse(url)? {
        Address::Sqlite(options) => look_at_file(options.get_filename()).await,
        Address::Postgres(options) => {
            let faults = Faults::default();
            let reader = postgres_reader(*options, Pools::default(), &faults).await?;
            Ok(looking(reader, faults))
        }
    }
}

/// Opens the SQLite database in the file at `path` to look at it.
///
/// # Errors
/// There is none, or it can't be read.
pub async fn look_at_file(path: &Path) -> Result<Db> {
    if !path.is_file() {
        return Err(failure(format!(
            "there is no database at {}: `lectern migrate` makes it",
            path.display()
        )));
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        // Whoever has it open keeps this file beside it. Without one, looking must not make it.
        .immutable(!beside(path, "-wal").exists())
        .disable_statement_logging();
    let faults = Faults::new(Some(path.to_owned()));
    let pool = pool::<sqlx::Sqlite>(1, Pools::default().wait, &faults);
    let pool = pool.connect_with(options).await;
    let reader = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool.map_err(unreachable_database)?);
    Ok(looking(reader, faults))
}

/// Returns the database whose only connections are those of `reader`.
fn looking(reader: DatabaseConnection, faults: Faults) -> Db {
    Db {
        writer: reader.clone(),
        reader,
        file: None,
        query_pools: QueryPools::default(),
        faults,
        stops: None,
    }
}

/// The file beside the one at `path` whose name is longer by `ending`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The address in a URL.
enum Address {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

impl Address {
    fn parse(url: &str) -> Result<Self> {
        match url.split_once(':') {
            Some(("sqlite", rest)) => {
                if rest.contains(":memory:")
                    || rest.contains("mode=memory")
                    || rest.trim_matches('/').is_empty()
                {
                    return Err(failure(
                        "a SQLite database must be a file: write sqlite:///path/to/file",
                    ));
                }
                let options = url.parse().map_err(unreachable_database)?;
                Ok(Self::Sqlite(Box::new(options)))
            }
            Some(("postgres" | "postgresql", _)) => {
                let options: PgConnectOptions = url.parse().map_err(unreachable_database)?;
                // An IPv6 address has brackets in a URL, and nowhere else.
                let host = options.get_host();
                let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                let bare = bare.map(ToOwned::to_owned);
                let options = match bare {
                    Some(bare) => options.host(&bare),
                    None => options,
                };
                Ok(Self::Postgres(Box::new(options)))
            }
            _ => Err(failure(
                "the database's address must begin with sqlite:// or postgres://",
            )),
        }
    }
}

async fn sqlite(options: SqliteConnectOptions, pools: Pools) -> Result<Db> {
    let path = options.get_filename().to_path_buf();
    make_file(&path).await?;
    let options = options
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(pools.wait)
        .statement_cache_capacity(PREPARED)
        .row_buffer_size(ROWS)
        .pragma("mmap_size", MAPPED)
        .pragma("cache_size", CACHED)
        .pragma("journal_size_limit", JOURNAL)
        .disable_statement_logging();
    // The writer comes first: it makes the file, and a reader can't change the journal's mode.
    let faults = Faults::new(Some(path.clone()));
    let (writer, stops) = FileStops::of(pool::<sqlx::Sqlite>(1, pools.wait, &faults));
    let writer = writer
        .connect_with(options.clone().create_if_missing(true))
        .await
        .map_err(|error| unusable_file(&path, error))?;
    try_to_write(&writer)
        .await
        .map_err(|error| unusable_file(&path, error))?;
    let options = options
        .read_only(true)
        .pragma("cache_size", CACHED_BY_READER);
    let reader = pool::<sqlx::Sqlite>(pools.readers, pools.wait, &faults)
        .connect_with(options.clone())
        .await
        .map_err(|error| unusable_file(&path, error))?;
    let db = Db {
        reader: SqlxSqliteConnector::from_sqlx_sqlite_pool(reader),
        writer: SqlxSqliteConnector::from_sqlx_sqlite_pool(writer),
        file: Some(File::new(path)),
        query_pools: pools.sqlite_query_pools(&options, &faults),
        faults,
        stops: Some(stops),
    };
    for (connection, name) in [(&db.writer, "writer"), (&db.reader, "reader")] {
        require_pragma(connection, name, "journal_mode", "wal").await?;
        require_pragma(connection, name, "synchronous", "2").await?;
        require_pragma(connection, name, "foreign_keys", "1").await?;
    }
    warn_of_flags(&db.writer).await?;
    Ok(db)
}

/// Warns of a program whose SQLite was compiled without the flags with which the service is tested: it works, and slowly.
async fn warn_of_flags(connection: &DatabaseConnection) -> Result<()> {
    let sql = "SELECT CAST(sqlite_compileoption_used('ENABLE_QPSG') AS TEXT) AS setting";
    if setting(connection, sql).await? != "1" {
        tracing::warn!(
            "SQLite was compiled without ENABLE_QPSG, so that each list plans its statement anew: build with the \
             `.cargo/config.toml` that `lectern new-type` writes"
        );
    }
    Ok(())
}

async fn require_pragma(
    connection: &DatabaseConnection,
    name: &str,
    pragma: &str,
    expected: &str,
) -> Result<()> {
    let sql = format!("SELECT CAST({pragma} AS TEXT) AS setting FROM pragma_{pragma}");
    let found = setting(connection, &sql).await?;
    match found == expected {
        true => Ok(()),
        false => Err(failure(format!(
            "the {name} of the database has {pragma} = {found} instead of {expected}: put the file on a local disk"
        ))),
    }
}

async fn postgres(options: PgConnectOptions, pools: Pools) -> Result<Db> {
    let faults = Faults::default();
    let writer = postgres_pool(
        pools.writers,
        pools.wait,
        quiet(options.clone(), WRITING, pools.wait),
        &faults,
    )
    .await?;
    match is_pooled(&quiet(options.clone(), WRITING, pools.wait)).await {
        Ok(false) => {}
        Ok(true) => return Err(shared_processes()),
        Err(error) => {
            let refused = refused_by_pooler(&error);
            return Err(refused.unwrap_or_else(|| unreachable_database(error)));
        }
    }
    let reader = postgres_reader(options.clone(), pools, &faults).await?;
    let query_pools = pools.postgres_query_pools(&reading(options), &faults);
    let control = query_pools.probe.clone().unwrap_or_else(|| reader.clone());
    Ok(Db {
        reader,
        writer,
        file: None,
        query_pools,
        faults,
        stops: Some(Arc::new(ServerStops::new(APPLICATION, control))),
    })
}

fn reading(options: PgConnectOptions) -> PgConnectOptions {
    options.options([("default_transaction_read_only", "on")])
}

/// Connections that can't write.
async fn postgres_reader(
    options: PgConnectOptions,
    pools: Pools,
    faults: &Faults,
) -> Result<DatabaseConnection> {
    let options = quiet(reading(options), pools.statement_time, pools.wait);
    let reader = postgres_pool(pools.readers, pools.wait, options, faults).await?;
    let found = setting(
        &reader,
        "SELECT current_setting('default_transaction_read_only') AS setting",
    )
    .await?;
    match found.as_str() {
        "on" => Ok(reader),
        _ => Err(lost_settings()),
    }
}

/// Sets what all connections to a server have in common, and how long a statement of these may take; `wait` may be longer
/// than [`LOCKED`] for the lock of a row.
pub(super) fn quiet(options: PgConnectOptions, time: Duration, wait: Duration) -> PgConnectOptions {
    options
        .application_name(APPLICATION)
        .statement_cache_capacity(PREPARED)
        .options([
            ("statement_timeout", format!("{}ms", time.as_millis())),
            (
                "lock_timeout",
                format!("{}ms", wait.max(LOCKED).as_millis()),
            ),
            ("idle_in_transaction_session_timeout", "60s".to_owned()),
            // No statement may run for so long that compiling it pays.
            ("jit", "off".to_owned()),
            // What is read by an index is in memory or on flash: else a whole table is read where a few rows are wanted.
            ("random_page_cost", "1.1".to_owned()),
        ])
        .disable_statement_logging()
}

async fn postgres_pool(
    size: u32,
    wait: Duration,
    options: PgConnectOptions,
    faults: &Faults,
) -> Result<DatabaseConnection> {
    let connected = pool::<sqlx::Postgres>(size, wait, faults)
        .connect_with(options.clone())
        .await;
    match connected {
        Ok(pool) => Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(pool)),
        Err(error) => Err(unreachable_server(&options, wait, error).await),
    }
}

/// Why the server of `options` can't be reached. A pool that was refused tries on, and in the end says only that its
/// time is up; one try without it tells the reason.
async fn unreachable_server(
    options: &PgConnectOptions,
    wait: Duration,
    error: sqlx::Error,
) -> Error {
    let cause = match error {
        sqlx::Error::PoolTimedOut => match timeout(wait, options.connect()).await {
            Ok(Ok(_)) => error,
            Ok(Err(cause)) => cause,
            Err(elapsed) => {
                sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, elapsed))
            }
        },
        error => error,
    };
    if let Some(refused) = refused_by_pooler(&cause) {
        return refused.with_source(cause);
    }
    let server = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{} (port {})", options.get_host(), options.get_port()),
    };
    let text = format!(
        "the database at {server} can't be opened: check the setting `database` and whether its server runs"
    );
    failure(text).with_source(cause)
}

async fn setting(connection: &DatabaseConnection, sql: &str) -> Result<String> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await?;
    let row = row.ok_or_else(|| failure("the database does not tell its settings"))?;
    Ok(row.try_get("", "setting")?)
}

/// A pool of `size` connections, for which requests wait as long as `wait`. They are tried only after they were idle, and
/// never go away for their age. One that was
/// left in a transaction, or is older than the last loss of a connection, is closed in place of serving again.
pub(super) fn pool<D: Database>(size: u32, wait: Duration, faults: &Faults) -> PoolOptions<D> {
    let faults = faults.clone();
    PoolOptions::new()
        .max_connections(size)
        .min_connections(1)
        .acquire_timeout(wait)
        .max_lifetime(None)
        .idle_timeout(None)
        .test_before_acquire(false)
        .before_acquire(move |connection: &mut D::Connection, state| {
            let may_serve = is_at_rest::<D>(connection) && !faults.outdate(state.age);
            Box::pin(async move {
                if may_serve && state.idle_for >= PING_AFTER {
                    connection.ping().await?;
                }
                Ok(may_serve)
            })
        })
}

fn unreachable_database(error: sqlx::Error) -> Error {
    Error::from(DbErr::Conn(RuntimeErr::SqlxError(error.into())))
}

fn failure(text: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(entity_core::ErrorKind::Internal, text)
}
