//! Whatever clients send, the service answers with something well-formed, and never with a failure of its own.
//!
//! `HOSTILE_REQUESTS` says how many requests are sent; a few by default.

mod generator;
mod near;

use std::collections::BTreeMap;
use std::env;

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::{Answer, Backend, Client, OnBackend};

use generator::Generator;

const DEFAULT_REQUESTS: u64 = 3_000;
/// Runs that go on beside each other, each with its own sequence of requests.
const SEEDS: u64 = 8;
/// The users who send them. The last one is a stranger.
const USERS: [&str; 3] = ["student1", "instructor1", "admin"];
/// Words that only those know who read the code.
const INTERNALS: [&str; 7] = [
    "invalid type:",
    "invalid value:",
    "missing field",
    ", expected ",
    "struct ",
    "sqlx",
    "serde",
];
/// The number of requests after which a run checks that its users are still logged in.
const CHECK_EVERY: u64 = 250;

fn number_of_requests() -> u64 {
    let given = env::var_os("HOSTILE_REQUESTS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_REQUESTS)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_makes_the_service_fail() {
    let app = TestApp::on_backend(Backend::Sqlite).await.expect("a file");
    let requests = number_of_requests().div_ceil(SEEDS);
    // Whoever begins first may delete the site of these.
    let known = announcements(&app.user("instructor1").await).await;
    let mut runs = tokio::task::JoinSet::new();
    for seed in 0..SEEDS {
        runs.spawn(attack(app.anonymous(), known.clone(), seed, requests));
    }
    let mut statuses = BTreeMap::<u16, u64>::new();
    for run in runs.join_all().await {
        for (status, number) in run {
            *statuses.entry(status).or_default() += number;
        }
    }
    eprintln!("answers by status: {statuses:?}");
    let sum = statuses.values().sum::<u64>();
    assert!(sum >= requests * SEEDS, "only {sum} requests were sent");
    // Requests that are all refused at the door would prove little.
    let answered = [200, 207]
        .iter()
        .filter_map(|it| statuses.get(it))
        .sum::<u64>();
    assert!(answered * 20 > sum, "too few get through: {statuses:?}");
    let written = [201, 204]
        .iter()
        .filter_map(|it| statuses.get(it))
        .sum::<u64>();
    assert!(written * 50 > sum, "too little is written: {statuses:?}");
}

#[tokio::test]
async fn what_is_spoilt_would_be_fine() {
    let app = TestApp::on_backend(Backend::Sqlite).await.expect("a file");
    let admin = app.user("admin").await;
    let known = announcements(&admin).await;
    for sent in near::unspoilt(&known[0]) {
        let request = sent.into_request().expect("a request");
        let shown = format!("{} {}", request.method(), request.uri());
        let answer = admin.try_send(request).await.expect("an answer");
        // Some ask for what is not there.
        let is_fine = answer.status.is_success() || answer.status == StatusCode::NOT_FOUND;
        assert!(is_fine, "{shown}: {} {}", answer.status, answer.text());
    }
}

#[tokio::test]
async fn no_reader_of_a_private_feed_makes_the_service_fail() {
    let app = TestApp::with_settings(Backend::Sqlite, &[("feeds.burst", "1000")]).await;
    let app = app.expect("a file");
    let owner = app.user("student1").await;
    let stranger = app.anonymous();
    let mut generator = Generator::new(SEEDS);
    let mut answered = 0;
    for query in [
        "",
        "?siteId=biology-101",
        "?_limit=1&_order=title_desc&_search=a",
    ] {
        let fields = json!({"path": format!("/announcement{query}")});
        let made = owner.post("/direct/feed", &fields).await.json();
        let address = made["addresses"]["atom"].as_str().expect("an address");
        let path = address
            .strip_prefix("http://127.0.0.1:8080")
            .expect("our own");
        for _ in 0..200 {
            if let Some(request) = generator.request_for("GET", path) {
                answered += usize::from(send(&stranger, request).await == 200);
            }
        }
    }
    assert!(answered > 50, "only {answered} get through");
}

/// Sends requests, some of them about the `known` announcements, and counts the statuses of the answers.
async fn attack(
    stranger: Client,
    known: Vec<String>,
    seed: u64,
    requests: u64,
) -> BTreeMap<u16, u64> {
    let mut generator = Generator::new(seed);
    let mut users = Vec::new();
    for eid in USERS {
        users.push(stranger.clone().log_in(eid, tests::app::PASSWORD).await);
    }
    let mut statuses = BTreeMap::new();
    let mut sent = 0;
    while sent < requests {
        let request = match generator.below(3) {
            0 => generator.write(&known).into_request(),
            _ => generator.request(),
        };
        let Some(request) = request else {
            continue;
        };
        sent += 1;
        if sent % CHECK_EVERY == 0 {
            log_in_again(&stranger, &mut users).await;
        }
        let user = users.get(generator.below(users.len() + 1));
        // Sessions are ended by strangers only, and an administrator does not remove the users.
        let is_harmless = generator::is_harmless(&request);
        let client = user.filter(|_| is_harmless).unwrap_or(&stranger);
        let answer = send(client, request).await;
        *statuses.entry(answer).or_default() += 1;
    }
    statuses
}

/// The paths of announcements that a teacher may change.
async fn announcements(teacher: &Client) -> Vec<String> {
    let path = "/direct/announcement/site/biology-101.json";
    let list = teacher.get(path).await.expect(StatusCode::OK).json();
    let items = list["announcement_collection"].as_array().expect("a list");
    let path = |it: &Value| {
        format!(
            "/direct/announcement/{}",
            it["id"].as_str().unwrap_or_default()
        )
    };
    items.iter().map(path).collect()
}

async fn log_in_again(stranger: &Client, users: &mut [Client]) {
    for (user, eid) in users.iter_mut().zip(USERS) {
        let session = user.get("/direct/session/current.json").await.json();
        if session.get("userId").is_none_or(Value::is_null) {
            *user = stranger.clone().log_in(eid, tests::app::PASSWORD).await;
        }
    }
}

async fn send(client: &Client, request: Request<Body>) -> u16 {
    let (method, path) = (request.method().clone(), request.uri().to_string());
    let shown = format!("{method} {path} {:?}", request.headers());
    let answer = client.try_send(request).await;
    let answer = answer.unwrap_or_else(|error| panic!("{shown}: {error}"));
    if let Err(complaint) = examine(&method, &path, &answer) {
        panic!(
            "{shown}\n{} {:?}\n{complaint}: {}",
            answer.status,
            answer.headers,
            String::from_utf8_lossy(&answer.body)
        );
    }
    answer.status.as_u16()
}

/// Checks an answer, and returns the fault.
fn examine(method: &Method, path: &str, answer: &Answer) -> Result<(), String> {
    if answer.status.is_server_error() {
        return Err("the service failed".to_owned());
    }
    if answer.status.is_success() || answer.status.is_redirection() || method == Method::HEAD {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&answer.body);
    if let Some(word) = INTERNALS.into_iter().find(|it| text.contains(it)) {
        return Err(format!("an error tells of the program: {word:?}"));
    }
    let media_type = answer.header("content-type").unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default();
    match media_type {
        "application/json" if path.starts_with("/api/login") => json(answer).map(drop),
        "application/json" => {
            let body = json(answer)?;
            let status = body.pointer("/error/status").and_then(Value::as_str);
            is_status(status, answer.status)
        }
        "application/problem+json" => {
            let status = json(answer)?.get("status").map(ToString::to_string);
            is_status(status.as_deref(), answer.status)
        }
        "application/xml" => {
            let text = std::str::from_utf8(&answer.body).map_err(|it| it.to_string())?;
            let document = roxmltree::Document::parse(text).map_err(|it| it.to_string())?;
            let status = document.root_element().descendants();
            let status = status
                .filter(|it| it.has_tag_name("status"))
                .find_map(|it| it.text());
            is_status(status, answer.status)
        }
        "text/html" if answer.text().contains("</html>") => Ok(()),
        other => Err(format!("an error as `{other}`")),
    }
}

fn json(answer: &Answer) -> Result<Value, String> {
    serde_json::from_slice(&answer.body).map_err(|error| error.to_string())
}

fn is_status(told: Option<&str>, status: StatusCode) -> Result<(), String> {
    match told == Some(status.as_str()) {
        true => Ok(()),
        false => Err(format!("the body tells the status {told:?}")),
    }
}
