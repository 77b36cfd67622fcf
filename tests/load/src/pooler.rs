//! `PgBouncer` before a database, for one test.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Database;
use crate::postgres;

/// The folder in which Debian has it, which may be missing in `PATH`.
const USUAL_PLACE: &str = "/usr/sbin";
const PORT: u16 = 6432;
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Runs it until standard input ends. Arguments: program, settings.
const KEEPER: &str = r#"
"$1" -q "$2" </dev/null >/dev/null 2>&1 &
cat >/dev/null
kill -KILL $!
wait
"#;

/// A running `PgBouncer`.
#[derive(Debug)]
pub struct Pooler {
    folder: TempDir,
    keeper: Child,
    database: String,
}

impl Pooler {
    /// Starts one before `database` with further lines of `settings`; `None` where it is not installed.
    pub fn start(database: &Database, settings: &str) -> Option<Self> {
        let program = find_or_skip()?;
        let folder = TempDir::with_prefix_in("lectern-pool-", "/tmp").expect("a folder");
        let owner = postgres::step_down(folder.path());
        let socket = database.socket();
        let server = socket.parent().expect("a folder of a socket").display();
        let own = folder.path().display();
        let text = format!(
            "[databases]\n* = host={server} port=5432 user=postgres\n[pgbouncer]\nlisten_addr =\n\
             listen_port = {PORT}\nunix_socket_dir = {own}\nauth_type = any\nlogfile = {own}/log\n{settings}\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, text).expect("room for a file");
        let keeper = postgres::command_as("sh", owner)
            .args(["-c", KEEPER, "sh"])
            .arg(program)
            .arg(&file)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        wait_for(
            &folder.path().join(format!(".s.PGSQL.{PORT}")),
            folder.path(),
        );
        Some(Self {
            folder,
            keeper,
            database: database.name().to_owned(),
        })
    }

    /// Returns the URL of the database behind it, for the setting of the service.
    pub fn url(&self) -> String {
        let folder = self.folder.path().display().to_string();
        let folder = folder.replace('/', "%2F");
        format!("postgres://postgres@{folder}:{PORT}/{}", self.database)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        self.keeper.wait().expect("a child of ours");
    }
}

fn wait_for(socket: &Path, folder: &Path) {
    let started = Instant::now();
    while !socket.exists() {
        if started.elapsed() > START_TIMEOUT {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("PgBouncer does not start: {log}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The program; `None` where there is none, and it is not demanded.
fn find_or_skip() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain([PathBuf::from(USUAL_PLACE)]);
    let found = places
        .map(|it| it.join("pgbouncer"))
        .find(|it| it.is_file());
    if found.is_none() {
        assert!(
            env::var_os("REQUIRE_PGBOUNCER").is_none_or(|it| it == "0"),
            "PgBouncer is not installed, and REQUIRE_PGBOUNCER demands it"
        );
        crate::say("PgBouncer is not installed: its test is skipped");
    }
    found
}
