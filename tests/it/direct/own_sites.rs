//! Lists of the entities of several sites: they cost what they show, however much these sites hold.

use entity_core::search::Grammar;
use entity_core::testing::origin;
use entity_core::{Caller, Scope, Search, Window, db};
use entity_providers::courses::announcement::Announcement;
use entity_providers::face::demo::scale::Part;
use http::StatusCode;
use lectern_testing::counting::Counter;
use sea_orm::{ConnectionTrait as _, DbBackend, TransactionTrait as _};
use serde_json::Value;
use tests::crowd;
use tests::visited::visited;
use tests::{TestApp, both};

use super::id_of;

const SITES: u32 = 3;
const SHOWN: u32 = 10;
/// More than SQLite takes to look at an announcement, and to show it.
const STEPS: u64 = 100;

const PART: Part = Part {
    first: 0,
    students: 1,
    instructors: 1,
    first_course: 0,
    courses: 3,
    courses_of_student: 3,
    announcements: 400,
    assignments: 0,
    files: 0,
};

/// The number of announcements that the database looked at, by its own account of a statement.
fn looked_at(node: &Value) -> f64 {
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    let own = match node["Relation Name"] == "announcement" {
        true => (number("Actual Rows") + number("Rows Removed by Filter")) * number("Actual Loops"),
        false => 0.0,
    };
    let below = node["Plans"].as_array().into_iter().flatten();
    own + below.map(looked_at).sum::<f64>()
}

/// The step of a plan that cuts what the steps below it have found.
fn limit(node: &Value) -> Option<&Value> {
    if node["Node Type"] == "Limit" {
        return Some(node);
    }
    node["Plans"].as_array()?.iter().find_map(limit)
}

both! {
    async fn x56_the_newest_of_own_sites_are_found_without_the_others(app: TestApp) {
        crowd::add(&app, PART).await;

        // What is shown: the newest of all sites, in parts that follow on each other.
        let student = app.user("user000000").await;
        let mut dates = Vec::new();
        for path in ["_limit=10", "_start=10&_limit=10", "_start=20&_limit=1000"] {
            let list = student.get(&format!("/direct/announcement.json?{path}")).await;
            let list = list.expect(StatusCode::OK).json();
            let list = list["announcement_collection"].as_array().expect("a list").clone();
            dates.extend(list.iter().map(|it| it["createdOn"].as_i64().expect("a time")));
        }
        assert_eq!(dates.len(), 20 + 1000);
        assert!(dates.is_sorted_by(|one, next| one >= next));

        let caller = Caller::user(id_of(&student).await, "user000000");
        let of_student = origin(caller);
        let work = app.service().dispatcher.read(&of_student, |cx| {
            Box::pin(async move {
                let mut search = Search::part(Window { start: 0, limit: SHOWN.into() });
                search.scope = Scope::Sites((0..SITES).map(|it| format!("course-{it:06}")).collect());
                Grammar::of::<Announcement>().expect("a list").complete(&mut search);
                db::list_statement::<Announcement>(cx, &search).await
            })
        });
        let mut statement = work.await.expect("a statement");
        let reader = &app.service().storage.content.reader;
        if reader.get_database_backend() == DbBackend::Postgres {
            statement.sql = format!("EXPLAIN (ANALYZE, FORMAT JSON) {}", statement.sql);
            let session = reader.begin().await.expect("a connection");
            // So few rows are read off the table otherwise.
            let done = session.execute_unprepared("SET LOCAL enable_seqscan = off");
            done.await.expect("a setting");
            let told = session.query_one_raw(statement).await.expect("a plan").expect("a plan");
            let plan: Value = told.try_get("", "QUERY PLAN").expect("a plan");
            let count = looked_at(&plan[0]["Plan"]);
            let most = f64::from((SITES + 1) * (SHOWN + 1));
            assert!(count > 0.0 && count <= most, "{count} of at most {most}: {plan:#}");
        } else {
            let steps = visited(&app.service().storage.content, &statement).await;
            let most = u64::from((SITES + 1) * (SHOWN + 1)) * STEPS;
            assert!(steps <= most, "{steps} of at most {most}");
        }
    }

    async fn names_are_read_of_what_is_shown_alone(app: TestApp) {
        crowd::add(&app, PART).await;
        let caller = Caller::user(id_of(&app.user("user000000").await).await, "user000000");
        let query = [("siteId", "course-000000"), ("_order", "title"), ("_limit", "10")];
        let query = query.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let counter = Counter::of(app.service());
        let statements = counter.statements(&caller, "/announcement", &query).await.expect("a list");
        let mut named = statements.into_iter().filter(|it| it.sql.contains("user_account"));
        let mut statement = named.next().expect("a list with names");
        let reader = &app.service().storage.content.reader;
        // SQLite looks names up row by row, in the order in which it shows them.
        if reader.get_database_backend() == DbBackend::Postgres {
            statement.sql = format!("EXPLAIN (FORMAT JSON) {}", statement.sql);
            let told = reader.query_one_raw(statement).await.expect("a plan").expect("a plan");
            let plan: Value = told.try_get("", "QUERY PLAN").expect("a plan");
            let cut = limit(&plan[0]["Plan"]).expect("a part of a list");
            assert!(!cut.to_string().contains("user_account"), "{plan:#}");
        }
    }
}
