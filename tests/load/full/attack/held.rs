//! The share of one account in what all need, with a figure for each: bytes of the disk, a file that many drafts name,
//! places for uploads, and the time that others wait while it reads events or the most active threads.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use load::long_table::fill;
use load::process::{Process, service};
use load::rows::databases;
use load::{Answer, Backend, Client, Database, OnBackend, TestApp, both, say};
use sea_orm::{ConnectionTrait as _, DbBackend};
use serde_json::json;
use tower::ServiceExt as _;

const UPLOAD: &str = "/direct/content/upload/biology-101?name=a.bin";
const ATTACH: &str = "/direct/content/attachment/biology-101?name=a.txt";
const MIB: usize = 1 << 20;

/// A service in which an account may have few bytes of files that nothing names.
struct Tight(TestApp);

impl OnBackend for Tight {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [("files.accountBytes", "100MiB")];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

async fn send(client: &Client, path: &str, bytes: Vec<u8>) -> Answer {
    let binary = "application/octet-stream";
    client
        .send(Method::POST, path, binary, Bytes::from(bytes))
        .await
}

fn stored(app: &TestApp) -> u64 {
    let files = walk(&app.database().folder().join("files"));
    files.into_iter().sum()
}

fn walk(folder: &std::path::Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|it| match it.path().is_dir() {
            true => walk(&it.path()),
            false => vec![it.metadata().map_or(0, |it| it.len())],
        })
        .collect()
}

async fn run(app: &TestApp, sql: &str) {
    let connections = databases(app).await;
    connections[0]
        .execute_unprepared(sql)
        .await
        .expect("it is written");
}

/// The median time of `times` requests.
async fn median(times: usize, client: &Client, path: &str) -> Duration {
    let mut all = Vec::new();
    for _ in 0..times {
        let begin = Instant::now();
        client.get(path).await.expect(StatusCode::OK);
        all.push(begin.elapsed());
    }
    all.sort();
    all[times / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

both! {
    async fn y63_refused_uploads_fill_no_more_of_the_disk_than_their_account_may_have(app: Tight) {
        let app = app.0;
        let teacher = app.user("instructor1").await;
        send(&teacher, UPLOAD, vec![1; 10]).await.expect(StatusCode::CREATED);
        let before = stored(&app);
        for number in 0..29_u8 {
            let refused = send(&teacher, UPLOAD, vec![number; 10 * MIB]).await;
            assert!(refused.status.is_client_error(), "{}", refused.text());
        }
        let held = (stored(&app) - before) / u64::try_from(MIB).expect("small");
        say(&format!("29 refused uploads of 10 MiB hold {held} MiB of the disk, of at most 100"));
        assert!(held <= 100, "{held} MiB");
    }

    async fn y64_opening_an_attached_file_does_not_depend_on_the_texts_of_its_site(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let file = send(&teacher, ATTACH, vec![1; 10]).await.json();
        let news = json!({"siteId": "biology-101", "title": "t", "attachments": [file]});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        let path = file["url"].as_str().expect("an address");
        let before = median(21, &student, path).await;
        fill(app.database().url(), "biology-101", "y", 10_000).await;
        run(&app, "UPDATE announcement SET body = body_folded WHERE title = 'x'").await;
        let after = median(21, &student, path).await;
        say(&format!("an attached file opens in {:.2} ms, beside 28 MB of texts in {:.2} ms", millis(before), millis(after)));
        assert!(after < before * 3 + Duration::from_millis(3), "{before:?} {after:?}");
    }

    async fn y65_the_most_active_of_many_threads_cost_little_more_than_the_newest(app: TestApp) {
        let student = app.user("student1").await;
        let topic = json!({"siteId": "biology-101", "title": "About leaves"});
        let topic = student.post("/direct/conversations", &topic).await.expect(StatusCode::CREATED).json();
        let topic = topic["entityId"].as_str().expect("an id");
        let post = json!({"siteId": "biology-101", "topicId": topic, "message": "x"});
        student.post("/direct/conversations-post", &post).await.expect(StatusCode::CREATED);
        run(&app, &format!(
            "CREATE TABLE copies AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
             SELECT p.* FROM conversation_post p, n WHERE p.topic_id = '{topic}'"
        )).await;
        let random = match app.service().storage.content.writer.get_database_backend() {
            DbBackend::Postgres => "md5(random()::text)",
            _ => "hex(randomblob(16))",
        };
        run(&app, &format!("UPDATE copies SET id = {random}")).await;
        run(&app, "INSERT INTO conversation_post SELECT * FROM copies").await;
        let posts = format!("/api/sites/biology-101/topics/{topic}/posts");
        let newest = median(5, &student, &posts).await;
        let active = median(5, &student, &format!("{posts}?sort=MOST_ACTIVE")).await;
        say(&format!("of 3,001 threads the newest come in {:.1} ms, the most active in {:.1} ms", millis(newest), millis(active)));
        assert!(active < newest * 4, "{newest:?} {active:?}");
    }

    async fn y65_who_reads_old_events_holds_up_nobody(app: TestApp) {
        let (teacher, reader, other) = (
            app.user("instructor1").await, app.user("student1").await, app.user("student2").await
        );
        let news = json!({"siteId": "biology-101", "title": "t"});
        let made = teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED).json();
        let reference = made["entityReference"].as_str().expect("a reference");
        run(&app, &format!(
            "INSERT INTO outbox (kind, reference, site, time) WITH RECURSIVE n(i) AS \
             (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
             SELECT 'annc.new', '{reference}', 'biology-101', 0 FROM n"
        )).await;
        app.service().catch_up().await.expect("it follows");
        let calm = percentile(&other).await;
        let streams: Vec<_> = (0..8).map(|_| tokio::spawn(follow(app.service().clone(), reader.clone()))).collect();
        let beside = percentile(&other).await;
        for stream in streams {
            stream.abort();
        }
        say(&format!("others' p99 is {:.1} ms, beside eight streams from the beginning {:.1} ms", millis(calm), millis(beside)));
        assert!(beside < calm * 10 + Duration::from_millis(150), "{calm:?} {beside:?}");
    }

    async fn y65_slow_uploads_of_one_account_leave_places_to_others(app: TestApp) {
        let (teacher, other) = (app.user("instructor1").await, app.user("admin").await);
        let slow: Vec<_> = (0..64).map(|_| {
            let teacher = teacher.clone();
            tokio::spawn(async move {
                let pieces = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(b"x")));
                let pieces = pieces.then(|it| async {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    it
                });
                let request = Request::builder().method(Method::POST).uri(UPLOAD);
                let request = request.header(CONTENT_TYPE, "application/octet-stream");
                teacher.try_send(request.body(Body::from_stream(pieces)).expect("a request")).await
            })
        }).collect();
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begin = Instant::now();
        send(&other, UPLOAD, vec![1; 10]).await.expect(StatusCode::CREATED);
        say(&format!("beside 64 slow uploads of one account another one is done in {:.0} ms", millis(begin.elapsed())));
        for task in slow {
            task.abort();
        }
    }
}

/// Follows the events from the first one on, for as long as it is let.
async fn follow(app: server::App, client: Client) {
    loop {
        let request = Request::get("/api/users/me/events")
            .header(HOST, "127.0.0.1:8080")
            .header(ACCEPT, "text/event-stream")
            .header("last-event-id", "0")
            .header(COOKIE, client.cookie().expect("a session"));
        let request = request.body(Body::empty()).expect("a request");
        let answer = app.clone().oneshot(request).await.expect("an answer");
        let mut body = answer.into_body();
        for _ in 0..20 {
            let next = tokio::time::timeout(Duration::from_secs(1), body.frame()).await;
            if !matches!(next, Ok(Some(Ok(_)))) {
                break;
            }
        }
    }
}

/// The time in which 99 of 100 requests of `client` are answered.
async fn percentile(client: &Client) -> Duration {
    let mut all = Vec::new();
    for _ in 0..200 {
        let begin = Instant::now();
        client
            .get("/direct/site/biology-101.json")
            .await
            .expect(StatusCode::OK);
        all.push(begin.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    all.sort();
    all[all.len() * 99 / 100]
}

#[tokio::test]
async fn y68_a_client_that_sends_on_hears_why_it_is_refused() {
    let database = Database::on_backend(Backend::Sqlite)
        .await
        .expect("a database");
    let process = Process::start_service(&service(false), &database, true);
    let mut stream = TcpStream::connect(("127.0.0.1", process.port())).expect("a connection");
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n",
        20 * MIB
    );
    stream.write_all(head.as_bytes()).expect("the head is sent");
    // It is refused at once, for nobody is logged in: who sends all the same finds out at the end.
    for _ in 0..20 {
        stream
            .write_all(&vec![0; MIB])
            .expect("the connection is open");
    }
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..length]);
    assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    process.stop();
}
