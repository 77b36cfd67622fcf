//! Accounts that hold the right to write for as long as they may, again and again, kept all others waiting in one line
//! with them: behind eight of their requests, and in vain. The right goes to whoever held it least.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use http::StatusCode;
use load::{Backend, OnBackend};
use tokio::task::JoinSet;

use super::write_hold::{Hasty, expect_overstayed, news, sleeper};

const ATTACKERS: [&str; 4] = ["student1", "student2", "student3", "student4"];
/// The number of requests of each attacker under way.
const EACH: usize = 2;

#[tokio::test]
async fn who_writes_briefly_waits_for_one_who_holds_the_right_and_not_for_all() {
    let app = Hasty::on_backend(Backend::Sqlite).await.expect("a file").0;
    let (held, stop) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let mut attacks = JoinSet::new();
    for eid in ATTACKERS {
        let attacker = app.user(eid).await;
        for _ in 0..EACH {
            let (attacker, held, stop) = (attacker.clone(), Arc::clone(&held), Arc::clone(&stop));
            attacks.spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let answer = attacker
                        .post("/direct/sleeper.json", &sleeper("waits")["body"])
                        .await;
                    expect_overstayed(&answer);
                    held.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    }
    let teacher = app.user("instructor1").await;
    let mut waited = Vec::new();
    for turn in 0..4 {
        let before = held.load(Ordering::SeqCst);
        let title = format!("Brief {turn}");
        let written = teacher
            .post("/direct/announcement.json", &news(&title)["body"])
            .await;
        written.expect(StatusCode::CREATED);
        waited.push(held.load(Ordering::SeqCst) - before);
        // Others have the right again before the next one.
        while held.load(Ordering::SeqCst) < before + 3 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
    stop.store(true, Ordering::SeqCst);
    while let Some(attack) = attacks.join_next().await {
        attack.expect("an attack that ends");
    }
    // One had it, and one may have got it in the moment in which the request came in.
    assert!(waited.iter().all(|it| *it <= 2), "waited for {waited:?}");
}
