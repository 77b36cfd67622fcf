//! A process that may have few files open has few connections, says so, and answers those that it has.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use http::StatusCode;
use load::app::PASSWORD;
use load::process::{Process, service};
use load::{Client, Database, both};
use tokio::task::JoinSet;

use crate::durability::{announce, check, id_of};

const PATIENCE: Duration = Duration::from_secs(20);
/// The number of files the process may have open.
const FILES: usize = 64;
/// The number of connections that are left of them.
const CONNECTIONS: usize = 16;

/// Starts the service with few files; what it logs goes to a file.
fn start(database: &Database, log: &Path) -> Process {
    let program = service(false);
    let log = File::create(log).expect("a file for the log");
    Process::start("sh", |command, port| {
        command
            .arg("-c")
            .arg(format!("ulimit -n {FILES}; exec \"$0\" --demo"))
            .arg(program)
            .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
            .env("LECTERN_DATABASE", database.url())
            .env("LECTERN_LOG_LEVEL", "warn")
            .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
            // A busy machine may take longer for what a request does, and to let it in.
            .env("LECTERN_LIMITS_WRITEHOLD", "30")
            .env("LECTERN_ADMISSION_WAIT", "60")
            .current_dir(database.folder())
            .stderr(log);
    })
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Sends a request and reads the first line of the answer.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    let request = format!("{request} HTTP/1.1\r\nHost: few\r\nContent-Length: 0\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("an open connection");
    first_line(stream)
}

fn first_line(stream: &mut TcpStream) -> String {
    let mut answer = vec![0; 64 * 1024];
    let read = stream.read(&mut answer).expect("an answer");
    let text = String::from_utf8_lossy(&answer[..read]).into_owned();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Writes at the same time, over as many connections as there may be. The ids of what was acknowledged.
async fn write_at_once(port: u16) -> HashSet<String> {
    let author = Client::on_port(port).log_in("instructor1", PASSWORD).await;
    let mut writers = JoinSet::new();
    for number in 0..CONNECTIONS {
        let author = author.clone();
        writers.spawn(async move {
            let answer = announce(&author, &format!("round 0 number {number}")).await;
            let answer = answer.expect("every connection is answered");
            id_of(answer.expect(StatusCode::CREATED)).expect("an id")
        });
    }
    writers.join_all().await.into_iter().collect()
}

both! {
    async fn dos_9_few_files_are_few_connections_and_every_one_is_answered(database: Database) {
        let log = database.folder().join("log");
        let process = start(&database, &log);
        let mut streams: Vec<_> = (0..FILES).map(|_| connect(process.port())).collect();
        let (held, waiting) = streams.split_at_mut(CONNECTIONS);
        // Those that were accepted are answered, from as many connections to the database as it may have.
        for stream in held.iter_mut() {
            let line = ask(stream, "GET /direct/site/chemistry-public.json");
            let status = line.split(' ').nth(1).unwrap_or_default();
            assert!(!status.starts_with('5') && !status.is_empty(), "{line}");
            assert_eq!(
                ask(stream, "GET /direct/session/current.json"),
                "HTTP/1.1 200 OK"
            );
            let refused = ask(stream, "POST /direct/announcement");
            assert!(!refused.starts_with("HTTP/1.1 5"), "{refused}");
        }
        // The others wait until one goes.
        let next = &mut waiting[0];
        next.write_all(b"GET /direct/session/current.json HTTP/1.1\r\nHost: few\r\n\r\n")
            .expect("the system holds it");
        drop(streams.drain(..CONNECTIONS));
        assert_eq!(first_line(&mut streams[0]), "HTTP/1.1 200 OK");
        drop(streams);
        let written = write_at_once(process.port()).await;
        process.stop();
        check(database.url(), &written).await;
        let log = std::fs::read_to_string(log).expect("the log");
        for told in [
            "only 16 connections may be open instead of 12000",
            "connections read from the database instead of",
        ] {
            assert!(log.contains(told), "{log}");
        }
        for fault in ["can't accept", "Too many open files", "unable to open"] {
            assert!(!log.contains(fault), "{fault}: {log}");
        }
    }
}
