//! Group commit: concurrent writes share a COMMIT. The answer to each of them holds after the process was killed, be it
//! that it was done or that it was refused.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use http::{Request, StatusCode};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::json;
use tests::app::PASSWORD;
use tests::process::{Process, service};
use tests::{Backend, Client, Database, OnBackend as _, both};
use tokio::task::JoinSet;

use crate::durability::{announce, check, id_of};

const WRITERS: u32 = 16;
const ROUNDS: u64 = 3;
/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_mins(1);
/// The number of announcements each writer makes where syncs are counted.
const EACH: usize = 10;

/// The answers that a writer got.
#[derive(Debug, Default)]
struct Told {
    /// The announcements that it made.
    made: Vec<String>,
    /// The sites that there are: it made them, or was refused because somebody else had.
    sites: Vec<String>,
}

both! {
    async fn rel_9_what_each_of_many_was_told_is_so_after_a_kill(database: Database) {
        start(&database, true).stop();
        let (mut acknowledged, mut sites) = (HashSet::new(), Vec::new());
        for round in 0..ROUNDS {
            let process = start(&database, false);
            let author = log_in(&process).await;
            let (mut writers, refused) = (JoinSet::new(), Arc::<AtomicU32>::default());
            for writer in 0..WRITERS {
                writers.spawn(write(author.clone(), round, writer, Arc::clone(&refused)));
            }
            let begin = Instant::now();
            while refused.load(Ordering::SeqCst) < WRITERS / 4 {
                assert!(begin.elapsed() < LONG, "nobody was refused");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // A different moment each time, so that it falls into each part of a write.
            tokio::time::sleep(Duration::from_millis(round * 37)).await;
            process.kill();
            for told in writers.join_all().await {
                acknowledged.extend(told.made);
                sites.extend(told.sites);
            }
            check(database.url(), &acknowledged).await;
            let kept = ids_of_sites(database.url()).await;
            let lost: Vec<_> = sites.iter().filter(|it| !kept.contains(*it)).collect();
            assert!(lost.is_empty(), "told of and not there: {lost:?}");
        }
        assert!(!acknowledged.is_empty());
    }
}

/// A service in which one account may have so many requests under way.
fn start(database: &Database, has_demo: bool) -> Process {
    let (url, folder) = (database.url(), database.folder());
    let places = [("LECTERN_ADMISSION_WRITES", "128")];
    Process::start_service_with(&service(false), url, &folder, has_demo, &places)
}

async fn log_in(process: &Process) -> Client {
    let client = Client::on_port(process.port());
    client.log_in("instructor1", PASSWORD).await
}

/// Writes until the service goes away, and counts in `refused` how often another one was faster: two writers at a time
/// want the same sites.
async fn write(author: Client, round: u64, writer: u32, refused: Arc<AtomicU32>) -> Told {
    let mut told = Told::default();
    for number in 0.. {
        let title = format!("round {round} writer {writer} number {number}");
        let Some(answer) = announce(&author, &title).await else {
            break;
        };
        // A server may have too many that write the same rows; what it refuses then is not done.
        if answer.status != StatusCode::SERVICE_UNAVAILABLE {
            answer.expect(StatusCode::CREATED);
            told.made.extend(id_of(&answer));
        }
        let site = format!("round-{round}-{}-{number}", writer / 2);
        let body = json!({"id": site, "title": "Mine", "type": "project"});
        let request = Request::post(format!("{}/direct/site.json", author.address()))
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .expect("a request that can be sent");
        let Ok(answer) = author.try_send(request).await else {
            break;
        };
        match answer.status {
            StatusCode::SERVICE_UNAVAILABLE => continue,
            StatusCode::CONFLICT => {
                refused.fetch_add(1, Ordering::SeqCst);
            }
            _ => {
                answer.expect(StatusCode::CREATED);
            }
        }
        told.sites.push(site);
    }
    told
}

async fn ids_of_sites(url: &str) -> HashSet<String> {
    let connection = sea_orm::Database::connect(url).await.expect("a database");
    let backend = connection.get_database_backend();
    let statement = Statement::from_string(backend, "SELECT id FROM site");
    let rows = connection.query_all_raw(statement).await.expect("rows");
    let ids = rows.iter().map(|it| it.try_get("", "id").expect("text"));
    let ids = ids.collect();
    connection.close().await.expect("the connection closes");
    ids
}

#[tokio::test]
async fn rel_9_many_that_write_at_once_need_fewer_commits() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = start(&database, true);
    let author = log_in(&process).await;
    let file = database.folder().join("lectern.db");
    // Whoever reads keeps the journal from being begun anew.
    let reader = rusqlite::Connection::open(&file).expect("the file of the service");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM site")
        .expect("rows");
    let before = commits(&file);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let author = author.clone();
        writers.spawn(async move {
            for number in 0..EACH {
                let title = format!("round 0 writer {writer} number {number}");
                let answer = announce(&author, &title).await.expect("an answer");
                answer.expect(StatusCode::CREATED);
            }
            EACH
        });
    }
    let written: usize = writers.join_all().await.into_iter().sum();
    let commits = commits(&file) - before;
    eprintln!("{commits} commits for {written} writes");
    // How many share one depends on how busy the machine is.
    assert!(
        commits > 0 && commits * 10 < written * 9,
        "{commits} for {written}"
    );
}

/// Returns the number of transactions the journal of `file` holds: the last page of each is marked.
fn commits(file: &Path) -> usize {
    const HEAD: usize = 32;
    const FRAME_HEAD: usize = 24;
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    let journal = fs::read(name).expect("the journal beside the file");
    let page = journal[8..12].try_into().map(u32::from_be_bytes);
    let page = usize::try_from(page.expect("four bytes")).expect("the size of a page");
    let frames = journal[HEAD..].chunks_exact(FRAME_HEAD + page);
    let of_now = frames.take_while(|it| it[8..16] == journal[16..24]);
    of_now.filter(|it| it[4..8] != [0; 4]).count()
}
