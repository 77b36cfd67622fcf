//! HTML that takes long to be made harmless: nested, and long without being nested; and strangers who read such texts.

use serde_json::Value;
use tokio::time::Instant;

use super::super::ground::{Ground, LONG_TEXT, news};
use super::super::tally::Tally;
use super::{dry, get, pick, post, repeat};

const WORKERS: usize = 8;
const STRANGERS: usize = 2;
/// All but the first two are taken.
const PIECES: [&str; 6] = [
    "<dl><dd>",
    "<table><tr><td>",
    "<p>x</p>",
    "<a href=y>x</a>",
    "<b><i><u>x</b></u></i>",
    "&amp;<br>",
];

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let attackers = ground.attackers.clone();
    let texts = PIECES.map(|it| it.repeat(LONG_TEXT / it.len()));
    let writers = repeat(WORKERS, until, {
        let attackers = attackers.clone();
        move |worker, turn| {
            let attacker = pick(&attackers, worker);
            let text = texts.iter().cycle().nth((worker + turn) % PIECES.len());
            let body: Value = news(&attacker.site, text.expect("a text"));
            // Nothing is kept, so that it can go on for ever.
            async move { post(&dry(&attacker), "/direct/announcement.json", &body).await }
        }
    });
    let strangers = [0, 1].map(|it| ground.stranger(it));
    let readers = repeat(STRANGERS, until, move |worker, turn| {
        let site = pick(&attackers, turn).site;
        let stranger = strangers.iter().cycle().nth(worker).cloned();
        let stranger = stranger.expect("a stranger");
        async move {
            let path = format!("/direct/announcement/site/{site}.atom?_limit=5");
            get(&stranger, &path).await
        }
    });
    let (mut sum, readers) = tokio::join!(writers, readers);
    sum.merge(&readers);
    sum
}
