//! HTML of which the parser took quadratic time, inside of the unit of work and on the threads that answer
//! everybody: one connection kept all writers waiting, four stopped a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode};
use load::{Answer, Client, TestApp, both};
use serde_json::{Value, json};

const BATCH: &str = "/direct/batch.json";
const NEWS: &str = "/direct/announcement";
/// More than any of it takes, in a build that is not optimised and on a busy machine, and less than the attack took.
const LONG: Duration = Duration::from_secs(20);

/// `size` bytes of `piece`, each with its `end`: without it, most of the tags would be text.
fn much_of(piece: &str, end: &str, size: usize) -> String {
    let count = size / (piece.len() + end.len());
    piece.repeat(count) + &end.repeat(count)
}

fn news(body: &str) -> Value {
    json!({"siteId": "biology-101", "title": "News", "body": body})
}

fn batch(is_atomic: bool, body: &str) -> Value {
    json!({"atomic": is_atomic, "operations": [
        {"id": "first", "method": "POST", "path": "announcement", "body": news("short")},
        {"method": "POST", "path": "announcement", "body": news(body)},
        {"method": "PATCH", "path": "announcement/$first.entityId", "body": {"body": body}},
    ]})
}

/// Sends `body` in every way in which HTML comes in, to be stored in `id` or beside it.
/// A form takes less: it has `less`.
async fn send_in_each_way(
    client: &Client,
    id: &str,
    body: &str,
    less: &str,
) -> Vec<(&'static str, Answer)> {
    let entity = format!("{NEWS}/{id}");
    let patch = |document: Value| Bytes::from(document.to_string());
    let merge = patch(json!({"body": body}));
    let operations = patch(json!([{"op": "replace", "path": "/body", "value": body}]));
    let (merges, lists) = (
        "application/merge-patch+json",
        "application/json-patch+json",
    );
    let value = less.replace('%', "%25").replace('&', "%26");
    let form = format!("siteId=biology-101&title=x&body={value}");
    let prefer = HeaderName::from_static("prefer");
    let dry = client.clone().with_header(prefer, "tx=rollback");
    vec![
        ("a creation", client.post(NEWS, &news(body)).await),
        ("a creation given up", dry.post(NEWS, &news(body)).await),
        ("a form", client.post_form(NEWS, &form).await),
        ("a change", client.put(&entity, &news(body)).await),
        (
            "a merge patch",
            client.send(Method::PATCH, &entity, merges, merge).await,
        ),
        (
            "a JSON Patch",
            client.send(Method::PATCH, &entity, lists, operations).await,
        ),
        ("a batch", client.post(BATCH, &batch(false, body)).await),
        (
            "an atomic batch",
            client.post(BATCH, &batch(true, body)).await,
        ),
    ]
}

/// Writes and reads until it is told to stop, and answers how long the slowest took.
async fn work_on(client: Client, id: String, stop: Arc<AtomicBool>) -> Duration {
    let mut slowest = Duration::ZERO;
    while !stop.load(Ordering::SeqCst) {
        let begun = Instant::now();
        let title = json!({"title": format!("at {begun:?}")});
        let path = format!("{NEWS}/{id}");
        let written = client.put(&path, &title).await;
        assert!(written.status.is_success(), "{}", written.text());
        client
            .get(&format!("{path}.json"))
            .await
            .expect(StatusCode::OK);
        slowest = slowest.max(begun.elapsed());
        tokio::task::yield_now().await;
    }
    slowest
}

async fn announce(client: &Client) -> String {
    let made = client.post(NEWS, &news("<p>first</p>")).await;
    made.expect(StatusCode::CREATED);
    made.header("entityid").expect("its id").to_owned()
}

/// Returns whether all that has to do with the HTML was refused.
fn is_refused(way: &str, answer: &Answer) -> bool {
    let results = answer.json()["results"].clone();
    match way {
        "a batch" => [1, 2].into_iter().all(|it| results[it]["status"] == 400),
        _ => answer.status == StatusCode::BAD_REQUEST,
    }
}

both! {
    async fn sec_hostile_html_keeps_nobody_waiting(app: TestApp) {
        let (eve, ada) = (app.user("instructor1").await, app.user("admin").await);
        let (hers, other) = (announce(&eve).await, announce(&ada).await);
        let stop = Arc::new(AtomicBool::new(false));
        let working = tokio::spawn(work_on(ada, other, Arc::clone(&stop)));
        for (piece, end) in [
            ("<dl><dd>", "</dd></dl>"),
            ("<div><p>", "</div>"),
            ("<table><tr><td>", "</td></tr></table>"),
        ] {
            let begun = Instant::now();
            let [much, less] = [190_000, 60_000].map(|it| much_of(piece, end, it));
            for (way, answer) in send_in_each_way(&eve, &hers, &much, &less).await {
                assert!(is_refused(way, &answer), "{piece} in {way}: {}", answer.text());
                assert!(answer.text().contains("`body`"), "{piece} in {way}: {}", answer.text());
            }
            assert!(begun.elapsed() < LONG, "{piece} took {:?}", begun.elapsed());
        }
        stop.store(true, Ordering::SeqCst);
        let slowest = working.await.expect("work that goes on");
        assert!(slowest < LONG / 8, "others waited {slowest:?}");
    }

    async fn sec_long_html_comes_in_each_way_and_is_sanitised(app: TestApp) {
        let eve = app.user("instructor1").await;
        let id = announce(&eve).await;
        let body = "<p onclick=x>one <a href=\"y.html\">two</a></p>\n".repeat(1_000);
        for (way, answer) in send_in_each_way(&eve, &id, &body, &body).await {
            let is_good = answer.status.is_success() && answer.status != StatusCode::MULTI_STATUS;
            assert!(is_good, "{way}: {} {}", answer.status, answer.text());
        }
        let stored = eve.get(&format!("{NEWS}/{id}.json")).await.json();
        let link = "<a href=\"/direct/announcement/y.html\" rel=\"noopener noreferrer nofollow\">";
        let text = stored["body"].as_str().expect("text");
        assert_eq!(text, format!("<p>one {link}two</a></p>\n").repeat(1_000));
        eve.put(&format!("{NEWS}/{id}"), &json!({"body": text})).await.expect(StatusCode::NO_CONTENT);
    }
}
