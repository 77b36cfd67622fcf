//! No update is lost: whoever writes names the version that was read, and is refused if it is no longer the last.
//!
//! `INCREMENTS` says how often each client counts on; 500 in CI.

use std::env;

use http::StatusCode;
use http::header::{ETAG, IF_MATCH};
use serde_json::json;
use tests::{Client, TestApp, both};
use tokio::task::JoinSet;

const CLIENTS: usize = 8;
const DEFAULT_INCREMENTS: u32 = 25;

fn increments() -> u32 {
    let given = env::var_os("INCREMENTS");
    given
        .and_then(|it| it.to_str()?.parse().ok())
        .unwrap_or(DEFAULT_INCREMENTS)
}

/// Counts on once: answers whether that was accepted.
async fn count_on(client: &Client, path: &str) -> bool {
    let read = client.get(path).await;
    let number: u64 = read.json()["title"]
        .as_str()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    let tag = read.header(ETAG).expect("a version");
    let guarded = client.clone().with_header(IF_MATCH, tag);
    let answer = guarded
        .put(path, &json!({"title": (number + 1).to_string()}))
        .await;
    match answer.status {
        StatusCode::NO_CONTENT => true,
        StatusCode::PRECONDITION_FAILED => false,
        other => panic!("{other} {}", answer.text()),
    }
}

both! {
    async fn eight_clients_count_and_no_count_is_lost(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let made = teacher.post("/direct/announcement", &json!({"siteId": "biology-101", "title": "0"})).await;
        let path = format!("/direct/announcement/{}.json", made.header("entityid").expect("an id"));
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let (client, path) = (teacher.clone(), path.clone());
            clients.spawn(async move {
                let (mut accepted, mut refused) = (0_u64, 0_u64);
                for _ in 0..increments() {
                    match count_on(&client, &path).await {
                        true => accepted += 1,
                        false => refused += 1,
                    }
                }
                (accepted, refused)
            });
        }
        let counts = clients.join_all().await;
        let accepted: u64 = counts.iter().map(|it| it.0).sum();
        let tried: u64 = counts.iter().map(|it| it.0 + it.1).sum();
        let last = teacher.get(&path).await.json();
        assert_eq!(last["title"], accepted.to_string());
        assert_eq!(tried, u64::from(increments()) * u64::try_from(CLIENTS).expect("a number"));
        assert!(accepted >= u64::from(increments()), "{accepted}");
        // Two that read the same, whoever met above.
        let tag = teacher.get(&path).await.header(ETAG).expect("a version").to_owned();
        let guarded = teacher.clone().with_header(IF_MATCH, &tag);
        guarded.put(&path, &json!({"title": "first"})).await.expect(StatusCode::NO_CONTENT);
        guarded.put(&path, &json!({"title": "second"})).await.expect(StatusCode::PRECONDITION_FAILED);
    }
}
