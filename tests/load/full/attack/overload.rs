//! Overload: requests that find no room are refused at once, every client gets a share, and work for clients that have
//! gone is given up.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use futures::future::join_all;
use http::{Method, StatusCode};
use load::process::{Process, service};
use load::{Answer, Backend, Client, Database, OnBackend, TestApp, both};
use serde_json::json;

const LIST: &str = "/direct/site.json?_limit=1";
const SCAN: &str = "/direct/site.json?_search=a";
const FINE: StatusCode = StatusCode::OK;
const BUSY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
/// The time for which the test waits for what comes at once on a machine that has something else to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// A service that does one thing of each kind at a time, and lets four wait.
struct Narrow(TestApp);

impl OnBackend for Narrow {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [
            ("admission.reads", "1"),
            ("admission.scans", "1"),
            ("admission.writes", "1"),
            ("admission.queue", "4"),
            ("admission.wait", "20"),
        ];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

impl Narrow {
    /// Somebody who has just been here: only then is it known at the door whose requests theirs are.
    async fn user(&self, eid: &str) -> Client {
        let client = self.0.user(eid).await;
        client.get(LIST).await.expect(FINE);
        client
    }

    fn figure(&self, line: &str) -> u64 {
        let text = self.0.service().figures.to_text();
        let value = text.lines().find_map(|it| it.strip_prefix(line));
        value
            .and_then(|it| it.trim().parse().ok())
            .unwrap_or_default()
    }

    /// Waits until nothing runs and nothing waits.
    async fn settle(&self) {
        let begin = Instant::now();
        let lines = ["reads", "scans", "writes"].map(|it| {
            [
                format!("lectern_running_{it}"),
                format!("lectern_queued_{it}"),
            ]
        });
        while lines.as_flattened().iter().any(|it| self.figure(it) > 0) {
            assert!(begin.elapsed() < PATIENCE, "places are not given back");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn statuses(answers: &[Answer], status: StatusCode) -> usize {
    answers.iter().filter(|it| it.status == status).count()
}

both! {
    async fn rel_17_what_finds_no_room_is_told_at_once(app: Narrow) {
        let (one, two) = (app.user("student1").await, app.user("student2").await);
        for path in [LIST, SCAN] {
            let flood = join_all((0..40).map(|_| one.get(path)));
            let (flood, other) = tokio::join!(flood, two.get(path));
            other.expect(FINE);
            assert!(statuses(&flood, FINE) >= 2, "one runs and one waits");
            assert!(statuses(&flood, BUSY) >= 30, "the others are refused");
            for refused in flood.iter().filter(|it| it.status == BUSY) {
                let wait = refused.header("retry-after").and_then(|it| it.parse().ok());
                assert!(wait.is_some_and(|it: u32| (1..=3).contains(&it)), "{wait:?}");
            }
            app.settle().await;
            one.get(path).await.expect(FINE);
        }
        assert!(app.figure("lectern_refusals_total{cause=\"share\"}") >= 60);
    }

    async fn rel_17_a_flood_of_one_kind_leaves_room_for_the_others(app: Narrow) {
        let student = app.user("student1").await;
        let flood = join_all((0..40).map(|_| student.get(SCAN)));
        let begin = Instant::now();
        let (flood, read, live) = tokio::join!(flood, student.get(LIST), student.get("/livez"));
        read.expect(FINE);
        live.expect(FINE);
        assert!(statuses(&flood, BUSY) >= 30);
        assert!(begin.elapsed() < PATIENCE);
    }

    async fn rel_17_a_write_is_refused_before_its_body_is_read(app: Narrow) {
        let (one, two) = (app.user("student1").await, app.user("student2").await);
        let body = json!({"firstName": "A"});
        let writes = join_all((0..20).map(|_| one.put("/direct/user/nobody", &body)));
        let (writes, other) = tokio::join!(writes, two.put("/direct/user/nobody", &body));
        other.expect(StatusCode::FORBIDDEN);
        assert!(statuses(&writes, BUSY) + statuses(&writes, StatusCode::FORBIDDEN) == 20);
        app.settle().await;
        // A body that never ends holds no place.
        let never = axum::body::Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
        let request = http::Request::builder()
            .method(Method::PUT)
            .uri("/direct/user/nobody")
            .header("content-type", "application/json")
            .body(never)
            .expect("a request");
        let slow = tokio::time::timeout(Duration::from_millis(100), one.try_send(request));
        let (slow, write) = tokio::join!(slow, two.put("/direct/user/nobody", &body));
        assert!(slow.is_err(), "it is still being sent");
        write.expect(StatusCode::FORBIDDEN);
        assert_eq!(app.figure("lectern_running_writes"), 0);
    }

    async fn places_are_given_back_when_clients_go(app: Narrow) {
        let client = app.user("student1").await;
        for _ in 0..20 {
            let flood = join_all((0..10).map(|_| client.get(SCAN)));
            // They go before the first one is answered.
            let cut = tokio::time::timeout(Duration::from_micros(500), flood).await;
            drop(cut);
        }
        app.settle().await;
        client.get(SCAN).await.expect(FINE);
    }
}

/// More requests than a stranger may send at once, who may send fifty.
const TIMES: u32 = 60;

/// Asks on one connection, again as soon as there is an answer. Returns how many answers are refusals, and the time.
fn ask_on(port: u16) -> (u32, Duration) {
    let begin = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let mut refused = 0;
    for _ in 0..TIMES {
        let head = b"HEAD /direct/site.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        stream.write_all(head).expect("the connection is open");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).expect("an answer");
            assert!(length > 0, "the connection is open");
            answer.extend_from_slice(&part[..length]);
        }
        refused += u32::from(answer.starts_with(b"HTTP/1.1 429"));
    }
    (refused, begin.elapsed())
}

#[tokio::test]
async fn y66_a_connection_is_read_later_after_a_refusal_unless_it_is_a_proxys() {
    let database = Database::on_backend(Backend::Sqlite)
        .await
        .expect("a database");
    let pause = Duration::from_millis(100);
    for (proxies, is_slow) in [("", true), ("127.0.0.0/8", false)] {
        let environment = [
            ("LECTERN_RATE_STRANGERS", "1"),
            ("LECTERN_RATE_BURST", "1"),
            ("LECTERN_PROXY_TRUSTED", proxies),
        ];
        let (program, folder) = (service(false), database.folder());
        let process =
            Process::start_limited_service(&program, database.url(), &folder, true, &environment);
        let (refused, time) = ask_on(process.port());
        assert!((5..TIMES / 2).contains(&refused), "{refused}");
        // The last refusal keeps nobody waiting.
        assert_eq!(
            time >= pause * (refused - 1),
            is_slow,
            "{refused} in {time:?}"
        );
        process.stop();
    }
}
