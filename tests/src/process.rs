//! The real binaries as processes: started on a free port, stopped or killed, their memory and time measured.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Database;
use crate::app::{HURRIED, PATIENT, WITHOUT_LIMITS};

/// The time that what must happen may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_mins(2);
/// Ports of services: below those that the kernel gives to clients.
const PORTS: Range<u16> = 20_000..32_000;
/// The kernel counts a process's time in hundredths of a second, wherever Linux runs.
const MICROSECONDS_IN_TICK: u64 = 10_000;

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    port: u16,
    start_time: Duration,
}

/// The memory of a process, in KiB.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// All of it that is in memory, files that are mapped included.
    pub resident: u64,
    /// Without files.
    pub anonymous: u64,
    /// The most that was ever in memory.
    pub peak: u64,
}

impl Process {
    /// Starts `program`, whose arguments and environment `setup` adds for the port it is given, and waits until
    /// it answers.
    pub fn start(program: impl AsRef<OsStr>, setup: impl FnOnce(&mut Command, u16)) -> Self {
        let port = free_port();
        let mut command = Command::new(&program);
        without_settings(&mut command);
        setup(&mut command, port);
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()));
        let mut process = Self {
            child,
            port,
            start_time: Duration::ZERO,
        };
        while !answers(port) {
            let ended = process.child.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "the server ended: {ended:?}");
            assert!(started.elapsed() < PATIENCE, "the server does not answer");
            thread::sleep(Duration::from_millis(1));
        }
        process.start_time = started.elapsed();
        process
    }

    /// Starts the service, this binary of it, on `database`; with demo data if that is empty and `has_demo`.
    pub fn start_service(program: &Path, database: &Database, has_demo: bool) -> Self {
        Self::start_service_at(program, database.url(), &database.folder(), has_demo)
    }

    /// The same for the database at `url`, with `folder` as its working folder.
    pub fn start_service_at(program: &Path, url: &str, folder: &Path, has_demo: bool) -> Self {
        Self::start_service_with(program, url, folder, has_demo, &[])
    }

    /// The same with these variables in its environment, and otherwise without limits that tests reach.
    pub fn start_service_with(
        program: &Path,
        url: &str,
        folder: &Path,
        has_demo: bool,
        environment: &[(&str, &str)],
    ) -> Self {
        let usual = variables(&PATIENT)
            .chain(without_limits())
            .collect::<Vec<_>>();
        let usual = usual.iter().map(|(name, value)| (name.as_str(), *value));
        let environment = usual.chain(environment.iter().copied()).collect::<Vec<_>>();
        Self::start_limited_service(program, url, folder, has_demo, &environment)
    }

    /// The same with the limits on what clients may send that hold unless somebody says otherwise.
    pub fn start_limited_service(
        program: &Path,
        url: &str,
        folder: &Path,
        has_demo: bool,
        environment: &[(&str, &str)],
    ) -> Self {
        Self::start(program, |command, port| {
            command
                .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
                .env("LECTERN_DATABASE", url)
                .env("LECTERN_LOG_LEVEL", "warn")
                .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
                .env("LECTERN_FILES_FOLDER", folder.join("files"))
                .envs(environment.iter().copied())
                .current_dir(folder);
            if has_demo {
                command.arg("--demo");
            }
        })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended by itself, and returns its status; `None` if it has not within this time.
    pub fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            let ended = self.child.try_wait().expect("a child of ours");
            if ended.is_some() || started.elapsed() > patience {
                return ended;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the time that it took until it answered.
    pub fn start_time(&self) -> Duration {
        self.start_time
    }

    /// Ends it as a power failure does: without a chance to do anything.
    pub fn kill(mut self) {
        self.end();
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(mut self) {
        self.signal("TERM");
        self.child.wait().expect("a child of ours");
    }

    /// Sends it a signal by name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name])
            .arg(self.child.id().to_string())
            .status()
            .expect("kill is installed");
        assert!(sent.success(), "the server had ended by itself");
    }

    /// Returns the memory that it uses.
    pub fn memory(&self) -> Memory {
        let status = self.proc("status");
        let value = |key: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(key));
            let number = line.and_then(|it| it.split_whitespace().next());
            number.and_then(|it| it.parse().ok()).unwrap_or_default()
        };
        Memory {
            resident: value("VmRSS:"),
            anonymous: value("RssAnon:"),
            peak: value("VmHWM:"),
        }
    }

    /// The most that it has in memory without files until `is_over`, in KiB, by a look now and then. Files that are mapped
    /// are the machine's to drop.
    pub fn most_memory_until(&self, is_over: &AtomicBool, between_looks: Duration) -> u64 {
        let mut most = 0;
        while !is_over.load(Ordering::SeqCst) {
            most = most.max(self.memory().anonymous);
            thread::sleep(between_looks);
        }
        most
    }

    /// Begins anew to note the most that is in memory.
    pub fn forget_peak(&self) {
        let path = self.proc_path("clear_refs");
        fs::write(path, "5").expect("a running process of ours");
    }

    /// Returns the number of files and sockets it has open.
    pub fn descriptors(&self) -> usize {
        let entries = fs::read_dir(self.proc_path("fd"));
        entries.expect("a running process of ours").count()
    }

    /// Returns the number of threads it has.
    pub fn threads(&self) -> usize {
        let entries = fs::read_dir(self.proc_path("task"));
        entries.expect("a running process of ours").count()
    }

    /// The microseconds of a core that it has used so far.
    pub fn cpu_time(&self) -> u64 {
        cpu_time(&self.proc("stat"))
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(self.proc_path(file)).expect("a running process of Linux")
    }

    fn proc_path(&self, file: &str) -> PathBuf {
        let process = self.child.id().to_string();
        Path::new("/proc").join(process).join(file)
    }

    fn end(&mut self) {
        self.child.kill().expect("a child of ours");
        self.child.wait().expect("a child of ours");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.end();
        }
    }
}

/// The microseconds of a core that this process itself has used so far.
pub fn own_cpu_time() -> u64 {
    cpu_time(&fs::read_to_string("/proc/self/stat").expect("Linux"))
}

fn cpu_time(stat: &str) -> u64 {
    let (_, numbers) = stat.rsplit_once(") ").unwrap_or_default();
    let ticks = numbers.split(' ').skip(11).take(2);
    ticks.filter_map(|it| it.parse::<u64>().ok()).sum::<u64>() * MICROSECONDS_IN_TICK
}

/// The variables that switch off what limits how much clients may send.
pub fn without_limits() -> impl Iterator<Item = (String, &'static str)> {
    variables(&WITHOUT_LIMITS)
}

/// The variables of a service that does not wait as long as others in tests.
pub fn hurried() -> impl Iterator<Item = (String, &'static str)> {
    variables(&HURRIED)
}

/// The variables of these settings.
fn variables(
    settings: &'static [(&'static str, &'static str)],
) -> impl Iterator<Item = (String, &'static str)> {
    settings.iter().map(|(key, value)| {
        let name = key.to_uppercase().replace('.', "_");
        (format!("LECTERN_{name}"), *value)
    })
}

/// Leaves out what the shell of the tests says about the service.
pub fn without_settings(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("LECTERN_") {
            command.env_remove(name);
        }
    }
}

/// A port that nobody listens on, each time another one: it is free until the service listens there.
pub fn free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let number = PORTS.end - PORTS.start;
    // Programs that run at the same time begin elsewhere.
    let first = u16::try_from(std::process::id() % u32::from(number)).unwrap_or_default();
    let mut ports = (0..number).map(|_| {
        let next = TAKEN.fetch_add(1, Ordering::Relaxed);
        PORTS.start + (first + next % number) % number
    });
    ports
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}

/// Runs the service's program to its end, which must come by itself, with `arguments` on `database`.
pub async fn run(database: &Database, arguments: &[&str]) -> Output {
    let mut command = Command::new(service(false));
    without_settings(&mut command);
    command
        .args(arguments)
        .env("LECTERN_DATABASE", database.url())
        .env("LECTERN_LISTEN", "127.0.0.1:0")
        .env("LECTERN_LOG_LEVEL", "error")
        .env("LECTERN_FILES_FOLDER", database.folder().join("files"))
        .current_dir(database.folder())
        .stdin(Stdio::null());
    let mut command = tokio::process::Command::from(command);
    let ended = tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output()).await;
    ended
        .expect("it serves although it should refuse")
        .expect("it runs")
}

/// Returns the output of a program as text.
pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Returns whether an HTTP server answers on this port, whatever it says.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let request = format!(
        "GET /direct/session/current.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    let mut first = [0; 5];
    stream.set_read_timeout(Some(PATIENCE)).is_ok()
        && stream.write_all(request.as_bytes()).is_ok()
        && stream.read_exact(&mut first).is_ok()
        && first == *b"HTTP/"
}

/// The service that is tried: that of this workspace or `SERVICE_PROGRAM`, which may be an older one to see it fail.
pub fn service(is_release: bool) -> PathBuf {
    let given = env::var_os("SERVICE_PROGRAM").map(PathBuf::from);
    given.unwrap_or_else(|| binary("lectern", is_release))
}

/// A binary of the workspace, built once by each process that asks for it, if it is not up to date.
pub fn binary(name: &str, is_release: bool) -> PathBuf {
    static BUILT: Mutex<BTreeMap<(String, bool), PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (name.to_owned(), is_release);
    built
        .entry(key)
        .or_insert_with(|| build_binary(name, is_release))
        .clone()
}

fn build_binary(name: &str, is_release: bool) -> PathBuf {
    // All of the workspace: the features of what it uses are then those of the tests, and nothing is built twice.
    let arguments = ["--workspace", "--bin", name];
    match is_release {
        true => build(&root(), &[&arguments[..], &["--release"]].concat()),
        false => build(&root(), &arguments),
    }
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent();
    root.expect("this crate lies in the workspace's folder")
        .to_owned()
}

/// The binary that cargo builds with these arguments in `folder`.
pub fn build(folder: &Path, arguments: &[&str]) -> PathBuf {
    let messages = build_messages(folder, arguments);
    executable(&messages).expect("cargo tells where it put the binary")
}

/// Returns the messages of cargo about a build with these arguments in `folder`: one object in JSON on each line.
pub fn build_messages(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    // What cargo told this process about the tests' crate, and what the harness of tests was allowed, would make
    // build scripts run again.
    for (name, _) in env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "RUSTC_BOOTSTRAP"]
            .iter()
            .any(|it| name.to_string_lossy().starts_with(it))
        {
            command.env_remove(name);
        }
    }
    let output = command
        .args(["build", "--quiet", "--message-format=json"])
        .args(arguments)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo build {arguments:?} fails");
    String::from_utf8(output.stdout).expect("JSON is UTF-8")
}

fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines();
    messages
        .filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok())
        .filter_map(|it| Some(PathBuf::from(it.get("executable")?.as_str()?)))
        .next_back()
}
