//! A request holds a few times what an answer may have, whatever it asks for and however many there are of it: measured
//! from outside, each kind in a process of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use http::StatusCode;
use load::app::PASSWORD;
use load::is_full;
use load::process::{Process, service};
use load::{Answer, Backend, Client, Database, OnBackend, both, say};
use sea_orm::{ConnectionTrait as _, Database as Connection, DbBackend};
use serde_json::{Value, json};

use super::BATCH;

/// The most KiB of an answer.
const ANSWER: u64 = 8 << 10;
/// The number of times that a list may hold while it is read, prepared and written; what the allocator and the drivers have
/// for it is counted too.
const LIST_HOLDS: u64 = 4;
/// The number of times that a batch may: the answers of its parts are there together with its own, and what each part freed in
/// the threads that read and wrote it: up to 112 MiB on a busy machine, where it moves among more of them, and 60 to 85
/// otherwise. Few of them are answered at a time.
const BATCH_HOLDS: u64 = 16;
/// The number of times that a question is asked that holds more, each time of another process. Memory that one thread
/// freed of another's is held until that one runs again, which other programs on the machine can put off; memory that a
/// request holds by itself it holds each time.
const TRIES: usize = 3;
/// The number of announcements there are, each of about a hundred kilobytes: more than any page of a list holds.
const ROWS: u32 = 160;
/// The setting by which freed memory is given back at once, so that the process has no more than it holds.
const AT_ONCE: [(&str, &str); 1] = [("MIMALLOC_PURGE_DELAY", "0")];
/// The time for which nobody looks at what is in memory.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);
pub(super) const LIST: &str = "/direct/announcement/site/biology-101";
/// Those questions that hold most, of each kind.
const WORST: [&str; 5] = [
    "xml",
    "atom",
    "search",
    "singles in xml, batch in xml",
    "lists in xml, batch in json",
];

/// A database of this kind on which services run as processes.
pub(super) struct Stored(pub(super) Database);

impl OnBackend for Stored {
    async fn on_backend(backend: Backend) -> Option<Self> {
        Database::on_backend(backend).await.map(Self)
    }
}

/// The request for a list or a batch.
struct Question {
    name: String,
    path: String,
    /// The body, if there is one.
    body: Option<Value>,
}

impl Question {
    fn get(name: &str, path: String) -> Self {
        let (name, body) = (name.to_owned(), None);
        Self { name, path, body }
    }

    async fn ask(&self, client: &Client) -> Answer {
        match &self.body {
            None => client.get(&self.path).await,
            Some(body) => client.post(&self.path, body).await,
        }
    }

    /// Returns the KiB that `process` holds at most while it answers, and those of the answer.
    async fn measure(&self, process: Arc<Process>) -> (u64, u64) {
        let client = Client::on_port(process.port());
        let client = client.log_in("student1", PASSWORD).await;
        // What the first request of all makes is not counted: connections, prepared statements.
        let first = client.get(&format!("{LIST}.json?_limit=1")).await;
        first.expect(StatusCode::OK);
        let batch = json!({"operations": [{"method": "GET", "path": "site/biology-101"}]});
        client.post(BATCH, &batch).await.expect(StatusCode::OK);
        let (most, answer) = held(&process, self.ask(&client)).await;
        let Self { name, .. } = self;
        assert!(answer.status.is_success(), "{name}: {}", answer.status);
        let told = u64::try_from(answer.body.len() >> 10).expect("a small number");
        say(&format!("{name}: {most} KiB held for {told} KiB"));
        (most, told)
    }

    /// Returns whether so many KiB may be held for so many. Of each part that found no room, a batch says so.
    fn is_within(&self, (most, told): (u64, u64)) -> bool {
        let (room, times) = match self.body.is_some() {
            true => (ANSWER + 100, BATCH_HOLDS),
            false => (ANSWER, LIST_HOLDS),
        };
        told <= room && most <= times * ANSWER
    }

    /// Returns whether it is asked: all are in a long test, and else those that hold most.
    fn is_asked(&self) -> bool {
        is_full() || WORST.contains(&&*self.name)
    }
}

/// The requests that hold most, in all formats of lists: half of the texts are of a letter that each format escapes.
fn questions() -> Vec<Question> {
    let mut questions: Vec<_> = ["json", "xml", "csv", "html", "atom", "rss"]
        .iter()
        .map(|it| Question::get(it, format!("{LIST}.{it}?_limit=1000")))
        .collect();
    let search = format!("{LIST}.json?_search=x&_expand=siteId,createdBy");
    questions.extend([
        Question::get("search", search),
        Question::get("api", "/api/users/me/announcements".to_owned()),
    ]);
    for format in ["json", "xml"] {
        let operation =
            |it: u32| json!({"method": "GET", "path": format!("announcement/row-{it}.{format}")});
        let list =
            json!({"method": "GET", "path": format!("announcement/site/biology-101.{format}")});
        let singles: Vec<Value> = (1..=50).map(operation).collect();
        for batch in ["json", "xml"] {
            for (kind, operations) in [
                ("singles", singles.clone()),
                ("lists", vec![list.clone(); 50]),
            ] {
                questions.push(Question {
                    name: format!("{kind} in {format}, batch in {batch}"),
                    path: BATCH.replace("json", batch),
                    body: Some(json!({"operations": operations})),
                });
            }
        }
    }
    questions
}

/// Fills the site with announcements, most of which are of quotation marks or less-than signs alone.
pub(super) async fn fill(database: &Database) {
    let connection = Connection::connect(database.url()).await;
    let connection = connection.expect("it connects");
    let (numbers, quotes) = match connection.get_database_backend() {
        DbBackend::Postgres => (
            format!("generate_series(1, {ROWS}) AS numbers (number)"),
            "repeat(CASE number % 2 WHEN 0 THEN '\"' ELSE '&lt;' END, 100000 / (1 + number % 2 * 3))",
        ),
        _ => (
            format!(
                "(WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted \
                    WHERE number < {ROWS}) SELECT number FROM counted) AS numbers"
            ),
            "replace(hex(zeroblob(50000 / (1 + number % 2 * 3))), '0', CASE number % 2 WHEN 0 THEN '\"' ELSE '&lt;' END)",
        ),
    };
    let sql = format!(
        "INSERT INTO announcement (id, site_id, channel, title, body, title_folded, body_folded, created_by, created, \
            published, modified, is_draft, is_restricted, position, attachments, version) \
         SELECT 'row-' || number, 'biology-101', 'main', 'x', '<p>' || {quotes} || '</p>', 'x', 'x', \
            (SELECT min(id) FROM user_account), number, number, number, FALSE, FALSE, number, '[]', 1 FROM {numbers}"
    );
    connection.execute_unprepared(&sql).await.expect("rows");
}

/// The most KiB of memory that `process` takes while `work` is done, beyond what it has before.
async fn held<T>(process: &Arc<Process>, work: impl Future<Output = T>) -> (u64, T) {
    let before = process.memory().anonymous;
    let is_over = Arc::new(AtomicBool::new(false));
    let (watched, ends) = (Arc::clone(process), Arc::clone(&is_over));
    let watch = thread::spawn(move || watched.most_memory_until(&ends, BETWEEN_LOOKS));
    let done = work.await;
    is_over.store(true, Ordering::SeqCst);
    let most = watch.join().expect("a watch");
    (most.saturating_sub(before), done)
}

both! {
    async fn a_request_holds_no_more_than_a_few_answers(stored: Stored) {
        let database = stored.0;
        let service = service(false);
        let start = || {
            let (url, folder) = (database.url(), database.folder());
            let process = Process::start_service_with(&service, url, &folder, true, &AT_ONCE);
            Arc::new(process)
        };
        drop(start());
        fill(&database).await;
        let mut figures = Vec::new();
        let questions = questions();
        for question in questions.iter().filter(|it| it.is_asked()) {
            let mut tries = Vec::new();
            while tries.len() < TRIES {
                let figure = question.measure(start()).await;
                tries.push(figure);
                if question.is_within(figure) {
                    break;
                }
            }
            if !tries.last().is_some_and(|it| question.is_within(*it)) {
                figures.push((&question.name, tries));
            }
        }
        assert!(figures.is_empty(), "{figures:?}");
    }
}
