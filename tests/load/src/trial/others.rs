//! Everybody else: people who read and write a little, at times that do not depend on how quickly they are answered.

use std::time::Duration;

use http::StatusCode;

use super::ground::{COURSE, Ground, news};
use super::tally::{NO_ANSWER, Tally};
use crate::app::PASSWORD;
use crate::bench::driver::{Load, Outcome, Request};

/// The number of requests of each kind that are sent in a second, and the connections for them: a request that is due
/// finds one, and none is idle for so long that the service closes it.
const READS: (f64, usize) = (100.0, 300);
const WRITES: (f64, usize) = (5.0, 50);
const SEARCHES: (f64, usize) = (1.0, 10);
const LOGINS: (f64, usize) = (1.0, 10);
/// Nobody waits longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The number of announcements that are corrected in turn, and how often each before it is as it was first.
const CORRECTED: usize = 10;
const VERSIONS: usize = 5;
const FORM: &str = "application/x-www-form-urlencoded";

/// Everybody else.
#[derive(Debug)]
pub(super) struct Others {
    reads: Load,
    writes: Load,
    searches: Load,
    logins: Load,
}

/// The answers that everybody else got.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    pub(super) reads: Outcome,
    pub(super) writes: Outcome,
    pub(super) searches: Outcome,
    pub(super) logins: Outcome,
}

impl Others {
    /// Those of `ground`.
    pub(super) async fn of(ground: &Ground) -> Self {
        let ids = announce(ground).await;
        let search = format!("/direct/announcement/site/{COURSE}.json?_search=lab");
        let form = format!("username=student10&password={PASSWORD}");
        let login = Request::post("/api/login", &[], (FORM, &form));
        let load = |(rate, connections), requests: Vec<Request>, status: StatusCode| Load {
            port: ground.process.port(),
            requests: requests.into(),
            expected: status.as_u16(),
            connections,
            rate: Some(rate),
            patience: PATIENCE,
        };
        let first = ids.first().expect("an announcement");
        Self {
            reads: load(READS, reads(ground, first), StatusCode::OK),
            writes: load(WRITES, writes(ground, &ids), StatusCode::NO_CONTENT),
            searches: load(SEARCHES, by_all(ground, &[search]), StatusCode::OK),
            logins: load(LOGINS, vec![login], StatusCode::OK),
        }
    }

    /// Goes on for `duration`.
    pub(super) async fn go_on(&self, duration: Duration) -> Answers {
        let (reads, writes, searches, logins) = tokio::join!(
            self.reads.send(duration),
            self.writes.send(duration),
            self.searches.send(duration),
            self.logins.send(duration),
        );
        Answers {
            reads,
            writes,
            searches,
            logins,
        }
    }
}

/// Makes the announcements that are corrected later, and answers their ids: in turn one of each who writes.
async fn announce(ground: &Ground) -> Vec<String> {
    let text = "<p>Please bring your notes to the seminar on Thursday.</p>";
    let mut ids = Vec::new();
    for writer in ground.writers.iter().cycle().take(CORRECTED) {
        let path = "/direct/announcement.json";
        let made = writer.post(path, &news(COURSE, text)).await;
        made.expect(StatusCode::CREATED);
        ids.push(made.header("entityid").expect("its id").to_owned());
    }
    ids
}

/// The requests of people who read.
fn reads(ground: &Ground, announcement: &str) -> Vec<Request> {
    let paths = [
        format!("/direct/announcement/site/{COURSE}.json"),
        format!("/direct/announcement/{announcement}.json"),
        format!("/direct/site/{COURSE}.json"),
        "/direct/session/current.json".to_owned(),
        "/direct/membership.json".to_owned(),
        format!("/direct/announcement/site/{COURSE}.atom"),
        "/direct/site.json".to_owned(),
        format!("/direct/announcement/site/{COURSE}.html"),
        "/direct/user/current.json".to_owned(),
        format!("/direct/announcement/{announcement}.xml"),
    ];
    by_all(ground, &paths)
}

/// Each of `paths`, by each who reads.
fn by_all(ground: &Ground, paths: &[String]) -> Vec<Request> {
    let asked = paths.iter().flat_map(|path| {
        let readers = ground.readers.iter();
        readers.map(move |it| Request::get(path, &[("Cookie", it.cookie().unwrap_or_default())]))
    });
    asked.collect()
}

/// New titles for announcements, each time another one.
fn writes(ground: &Ground, ids: &[String]) -> Vec<Request> {
    let mut requests = Vec::new();
    for version in 0..VERSIONS {
        for (id, writer) in ids.iter().zip(ground.writers.iter().cycle()) {
            let path = format!("/direct/announcement/{id}");
            let cookie = [("Cookie", writer.cookie().unwrap_or_default())];
            let form = format!("_method=PUT&title=News+{version}");
            requests.push(Request::post(&path, &cookie, (FORM, &form)));
        }
    }
    requests
}

/// Counts the answers that ask to come back later.
pub(super) fn refused(outcome: &Outcome) -> u64 {
    let later = |status: &u16| {
        [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ]
        .iter()
        .any(|it| it == status)
    };
    let refused = outcome.refusals.iter().filter(|(status, _)| later(status));
    refused.map(|(_, times)| times.count()).sum()
}

/// Counts the requests that were neither answered as they should be nor asked to come back later.
pub(super) fn failed(outcome: &Outcome) -> u64 {
    let others = outcome.timeouts + outcome.broken + outcome.unsent;
    outcome.refused() - refused(outcome) + others
}

/// All answers by their statuses.
pub(super) fn statuses(outcome: &Outcome) -> Tally {
    let mut tally = Tally::default();
    tally.add_many(200, outcome.answers.count());
    for (status, times) in &outcome.refusals {
        tally.add_many(*status, times.count());
    }
    tally.add_many(
        NO_ANSWER,
        outcome.timeouts + outcome.broken + outcome.unsent,
    );
    tally
}

/// The longest time of an answer, in milliseconds.
pub(super) fn longest(outcome: &Outcome) -> String {
    format!("{:.1}", outcome.answers.longest().as_secs_f64() * 1e3)
}

/// The time that `percent` of a hundred answers stay below, in milliseconds.
pub(super) fn milliseconds(outcome: &Outcome, percent: usize) -> String {
    match outcome.answers.count() {
        0 => "-".to_owned(),
        _ => format!("{:.1}", outcome.answers.below(percent).as_secs_f64() * 1e3),
    }
}
