//! A throw-away PostgreSQL server: one for each test process, a fresh database for each test.
//!
//! The server listens on a socket in its own folder only. A shell that waits for the end of this process stops
//! it and removes the folder, so nothing is left behind however the tests end.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, Database, DatabaseConnection};
use tempfile::TempDir;

use crate::database::memory;

/// Folders where PostgreSQL's programs are when they are not in `PATH`.
const USUAL_PLACES: [&str; 3] = [
    "/usr/lib/postgresql",
    "/usr/local/pgsql/bin",
    "/usr/local/opt/postgresql/bin",
];
/// Users that may own a server when the tests are run as root, which PostgreSQL refuses.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
const START_TIMEOUT: Duration = Duration::from_mins(2);
/// Runs the server until standard input ends, which is when the test process does. Arguments: program, folder.
const KEEPER: &str = r#"
"$1" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c autovacuum=off -c max_connections=400 -c shared_buffers=64MB -c max_wal_size=256MB \
    -c max_parallel_workers_per_gather=0 -c jit=off </dev/null >"$2/log" 2>&1 &
cat >/dev/null
kill -INT $!
wait
cd / && rm -rf "$2"
"#;

static CLUSTER: LazyLock<Option<Cluster>> = LazyLock::new(Cluster::start_if_installed);
static NUMBER: AtomicUsize = AtomicUsize::new(0);
/// Databases that no test needs any more. The next one that asks for a fresh database removes them.
static ABANDONED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A running server.
#[derive(Debug)]
struct Cluster {
    folder: PathBuf,
    /// Its standard input is closed by the end of this process, whatever ends it.
    _keeper: Child,
}

/// A database of the test process's server.
#[derive(Debug)]
pub struct PostgresDatabase {
    name: String,
    cluster: &'static Cluster,
}

/// Makes a copy of the database `template` or, without one, an empty database. Returns `None` where PostgreSQL is not
/// installed.
pub async fn fresh(template: Option<&str>) -> Option<PostgresDatabase> {
    let cluster = CLUSTER.as_ref()?;
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let abandoned = {
        let mut guard = ABANDONED.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *guard)
    };
    let connection = cluster.connect().await;
    for old in abandoned {
        // One whose connections do not end in time is left where it is.
        let drop = format!("DROP DATABASE {old} WITH (FORCE)");
        let _ = connection.execute_unprepared(&drop).await;
    }
    run(
        &connection,
        &format!(
            "CREATE DATABASE {name} TEMPLATE {}",
            template.unwrap_or("template0")
        ),
    )
    .await;
    connection.close().await.expect("the connection closes");
    Some(PostgresDatabase { name, cluster })
}

/// Ends all connections to the database `name` and refuses new ones, so that it can be copied.
pub async fn freeze(name: &str) {
    let cluster = CLUSTER.as_ref().expect("a server that has this database");
    let connection = cluster.connect().await;
    run(
        &connection,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"),
    )
    .await;
    let end = format!(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '{name}'"
    );
    run(&connection, &end).await;
    connection.close().await.expect("the connection closes");
}

/// Allows connections to the database `name` again.
pub async fn thaw(name: &str) {
    let cluster = CLUSTER.as_ref().expect("a server that has this database");
    let connection = cluster.connect().await;
    run(
        &connection,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"),
    )
    .await;
    connection.close().await.expect("the connection closes");
}

async fn run(connection: &DatabaseConnection, sql: &str) {
    connection
        .execute_unprepared(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

impl PostgresDatabase {
    /// Returns the name of the database on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the socket on which the server listens.
    pub fn socket(&self) -> PathBuf {
        self.cluster.folder.join(".s.PGSQL.5432")
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        self.cluster.url(&self.name)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        let mut guard = ABANDONED.lock().unwrap_or_else(PoisonError::into_inner);
        guard.push(std::mem::take(&mut self.name));
    }
}

impl Cluster {
    fn start_if_installed() -> Option<Self> {
        Some(Self::start(&find_programs_or_skip()?))
    }

    /// Starts a server with the programs of this folder.
    fn start(programs: &Path) -> Self {
        // Paths of sockets are short, which those of other folders may not be.
        let folder = TempDir::with_prefix_in("lectern-pg-", memory().unwrap_or("/tmp"))
            .expect("a folder for temporary files can be made")
            .keep();
        let owner = step_down(&folder);
        init(programs, &folder, owner);
        let keeper = command_as("sh", owner)
            .args(["-c", KEEPER, "sh"])
            .arg(programs.join("postgres"))
            .arg(&folder)
            .current_dir(&folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        let cluster = Self {
            folder,
            _keeper: keeper,
        };
        wait_until_ready(programs, &cluster.folder);
        cluster
    }

    async fn connect(&self) -> DatabaseConnection {
        let mut options = sea_orm::ConnectOptions::new(self.url("postgres"));
        options.max_connections(1).sqlx_logging(false);
        Database::connect(options)
            .await
            .expect("the server answers")
    }

    fn url(&self, database: &str) -> String {
        url(&self.folder, database)
    }
}

/// Returns the URL of a database of the server in `folder`.
pub fn url(folder: &Path, database: &str) -> String {
    let folder = folder.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{folder}/{database}")
}

/// Waits until the server in `folder` takes connections.
pub fn wait_until_ready(programs: &Path, folder: &Path) {
    let started = Instant::now();
    loop {
        let status = Command::new(programs.join("pg_isready"))
            .args(["-q", "-U", "postgres", "-h"])
            .arg(folder)
            .status()
            .expect("pg_isready is installed with PostgreSQL");
        if status.success() {
            return;
        }
        if started.elapsed() > START_TIMEOUT {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("PostgreSQL does not start: {log}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Makes the data folder of a server that trusts whoever reaches its socket.
pub fn init(programs: &Path, folder: &Path, owner: Option<Owner>) {
    let output = command_as(programs.join("initdb"), owner)
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8"])
        .args(["--locale=C", "--no-sync", "--no-instructions", "-D"])
        .arg(folder.join("data"))
        .current_dir(folder)
        .output()
        .expect("initdb is installed with PostgreSQL");
    assert!(
        output.status.success(),
        "initdb fails: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The numeric ids of another user of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    user: u32,
    group: u32,
}

/// Gives `folder` to a user without rights if this process runs as root, and returns that user.
pub fn step_down(folder: &Path) -> Option<Owner> {
    let me = fs::metadata(folder)
        .expect("the folder was just made")
        .uid();
    if me != 0 {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").expect("there is a list of accounts");
    let owner = UNPRIVILEGED
        .iter()
        .find_map(|name| find_account(&accounts, name))
        .expect("there is an account without rights");
    chown(folder, Some(owner.user), Some(owner.group)).expect("root may give a folder away");
    Some(owner)
}

fn find_account(accounts: &str, name: &str) -> Option<Owner> {
    accounts.lines().find_map(|line| {
        let mut parts = line.split(':');
        if parts.next() != Some(name) {
            return None;
        }
        let user = parts.nth(1)?.parse().ok()?;
        let group = parts.next()?.parse().ok()?;
        Some(Owner { user, group })
    })
}

/// Creates a command that runs as `owner` or, without one, as the present user.
pub fn command_as(program: impl AsRef<std::ffi::OsStr>, owner: Option<Owner>) -> Command {
    let mut command = Command::new(program);
    if let Some(Owner { user, group }) = owner {
        command.uid(user).gid(group);
    }
    command
}

/// Returns the folder of PostgreSQL's programs, or `None` where there are none and none are demanded.
pub fn find_programs_or_skip() -> Option<PathBuf> {
    let found = find_programs();
    if found.is_none() {
        assert!(
            env::var_os("REQUIRE_POSTGRES").is_none_or(|it| it == "0"),
            "PostgreSQL is not installed, and REQUIRE_POSTGRES demands it"
        );
        eprintln!("PostgreSQL is not installed: its tests are skipped");
    }
    found
}

/// The folder of PostgreSQL's programs: the newest of those in the usual places, else the first in `PATH`.
fn find_programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).collect::<Vec<_>>();
    let mut usual = Vec::new();
    for place in USUAL_PLACES.map(PathBuf::from) {
        let versions = fs::read_dir(&place).into_iter().flatten().flatten();
        usual.extend(versions.map(|it| it.path().join("bin")));
        usual.push(place);
    }
    usual.sort();
    usual
        .into_iter()
        .rev()
        .chain(in_path)
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}
