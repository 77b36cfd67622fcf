//! Lists and batches had no size: one request took gigabytes. A list ends where its bytes end, and goes on at the next
//! address; a batch carries out what its answer has room for; answers that nobody reads share a budget.

mod connections;
mod held;
mod parts;
mod turns;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH, LINK};
use load::app::PASSWORD;
use load::process::{Process, service};
use load::{Answer, Backend, Client, Database, OnBackend, TestApp, both};
use serde_json::{Value, json};

const BATCH: &str = "/direct/batch.json";
/// The maximum number of bytes of an answer here.
const MOST: usize = 64 << 10;
/// The size of one of the announcements.
const USUAL: usize = 14 << 10;
/// The size of an announcement that is larger than an answer.
const LARGE: usize = 100 << 10;
const COUNT: usize = 12;

/// A service whose answers are small.
struct Small(TestApp);

impl OnBackend for Small {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let app = TestApp::with_settings(backend, &[("limits.answerBytes", "64KiB")]);
        app.await.map(Self)
    }
}

fn news(title: &str, bytes: usize) -> Value {
    json!({"siteId": "biology-101", "title": title, "body": format!("<p>{}</p>", "word ".repeat(bytes / 5))})
}

/// Announces so much that no answer holds it; the titles are numbered.
async fn announce(client: &Client) -> Vec<String> {
    let mut titles = Vec::new();
    for index in 0..COUNT {
        let bytes = if index == 5 { LARGE } else { USUAL };
        titles.push(format!("Large-{index:02}"));
        let answer = client
            .post("/direct/announcement.json", &news(&titles[index], bytes))
            .await;
        answer.expect(StatusCode::CREATED);
    }
    titles
}

/// The path of the next part.
fn next(answer: &Answer) -> Option<String> {
    let links = answer.header(LINK)?;
    let next = links.split(", ").find(|it| it.ends_with("rel=\"next\""))?;
    let url = next.split(['<', '>']).nth(1)?;
    url.strip_prefix("http://127.0.0.1:8080")
        .map(ToOwned::to_owned)
}

/// Walks a list to its end; how often each title is found, and in how many parts.
async fn walk(client: &Client, path: &str, titles: &[String]) -> (Vec<usize>, usize) {
    let (mut found, mut parts) = (vec![0; titles.len()], 0);
    let mut address = Some(path.to_owned());
    while let Some(path) = address {
        let answer = client.get(&path).await;
        answer.expect(StatusCode::OK);
        let here: Vec<usize> = titles
            .iter()
            .map(|it| usize::from(answer.text().contains(it.as_str())))
            .collect();
        assert!(
            answer.body.len() <= MOST || here.iter().sum::<usize>() <= 1,
            "{path}: {} bytes",
            answer.body.len()
        );
        found
            .iter_mut()
            .zip(here)
            .for_each(|(all, here)| *all += here);
        parts += 1;
        assert!(parts < 100, "{path}: the walk has no end");
        address = next(&answer);
    }
    (found, parts)
}

/// A change behind the first part of a list leaves its version as it is, and a change in it does not.
async fn check_versions_of_parts(teacher: &Client) {
    let path = "/direct/announcement/site/biology-101.json";
    let first = teacher.get(path).await;
    let behind = teacher.get(&next(&first).expect("a further part")).await;
    let an_id = |answer: &Answer| {
        let entity = &answer.json()["announcement_collection"][0]["entityId"];
        entity.as_str().expect("an id").to_owned()
    };
    let tag = first.header(ETAG).expect("a tag");
    let reader = teacher.clone().with_header(IF_NONE_MATCH, tag);
    for (id, expected) in [
        (an_id(&behind), StatusCode::NOT_MODIFIED),
        (an_id(&first), StatusCode::OK),
    ] {
        let path_of_one = format!("/direct/announcement/{id}.json");
        let changed = teacher
            // Another title than what an earlier round gave it.
            .put(
                &path_of_one,
                &json!({"title": format!("Changed {}", tag.trim_matches('"'))}),
            )
            .await;
        changed.expect(StatusCode::NO_CONTENT);
        reader.get(path).await.expect(expected);
    }
}

both! {
    async fn lists_end_where_their_bytes_end_and_go_on(app: Small) {
        let teacher = app.0.user("instructor1").await;
        let titles = announce(&teacher).await;
        for (format, queries) in [
            ("json", &["", "_limit=7", "_perpage=50&_page=1", "_cursor=", "_order=title&_cursor=", "_search=word&_limit=50"][..]),
            ("xml", &["", "_cursor="]),
            ("csv", &["", "_order=title"]),
            ("atom", &["", "_cursor="]),
            ("rss", &[""]),
            ("html", &["_limit=1000"]),
        ] {
            for path in ["/direct/announcement/site/biology-101", "/direct/announcement"] {
                for query in queries {
                    let path = format!("{path}.{format}?{query}");
                    let (found, parts) = walk(&teacher, &path, &titles).await;
                    assert_eq!(found, vec![1; COUNT], "{path}");
                    assert!(parts > 2, "{path}: {parts} parts");
                }
            }
        }
    }

    async fn a_part_that_was_cut_has_a_version_of_its_own(app: Small) {
        let teacher = app.0.user("instructor1").await;
        // The first ones fit as they are stored, and not as they are written; the others not even that.
        for _ in 0..8 {
            let body = "<b>x</b>".repeat(500);
            let fields = json!({"siteId": "biology-101", "title": "Marked", "body": body});
            teacher.post("/direct/announcement.json", &fields).await.expect(StatusCode::CREATED);
        }
        check_versions_of_parts(&teacher).await;
        announce(&teacher).await;
        check_versions_of_parts(&teacher).await;
    }

    async fn a_batch_carries_out_what_its_answer_has_room_for(app: Small) {
        let teacher = app.0.user("instructor1").await;
        let mut paths = Vec::new();
        for index in 0..6 {
            let answer = teacher.post("/direct/announcement.json", &news(&format!("Long {index}"), USUAL)).await;
            answer.expect(StatusCode::CREATED);
            paths.push(format!("announcement/{}", answer.header("entityid").expect("an id")));
        }
        let statuses = |results: Vec<&Value>| -> Vec<u64> { results.iter().filter_map(|it| it["status"].as_u64()).collect() };
        let mut operations: Vec<Value> = paths.iter().map(|it| json!({"method": "GET", "path": it})).collect();
        operations.push(json!({"method": "POST", "path": "announcement", "body": news("Behind the limit", 10)}));
        let answer = teacher.post(BATCH, &json!({"operations": operations})).await;
        answer.expect(StatusCode::MULTI_STATUS);
        assert!(answer.body.len() < 2 * MOST, "{} bytes", answer.body.len());
        let told = answer.json();
        let told = statuses(told["results"].as_array().expect("results").iter().collect());
        assert_eq!(told, [200, 200, 200, 200, 507, 507, 507]);
        let answer = teacher.post(BATCH, &json!({"atomic": true, "operations": operations})).await;
        answer.expect(StatusCode::INSUFFICIENT_STORAGE);
        assert_eq!(answer.json()["error"]["operation"], 4, "{}", answer.text());
        let answer = teacher.get(&format!("{BATCH}?_refs={}", paths.join(","))).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let told = answer.json();
        assert_eq!(statuses(told.as_object().expect("results").values().collect()), [200, 200, 200, 200, 507, 507]);
        let lists: Vec<Value> = (0..5).map(|_| json!({"method": "GET", "path": "announcement"})).collect();
        let answer = teacher.post(BATCH, &json!({"operations": lists})).await;
        assert!(answer.body.len() < 2 * MOST, "{} bytes", answer.body.len());
        let all = teacher.get("/direct/announcement.json?_search=behind").await;
        assert!(!all.text().contains("Behind the limit"));
    }

    async fn sites_with_much_to_say_are_listed_in_parts(app: Small) {
        let admin = app.0.user("admin").await;
        let mut titles = Vec::new();
        for index in 0..8 {
            titles.push(format!("Wordy-{index:02}"));
            let site = json!({"title": titles[index], "type": "project", "description": "word ".repeat(4 << 10)});
            admin.post("/direct/site.json", &site).await.expect(StatusCode::CREATED);
        }
        for query in ["_search=wordy", "_search=wordy&_cursor="] {
            for format in ["json", "xml"] {
                let path = format!("/direct/site.{format}?{query}");
                let (found, parts) = walk(&admin, &path, &titles).await;
                assert_eq!(found, vec![1; titles.len()], "{path}");
                assert!(parts > 2, "{path}: {parts} parts");
            }
        }
    }
}

/// Asks for `path` and reads no more of the answer than its first bytes. The status, if there was an answer in time.
fn ask_and_wait(port: u16, cookie: &str, path: &str) -> (TcpStream, Option<u16>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the service listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("the service reads");
    let mut first = [0; 12];
    let is_read = stream.read_exact(&mut first).is_ok();
    let status = std::str::from_utf8(&first)
        .ok()
        .and_then(|it| it.get(9..12))
        .and_then(|it| it.parse().ok());
    (stream, status.filter(|_| is_read))
}

/// As many as do not fit into the budget ask for as much as a list may have, and do not read it.
#[tokio::test]
async fn answers_that_nobody_reads_take_no_more_than_their_budget() {
    const READERS: usize = 40;
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let service = service(false);
    let process = Process::start_service_with(
        &service,
        database.url(),
        &database.folder(),
        true,
        &[
            ("LECTERN_LIMITS_ANSWERMEMORY", "32MiB"),
            ("LECTERN_LIMITS_ANSWERBYTES", "24MiB"),
            ("LECTERN_LIMITS_STATEMENTTIME", "2"),
            ("LECTERN_POOL_WAIT", "1"),
        ],
    );
    let client = Client::on_port(process.port())
        .log_in("instructor1", PASSWORD)
        .await;
    for batch in 0..20 {
        let operations: Vec<Value> = (0..8)
            .map(|_| json!({"method": "POST", "path": "announcement", "body": news(&format!("Much {batch}"), 50 << 10)}))
            .collect();
        client
            .post(BATCH, &json!({"operations": operations}))
            .await
            .expect(StatusCode::OK);
    }
    let before = process.memory().anonymous;
    // The program itself is mapped, and as tests build it, it is larger than all that it holds.
    let (process, is_over) = (Arc::new(process), Arc::new(AtomicBool::new(false)));
    let watch = std::thread::spawn({
        let (process, is_over) = (Arc::clone(&process), Arc::clone(&is_over));
        move || process.most_memory_until(&is_over, Duration::from_millis(1))
    });
    let (port, cookie) = (
        process.port(),
        client.cookie().expect("a session").to_owned(),
    );
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let cookie = cookie.clone();
            std::thread::spawn(move || {
                ask_and_wait(port, &cookie, "/direct/announcement/site/biology-101.json")
            })
        })
        .collect();
    let readers: Vec<_> = readers
        .into_iter()
        .map(|it| it.join().expect("a reader"))
        .collect();
    let count = |status| readers.iter().filter(|it| it.1 == Some(status)).count();
    let (served, refused) = (count(200), count(503));
    is_over.store(true, Ordering::SeqCst);
    let most = watch.join().expect("it watches");
    println!("{served} served, {refused} refused, {before} KiB before, {most} KiB at most");
    assert_eq!(served + refused, READERS);
    assert!(served > 0 && refused > 0);
    // What was asked for is 320 MiB; what counts is that the service fits into 512 MiB.
    assert!(most < 400 << 10, "{most} KiB");
    drop(readers);
    client
        .get("/direct/announcement/site/biology-101.json?_limit=1")
        .await
        .expect(StatusCode::OK);
}
