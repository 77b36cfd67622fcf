//! The database that all requests are answered from, made where nothing is counted.

use std::path::PathBuf;

use axum::body::Body;
use entity_core::Caller;
use entity_core::engine::Audit;
use entity_core::testing::origin;
use entity_providers::face::demo::scale::{self, Part};
use http::Request;
use http::header::COOKIE;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

use super::cases::{self, Contender, UNIVERSITY, Who};
use super::counted::FILE;
use crate::app::{PASSWORD, TestApp};
use crate::bench::data;
use crate::{Backend, Database, bare, template};

/// The database, and the sessions of those who ask.
#[derive(Debug)]
pub(super) struct Prepared {
    database: Database,
    pub(super) cookies: Cookies,
}

/// The cookies of those who ask: of the student, of the member, of the instructor.
#[derive(Debug)]
pub(super) struct Cookies([String; 3]);

impl Cookies {
    /// Takes those that [`Cookies::all`] tells.
    pub(super) fn read(all: &[&str]) -> Self {
        let all: Vec<String> = all.iter().map(|it| (*it).to_owned()).collect();
        Self(all.try_into().expect("a cookie of each"))
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }

    pub(super) fn of(&self, who: Who) -> &str {
        let [student, member, instructor] = &self.0;
        match who {
            Who::Student => student,
            Who::Member => member,
            Who::Instructor => instructor,
        }
    }

    /// The user ids of those whom the bare handler knows.
    pub(super) fn users(&self) -> [(String, String); 2] {
        let ids = [
            (Who::Student, "student1"),
            (Who::Member, "01900000-0000-7000-8000-000000000000"),
        ];
        ids.map(|(who, id)| (self.of(who).to_owned(), id.to_owned()))
    }
}

impl Prepared {
    /// The folder of the database.
    pub(super) fn folder(&self) -> PathBuf {
        self.database.folder()
    }
}

/// Makes the database.
///
/// # Panics
/// A list of it is shorter than the cases say, or the service and the bare handler answer something else.
pub(super) fn prepare() -> Prepared {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = template::copy(Backend::Sqlite).await;
        let database = database.expect("files are always there");
        data::fill(database.url(), cases::SIZE).await;
        let app = TestApp::start(database, &[]).await;
        add_university(&app).await;
        let mut cookies = Vec::new();
        let member = Part::eid(UNIVERSITY.first);
        let instructor = Part::eid(UNIVERSITY.first + UNIVERSITY.students);
        for eid in ["student1", &member, &instructor] {
            let client = app.anonymous().log_in(eid, PASSWORD).await;
            let cookie = client.cookie().expect("the login sets a cookie");
            cookies.push(cookie.to_owned());
        }
        let cookies: Vec<&str> = cookies.iter().map(String::as_str).collect();
        let cookies = Cookies::read(&cookies);
        check_lists(&app).await;
        check_portal(&app, &cookies).await;
        app.service().finish().await;
        Prepared {
            database: app.into_database(),
            cookies,
        }
    })
}

async fn add_university(app: &TestApp) {
    let dispatcher = app.service().dispatcher.clone().with_write_limit(None);
    let origin = origin(Caller::anonymous());
    let work = dispatcher.write(&origin, |cx| {
        Box::pin(async move { Ok((scale::add(cx, &UNIVERSITY).await?, Audit::Later)) })
    });
    work.await.expect("the database takes it");
}

async fn check_lists(app: &TestApp) {
    let student = app.anonymous().log_in("student1", PASSWORD).await;
    let lists = cases::all().into_iter();
    for case in lists.filter(|it| it.name.contains("list of")) {
        for path in &case.paths {
            let answer = student.get(path).await.json();
            let entries = answer
                .get("announcement_collection")
                .and_then(|it| Some(it.as_array()?.len()));
            assert_eq!(entries, Some(50), "{path}");
        }
    }
}

/// Checks that the service tells a portal all that the bare handler tells: each of its keys, with the same in it.
async fn check_portal(app: &TestApp, cookies: &Cookies) {
    let file = app.database().folder().join(FILE);
    let router = bare::router(file, "http://127.0.0.1", cookies.users());
    let member = app.anonymous();
    let member = member.log_in(&Part::eid(UNIVERSITY.first), PASSWORD).await;
    let portal = cases::of(Contender::Bare).filter(|it| it.who == Who::Member);
    for path in portal.flat_map(|it| it.paths) {
        let request = Request::get(&path).header(COOKIE, cookies.of(Who::Member));
        let request = request.body(Body::empty()).expect("a request");
        let answer = router.clone().oneshot(request).await;
        let bytes = answer.expect("an answer").into_body().collect().await;
        let bytes = bytes.expect("a body").to_bytes();
        let told: Value = serde_json::from_slice(&bytes).expect("JSON");
        check_within(&told, &member.get(&path).await.json(), &path);
    }
}

fn check_within(part: &Value, whole: &Value, place: &str) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            for (key, value) in part {
                let place = format!("{place} {key}");
                check_within(value, whole.get(key).unwrap_or(&Value::Null), &place);
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert_eq!(part.len(), whole.len(), "{place}");
            assert!(!part.is_empty() || place.ends_with("tools"), "{place}");
            for (part, whole) in part.iter().zip(whole) {
                check_within(part, whole, place);
            }
        }
        _ => assert_eq!(part, whole, "{place}"),
    }
}
