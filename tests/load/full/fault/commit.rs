//! The answer to a COMMIT gets lost: nobody is told to try again what may have been done.

use std::env;

use axum::body::Body;
use http::header::RETRY_AFTER;
use http::{Request, StatusCode};
use load::proxy::{Cut, Proxy};
use load::{Answer, Client, TestApp};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;

const PATH: &str = "/direct/announcement.json";

fn rounds() -> usize {
    let given = env::var_os("COMMIT_ROUNDS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(5)
}

async fn post(author: &Client, title: &str, key: Option<&str>, accept: &str) -> Answer {
    let body = json!({"siteId": "biology-101", "title": title, "body": "x"});
    let mut request = Request::post(PATH).header("content-type", "application/json");
    if !accept.is_empty() {
        request = request.header("accept", accept);
    }
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let request = request
        .body(Body::from(body.to_string()))
        .expect("a request");
    author.try_send(request).await.expect("an answer")
}

/// Counts the announcements with this title.
async fn count(app: &TestApp, title: &str) -> usize {
    let titles = titles(app).await;
    titles.iter().filter(|it| *it == title).count()
}

/// The titles of all announcements.
pub(super) async fn titles(app: &TestApp) -> Vec<String> {
    let reader = &app.service().storage.content.reader;
    let sql = "SELECT title FROM announcement";
    let statement = Statement::from_string(reader.get_database_backend(), sql);
    let rows = reader.query_all_raw(statement).await.expect("rows");
    let titles = rows.iter().map(|it| it.try_get("", "title"));
    titles.collect::<Result<_, _>>().expect("text")
}

/// Posts an announcement whose COMMIT gets lost. The service commits other things now and then, such as audit rows, so
/// that the cut may meet one of these, and the announcement is made.
async fn lose(
    proxy: &Proxy,
    cut: Cut,
    author: &Client,
    title: &str,
    key: Option<&str>,
    accept: &str,
) -> Answer {
    proxy.cut(cut);
    let answer = post(author, title, key, accept).await;
    assert!(proxy.has_cut(), "a COMMIT was sent");
    answer
}

/// Posts announcements until the COMMIT of one gets lost, and answers its title.
async fn lose_one(proxy: &Proxy, cut: Cut, author: &Client, accept: &str) -> (String, Answer) {
    for number in 0..10 {
        let title = format!("{cut:?} {accept} {number}");
        let answer = lose(proxy, cut, author, &title, None, accept).await;
        if answer.status != StatusCode::CREATED {
            return (title, answer);
        }
    }
    panic!("no COMMIT of an announcement got lost");
}

fn expect_unknown(answer: &Answer) {
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert!(!answer.headers.contains_key(RETRY_AFTER), "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], "outcome_unknown");
}

#[tokio::test]
async fn rel_3_an_unknown_outcome_is_called_so() {
    let Some((app, proxy)) = Proxy::before_app(&[]).await else {
        return;
    };
    let author = app.user("instructor1").await;
    for (cut, expected) in [(Cut::Before, 0), (Cut::After, 1)] {
        let (title, answer) = lose_one(&proxy, cut, &author, "").await;
        expect_unknown(&answer);
        assert_eq!(count(&app, &title).await, expected, "{cut:?}");
    }
    let (_, answer) = lose_one(&proxy, Cut::After, &author, "application/problem+json").await;
    assert_eq!(answer.json()["code"], "outcome_unknown", "{answer:?}");
    // Nobody pays for the connection that was lost.
    for number in 0..20 {
        let answer = post(&author, &format!("later {number}"), None, "").await;
        answer.expect(StatusCode::CREATED);
    }
}

#[tokio::test]
async fn rel_3_a_request_with_a_key_is_done_once_whatever_gets_lost() {
    let Some((app, proxy)) = Proxy::before_app(&[]).await else {
        return;
    };
    let author = app.user("instructor1").await;
    let mut lost = 0;
    for round in 0..rounds() {
        for cut in [Cut::Before, Cut::After] {
            let title = format!("{cut:?} {round}");
            let key = format!("key-{cut:?}-{round}");
            let first = lose(&proxy, cut, &author, &title, Some(&key), "").await;
            // The service finds out by the key when it was done.
            if first.status != StatusCode::CREATED {
                first.expect(StatusCode::SERVICE_UNAVAILABLE);
                assert_eq!(cut, Cut::Before, "it was done");
                lost += 1;
            }
            let again = post(&author, &title, Some(&key), "").await;
            again.expect(StatusCode::CREATED);
            assert_eq!(count(&app, &title).await, 1, "{title}");
        }
    }
    assert!(lost > 0, "no COMMIT of an announcement got lost");
}

#[tokio::test]
async fn rel_3_a_write_that_goes_on_after_its_deadline_has_an_unknown_outcome() {
    let settings = [("limits.requestDeadline", "1"), ("limits.bodyTimeout", "1")];
    let Some((app, proxy)) = Proxy::before_app(&settings).await else {
        return;
    };
    let author = app.user("instructor1").await;
    let (title, answer) = lose_one(&proxy, Cut::Held, &author, "").await;
    expect_unknown(&answer);
    assert_eq!(count(&app, &title).await, 1);
}
