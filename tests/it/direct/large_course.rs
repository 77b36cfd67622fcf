//! A course with more scores and files than an answer holds, and what is somebody's own among all that.

use std::collections::BTreeSet;

use entity_core::search::Grammar;
use entity_core::testing::origin;
use entity_core::{Caller, List, Scope, Search, Window, db};
use entity_providers::courses::assignment::Submission;
use entity_providers::courses::gradebook::score::GradebookScore;
use entity_providers::face::demo::scale::Part;
use http::StatusCode;
use sea_orm::{ConnectionTrait as _, DbBackend, TransactionTrait as _};
use serde_json::{Value, json};
use tests::crowd;
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use super::{created, id_of, link};

const PART: Part = Part {
    first: 0,
    students: 60,
    instructors: 1,
    first_course: 0,
    courses: 1,
    courses_of_student: 1,
    announcements: 1,
    assignments: 40,
    files: 300,
};
const SITE: &str = "course-000000";
const STUDENT: &str = "user000059";
const TEACHER: &str = "user000060";
/// The maximum number of bytes of an answer.
const MOST: usize = 64 << 10;

/// A service with the course, whose answers are small.
struct Course(TestApp);

impl OnBackend for Course {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [("limits.answerBytes", "64KiB")];
        let app = TestApp::with_settings(backend, &settings).await?;
        crowd::add(&app, PART).await;
        Some(Self(app))
    }
}

/// The answer at `path` and those to which it leads, each within its bytes.
async fn walk(client: &Client, path: &str) -> Vec<Answer> {
    let (mut answers, mut path) = (Vec::new(), Some(path.to_owned()));
    while let Some(address) = path {
        let answer = client.get(&address).await;
        answer.expect(StatusCode::OK);
        let length = answer.body.len();
        assert!(length <= MOST, "{address}: {length} bytes");
        path = link(&answer, "next");
        answers.push(answer);
        assert!(answers.len() < 200, "{address}: there is no end");
    }
    answers
}

fn all<'a>(answers: &'a [Value], list: &str) -> Vec<&'a Value> {
    let of_each = answers
        .iter()
        .flat_map(|it| it[list].as_array().expect("a list"));
    of_each.collect()
}

fn total(answers: &[Answer]) -> BTreeSet<Option<&str>> {
    answers
        .iter()
        .map(|it| it.header("x-total-count"))
        .collect()
}

/// The names of all files in a tree.
fn names(node: &Value, found: &mut Vec<String>) {
    for inner in node["resourceChildren"].as_array().expect("a list") {
        match inner["mimeType"].as_str() {
            Some("collection") => names(inner, found),
            _ => found.push(inner["resourceId"].as_str().expect("a path").to_owned()),
        }
    }
}

/// Returns the query plan of the database for the first of the entities of a type that the caller sees.
async fn plan<T: db::Record + List>(
    app: &TestApp,
    caller: Caller,
    site: Option<&'static str>,
) -> String {
    let dispatcher = &app.service().dispatcher;
    let origin = origin(caller);
    let work = dispatcher.read(&origin, |cx| {
        Box::pin(async move {
            let mut search = Search::part(Window {
                start: 0,
                limit: 51,
            });
            if let Some(site) = site {
                search.narrow_to_site::<T>(site)?;
            }
            search.scope = Scope::Sites(vec![SITE.to_owned()]);
            Grammar::of::<T>().expect("a list").complete(&mut search);
            db::list_statement::<T>(cx, &search).await
        })
    });
    let mut explained = work.await.expect("a statement");
    let reader = &app.service().storage.content.reader;
    let is_sqlite = reader.get_database_backend() == DbBackend::Sqlite;
    let explain = if is_sqlite {
        "EXPLAIN QUERY PLAN"
    } else {
        "EXPLAIN"
    };
    explained.sql = format!("{explain} {}", explained.sql);
    let session = reader.begin().await.expect("a connection");
    if !is_sqlite {
        // So few rows are read off the table otherwise.
        let done = session.execute_unprepared("SET LOCAL enable_seqscan = off");
        done.await.expect("a setting");
    }
    let rows = session.query_all_raw(explained).await.expect("a plan");
    let column = if is_sqlite { "detail" } else { "QUERY PLAN" };
    let lines = rows
        .iter()
        .map(|it| it.try_get::<String>("", column).expect("a text"));
    lines.collect::<Vec<_>>().join("\n")
}

both! {
    async fn a_gradebook_is_read_in_parts_by_those_who_grade(app: Course) {
        let teacher = app.0.user(TEACHER).await;
        let rows = walk(&teacher, &format!("/direct/gradebook/site/{SITE}.json")).await;
        assert_eq!(total(&rows), [Some("2400")].into());
        let parts: Vec<Value> = rows.iter().map(Answer::json).collect();
        let of = |it: &&Value| (it["userId"].to_string(), it["itemName"].to_string());
        let found: BTreeSet<_> = all(&parts, "assignments").iter().map(of).collect();
        assert_eq!((all(&parts, "assignments").len(), found.len()), (2400, 2400));
        assert!(parts.len() > 2);

        let books = walk(&teacher, &format!("/direct/grades/gradebook/{SITE}.json")).await;
        assert_eq!(total(&books), [Some("60")].into());
        let parts: Vec<Value> = books.iter().map(Answer::json).collect();
        let students = all(&parts, "students");
        let found: BTreeSet<_> = students.iter().map(|it| it["username"].to_string()).collect();
        assert_eq!((students.len(), found.len()), (60, 60));
        let scores = |it: &&Value| it["scores"].as_array().map_or(0, Vec::len);
        assert_eq!(all(&parts, "items").iter().map(scores).sum::<usize>(), 2400);
        assert!(parts.len() > 2);

        let grades = walk(&teacher, &format!("/direct/gradebook/course/{SITE}.json")).await;
        assert_eq!(total(&grades), [Some("60")].into());
        let parts: Vec<Value> = grades.iter().map(Answer::json).collect();
        assert_eq!(all(&parts, "students").len(), 60);
        let own = teacher.get("/direct/gradebook/my.json").await;
        let own = own.expect(StatusCode::OK).json();
        assert!(own["gradebook_collection"][0]["nextAssignments"].is_string(), "{own}");
    }

    async fn a_table_of_all_grades_is_streamed(app: Course) {
        let teacher = app.0.user(TEACHER).await;
        let path = format!("/direct/gradebook/export/{SITE}");
        let answer = teacher.get(&path).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.header("content-length"), None);
        assert!(answer.header("content-type").is_some_and(|it| it.starts_with("text/csv")));
        let name = answer.header("content-disposition").expect("a name");
        assert!(name.contains("gradebook-course-000000.csv"), "{name}");
        let lines = entity_core::sheet::read(answer.text()).expect("a table");
        assert_eq!(lines.len(), 61);
        let eids: BTreeSet<&str> = lines.iter().map(|it| it.cell(0)).collect();
        assert_eq!(eids.len(), 61);
        let grades = walk(&teacher, &format!("/direct/gradebook/course/{SITE}.json")).await;
        let grades: Vec<Value> = grades.iter().map(Answer::json).collect();
        for (line, graded) in lines.iter().skip(1).zip(all(&grades, "students")) {
            assert_eq!(line.cells().count(), 2 + 2 * 40 + 1, "{line:?}");
            let scores = (0..40).map(|it| line.cell(2 + 2 * it));
            assert!(scores.clone().all(|it| !it.is_empty()), "{line:?}");
            assert_eq!(line.cell(1), graded["userName"]);
            assert_eq!(line.cell(82), graded["courseGrade"]["displayGrade"], "{line:?}");
        }
        let batch = json!({"operations": [{"method": "GET", "path": format!("gradebook/export/{SITE}")}]});
        let batch = teacher.post("/direct/batch.json", &batch).await;
        assert_eq!(batch.json()["results"][0]["status"], 406, "{}", batch.text());
        teacher.get(&format!("{path}.json")).await.expect(StatusCode::NOT_ACCEPTABLE);
        app.0.user(STUDENT).await.get(&path).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_folder_with_many_files_is_read_in_parts(app: Course) {
        let teacher = app.0.user(TEACHER).await;
        let new = |title: &str, folder: Option<&str>| {
            let kind = if folder.is_some() { "text/url" } else { "collection" };
            let url = folder.map(|_| "https://example.org/");
            json!({"siteId": SITE, "title": title, "type": kind, "folderId": folder, "webLinkUrl": url})
        };
        let answer = teacher.post("/direct/content", &new("A folder", None)).await;
        let folder = created(&answer, "content");
        for title in ["one", "two", "three"] {
            teacher.post("/direct/content", &new(title, Some(&folder))).await.expect(StatusCode::CREATED);
        }
        let tree = format!("/direct/content/resources/group/{SITE}.json");
        for (query, files, parts) in [("", 300, 2), ("?depth=all", 303, 2), ("?depth=all&_limit=2", 303, 150)] {
            let answers = walk(&app.0.user(STUDENT).await, &format!("{tree}{query}")).await;
            assert!(answers.len() >= parts, "{query}: {} parts", answers.len());
            let mut found = Vec::new();
            for answer in &answers {
                let answer = answer.json();
                assert_eq!(answer["content_collection"].as_array().map(Vec::len), Some(1));
                names(&answer["content_collection"][0], &mut found);
            }
            let different: BTreeSet<&String> = found.iter().collect();
            assert_eq!((found.len(), different.len()), (files, files), "{query}");
            let inner = found.iter().filter(|it| it.contains("/A folder/")).count();
            assert_eq!(inner, files - 300, "{query}");
        }
    }

    async fn own_work_and_own_scores_are_found_by_an_index(app: Course) {
        let student = app.0.user(STUDENT).await;
        let caller = Caller::user(id_of(&student).await, STUDENT);
        for site in [None, Some(SITE)] {
            let work = plan::<Submission>(&app.0, caller.clone(), site).await;
            assert!(work.contains("assignment_submission_by_submitter"), "{site:?}: {work}");
            let scores = plan::<GradebookScore>(&app.0, caller.clone(), site).await;
            assert!(scores.contains("gradebook_score_of_student"), "{site:?}: {scores}");
        }
        for path in ["assignment-submission.json?_limit=100", "gradebook-score.json?_limit=100"] {
            let list = student.get(&format!("/direct/{path}")).await;
            let list = list.expect(StatusCode::OK).json();
            let prefix = path.split('.').next().expect("a type");
            let list = list[format!("{prefix}_collection")].as_array().expect("a list").len();
            assert_eq!(list, 40, "{path}");
        }
    }
}
