//! Searches that make the database work: they cost what text costs, end when their time is over or their client has
//! gone, and leave connections to everybody else.

use std::time::{Duration, Instant};

use entity_core::db::QueryPoolCounts;
use futures::future::join_all;
use http::StatusCode;
use http::header::RETRY_AFTER;
use load::{Answer, Backend, Client, OnBackend, TestApp, both, long_table};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Rows of the table that is searched.
const ROWS: u32 = 20_000;
/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(20);
const LONG_STATEMENTS: (&str, &str) = ("limits.statementTime", "60");
/// The time for which a request waits for a connection, as it does where nobody has set that.
const WAIT: (&str, &str) = ("pool.wait", "1");
const LONG_REQUESTS: (&str, &str) = ("limits.requestDeadline", "60");
const NEWS: &str = "/direct/announcement.json";
const SITE: &str = "biology-101";
/// Accounts that search at the same time, each more than once: more than there are places for anybody's searches.
const SEARCHERS: usize = 5;
/// The lists that every visitor asks for: they are not of one site.
const EVERYDAY: [&str; 3] = ["/direct/site.json", NEWS, "/direct/announcement.atom"];
/// The entities that are found by a key: by sea-orm, and by a statement of the type's own.
const SINGLE: [&str; 2] = [
    "/direct/site/biology-101.json",
    "/direct/announcement/biology-101-row-1.json",
];

/// A service whose statements may read for half a second.
struct Quick(TestApp);
/// A service whose statements may read for longer than any test.
struct Patient(TestApp);

/// The same, with as many connections as are usual.
struct Usual(TestApp);

impl OnBackend for Quick {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [
            ("limits.statementTime", "500ms"),
            ("limits.requestDeadline", "10"),
            ("pool.scans", "4"),
            WAIT,
        ];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

impl OnBackend for Patient {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [LONG_STATEMENTS, LONG_REQUESTS, ("pool.scans", "2"), WAIT];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

impl OnBackend for Usual {
    async fn on_backend(backend: Backend) -> Option<Self> {
        // As few of both kinds as there may be, so that other tests find a processor too.
        let few = [("admission.scans", "2"), ("admission.writes", "2")];
        let settings = [LONG_STATEMENTS, LONG_REQUESTS, few[0], few[1], WAIT];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

/// Fills the table of announcements with rows whose text is the letter `text`, many times.
async fn fill(app: &TestApp, text: &str) -> DatabaseConnection {
    long_table::fill(app.database().url(), SITE, text, ROWS).await
}

fn counts(app: &TestApp) -> QueryPoolCounts {
    let pool = &app.service().storage.content.query_pools.scans;
    pool.as_ref().expect("a pool for scans").counts()
}

fn hard() -> String {
    format!("{NEWS}?{}", long_table::hard_search())
}

/// Waits until the server works on no search any more.
async fn is_quiet(connection: &DatabaseConnection) {
    if connection.get_database_backend() != DbBackend::Postgres {
        return;
    }
    let sql = "SELECT count(*) AS running FROM pg_stat_activity WHERE datname = current_database() \
        AND state = 'active' AND query LIKE '%body_folded%LIKE%' AND pid <> pg_backend_pid()";
    let begin = Instant::now();
    loop {
        let statement = Statement::from_string(DbBackend::Postgres, sql);
        let row = connection.query_one_raw(statement).await;
        let row = row.expect("an answer").expect("a row");
        let running: i64 = row.try_get("", "running").expect("a number");
        if running == 0 {
            return;
        }
        assert!(begin.elapsed() < LONG, "{running} searches still run");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Searches a few times, one after the other: stopped statements leave places that serve, soon after at the latest.
async fn places_serve(client: &Client) {
    let path = format!("{NEWS}?_search=x&announcementId=biology-101-row-1");
    let served = async {
        let mut count = 0;
        while count < 4 {
            let answer = client.get(&path).await;
            if answer.status == StatusCode::OK {
                count += 1;
            } else {
                answer.expect(StatusCode::SERVICE_UNAVAILABLE);
                sleep(Duration::from_millis(20)).await;
            }
        }
    };
    timeout(LONG, served).await.expect("in time");
}

/// Lets all searchers search as much as they may, one by one and in batches, until the answer is dropped. Of both kinds
/// all run that may run at once.
async fn search_at_once(app: &TestApp) -> JoinSet<Answer> {
    let operation = json!({"method": "GET", "path": hard().trim_start_matches("/direct/")});
    let batch = json!({"operations": [operation]});
    let mut searchers = Vec::new();
    for number in 1..=SEARCHERS {
        searchers.push(app.user(&format!("student{number}")).await);
    }
    let mut running = JoinSet::new();
    for searcher in searchers {
        let (other, batch) = (searcher.clone(), batch.clone());
        running.spawn(async move { searcher.get(&hard()).await });
        running.spawn(async move { other.post("/direct/batch.json", &batch).await });
    }
    let begin = Instant::now();
    let waits = |metrics: &str, kind: &str| {
        let line = metrics.lines().find_map(|it| it.strip_prefix(kind));
        line.is_some_and(|it| it.trim() != "0")
    };
    loop {
        let metrics = app.service().figures.to_text();
        if ["lectern_queued_scans", "lectern_queued_writes"]
            .iter()
            .all(|it| waits(&metrics, it))
        {
            break;
        }
        assert!(begin.elapsed() < LONG, "{metrics}");
        sleep(Duration::from_millis(20)).await;
    }
    // Those that run come to their statements.
    sleep(Duration::from_millis(500)).await;
    running
}

/// Five words of many different letters beyond ASCII, none of which is in the text.
fn foreign_words() -> String {
    let letters: Vec<char> = ('à'..='ſ').filter(|it| it.is_lowercase()).collect();
    let words = (0..5).map(|number| letters.iter().cycle().skip(number * 7).take(38));
    let words: Vec<String> = words.map(Iterator::collect).collect();
    let bytes = words.join("+").into_bytes().into_iter();
    bytes
        .map(|it| match it.is_ascii() {
            true => char::from(it).to_string(),
            false => format!("%{it:02X}"),
        })
        .collect()
}

both! {
    async fn letters_beyond_ascii_cost_no_more_than_others(app: TestApp) {
        fill(&app, "я").await;
        let client = app.user("instructor1").await;
        let path = format!("{NEWS}?_search={}", foreign_words());
        let begin = Instant::now();
        let mut searches = JoinSet::new();
        for _ in 0..5 {
            let (client, path) = (client.clone(), path.clone());
            searches.spawn(async move { client.get(&path).await });
        }
        while let Some(answer) = searches.join_next().await {
            answer.expect("no panic").expect(StatusCode::OK);
        }
        let taken = begin.elapsed();
        assert_eq!(counts(&app).stopped, 0, "after {taken:?}");
    }

    async fn a_search_that_takes_too_long_is_stopped_and_told_so(app: Quick) {
        let app = app.0;
        let connection = fill(&app, "a").await;
        let client = app.user("instructor1").await;
        let answer = timeout(LONG, client.get(&hard())).await.expect("in time");
        answer.expect(StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.header(RETRY_AFTER).is_some());
        assert!(answer.text().contains("narrow it"), "{}", answer.text());
        is_quiet(&connection).await;
        assert_eq!(counts(&app), QueryPoolCounts { stopped: 1, abandoned: 0, refused: 0 });
        places_serve(&client).await;
    }

    async fn searches_never_take_the_last_reader(app: Quick) {
        let app = app.0;
        let connection = fill(&app, "a").await;
        let client = app.user("instructor1").await;
        let mut searches = JoinSet::new();
        for _ in 0..60 {
            let client = client.clone();
            searches.spawn(async move { client.get(&hard()).await });
        }
        while !searches.is_empty() {
            for path in SINGLE {
                let single = timeout(LONG / 10, client.get(path)).await;
                single.expect("a place of its own").expect(StatusCode::OK);
            }
            if let Ok(Some(answer)) = timeout(Duration::from_millis(20), searches.join_next()).await {
                answer.expect("no panic").expect(StatusCode::SERVICE_UNAVAILABLE);
            }
        }
        // The others were refused before, by the pool for scans or at the door of the service.
        let counts = counts(&app);
        assert!(counts.stopped >= 2 && counts.stopped < 40, "{counts:?}");
        client.get("/readyz").await.expect(StatusCode::OK);
        is_quiet(&connection).await;
        places_serve(&client).await;
    }

    async fn lists_find_a_connection_whatever_others_search_for(app: Usual) {
        let app = app.0;
        let connection = fill(&app, "a").await;
        let reader = app.user("instructor1").await;
        let mut searches = search_at_once(&app).await;
        // A list that waited for a search would be refused after a second.
        let asked = EVERYDAY.map(async |path| (path, timeout(LONG, reader.get(path)).await));
        for (path, answer) in join_all(asked).await {
            let answer = answer.expect("in time");
            assert_eq!(answer.status, StatusCode::OK, "{path}: {}, {:?}", answer.text(), counts(&app));
        }
        assert_eq!(counts(&app), QueryPoolCounts::default());
        assert!(searches.try_join_next().is_none(), "the searches are not hard enough");
        searches.shutdown().await;
        is_quiet(&connection).await;
    }

    async fn a_search_whose_client_has_gone_is_stopped(app: Patient) {
        let app = app.0;
        let connection = fill(&app, "a").await;
        let client = app.user("instructor1").await;
        let begin = Instant::now();
        // More than there are places. On a busy machine a client may have gone before its search began.
        while counts(&app).abandoned < 4 {
            let gone = timeout(Duration::from_millis(200), client.get(&hard())).await;
            assert!(gone.is_err(), "the search is not hard enough");
            assert!(begin.elapsed() < LONG, "{:?}", counts(&app));
        }
        is_quiet(&connection).await;
        places_serve(&client).await;
    }
}
