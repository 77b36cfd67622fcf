//! The service in 256 MiB of memory, under lists and answers that are as large as they may be, slow readers, logins and
//! writes at once: it refuses what has no room, is never killed, and loses nothing.

use std::collections::HashSet;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
use load::app::PASSWORD;
use load::cgroup::MemoryGroup;
use load::process::{Process, service};
use load::{Answer, Client, Database, both};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::durability::{announce, check, id_of};

const MEMORY: u64 = 256 << 20;
/// The memory of it that the service may take, in MiB, where all of this is slow.
const MOST: u64 = 230;
/// The time for which all clients send requests at once, and within which a list is shown.
const LOAD: Duration = Duration::from_secs(8);
/// Enough news for more than one answer.
const NEWS: usize = 60;
/// About as long as one may be.
const LONG: usize = 190_000;
const LISTS: [&str; 4] = ["json", "xml", "html", "atom"];
const OF_SITE: &str = "/direct/announcement/site/biology-101";
const READERS: usize = 16;
const LOGINS: usize = 8;
const WRITERS: usize = 4;
/// Connections whose clients ask for a large answer and do not take it.
const SLOW: usize = 12;

/// The settings of the service: the defaults, but for the rates of accounts. A busy machine writes more slowly.
const SETTINGS: [(&str, &str); 4] = [
    ("LECTERN_LIMITS_WRITEHOLD", "30"),
    ("LECTERN_RATE_READS", "0"),
    ("LECTERN_RATE_WRITES", "0"),
    ("LECTERN_RATE_STRANGERS", "0"),
];

/// Starts the service in `group`.
fn start(group: &MemoryGroup, database: &Database) -> Process {
    let (url, folder) = (database.url(), database.folder());
    let inside = group.enter(&service(false), &folder);
    Process::start_limited_service(&inside, url, &folder, true, &SETTINGS)
}

/// The number of requests that were done, and of those that were refused.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    done: usize,
    refused: usize,
}

impl Count {
    /// Counts an answer, which is a success or says when to try again.
    fn note(&mut self, answer: &Answer) {
        if answer.status.is_success() {
            self.done += 1;
            return;
        }
        let is_refusal = [
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::TOO_MANY_REQUESTS,
        ]
        .contains(&answer.status);
        assert!(is_refusal, "{}: {}", answer.status, answer.text());
        assert!(answer.headers.contains_key(RETRY_AFTER), "{answer:?}");
        self.refused += 1;
    }
}

async fn list(
    reader: Client,
    format: &'static str,
    is_over: Arc<AtomicBool>,
    is_shown: Arc<AtomicBool>,
) -> Count {
    let mut count = Count::default();
    while !is_over.load(Ordering::SeqCst) {
        count.note(&reader.get(&format!("{OF_SITE}.{format}")).await);
        is_shown.fetch_or(count.done > 0, Ordering::SeqCst);
    }
    count
}

async fn log_in(stranger: Client, name: String, is_over: Arc<AtomicBool>) -> Count {
    let mut count = Count::default();
    let form = format!("username={name}&password={PASSWORD}");
    while !is_over.load(Ordering::SeqCst) {
        count.note(&stranger.post_form("/api/login", &form).await);
    }
    count
}

async fn write(author: Client, writer: usize, is_over: Arc<AtomicBool>) -> (Count, Vec<String>) {
    let (mut count, mut ids) = (Count::default(), Vec::new());
    for number in 0.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let title = format!("round 0 writer {writer} number {number}");
        let answer = announce(&author, &title).await.expect("an answer");
        count.note(&answer);
        if answer.status == StatusCode::CREATED {
            ids.extend(id_of(&answer));
        }
    }
    (count, ids)
}

/// Asks for a large answer on a connection of its own, and takes none of it.
fn ask_and_wait(port: u16, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let request =
        format!("GET {OF_SITE}.xml HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("an open connection");
    stream
}

/// Writes the news that make lists large. Their ids.
async fn fill(author: &Client) -> HashSet<String> {
    let body = "<p>It is a long text.</p>".repeat(LONG / 25);
    let mut ids = HashSet::new();
    for number in 0..NEWS {
        let news =
            json!({"siteId": "biology-101", "title": format!("round long {number}"), "body": body});
        let answer = author.post("/direct/announcement.json", &news).await;
        ids.extend(id_of(answer.expect(StatusCode::CREATED)));
    }
    ids
}

both! {
    async fn dos_8_a_small_machine_refuses_what_has_no_room_and_goes_on(database: Database) {
        let Some(group) = MemoryGroup::new(MEMORY) else {
            return;
        };
        let mut process = start(&group, &database);
        let stranger = Client::on_port(process.port());
        let mut authors = Vec::new();
        for name in ["instructor1", "ta1", "student1", "admin"] {
            authors.push(stranger.clone().log_in(name, PASSWORD).await);
        }
        let author = authors[0].clone();
        let mut ids = fill(&author).await;
        let (is_over, is_shown) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (mut lists, mut logins, mut writers) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        for number in 0..READERS {
            let reader = authors[number % authors.len()].clone();
            let format = LISTS[number / authors.len() % LISTS.len()];
            lists.spawn(list(reader, format, Arc::clone(&is_over), Arc::clone(&is_shown)));
        }
        for number in 0..LOGINS {
            logins.spawn(log_in(stranger.clone(), format!("student{}", number + 2), Arc::clone(&is_over)));
        }
        for number in 0..WRITERS {
            writers.spawn(write(author.clone(), number, Arc::clone(&is_over)));
        }
        let cookie = author.cookie().expect("a session");
        let slow: Vec<_> = (0..SLOW).map(|_| ask_and_wait(process.port(), cookie)).collect();
        let begin = Instant::now();
        let mut own = 0;
        // Those who do not take what they asked for leave room for few lists: a busy machine shows the first one late.
        let goes_on = || begin.elapsed() < LOAD || (begin.elapsed() < LOAD * 4 && !is_shown.load(Ordering::SeqCst));
        while goes_on() && process.wait(Duration::ZERO).is_none() {
            own = own.max(process.memory().anonymous >> 10);
            sleep(Duration::from_millis(10)).await;
        }
        let ended = process.wait(Duration::ZERO);
        assert!(ended.is_none() && group.kills() == 0, "{ended:?}, {} killed", group.kills());
        is_over.store(true, Ordering::SeqCst);
        let lists = lists.join_all().await;
        let logins = logins.join_all().await;
        let mut counts = Vec::new();
        for (count, made) in writers.join_all().await {
            counts.push(count);
            ids.extend(made);
        }
        drop(slow);
        let sum = |counts: &[Count]| {
            let sum = |of: fn(&Count) -> usize| counts.iter().map(of).sum::<usize>();
            Count { done: sum(|it| it.done), refused: sum(|it| it.refused) }
        };
        let (lists, logins, written) = (sum(&lists), sum(&logins), sum(&counts));
        let peak = group.peak().unwrap_or_default() >> 20;
        load::say(&format!(
            "in {} MiB: lists {lists:?}, logins {logins:?}, writes {written:?}; the group had {peak} MiB at most, the \
             service {own} MiB of its own",
            MEMORY >> 20,
        ));
        // The rest is for what a faster machine does at once, and for files.
        assert!(own < MOST, "{own} MiB");
        assert!(lists.done > 0 && logins.done > 0 && written.done > 0);
        // As soon as they are gone, everything is answered again.
        author.get(&format!("{OF_SITE}.json")).await.expect(StatusCode::OK);
        assert_eq!(group.kills(), 0);
        process.stop();
        check(database.url(), &ids).await;
    }
}
