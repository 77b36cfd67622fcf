//! Gradebooks and grades as tables, to spreadsheets and back.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use super::{list, read, text};

const EXPORT: &str = "/direct/gradebook/export/biology-101";
const IMPORT: &str = "/direct/gradebook/import/biology-101.json";

/// The table at `path`, line by line.
async fn table(client: &Client, path: &str) -> Vec<Vec<String>> {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    let kind = answer.header("Content-Type").expect("a type");
    assert!(kind.starts_with("text/csv"), "{kind}");
    let lines = entity_core::sheet::read(answer.text()).expect("a table");
    let cells = lines
        .iter()
        .map(|it| it.cells().map(ToOwned::to_owned).collect());
    cells.collect()
}

/// The text of a table.
fn csv(lines: &[Vec<String>]) -> String {
    let quoted = |it: &String| format!("\"{}\"", it.replace('"', "\"\""));
    let line = |it: &Vec<String>| it.iter().map(quoted).collect::<Vec<_>>().join(",");
    lines.iter().map(|it| line(it) + "\r\n").collect()
}

/// The column with this title.
fn column(lines: &[Vec<String>], title: &str) -> usize {
    let found = lines[0].iter().position(|it| it == title);
    found.unwrap_or_else(|| panic!("no column `{title}`: {:?}", lines[0]))
}

/// The line of this student.
fn line(lines: &[Vec<String>], eid: &str) -> usize {
    let found = lines.iter().position(|it| it[0] == eid);
    found.unwrap_or_else(|| panic!("no line of `{eid}`"))
}

async fn changes(client: &Client) -> usize {
    let path = "/direct/gradebook-change.json?siteId=biology-101&_limit=500";
    list(client, path, "gradebook-change").await.len()
}

above_storage! {
    async fn a_gradebook_comes_back_as_it_went(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let hostile = json!({"siteId": "biology-101", "name": "=HYPERLINK(\"x\")", "points": 5});
        instructor.post("/direct/gradebook-item.json", &hostile).await.expect(StatusCode::CREATED);
        let raw = instructor.get(EXPORT).await;
        assert!(raw.text().contains("\"'=HYPERLINK(\"\"x\"\") [5.0]\""), "{}", raw.text());
        let name = raw.header("Content-Disposition").expect("a name");
        assert!(name.contains("filename=\"gradebook-biology-101.csv\""), "{name}");
        let lines = table(&instructor, EXPORT).await;
        assert_eq!(lines.len(), 21);
        assert_eq!(lines[0][..3], ["Student ID", "Student Name", "Lab report: onion cells [100.0]"]);
        let essay = column(&lines, "Essay 1 [100.0]");
        assert_eq!(column(&lines, "Comment: Essay 1"), essay + 1);
        let first = &lines[line(&lines, "student1")];
        assert_eq!((&*first[essay], &*first[essay + 1]), ("94.25", "Well argued."));
        assert_eq!(lines[line(&lines, "student20")].last().map(String::as_str), Some("B+"));
        let before = changes(&instructor).await;
        let again = instructor.post(IMPORT, &json!({"csv": raw.text()})).await;
        let report = again.expect(StatusCode::OK).json();
        assert_eq!(report, json!({"preview": false, "changed": 0, "changes": [], "faults": []}));
        assert_eq!(changes(&instructor).await, before);
    }

    async fn an_import_shows_first_what_it_changes_and_keeps_the_history(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let mut lines = table(&instructor, EXPORT).await;
        let (exam, note) = (column(&lines, "Final exam [100.0]"), column(&lines, "Comment: Final exam"));
        let (one, two) = (line(&lines, "student1"), line(&lines, "student2"));
        "88.5".clone_into(&mut lines[one][exam]);
        "=2+2".clone_into(&mut lines[one][note]);
        "ex".clone_into(&mut lines[two][exam]);
        let sent = csv(&lines);
        let before = changes(&instructor).await;
        let preview = instructor.post(&format!("{IMPORT}?preview=true"), &json!({"csv": sent})).await;
        let report = preview.expect(StatusCode::OK).json();
        assert_eq!((&report["preview"], &report["changed"], &report["faults"]), (&json!(true), &json!(2), &json!([])));
        let changed = &report["changes"][0];
        assert_eq!((&changed["before"], &changed["after"], &changed["comment"]), (&json!(""), &json!("88.5"), &json!(true)));
        assert_eq!((&changed["line"], &changed["itemName"]), (&json!(one + 1), &json!("Final exam")));
        assert_eq!(changes(&instructor).await, before);
        let done = instructor.post(IMPORT, &json!({"csv": sent})).await.expect(StatusCode::OK).json();
        assert_eq!((&done["preview"], &done["changed"]), (&json!(false), &json!(2)));
        assert_eq!(changes(&instructor).await, before + 2);
        let stored = table(&instructor, EXPORT).await;
        assert_eq!((&*stored[one][exam], &*stored[one][note], &*stored[two][exam]), ("88.5", "=2+2", "EX"));
        assert!(instructor.get(EXPORT).await.text().contains("'=2+2"));
    }

    async fn an_import_with_a_fault_changes_nothing_and_names_each_cell(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let before = changes(&instructor).await;
        let sent = "Student ID,Essay 1,Nothing,Quiz on cells\r\nstudent1,12,,x\r\nnobody,1,,1\r\nstudent1,1,,-3\r\nstudent2,1e400,,999999999999";
        let faults = [(1, 3, "title"), (2, 4, ""), (3, 1, "external id"), (4, 1, "twice"), (5, 2, ""), (5, 4, "")];
        let preview = instructor.post(IMPORT, &json!({"csv": sent, "preview": true})).await;
        let report = preview.expect(StatusCode::OK).json();
        let found = report["faults"].as_array().expect("a list");
        assert_eq!(found.len(), faults.len(), "{report}");
        for ((line, column, word), fault) in faults.iter().zip(found) {
            assert_eq!((&fault["line"], &fault["column"]), (&json!(line), &json!(column)), "{fault}");
            assert!(text(fault, "message").contains(word), "{fault}");
        }
        let refused = instructor.post(IMPORT, &json!({"csv": sent})).await;
        let told = refused.expect(StatusCode::BAD_REQUEST).text();
        for (line, column, _) in faults { assert!(told.contains(&format!("line {line}, column {column}")), "{told}"); }
        assert_eq!(changes(&instructor).await, before);
        for body in [json!({}), json!({"csv": ""}), json!({"csv": 7}), json!({"csv": "a,b"}), json!({"csv": "Student ID\nx\u{0}"}),
            json!({"csv": "Student ID,Essay 1,Essay 1\n"}), json!({"csv": "Student ID", "preview": "perhaps"})] {
            instructor.post(IMPORT, &body).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn whoever_does_not_grade_gets_no_table(app: TestApp) {
        let header = json!({"csv": "Student ID,Essay 1\r\nstudent2,1"});
        for (eid, status) in [("student1", StatusCode::FORBIDDEN), ("instructor2", StatusCode::FORBIDDEN)] {
            let client = app.user(eid).await;
            client.get(EXPORT).await.expect(status);
            client.post(IMPORT, &header).await.expect(status);
        }
        app.anonymous().get(EXPORT).await.expect(StatusCode::UNAUTHORIZED);
        let assistant = app.user("ta1").await;
        let lines = table(&assistant, EXPORT).await;
        assert_eq!(lines.len(), 11, "who grades groups sees the students of their own groups only");
        let foreign = json!({"csv": "Student ID,Essay 1\r\nstudent12,1"});
        assistant.post(IMPORT, &foreign).await.expect(StatusCode::BAD_REQUEST);
        app.user("instructor1").await.get("/direct/gradebook/export/nothing").await.expect(StatusCode::NOT_FOUND);
    }

    async fn the_grades_of_an_assignment_come_and_go_as_a_table(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = app.user("student2").await;
        let found = list(&instructor, "/direct/assignment/site/biology-101.json", "assignment").await;
        let report = found.iter().find(|it| it["title"] == "Lab report: onion cells").expect("an assignment");
        let path = format!("/direct/assignment/{}", text(report, "id"));
        let (export, import) = (format!("{path}/export"), format!("{path}/import.json"));
        let lines = table(&instructor, &export).await;
        assert_eq!(lines[0][..2], ["Student ID", "Grade"]);
        let one = &lines[line(&lines, "student1")];
        assert_eq!((&*one[1], &*one[5]), ("91", ""));
        assert!(!instructor.get(&export).await.text().contains("Not finished"));
        let same = instructor.post(&import, &json!({"csv": csv(&lines)})).await.expect(StatusCode::OK).json();
        assert_eq!(same["changed"], 0);
        let sent = json!({"csv": "Student ID,Grade\nstudent2,77\nstudent5,60.50\nstudent1,\n"});
        let preview = instructor.post(&format!("{import}?preview=true"), &sent).await.expect(StatusCode::OK).json();
        assert_eq!((&preview["changed"], &preview["changes"][0]["after"]), (&json!(2), &json!("77")));
        assert!(table(&instructor, &export).await.iter().all(|it| it[1] != "77"));
        instructor.post(&import, &sent).await.expect(StatusCode::OK);
        let graded = table(&instructor, &export).await;
        assert_eq!(graded[line(&graded, "student2")][1], "77");
        assert_eq!(graded[line(&graded, "student5")][1], "60.5");
        let own = read(&student, &format!("{path}.json")).await;
        assert_eq!(own["submissions"][0]["grade"], Value::Null, "it is not returned yet");
        let wrong = json!({"csv": "Student ID,Grade\nstudent2,78\nstudent3,ten\nnobody,1\n"});
        let told = instructor.post(&import, &wrong).await;
        let told = told.expect(StatusCode::BAD_REQUEST).text().to_owned();
        assert!(told.contains("line 3, column 2") && told.contains("line 4, column 1"), "{told}");
        assert_eq!(table(&instructor, &export).await, graded);
        student.get(&export).await.expect(StatusCode::FORBIDDEN);
        student.post(&import, &sent).await.expect(StatusCode::FORBIDDEN);
    }

    async fn y6_a_table_with_a_quotation_mark_that_does_not_close_changes_nothing(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let found = list(&instructor, "/direct/assignment/site/biology-101.json", "assignment").await;
        let report = found.iter().find(|it| it["title"] == "Lab report: onion cells").expect("an assignment");
        let path = format!("/direct/assignment/{}", text(report, "id"));
        let of_assignment = (format!("{path}/export"), format!("{path}/import.json"), "Grade,Submitted");
        let of_gradebook = (EXPORT.to_owned(), IMPORT.to_owned(), "Essay 1,Comment: Essay 1");
        for (export, import, titles) in [of_assignment, of_gradebook] {
            let before = table(&instructor, &export).await;
            for (second, fault) in [
                ("student1,71,\"Well argued", "line 2, column 3"),
                ("student1,71,Well argued\"", "line 2, column 3"),
                ("student1,71,\"Well\" argued", "line 2, column 3"),
                ("student1,\"71,Well argued", "line 2, column 2"),
            ] {
                let lines = [&format!("Student ID,{titles}"), second, "student2,72,\"Good\"", "student3,73,"];
                for (end, preview) in [("\r\n", false), ("\n", true), ("\r", false)] {
                    let sent = json!({"csv": lines.join(end), "preview": preview});
                    let told = instructor.post(&import, &sent).await;
                    let told = told.expect(StatusCode::BAD_REQUEST).text().to_owned();
                    assert!(told.contains(fault), "{told}");
                }
            }
            assert_eq!(table(&instructor, &export).await, before);
        }
    }
}
