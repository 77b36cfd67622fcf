//! The database server restarts: clients are told to try again, and the service is back as soon as the server is.

use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::json;
use tests::server::Server;
use tests::{Answer, Client, TestApp};
use tokio::task::JoinSet;

use super::commit::titles;

const PATH: &str = "/direct/announcement.json";
const LIST: &str = "/direct/announcement/site/biology-101.json";
const CLIENTS: usize = 12;

async fn write(author: &Client, title: &str) -> Answer {
    let body = json!({"siteId": "biology-101", "title": title, "body": "x"});
    author.post(PATH, &body).await
}

/// Many clients at once, so that many connections are in use.
async fn crowd(author: &Client) -> Vec<StatusCode> {
    let mut all = JoinSet::new();
    for number in 0..CLIENTS {
        let author = author.clone();
        all.spawn(async move {
            if number % 3 == 0 {
                write(&author, "crowd").await.status
            } else {
                author.get(LIST).await.status
            }
        });
    }
    all.join_all().await
}

/// An answer while the server is away: the one that was asked for, or one that says when to try again.
fn check(answer: &Answer) {
    if answer.status.is_success() {
        return;
    }
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    let is_unknown = answer.json()["error"]["code"] == "outcome_unknown";
    assert_ne!(
        answer.headers.contains_key(RETRY_AFTER),
        is_unknown,
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_10_a_restart_of_the_database_server_is_nobodys_failure() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let app = TestApp::on_server(&server).await;
    let author = app.user("instructor1").await;
    let all_fine = |statuses: Vec<StatusCode>| statuses.iter().all(StatusCode::is_success);
    assert!(all_fine(crowd(&author).await));

    // All connections are lost while nobody uses them.
    server.start_again();
    author.get(LIST).await.expect(StatusCode::OK);
    write(&author, "after a restart")
        .await
        .expect(StatusCode::CREATED);
    assert!(all_fine(crowd(&author).await));

    server.stop_at_once();
    for _ in 0..3 {
        let read = author.get(LIST).await;
        read.expect(StatusCode::SERVICE_UNAVAILABLE);
        check(&read);
        let written = write(&author, "while it is away").await;
        written.expect(StatusCode::SERVICE_UNAVAILABLE);
        check(&written);
    }
    server.start_again();
    author.get(LIST).await.expect(StatusCode::OK);
    write(&author, "when it is back")
        .await
        .expect(StatusCode::CREATED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_10_a_restart_under_load_loses_nothing_that_was_acknowledged() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let app = TestApp::on_server(&server).await;
    let author = app.user("instructor1").await;
    let end = Instant::now() + Duration::from_millis(1_500);
    let mut all = JoinSet::new();
    for client in 0..CLIENTS {
        let author = author.clone();
        all.spawn(async move {
            let mut done = Vec::new();
            for number in 0.. {
                if Instant::now() > end && number > 3 {
                    break;
                }
                let title = format!("load {client} {number}");
                let answer = write(&author, &title).await;
                check(&answer);
                if answer.status == StatusCode::CREATED {
                    done.push(title);
                }
                check(&author.get(LIST).await);
            }
            done
        });
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    tokio::task::block_in_place(|| server.start_again());
    let done = all.join_all().await.concat();
    assert!(!done.is_empty());
    author.get(LIST).await.expect(StatusCode::OK);
    let kept = titles(&app).await;
    let lost = done
        .iter()
        .filter(|it| !kept.contains(it))
        .collect::<Vec<_>>();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}
