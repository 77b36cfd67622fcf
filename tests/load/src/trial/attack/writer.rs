//! Whatever keeps the right to write: batches in batches, long batches, searches between writes.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::ground::{Attacker, Ground, LONG_TEXT, news};
use super::super::tally::Tally;
use super::{dry, pick, post, repeat};
use crate::long_table::hard_search;

const BATCH: &str = "/direct/batch.json";
const WORKERS: usize = 8;
/// Operations of a batch.
const MANY: usize = 50;

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let attackers = ground.attackers.clone();
    repeat(WORKERS, until, move |worker, turn| {
        let attacker = pick(&attackers, worker);
        async move {
            let batch = match turn % 3 {
                0 => with_search(&attacker),
                1 => of_changes(&attacker),
                _ => nested(&attacker),
            };
            match turn % 2 {
                0 => post(&dry(&attacker), BATCH, &batch).await,
                _ => post(&attacker.client, BATCH, &batch).await,
            }
        }
    })
    .await
}

/// Takes the right to write, and then searches for as long as it can.
fn with_search(attacker: &Attacker) -> Value {
    let search = format!("announcement?siteId={}&{}", attacker.archive, hard_search());
    json!({"atomic": true, "operations": [
        {"method": "POST", "path": "announcement", "body": news(&attacker.site, "short")},
        {"method": "GET", "path": search},
    ]})
}

/// Writes a long text, and changes a little of it many times; the last change is wrong, so that nothing is kept.
fn of_changes(attacker: &Attacker) -> Value {
    let text = "<p>word</p>".repeat(LONG_TEXT / 11);
    let first = json!({"id": "first", "method": "POST", "path": "announcement", "body": news(&attacker.site, &text)});
    let change = |number| json!({"method": "PATCH", "path": "announcement/$first.entityId", "body": {"title": format!("{number}")}});
    let wrong = json!({"method": "PATCH", "path": "announcement/nothing", "body": {"title": "x"}});
    let operations: Vec<_> = [first]
        .into_iter()
        .chain((2..MANY).map(change))
        .chain([wrong])
        .collect();
    json!({"atomic": true, "operations": operations})
}

fn nested(attacker: &Attacker) -> Value {
    let operation =
        json!({"method": "POST", "path": "announcement", "body": news(&attacker.site, "short")});
    let inner = json!({"operations": vec![operation; MANY]});
    let operation = json!({"method": "POST", "path": "%62atch.json", "body": inner});
    json!({"atomic": true, "operations": vec![operation; MANY]})
}
