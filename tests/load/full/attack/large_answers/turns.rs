//! Accounts that asked for large answers had all places for requests that read, and the threads that all requests share
//! wrote their answers. Few large answers are made at once now, and nobody else waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use load::app::PASSWORD;
use load::process::{Process, hurried, service};
use load::{Client, both, say};
use serde_json::json;
use tokio::task::JoinSet;

use super::BATCH;
use super::held::{LIST, Stored, fill};

const ATTACKERS: [&str; 4] = ["student1", "student2", "student3", "student4"];
/// The number of requests of each attacker under way.
const EACH: usize = 4;
const FORMATS: [&str; 4] = ["html", "xml", "json", "atom"];
/// The number of small requests of somebody else.
const QUESTIONS: usize = 40;

/// Asks for what is large until it is to stop; how often there was an answer, and how often it was refused.
async fn ask_for_much(client: Client, turn: usize, stop: Arc<AtomicBool>) -> (usize, usize) {
    let (mut served, mut refused) = (0, 0);
    for format in FORMATS.iter().cycle().skip(turn) {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let path = format!("{LIST}.{format}?_limit=1000");
        let answer = match turn % EACH {
            0 => {
                let operation = json!({"method": "GET", "path": path});
                client
                    .post(BATCH, &json!({"operations": [operation, operation]}))
                    .await
            }
            _ => client.get(&path).await,
        };
        match answer.status {
            StatusCode::OK | StatusCode::MULTI_STATUS => served += 1,
            StatusCode::SERVICE_UNAVAILABLE => refused += 1,
            other => panic!("{path}: {other}"),
        }
    }
    (served, refused)
}

both! {
    async fn dos_7_small_answers_are_made_while_large_ones_wait_for_their_turn(stored: Stored) {
        let database = stored.0;
        let service = service(false);
        let limits: Vec<_> = hurried().collect();
        let limits: Vec<_> = limits.iter().map(|it| (it.0.as_str(), it.1)).collect();
        let (url, folder) = (database.url(), database.folder());
        let process = Process::start_service_with(&service, url, &folder, true, &limits);
        fill(&database).await;
        let stop = Arc::new(AtomicBool::new(false));
        let mut attacks = JoinSet::new();
        for eid in ATTACKERS {
            let attacker = Client::on_port(process.port()).log_in(eid, PASSWORD).await;
            for turn in 0..EACH {
                attacks.spawn(ask_for_much(attacker.clone(), turn, Arc::clone(&stop)));
            }
        }
        let other = Client::on_port(process.port()).log_in("student9", PASSWORD).await;
        let mut slowest = Duration::ZERO;
        let mut refused = 0;
        for _ in 0..QUESTIONS {
            let begin = Instant::now();
            let answer = other.get("/direct/site/biology-101.json").await;
            slowest = slowest.max(begin.elapsed());
            refused += usize::from(answer.status != StatusCode::OK);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        stop.store(true, Ordering::SeqCst);
        let mut all = (0, 0);
        while let Some(done) = attacks.join_next().await {
            let done = done.expect("an attack that ends");
            all = (all.0 + done.0, all.1 + done.1);
        }
        say(&format!("{} large answers, {} refused; {refused} small ones refused, the slowest after {slowest:?}", all.0, all.1));
        assert!(all.0 > 0, "no large answer was made");
        assert_eq!(refused, 0, "of {QUESTIONS} small answers");
    }
}
