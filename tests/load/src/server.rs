//! A PostgreSQL server of one test's own, which it may stop as a power failure does.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::postgres::{self, Owner};
use crate::{Database, TestApp, app};

/// Runs the server until standard input ends, then stops it without a chance to do anything. Arguments: program, folder.
const KEEPER: &str = r#"
"$1" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=100 -c shared_buffers=16MB \
    </dev/null >>"$2/log" 2>&1 &
cat >/dev/null
kill -QUIT $!
wait
"#;

/// The server, running or not.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    owner: Option<Owner>,
    keeper: Option<Child>,
}

impl Server {
    /// Starts one with empty databases; `None` where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let programs = postgres::find_programs_or_skip()?;
        let folder = TempDir::with_prefix_in("lectern-pg-", "/tmp").expect("a folder");
        let owner = postgres::step_down(folder.path());
        postgres::init(&programs, folder.path(), owner);
        let mut server = Self {
            programs,
            folder,
            owner,
            keeper: None,
        };
        server.start_again();
        Some(server)
    }

    /// Starts it on what it left behind, and waits until it takes connections.
    pub fn start_again(&mut self) {
        self.stop_at_once();
        // What was killed can't remove it.
        drop(fs::remove_file(
            self.folder.path().join("data/postmaster.pid"),
        ));
        let keeper = postgres::command_as("sh", self.owner)
            .args(["-c", KEEPER, "sh"])
            .arg(self.programs.join("postgres"))
            .arg(self.folder.path())
            .current_dir(self.folder.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        self.keeper = Some(keeper);
        postgres::wait_until_ready(&self.programs, self.folder.path());
    }

    /// Ends all its processes at once, whatever they are doing.
    pub fn stop_at_once(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait().expect("a child of ours");
        }
    }

    /// Its first database.
    pub fn database(&self) -> Database {
        Database::of_server(self.url())
    }

    /// A service on its first database, with the demo university. It does not wait for the server as long as other tests do.
    pub async fn app(&self) -> TestApp {
        let app = TestApp::start(self.database(), &app::HURRIED).await;
        app.fill().await;
        app
    }

    /// Returns the URL of its first database, for the setting of the service.
    pub fn url(&self) -> String {
        postgres::url(self.folder.path(), "postgres")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_at_once();
    }
}
