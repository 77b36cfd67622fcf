//! Tables, as spreadsheets and scripts read them: Python's own reader is the judge.

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use super::{created, list, text};
use crate::python::{Needs, run};

/// Reads the table, and writes its rows as lists.
const CSV: &str = r"
import csv, io, json, sys
table = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')
json.dump(list(csv.reader(table, strict=True)), sys.stdout)
";

/// The rows of a table, the first with the names; `None` where Python is not installed.
async fn rows(client: &Client, path: &str) -> Option<Vec<Vec<String>>> {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    let media_type = "text/csv; charset=utf-8; header=present";
    assert_eq!(answer.header(CONTENT_TYPE), Some(media_type));
    assert!(answer.text().ends_with("\r\n"));
    let found = run(CSV, &answer.body, Needs::Nothing)?;
    Some(serde_json::from_slice(&found).expect("JSON"))
}

/// Returns the text of the cell of a value.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

above_storage! {
    async fn a_table_tells_what_json_tells(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (path, prefix) in [
            ("/direct/announcement/site/biology-101", "announcement"),
            ("/direct/membership/site/biology-101", "membership"),
            ("/direct/site", "site"),
        ] {
            let Some(rows) = rows(&teacher, &format!("{path}.csv")).await else {
                return;
            };
            let expected = list(&teacher, &format!("{path}.json"), prefix).await;
            assert_eq!(rows.len(), expected.len() + 1, "{path}");
            let described = teacher.get(&format!("/direct/{prefix}/describe.json")).await.json();
            let fields = described["fields"].as_array().expect("fields").iter();
            let mut names: Vec<_> = fields.map(|it| text(it, "name")).collect();
            names.extend(["entityReference", "entityURL"].map(ToOwned::to_owned));
            assert_eq!(rows[0], names, "{path}");
            for (row, entity) in rows[1..].iter().zip(&expected) {
                let cells: Vec<_> = names.iter().map(|it| cell(&entity[it])).collect();
                assert_eq!(row, &cells, "{path}");
            }
        }
    }

    async fn a_table_has_the_columns_that_were_asked_for(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let described = teacher.get("/direct/site/describe.json").await.json();
        let sites = described["fields"].as_array().expect("fields").iter();
        let of_site: Vec<_> = sites.map(|it| format!("siteIdEntity.{}", text(it, "name"))).collect();
        let end = ["entityReference", "entityURL"].map(ToOwned::to_owned);
        for (query, own, is_expanded) in [
            ("_fields=title", &["title"][..], false),
            ("_fields=siteId,title", &["title", "siteId"], false),
            ("_fields=title&_expand=siteId", &["title"], true),
            ("_fields=title&_expand=siteId&_search=nothing-has-this", &["title"], true),
            ("_fields=", &[], false),
        ] {
            let path = |format| format!("/direct/announcement/site/biology-101.{format}?{query}");
            let Some(rows) = rows(&teacher, &path("csv")).await else {
                return;
            };
            let expanded: &[String] = if is_expanded { &of_site } else { &[] };
            let own: Vec<_> = own.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(rows[0], [own.as_slice(), expanded, end.as_slice()].concat(), "{query}");
            let expected = list(&teacher, &path("json"), "announcement").await;
            assert_eq!(rows.len(), expected.len() + 1, "{query}");
            for (row, entity) in rows[1..].iter().zip(&expected) {
                let value = |name: &String| match name.split_once('.') {
                    Some((outer, inner)) => cell(&entity[outer][inner]),
                    None => cell(&entity[name]),
                };
                assert_eq!(row, &rows[0].iter().map(value).collect::<Vec<_>>(), "{query}");
            }
        }
        let one = "/direct/site/biology-101.csv?_fields=title";
        let rows = rows(&teacher, one).await.expect("Python, which there was before");
        assert_eq!(rows[0], ["title", "entityReference", "entityURL"]);
        let json = teacher.get("/direct/site/biology-101.json").await.json();
        assert_eq!(rows[1][0], text(&json, "title"));
    }

    async fn no_cell_is_a_formula(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for title in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a,b;\"c\"\n=1", "'quoted'", " =1"] {
            let news = json!({"siteId": "biology-101", "title": title});
            let id = created(&teacher.post("/direct/announcement", &news).await, "announcement");
            let Some(rows) = rows(&teacher, &format!("/direct/announcement/{id}.csv")).await else {
                return;
            };
            assert_eq!(rows.len(), 2, "{title:?}");
            let place = rows[0].iter().position(|it| it == "title").expect("a column");
            let is_formula = title.trim_start().starts_with(['=', '+', '-', '@']) || title.starts_with(['\t', '\r']);
            let expected = if is_formula { format!("'{title}") } else { title.to_owned() };
            assert_eq!(rows[1][place], expected);
        }
    }

    async fn a_table_without_rows_has_its_names(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = "/direct/announcement.csv?siteId=biology-101&_search=nothing-has-this";
        if let Some(rows) = rows(&teacher, path).await {
            assert_eq!((rows.len(), rows[0][0].as_str()), (1, "id"));
        }
    }

    async fn what_is_no_entity_is_no_table(app: TestApp) {
        let teacher = app.user("instructor1").await;
        teacher.get("/direct/site/biology-101/pages.csv").await.expect(StatusCode::NOT_ACCEPTABLE);
        let asked = teacher.clone().with_header(ACCEPT, "text/csv").get("/direct/site").await;
        assert!(asked.expect(StatusCode::OK).header(CONTENT_TYPE).is_some_and(|it| it.starts_with("text/csv")));
        teacher.get("/direct/nothing.csv").await.expect(StatusCode::NOT_FOUND);
        app.anonymous().get("/direct/site.csv").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn x21_a_gradebook_is_a_table_with_a_line_for_each_student(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let item = json!({"siteId": "biology-101", "name": "=1+1", "points": 10});
        created(&teacher.post("/direct/gradebook-item.json", &item).await, "gradebook-item");
        for (client, path) in [
            (&teacher, "/direct/gradebook/site/biology-101"),
            (&student, "/direct/gradebook/site/biology-101"),
            (&teacher, "/direct/gradebook/biology-101"),
            (&teacher, "/direct/gradebook/item/biology-101/Essay%201"),
        ] {
            let Some(rows) = rows(client, &format!("{path}.csv")).await else {
                return;
            };
            let book = client.get(&format!("{path}.json")).await.json();
            let told = book["assignments"].as_array().expect("a list");
            let (names, lines) = rows.split_first().expect("names");
            assert_eq!(names[..2], ["userId", "userName"], "{path}");
            assert!(rows.iter().flatten().all(|it| !it.contains("[{")), "{path}");
            let guarded = |it: &Value| match cell(it) {
                text if text.starts_with('=') => format!("'{text}"),
                text => text,
            };
            for row in told {
                let user = text(row, "userId");
                let mut of_user = lines.iter().filter(|it| it[0] == user);
                let line = of_user.next().expect("a line");
                assert!(of_user.next().is_none(), "{path}: {user}");
                let place = names.iter().position(|it| *it == guarded(&row["itemName"])).expect("a column");
                assert_eq!(line[place], guarded(&row["grade"]), "{path}");
                assert_eq!(line[1], guarded(&row["userName"]), "{path}");
            }
            let students: std::collections::BTreeSet<_> = told.iter().map(|it| text(it, "userId")).collect();
            assert_eq!(lines.len(), students.len(), "{path}");
            let items: std::collections::BTreeSet<_> = told.iter().map(|it| text(it, "itemName")).collect();
            let comments = usize::from(names.iter().any(|it| it == "comment"));
            assert_eq!(names.len(), 2 + items.len() + comments + 2, "{path}");
            assert_eq!(names[names.len() - 2..], ["entityReference", "entityURL"], "{path}");
            assert_eq!(comments == 1, path.contains("/item/"), "{path}");
        }
        let Some(rows) = rows(&student, "/direct/gradebook/my.csv").await else {
            return;
        };
        assert_eq!(rows[0][..4], ["siteId", "siteName", "userId", "userName"]);
        let books = list(&student, "/direct/gradebook/my.json", "gradebook").await;
        assert_eq!(rows.len(), books.len() + 1);
        for chosen in ["_fields=siteId", "_fields=siteId,siteName"] {
            let table = teacher.get(&format!("/direct/gradebook/site/biology-101.csv?{chosen}")).await;
            assert!(table.expect(StatusCode::OK).text().starts_with("siteId,"), "{}", table.text());
        }
    }
}
