//! The database server restarts: clients are told to try again, and the service is back as soon as the server is.

use std::time::Duration;

use http::StatusCode;
use load::server::Server;
use load::{Answer, Client};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::commit::titles;
use super::load::{LIST, Load, is_unknown};

const PATH: &str = "/direct/announcement.json";
const CLIENTS: usize = 12;
const WRITERS: usize = 12;
const READERS: usize = 4;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_10_a_restart_of_the_database_server_is_nobodys_failure() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let app = server.app().await;
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
        is_unknown(&read);
        let written = write(&author, "while it is away").await;
        is_unknown(&written);
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
    let app = server.app().await;
    let author = app.user("instructor1").await;
    let load = Load::start(&author, WRITERS, READERS);
    sleep(Duration::from_millis(400)).await;
    tokio::task::block_in_place(|| server.start_again());
    sleep(Duration::from_millis(600)).await;
    let done = load.end().await.acknowledged;
    assert!(!done.is_empty());
    author.get(LIST).await.expect(StatusCode::OK);
    let kept = titles(&app).await;
    let lost = done
        .iter()
        .filter(|it| !kept.contains(it))
        .collect::<Vec<_>>();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}
