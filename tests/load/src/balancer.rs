//! `HAProxy` before the nodes of a service, for one test.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::free_port;

/// The folder in which Debian has it, which may be missing in `PATH`.
const USUAL_PLACE: &str = "/usr/sbin";
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// A node is asked ten times a second whether it is ready, and left out at its first no. Only what no node has got yet is
/// sent to another one.
const SETTINGS: &str = "defaults
    mode http
    timeout connect 2s
    timeout client 120s
    timeout server 120s
    retries 3
    retry-on conn-failure
    option redispatch 1
    default-server check inter 100ms fall 1 rise 1
backend nodes
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
";

/// A running `HAProxy`, with a place for each node.
#[derive(Debug)]
pub struct Balancer {
    folder: TempDir,
    child: Child,
    port: u16,
}

impl Balancer {
    /// Starts one before the nodes on these ports; `None` where it is not installed.
    pub fn start(nodes: &[u16]) -> Option<Self> {
        let program = find_or_skip()?;
        let folder = TempDir::with_prefix_in("lectern-balancer-", "/tmp").expect("a folder");
        let port = free_port();
        let mut text = format!(
            "global\n    stats socket {}/control level admin\n{SETTINGS}",
            folder.path().display()
        );
        for (place, node) in nodes.iter().enumerate() {
            writeln!(text, "    server n{place} 127.0.0.1:{node}").expect("room");
        }
        write!(
            text,
            "frontend service\n    bind 127.0.0.1:{port}\n    default_backend nodes\n"
        )
        .expect("room");
        let file = folder.path().join("haproxy.cfg");
        fs::write(&file, text).expect("room for a file");
        let child = Command::new(program)
            .arg("-db")
            .arg("-q")
            .arg("-f")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a program can be started");
        let balancer = Self {
            folder,
            child,
            port,
        };
        let started = Instant::now();
        while !(0..nodes.len()).all(|it| balancer.is_up(it)) {
            assert!(started.elapsed() < START_TIMEOUT, "HAProxy does not start");
            thread::sleep(Duration::from_millis(20));
        }
        Some(balancer)
    }

    /// The port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Gives `place` to the node on `port`, and waits until requests are sent to it.
    pub fn point(&self, place: usize, port: u16) {
        let command = format!("set server nodes/n{place} addr 127.0.0.1 port {port}");
        self.say(&command).expect("HAProxy listens");
        let since = Instant::now();
        while !self.is_up(place) {
            assert!(since.elapsed() < START_TIMEOUT, "the node is not used");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns whether requests are sent to the node in this place.
    fn is_up(&self, place: usize) -> bool {
        let told = self.say("show stat nodes 4 -1").unwrap_or_default();
        let name = format!("nodes,n{place},");
        let line = told.lines().find(|it| it.starts_with(&name));
        line.is_some_and(|it| it.split(',').any(|word| word == "UP"))
    }

    fn say(&self, command: &str) -> std::io::Result<String> {
        let mut control = UnixStream::connect(self.folder.path().join("control"))?;
        control.write_all(format!("{command}\n").as_bytes())?;
        let mut told = String::new();
        control.read_to_string(&mut told)?;
        Ok(told)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program; `None` where there is none, and it is not demanded.
fn find_or_skip() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain([PathBuf::from(USUAL_PLACE)]);
    let found = places.map(|it| it.join("haproxy")).find(|it| it.is_file());
    if found.is_none() {
        assert!(
            env::var_os("REQUIRE_HAPROXY").is_none_or(|it| it == "0"),
            "HAProxy is not installed, and REQUIRE_HAPROXY demands it"
        );
        crate::say("HAProxy is not installed: its tests are skipped");
    }
    found
}
