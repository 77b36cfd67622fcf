//! Searches that take as long as they may, of which half are given up by their clients.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::ground::Ground;
use super::super::tally::{NO_ANSWER, Tally};
use super::{get, pick, repeat};
use crate::long_table::hard_search;

const WORKERS: usize = 16;
/// The time for which a client waits that gives up.
const IMPATIENT: Duration = Duration::from_millis(300);

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let attackers = ground.attackers.clone();
    repeat(WORKERS, until, move |worker, turn| {
        let attacker = pick(&attackers, worker);
        async move {
            let path = match turn % 3 {
                0 => format!("/direct/announcement.json?{}", hard_search()),
                1 => format!(
                    "/direct/announcement/site/{}.json?_search=b+c+d+e+f",
                    attacker.archive
                ),
                _ => "/direct/announcement.json?_count=exact&_order=title&body[like]=b".to_owned(),
            };
            match turn % 2 {
                0 => get(&attacker.client, &path).await,
                _ => timeout(IMPATIENT, get(&attacker.client, &path))
                    .await
                    .unwrap_or(NO_ANSWER),
            }
        }
    })
    .await
}
