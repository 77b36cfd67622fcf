//! The cost of reading does not grow with what others have: the database visits no more, whatever lies beside.

use entity_core::Caller;
use entity_core::db::Db;
use entity_providers::face::demo::scale::Part;
use lectern_testing::counting::Counter;
use sea_orm::ConnectionTrait as _;
use tests::crowd::{self, analyze};
use tests::visited::visited;
use tests::{Backend, TestApp, both, is_full};

use crate::statements::{addresses, caller_of};

/// The courses of people who are in many: the first of them are a student of eleven, and an instructor.
const OWN: Part = Part {
    first: 0,
    students: 12,
    instructors: 1,
    first_course: 0,
    courses: 12,
    courses_of_student: 11,
    announcements: 20,
    assignments: 2,
    files: 2,
};
/// Returns the courses of others: some thirty thousand rows, of which the large tables hold eight thousand each.
const fn others(number: u64) -> Part {
    Part {
        first: 10_000 + number * 3_000,
        students: 2_000,
        instructors: 10,
        first_course: 100 + number * 40,
        courses: 40,
        courses_of_student: 4,
        announcements: 250,
        assignments: 1,
        files: 5,
    }
}

const CALLERS: [&str; 4] = ["student1", "instructor1", "user000000", "user000001"];
const INSTRUCTOR_OF_MANY: &str = "UPDATE membership SET role = 'Instructor' \
    WHERE user_id = (SELECT id FROM user_account WHERE eid = 'user000001')";
/// The sites of others have newer announcements than anybody's own.
const NEWER: &str = "UPDATE announcement SET published = published + 100000000000 \
    WHERE site_id >= 'course-000100' AND site_id < 'course-001'";
const SHOWN: &str = "50";

/// Returns the visits of the database for an address; `None` where the caller is refused.
async fn cost(
    db: &Db,
    counter: &Counter,
    caller: &Caller,
    (path, query): &(String, Vec<(String, String)>),
) -> Option<u64> {
    let limit = ("_limit".to_owned(), SHOWN.to_owned());
    let limited = [query.as_slice(), &[limit]].concat();
    let statements = match counter.statements(caller, path, &limited).await {
        Ok(statements) => statements,
        // What is no list takes no limit.
        Err(_) => counter.statements(caller, path, query).await.ok()?,
    };
    let mut sum = 0;
    for statement in &statements {
        sum += visited(db, statement).await;
    }
    Some(sum)
}

/// Returns the cost of all addresses for some people, in an order that stays.
async fn costs(app: &TestApp, callers: &[(&str, Caller)]) -> Vec<(String, Option<u64>)> {
    let db = &app.service().storage.content;
    let counter = Counter::of(app.service());
    let mut all = Vec::new();
    for (eid, caller) in callers {
        for address in addresses() {
            let cost = cost(db, &counter, caller, &address).await;
            let query = address.1.iter().map(|it| format!("?{}={}", it.0, it.1));
            all.push((
                format!("{eid} {}{}", address.0, query.collect::<String>()),
                cost,
            ));
        }
    }
    all
}

/// Returns the most visits that are allowed where `few` were visited before. A small table may be read whole, which
/// PostgreSQL takes for less than the way by an index: files and scores of others are fewer, all else is more.
fn most(backend: Backend, few: u64) -> u64 {
    let small = match backend {
        Backend::Sqlite => 500,
        Backend::Postgres if is_full() => 8_000,
        Backend::Postgres => 4_000,
    };
    few.saturating_mul(3).div_ceil(2) + small
}

both! {
    async fn what_others_have_costs_nothing(app: TestApp) {
        let backend = app.database().backend();
        crowd::add(&app, OWN).await;
        let writer = &app.service().storage.content.writer;
        writer.execute_unprepared(INSTRUCTOR_OF_MANY).await.expect("a role");
        let mut callers = Vec::new();
        for eid in CALLERS {
            callers.push((eid, caller_of(&app.user(eid).await).await));
        }
        let before = costs(&app, &callers).await;
        for number in 0..if is_full() { 10 } else { 1 } {
            crowd::add(&app, others(number)).await;
        }
        writer.execute_unprepared(NEWER).await.expect("a time");
        analyze(&app).await;
        let after = costs(&app, &callers).await;
        let mut grown = Vec::new();
        let mut asked = 0;
        for ((address, few), (_, many)) in before.iter().zip(&after) {
            let (Some(few), Some(many)) = (few, many) else {
                continue;
            };
            asked += 1;
            if *many > most(backend, *few) {
                grown.push(format!("{address}: {few}, and {many}"));
            }
        }
        assert!(asked > 200, "only {asked} addresses answer");
        assert!(grown.is_empty(), "{backend:?}:\n{grown:#?}");
    }
}
