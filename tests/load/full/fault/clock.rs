//! The clock of the machine is set by an hour and by ten years, there and back, while the service runs: it goes on, what
//! it answers is clear, and when the clock is right again nothing is missing.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use http::header::{COOKIE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, LAST_MODIFIED, RETRY_AFTER};
use http::{HeaderName, StatusCode};
use load::app::PASSWORD;
use load::clock::WallClock;
use load::process::{Process, service};
use load::{Client, Database, TestApp, both};
use sea_orm::{ConnectOptions, ConnectionTrait, Statement};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::durability::{announcements, check, id_of};

const NEWS: &str = "/direct/announcement";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: &str = "idempotency-replayed";
/// The time that a change of the clock may take to show.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than two sweeps, on a busy machine too.
const SWEEPS: Duration = Duration::from_millis(800);
/// By how much the clock is set, and how many hours that is; and who tries to log in then, nobody of whom had to wait
/// before.
const JUMPS: [(&str, i64, [&str; 2]); 4] = [
    ("+1h", 1, ["student5", "student6"]),
    ("-1h", -1, ["student7", "student8"]),
    ("+10y", 10 * 365 * 24, ["student9", "student10"]),
    ("-10y", -10 * 365 * 24, ["student11", "student12"]),
];

/// A service that has a clock of its own, and that removes what is over all the time.
fn start(clock: &WallClock, database: &Database, has_demo: bool) -> Process {
    let clock = clock.environment();
    let own = [
        ("LECTERN_RETENTION_INTERVAL", "200ms"),
        ("LECTERN_RATE_READS", "50"),
        ("LECTERN_RATE_WRITES", "20"),
    ];
    let clock = clock.iter().map(|(name, value)| (*name, value.as_str()));
    let environment: Vec<_> = clock.chain(own).collect();
    Process::start_service_with(
        &service(false),
        database.url(),
        &database.folder(),
        has_demo,
        &environment,
    )
}

async fn log_in(stranger: &Client, name: &str) -> Client {
    stranger.clone().log_in(name, PASSWORD).await
}

/// Announces `title`, once for each `key`: its id, and whether that was known before.
async fn announce(author: &Client, title: &str, key: &str) -> (String, bool) {
    let body = json!({"siteId": "biology-101", "title": title, "body": "<p>x</p>"});
    let author = author.clone().with_header(KEY, key);
    let answer = author.post(&format!("{NEWS}.json"), &body).await;
    let id = id_of(answer.expect(StatusCode::CREATED)).expect("an id");
    (id, answer.header(REPLAYED).is_some())
}

async fn read(reader: &Client, id: &str) -> Value {
    let answer = reader.get(&format!("{NEWS}/{id}.json")).await;
    answer.expect(StatusCode::OK).json()
}

fn instant(entity: &Value, field: &str) -> DateTime<Utc> {
    let millis = entity[field].as_i64().expect("an instant");
    DateTime::from_timestamp_millis(millis).expect("an instant")
}

/// Tries to log in with a wrong password until that has to wait, and returns the seconds to wait.
async fn fail_until_throttled(stranger: &Client, name: &str) -> u32 {
    for _ in 0..20 {
        let form = format!("username={name}&password=wrong");
        let answer = stranger.post_form("/api/login", &form).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            let seconds = answer.header(RETRY_AFTER).expect("a time");
            return seconds.parse().expect("seconds");
        }
        answer.expect(StatusCode::UNAUTHORIZED);
    }
    panic!("nobody has to wait");
}

/// Waits until somebody who had to wait may log in.
async fn log_in_again(stranger: &Client, name: &str) {
    let begin = Instant::now();
    let form = format!("username={name}&password={PASSWORD}");
    loop {
        let answer = stranger.post_form("/api/login", &form).await;
        if answer.status == StatusCode::OK {
            return;
        }
        answer.expect(StatusCode::TOO_MANY_REQUESTS);
        assert!(begin.elapsed() < PATIENCE, "`{name}` is locked out");
        sleep(Duration::from_millis(300)).await;
    }
}

/// Waits until `/readyz` says that the clock is doubted, or no longer.
async fn wait_for_doubt(stranger: &Client, is_expected: bool) {
    let begin = Instant::now();
    loop {
        let answer = stranger.get("/readyz").await;
        answer.expect(StatusCode::OK);
        if answer.text().contains("degraded: clock") == is_expected {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{}", answer.text());
        sleep(Duration::from_millis(100)).await;
    }
}

/// The keys of the rows that are not to be lost.
async fn rows(database: &Database) -> HashSet<String> {
    let mut options = ConnectOptions::new(database.url());
    options.max_connections(1).sqlx_logging(false);
    let connection = sea_orm::Database::connect(options)
        .await
        .expect("it answers");
    let sql = "SELECT 'audit ' || sequence FROM audit UNION ALL SELECT 'outbox ' || sequence FROM outbox
        UNION ALL SELECT 'session ' || handle FROM session UNION ALL SELECT 'key ' || \"key\" FROM idempotency_key
        UNION ALL SELECT 'announcement ' || id FROM announcement";
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await.expect("tables");
    connection.close().await.expect("the connection closes");
    let keys = rows.iter().map(|it| it.try_get_by_index(0).expect("text"));
    keys.collect()
}

fn assert_kept(before: &HashSet<String>, after: &HashSet<String>) {
    let lost: Vec<_> = before.difference(after).collect();
    assert!(lost.is_empty(), "removed: {lost:?}");
}

/// The state before the clock is set.
struct Before {
    name: String,
    author: Client,
    id: String,
    tag: String,
    date: String,
    rows: HashSet<String>,
}

impl Before {
    async fn make(stranger: &Client, database: &Database, name: &str) -> Self {
        let author = log_in(stranger, "instructor1").await;
        let (id, _) = announce(&author, &format!("round {name} before"), name).await;
        // Something has a date when the second of its last change is over.
        let answer = loop {
            let answer = author.get(&format!("{NEWS}/{id}.json")).await;
            if answer.header(LAST_MODIFIED).is_some() {
                break answer;
            }
            sleep(Duration::from_millis(100)).await;
        };
        let header = |name| answer.header(name).expect("a validator").to_owned();
        Self {
            name: name.to_owned(),
            tag: header(ETAG),
            date: header(LAST_MODIFIED),
            rows: rows(database).await,
            author,
            id,
        }
    }

    fn path(&self) -> String {
        format!("{NEWS}/{}.json", self.id)
    }

    fn key_meanwhile(&self) -> String {
        format!("{}-meanwhile", self.name)
    }

    /// All that is asked while the clock is wrong by so many hours. The id of what is announced then.
    async fn ask_meanwhile(&self, stranger: &Client, hours: i64, late: &str) -> String {
        stranger.get("/livez").await.expect(StatusCode::OK);
        // Who was logged in is told to log in again if the clock says that a session is over, and goes on otherwise.
        let answer = self.author.get(&self.path()).await;
        match hours > 0 {
            true => {
                answer.expect(StatusCode::UNAUTHORIZED);
                assert_eq!(answer.json()["error"]["status"], "401");
            }
            false => {
                answer.expect(StatusCode::OK);
            }
        }
        let author = log_in(stranger, "instructor1").await;
        let title = format!("round {} meanwhile", self.name);
        let (id, _) = announce(&author, &title, &self.key_meanwhile()).await;
        let created = instant(&read(&author, &id).await, "createdOn");
        let earlier = instant(&read(&author, &self.id).await, "createdOn");
        let expected = earlier + TimeDelta::hours(hours);
        let off = created.signed_duration_since(expected).abs();
        assert!(
            off < TimeDelta::minutes(20),
            "the clock was not set: {created}"
        );
        // What was done before is not done again.
        let title = format!("round {} before", self.name);
        assert_eq!(
            announce(&author, &title, &self.name).await,
            (self.id.clone(), true)
        );
        self.change(&author).await;
        // Many ask at once: nobody is ahead of the time, nor behind.
        for _ in 0..20 {
            author.get(&self.path()).await.expect(StatusCode::OK);
        }
        let wait = fail_until_throttled(stranger, late).await;
        assert!(wait <= 8, "{wait} seconds");
        wait_for_doubt(stranger, true).await;
        sleep(SWEEPS).await;
        id
    }

    /// A change is one, whatever date it has.
    async fn change(&self, author: &Client) {
        let fresh = author.clone().with_header(IF_MATCH, &self.tag);
        let change = json!({"title": format!("round {} changed", self.name)});
        let answer = fresh.put(&self.path(), &change).await;
        answer.expect(StatusCode::NO_CONTENT);
        let answer = fresh.put(&self.path(), &change).await;
        answer.expect(StatusCode::PRECONDITION_FAILED);
        self.assert_changed(author).await;
    }

    async fn assert_changed(&self, author: &Client) {
        let dated = author.clone().with_header(IF_MODIFIED_SINCE, &self.date);
        dated.get(&self.path()).await.expect(StatusCode::OK);
    }

    /// All that is asked when the clock is right again.
    async fn ask_afterwards(&self, stranger: &Client, database: &Database, made: &str, late: &str) {
        wait_for_doubt(stranger, false).await;
        // The session is as old as it is.
        self.author.get(&self.path()).await.expect(StatusCode::OK);
        for id in [&*self.id, made] {
            read(&self.author, id).await;
        }
        self.assert_changed(&self.author).await;
        for (title, key, id) in [
            ("before", self.name.clone(), &*self.id),
            ("meanwhile", self.key_meanwhile(), made),
        ] {
            let title = format!("round {} {title}", self.name);
            let answer = announce(&self.author, &title, &key).await;
            assert_eq!(answer, (id.to_owned(), true), "it is not done again");
        }
        log_in_again(stranger, late).await;
        for _ in 0..20 {
            self.author.get(&self.path()).await.expect(StatusCode::OK);
        }
        sleep(SWEEPS).await;
        assert_kept(&self.rows, &rows(database).await);
    }
}

both! {
    async fn rel_16_a_clock_that_is_set_while_the_service_runs_costs_nothing(database: Database) {
        let Some(clock) = WallClock::find() else {
            return;
        };
        let process = start(&clock, &database, true);
        let stranger = Client::on_port(process.port());
        let mut ids = Vec::new();
        for (jump, hours, [late, _]) in JUMPS {
            let before = Before::make(&stranger, &database, jump).await;
            clock.set(jump);
            let made = before.ask_meanwhile(&stranger, hours, late).await;
            clock.set("+0");
            before.ask_afterwards(&stranger, &database, &made, late).await;
            ids.extend([before.id, made]);
        }
        assert!(ids.is_sorted(), "ids sort in the order they were made in: {ids:?}");
        process.stop();
        let kept = announcements(database.url()).await;
        assert!(ids.iter().all(|it| kept.contains(it)), "{ids:?} {kept:?}");
    }

    async fn rel_16_a_service_that_starts_with_a_wrong_clock_removes_nothing(database: Database) {
        let Some(clock) = WallClock::find() else {
            return;
        };
        let mut process = start(&clock, &database, true);
        let mut ids = HashSet::new();
        for (jump, hours, [early, late]) in JUMPS {
            let stranger = Client::on_port(process.port());
            let before = Before::make(&stranger, &database, jump).await;
            fail_until_throttled(&stranger, early).await;
            process.stop();
            clock.set(jump);
            process = start(&clock, &database, false);
            let meanwhile = Client::on_port(process.port());
            // The throttle of a time that is yet to come keeps nobody out.
            log_in_again(&meanwhile, early).await;
            let author = log_in(&meanwhile, "instructor1").await;
            let title = format!("round {jump} meanwhile");
            ids.insert(announce(&author, &title, &format!("{jump}-meanwhile")).await.0);
            fail_until_throttled(&meanwhile, late).await;
            sleep(SWEEPS).await;
            process.stop();
            clock.set("+0");
            process = start(&clock, &database, false);
            let stranger = Client::on_port(process.port());
            log_in_again(&stranger, late).await;
            // An hour ends a session that nobody used meanwhile: no service can tell that from a clock that is wrong.
            let is_session_over = hours == 1;
            let cookie = before.author.cookie().expect("a session");
            let author = stranger.clone().with_header(COOKIE, cookie);
            let answer = author.get(&before.path()).await;
            assert_eq!(answer.status == StatusCode::UNAUTHORIZED, is_session_over, "{jump}");
            sleep(SWEEPS).await;
            let mut expected = before.rows;
            expected.retain(|it| !is_session_over || !it.starts_with("session "));
            assert_kept(&expected, &rows(&database).await);
            ids.insert(before.id);
        }
        process.stop();
        check(database.url(), &ids).await;
    }
}

both! {
    async fn rel_16_rows_with_the_times_of_a_wrong_clock_go_with_their_neighbours(app: TestApp) {
        const DAY: i64 = 24 * 60 * 60 * 1_000;
        let writer = &app.service().storage.content.writer;
        let now = app.service().now().timestamp_millis();
        let run = async |sql: &str| writer.execute_unprepared(sql).await.expect("a table");
        run("DELETE FROM outbox").await;
        for (number, days) in [-40, 3_650, -40, -3_650, 0, -3_650, 3_650, -40, 0].iter().enumerate() {
            let time = now + days * DAY;
            run(&format!("INSERT INTO outbox (kind, reference, time) VALUES ('n', '{number}', {time})")).await;
        }
        for _ in 0..2 {
            app.service().sweep().await.expect("it can be written");
        }
        let sql = "SELECT reference FROM outbox ORDER BY sequence";
        let statement = Statement::from_string(writer.get_database_backend(), sql);
        let rows = writer.query_all_raw(statement).await.expect("rows");
        let kept: Vec<String> = rows.iter().map(|it| it.try_get_by_index(0).expect("text")).collect();
        // What stands behind a row that is not over stays, whatever its own time says.
        assert_eq!(kept, ["4", "5", "6", "7", "8"]);
    }
}
