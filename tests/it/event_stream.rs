//! `/api/users/me/events` and `/direct/event/stream`: events as they happen.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use entity_core::testing::FixedClock;
use futures::future::{join, join_all};
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use server::App;
use tests::app::{config, parts};
use tests::{Backend, Client, TestApp, both, database};
use tower::ServiceExt as _;

use tests::rows::databases;

const STREAM: &str = "/api/users/me/events";
const ALIAS: &str = "/direct/event/stream";
const EVENT_STREAM: &str = "text/event-stream";
const SITE: &str = "biology-101";
/// Within this time a stream says what it has to say, or that it has ended.
const PATIENCE: Duration = Duration::from_mins(1);

/// A stream that a client follows.
struct Followed {
    body: Body,
    text: String,
}

/// Asks `app` for a stream as `client`, with these header fields besides.
async fn ask(app: &App, client: &Client, path: &str, further: &[(&str, &str)]) -> Response<Body> {
    let mut request = Request::get(path).header(HOST, "127.0.0.1:8080");
    for (name, value) in further {
        request = request.header(*name, *value);
    }
    if let Some(cookie) = client.cookie() {
        request = request.header(COOKIE, cookie);
    }
    let request = request.body(Body::empty()).expect("a request");
    app.clone().oneshot(request).await.expect("an answer")
}

async fn follow(app: &App, client: &Client, behind: Option<&str>) -> Followed {
    let accept = (ACCEPT.as_str(), EVENT_STREAM);
    let behind = behind.map(|it| ("last-event-id", it));
    let headers: Vec<_> = [accept].into_iter().chain(behind).collect();
    let response = ask(app, client, STREAM, &headers).await;
    assert_eq!(response.status(), StatusCode::OK);
    let header = |name: &str| response.headers().get(name).and_then(|it| it.to_str().ok());
    assert_eq!(header(CONTENT_TYPE.as_str()), Some(EVENT_STREAM));
    assert_eq!(header("cache-control"), Some("no-store"));
    assert_eq!(header("x-accel-buffering"), Some("no"));
    Followed {
        body: response.into_body(),
        text: String::new(),
    }
}

impl Followed {
    /// Reads on until the text of the stream satisfies `is_enough`; fails if it ends or says nothing for long.
    async fn until(&mut self, is_enough: impl Fn(&str) -> bool) {
        while !is_enough(&self.text) {
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let frame = frame.unwrap_or_else(|_| panic!("it says no more than {:?}", self.text));
            let frame = frame.expect("it goes on").expect("it breaks off");
            let data = frame.into_data().expect("data");
            self.text
                .push_str(std::str::from_utf8(&data).expect("text"));
        }
    }

    /// Reads what comes next.
    async fn more(&mut self) {
        let length = self.text.len();
        self.until(|it| it.len() > length && it.ends_with("\n\n"))
            .await;
    }

    /// The references of the events that were told so far.
    fn references(&self) -> Vec<String> {
        let events = self.events();
        let references = events.iter().filter_map(|it| it["reference"].as_str());
        references.map(ToOwned::to_owned).collect()
    }

    async fn ends(mut self) {
        let end = async { while self.body.frame().await.is_some() {} };
        tokio::time::timeout(PATIENCE, end).await.expect("it ends");
    }

    /// The events that were told so far.
    fn events(&self) -> Vec<Value> {
        let blocks = self.text.split("\n\n");
        let told = blocks.filter_map(|it| {
            let data = it.lines().find_map(|it| it.strip_prefix("data: "))?;
            let event: Value = serde_json::from_str(data).expect("JSON");
            let id = it.lines().find_map(|it| it.strip_prefix("id: "));
            if !it.contains("event: ") {
                assert_eq!(event["id"].as_str(), id, "{it}");
            }
            Some(event)
        });
        told.collect()
    }

    fn titles(&self) -> Vec<String> {
        let events = self.events();
        let titles = events.iter().filter_map(|it| it["title"].as_str());
        titles.map(ToOwned::to_owned).collect()
    }
}

async fn announce(client: &Client, title: &str, is_draft: bool) -> String {
    let body = json!({"siteId": SITE, "title": title, "body": "<p>Room 7</p>", "draft": is_draft});
    let made = client.post("/direct/announcement.json", &body).await;
    let made = made.expect(StatusCode::CREATED).json();
    made["entityReference"]
        .as_str()
        .expect("a reference")
        .to_owned()
}

both! {
    async fn events_are_told_to_those_who_may_read_what_they_are_about(app: TestApp) {
        let service = app.service();
        service.catch_up().await.expect("it follows");
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let stranger = app.user("instructor2").await;
        let mut of_teacher = follow(service, &teacher, None).await;
        let mut of_student = follow(service, &student, None).await;
        let mut of_stranger = follow(service, &stranger, None).await;
        announce(&teacher, "Not finished", true).await;
        let reference = announce(&teacher, "Exam room", false).await;
        let own = json!({"siteId": "history-210", "title": "For others", "body": "x"});
        stranger.post("/direct/announcement.json", &own).await.expect(StatusCode::CREATED);
        service.catch_up().await.expect("it follows");

        of_teacher.until(|it| it.contains("Exam room")).await;
        of_student.until(|it| it.contains("Exam room")).await;
        of_stranger.until(|it| it.contains("For others")).await;
        assert_eq!(of_teacher.titles(), ["Not finished", "Exam room"]);
        assert_eq!(of_student.titles(), ["Exam room"]);
        assert_eq!(of_stranger.titles(), ["For others"]);
        let event = &of_student.events()[0];
        assert_eq!(event["kind"], "annc.new");
        assert_eq!(event["reference"], reference.as_str());
        assert_eq!(event["siteId"], SITE);
        student.get(event["url"].as_str().expect("an address")).await.expect(StatusCode::OK);
        let teachers = teacher.get("/direct/user/current.json").await.json();
        let author = teachers["id"].as_str().expect("an id");
        assert!(!of_student.text.contains(author), "nobody is told who caused it");
        assert!(of_student.text.starts_with("retry: "));
    }

    async fn a_client_that_was_cut_off_misses_nothing_and_hears_nothing_twice(app: TestApp) {
        let service = app.service();
        service.catch_up().await.expect("it follows");
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let mut first = follow(service, &student, None).await;
        announce(&teacher, "One", false).await;
        service.catch_up().await.expect("it follows");
        first.until(|it| it.contains("One")).await;
        let last = first.events()[0]["id"].as_str().expect("an id").to_owned();
        drop(first);
        announce(&teacher, "Two", false).await;
        announce(&teacher, "Three", false).await;
        service.catch_up().await.expect("it follows");
        let mut second = follow(service, &student, Some(&last)).await;
        second.until(|it| it.contains("Three")).await;
        assert_eq!(second.titles(), ["Two", "Three"]);
        let path = format!("{ALIAS}?lastEventId={last}");
        let response = ask(service, &student, &path, &[("accept", EVENT_STREAM)]).await;
        let mut third = Followed { body: response.into_body(), text: String::new() };
        third.until(|it| it.contains("Three")).await;
        assert_eq!(third.titles(), ["Two", "Three"]);

        // What is gone can't be told: the client is told that.
        let connections = databases(&app).await;
        let sql = format!("DELETE FROM outbox WHERE sequence <= {last} + 1");
        connections[0].execute_unprepared(&sql).await.expect("it is removed");
        let mut fourth = follow(service, &student, Some(&last)).await;
        fourth.until(|it| it.contains("Three")).await;
        assert!(fourth.text.contains("event: reset"), "{}", fourth.text);
        for wrong in ["x", "-1", "99999999999999999999"] {
            let headers = [("accept", EVENT_STREAM), ("last-event-id", wrong)];
            let refused = ask(service, &student, STREAM, &headers).await;
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong}");
        }
    }

    async fn y65_a_stream_looks_back_so_far_and_tells_who_missed_more(app: TestApp) {
        let service = app.service();
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let first = announce(&teacher, "Long ago", false).await;
        let connections = databases(&app).await;
        let many = "INSERT INTO outbox (kind, reference, site, time) WITH RECURSIVE n(i) AS \
                    (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2100) SELECT 'x', '/nothing/1', 'biology-101', 0 FROM n";
        connections[0].execute_unprepared(many).await.expect("it is written");
        announce(&teacher, "Now", false).await;
        service.catch_up().await.expect("it follows");
        let mut stream = follow(service, &student, Some("0")).await;
        stream.until(|it| it.contains("Now")).await;
        assert!(stream.text.contains("event: reset"), "{}", stream.text);
        assert!(!stream.text.contains(&first), "{}", stream.text);
    }

    async fn y68_a_grade_is_no_event_for_its_student_before_it_is_returned(app: TestApp) {
        let service = app.service();
        service.catch_up().await.expect("it follows");
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let work = "/direct/assignment-submission.json?context=biology-101&_limit=0";
        let own = student.get(work).await.json();
        let own = own["assignment-submission_collection"].as_array().expect("a list").clone();
        let open = own.iter().find(|it| it["returned"] == false && it["submitted"] == true).expect("work to grade");
        let path = format!("/direct/assignment-submission/{}", open["id"].as_str().expect("an id"));
        let mut of_teacher = follow(service, &teacher, None).await;
        let mut of_student = follow(service, &student, None).await;
        teacher.put(&path, &json!({"privateNotes": "Late", "returned": false})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"returned": true})).await.expect(StatusCode::NO_CONTENT);
        announce(&teacher, "Last", false).await;
        service.catch_up().await.expect("it follows");
        of_teacher.until(|it| it.contains("Last")).await;
        of_student.until(|it| it.contains("Last")).await;
        assert!(of_teacher.text.contains("\"asn.grade\""), "{}", of_teacher.text);
        assert!(!of_student.text.contains("\"asn.grade\""), "{}", of_student.text);
        assert!(of_student.text.contains("\"asn.grade.submission\""), "{}", of_student.text);
    }

    async fn y7_chat_by_the_stream_loses_no_message_of_four_who_write_at_once(app: TestApp) {
        let service = app.service();
        let reader = app.user("student1").await;
        let rooms = reader.get("/direct/chat-channel.json?siteId=biology-101").await.json();
        let room = &rooms["chat-channel_collection"][0]["id"];
        let mut writers = Vec::new();
        for eid in ["student2", "student3", "ta1", "instructor1"] { writers.push(app.user(eid).await); }
        service.catch_up().await.expect("it follows");
        let mut followed = follow(service, &reader, None).await;
        let (mut said, mut heard) = (HashSet::new(), Vec::new());
        for round in 0..4 {
            let write = |writer: Client| async move {
                let mut made = Vec::new();
                for number in 0..6 {
                    let body = json!({"chatChannelId": room, "body": format!("{round} {number}")});
                    let answer = writer.post("/direct/chat-message/new", &body).await;
                    answer.expect(StatusCode::CREATED);
                    made.push(answer.header("EntityReference").expect("a reference").to_owned());
                }
                made
            };
            // The stream goes on while they write.
            let written = join_all(writers.iter().cloned().map(write));
            let (written, followed_on) = join(written, service.catch_up()).await;
            followed_on.expect("it follows");
            said.extend(written.into_iter().flatten());
            service.catch_up().await.expect("it follows");
            let heard_before = heard.clone();
            let is_whole = |followed: &Followed| {
                let heard: HashSet<_> = heard_before.iter().cloned().chain(followed.references()).collect();
                said.is_subset(&heard)
            };
            while !is_whole(&followed) { followed.more().await; }
            // Cut off in the middle, it goes on behind the last that it took.
            let events = followed.events();
            assert!(events.iter().all(|it| it["kind"] == "chat-message.new"), "as the manual has it");
            let taken = &events[..events.len().div_ceil(2)];
            heard.extend(taken.iter().map(|it| it["reference"].as_str().expect("a reference").to_owned()));
            let last = taken.last().expect("an event")["id"].as_str().expect("an id").to_owned();
            followed = follow(service, &reader, Some(&last)).await;
        }
        let is_heard = |followed: &Followed| heard.iter().cloned().chain(followed.references()).collect::<Vec<_>>();
        while is_heard(&followed).len() < said.len() { followed.more().await; }
        let heard = is_heard(&followed);
        assert_eq!((heard.len(), heard.into_iter().collect::<HashSet<_>>()), (said.len(), said), "each once");
    }

    async fn a_stream_ends_with_its_session_and_with_the_service(app: TestApp) {
        let service = app.service();
        service.catch_up().await.expect("it follows");
        let (one, other) = (app.user("student1").await, app.user("student2").await);
        let (ended, drained) = (follow(service, &one, None).await, follow(service, &other, None).await);
        one.post_form("/api/logout", "").await.expect(StatusCode::OK);
        service.catch_up().await.expect("it follows");
        ended.ends().await;
        service.health.drain();
        drained.ends().await;
    }

    async fn a_stream_is_for_those_who_ask_for_one(app: TestApp) {
        let service = app.service();
        let (student, nobody) = (app.user("student1").await, app.anonymous());
        for path in [STREAM, ALIAS] {
            for (client, accept, status) in [
                (&student, "*/*", StatusCode::NOT_ACCEPTABLE),
                (&student, "application/json", StatusCode::NOT_ACCEPTABLE),
                (&nobody, EVENT_STREAM, StatusCode::UNAUTHORIZED),
            ] {
                let answer = ask(service, client, path, &[("accept", accept)]).await;
                assert_eq!(answer.status(), status, "{path} {accept}");
            }
            student.get(path).await.expect(StatusCode::NOT_ACCEPTABLE);
            student.post(path, &json!({})).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        }
        let batch = student.get("/direct/batch.json?_refs=/direct/event/stream").await;
        assert!(batch.status.is_client_error() || batch.text().contains("400"), "{}", batch.text());
    }
}

#[test]
fn y7_no_manual_lets_programs_go_on_by_a_date() {
    let manuals = [
        "README.md",
        "server/docs/integrating.md",
        "server/docs/using.md",
    ];
    for manual in manuals {
        let text = fs::read_to_string(tests::process::root().join(manual)).expect("a manual");
        let by_date =
            |line: &&str| line.contains("[gt]") && !line.starts_with("It does not go on by a date");
        let led: Vec<_> = text.lines().filter(by_date).collect();
        assert!(led.is_empty(), "{manual}: {led:?}");
        if manual.ends_with("integrating.md") {
            assert!(
                text.contains("follows the [event stream]")
                    && text.contains("does not go on by a date")
            );
        }
    }
}

#[tokio::test]
async fn an_account_follows_so_many_streams_and_no_more() {
    let settings = [("limits.eventStreams", "2")];
    let app = TestApp::with_settings(Backend::Sqlite, &settings)
        .await
        .expect("a service");
    let (service, student) = (app.service(), app.user("student1").await);
    let one = follow(service, &student, None).await;
    let _two = follow(service, &student, None).await;
    let headers = [("accept", EVENT_STREAM)];
    let refused = ask(service, &student, STREAM, &headers).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.headers().contains_key("retry-after"));
    let _others = follow(service, &app.user("student2").await, None).await;
    drop(one);
    follow(service, &student, None).await;
}

#[tokio::test]
async fn a_node_tells_what_happens_on_another_one() {
    database::on(Backend::Postgres, |app: TestApp| async move {
        let files = app.database().folder().join("files").display().to_string();
        let settings = config(app.database().url(), &[("files.folder", &*files)]);
        let other = App::start(settings, parts(Arc::new(FixedClock::default())));
        let other = other.await.expect("another node");
        app.service().catch_up().await.expect("it follows");
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let mut followed = follow(&other, &student, None).await;
        announce(&teacher, "From here", false).await;
        followed.until(|it| it.contains("From here")).await;
        assert_eq!(followed.titles(), ["From here"]);
    })
    .await;
}
