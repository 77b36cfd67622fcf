//! `/direct/presence` and `/direct/activity`: who is in a site, and how much happens there.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::testing::FixedClock;
use http::StatusCode;
use lectern_testing::app::{config, parts};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};
use server::App;
use tests::{Client, TestApp, both};

use super::{list, read, text};

const HERE: &str = "/direct/presence/site/biology-101.json";
const SITE: &str = "/direct/site/biology-101.json";
const ACTIVITY: &str = "/direct/activity/site/biology-101.json";

/// The names of those who are in the site, as `client` is told.
async fn here(client: &Client) -> Vec<String> {
    let visitors = list(client, HERE, "presence").await;
    visitors.iter().map(|it| text(it, "displayName")).collect()
}

async fn own_name(client: &Client) -> String {
    text(
        &read(client, "/direct/user/current.json").await,
        "displayName",
    )
}

/// The numbers of events of each day by kind, the last day first.
async fn days(client: &Client, query: &str) -> Vec<(String, BTreeMap<String, i64>)> {
    let days = list(client, &format!("{ACTIVITY}{query}"), "activity").await;
    let days = days.iter().map(|day| {
        let kinds: BTreeMap<String, i64> =
            serde_json::from_value(day["kinds"].clone()).expect("numbers by kind");
        assert_eq!(day["events"], kinds.values().sum::<i64>());
        (text(day, "date"), kinds)
    });
    days.collect()
}

async fn number_of_visits(app: &App) -> i64 {
    let db = &app.storage.content.writer;
    let sql = "SELECT count(*) AS number FROM presence";
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db
        .query_one_raw(statement)
        .await
        .expect("the table is read");
    row.and_then(|it| it.try_get("", "number").ok())
        .expect("a number")
}

both! {
    async fn members_are_there_for_five_minutes_after_they_asked_for_something(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (teacher_name, student_name) = (own_name(&teacher).await, own_name(&student).await);
        assert_eq!(here(&teacher).await, [teacher_name.as_str()], "whoever asks who is there is there");
        // What names no site leads nowhere, and what is refused does neither.
        student.get("/direct/announcement.json").await.expect(StatusCode::OK);
        student.get(HERE).await.expect(StatusCode::FORBIDDEN);
        assert_eq!(here(&teacher).await, [teacher_name.as_str()]);
        for path in [SITE, "/direct/announcement/site/biology-101.json"] {
            app.advance(TimeDelta::minutes(6));
            student.get(path).await.expect(StatusCode::OK);
            let visitors = list(&teacher, HERE, "presence").await;
            let mut names: Vec<_> = visitors.iter().map(|it| text(it, "displayName")).collect();
            names.sort_unstable();
            let mut both = vec![teacher_name.clone(), student_name.clone()];
            both.sort_unstable();
            assert_eq!(names, both, "{path}");
            assert!(visitors.iter().all(|it| it["lastSeen"].as_i64().is_some_and(|it| it % 60_000 == 0)));
        }
        assert_eq!(list(&teacher, &format!("{HERE}?_limit=1"), "presence").await.len(), 1);
        app.advance(TimeDelta::minutes(6));
        assert_eq!(here(&teacher).await, [teacher_name.as_str()]);
    }

    async fn nobody_is_shown_who_is_hidden_or_logged_out_or_no_member(app: TestApp) {
        let admin = app.user("admin").await;
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for client in [&student, &admin] {
            client.get(SITE).await.expect(StatusCode::OK);
        }
        assert_eq!(here(&teacher).await.len(), 2, "an administrator is no member");
        let id = text(&read(&student, "/direct/user/current.json").await, "id");
        let hidden = format!("/direct/membership/{id}::site:biology-101/hidden");
        student.put(&hidden, &json!({})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(here(&teacher).await.len(), 2, "who may see hidden members sees them here");
        let grants = "Instructor:roster.viewhidden=false";
        admin.post_form("/direct/site/biology-101/setPerms", grants).await.expect(StatusCode::OK);
        assert_eq!(here(&teacher).await.len(), 1);
        let other = app.user("student2").await;
        other.get(SITE).await.expect(StatusCode::OK);
        assert_eq!(here(&teacher).await.len(), 2);
        other.post_form("/api/logout", "_method=DELETE").await;
        assert_eq!(here(&teacher).await.len(), 1, "the session is over");
    }

    async fn other_nodes_and_later_starts_see_who_is_there(app: TestApp) {
        let student = app.user("student1").await;
        student.get(SITE).await.expect(StatusCode::OK);
        app.service().keep_visits().await.expect("visits are kept");
        app.service().keep_visits().await.expect("nothing is kept twice");
        assert_eq!(number_of_visits(app.service()).await, 1);
        let clock = Arc::new(FixedClock::default());
        let files = app.database().folder().join("files").display().to_string();
        let settings = [("files.folder", &*files)];
        let other = App::start(config(app.database().url(), &settings), parts(clock)).await;
        let other = other.expect("another node");
        let elsewhere = Client::of(other).log_in("instructor1", tests::app::PASSWORD).await;
        let seen = here(&elsewhere).await;
        assert!(seen.contains(&own_name(&student).await), "{seen:?}");
        app.advance(TimeDelta::minutes(6));
        app.service().sweep().await.expect("what is over is removed");
        assert_eq!(number_of_visits(app.service()).await, 0);
    }

    async fn events_are_counted_by_site_day_and_kind_each_once(app: TestApp) {
        let student = app.user("student1").await;
        let count = async || {
            app.service().catch_up().await.expect("events are counted");
            days(&app.user("instructor1").await, "").await
        };
        let teacher = app.user("instructor1").await;
        let before = count().await;
        assert_eq!(before.len(), 30);
        let today = before.first().expect("a day").clone();
        for number in 0..3 {
            let fields = json!({"siteId": "biology-101", "title": format!("Number {number}")});
            teacher.post("/direct/announcement", &fields).await.expect(StatusCode::CREATED);
        }
        student.get(SITE).await.expect(StatusCode::OK);
        let mut expected = today.1;
        *expected.entry("annc.new".to_owned()).or_default() += 3;
        for _ in 0..2 {
            let after = count().await;
            assert_eq!(after.first(), Some(&(today.0.clone(), expected.clone())));
            assert_eq!(after.get(1..), before.get(1..), "no other day");
        }
        app.advance(TimeDelta::days(1));
        let next_day = count().await;
        assert_eq!(next_day.first().map(|it| it.1.clone()), Some(BTreeMap::new()));
        assert_eq!(next_day.get(1), Some(&(today.0.clone(), expected)));
        let teacher = app.user("instructor1").await;
        let alone = days(&teacher, &format!("?from={0}&to={0}", today.0)).await;
        assert_eq!(alone.as_slice(), next_day.get(1..2).expect("a day"));
        for query in ["?from=yesterday", "?to=2026-13-01", "?from=2026-11-02&to=2026-11-01", "?from=2020-01-01&to=2026-01-01"] {
            let refused = teacher.get(&format!("{ACTIVITY}{query}")).await;
            let refused: Value = refused.expect(StatusCode::BAD_REQUEST).json();
            assert!(refused.to_string().contains("must"), "{refused}");
        }
    }
}
