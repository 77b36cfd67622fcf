//! The grid of a gradebook, and the report of one student.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::marking::{prompt, row, send};
use super::{list, read, text};

const OWN: &str = "/direct/gradebook/report/biology-101.json";
const GRID: &str = "/direct/gradebook/marks/biology-101.json";

/// The place of a column.
fn column(grid: &Value, title: &str) -> usize {
    let columns = grid["columns"].as_array().expect("columns");
    let found = columns
        .iter()
        .position(|it| it.as_str().is_some_and(|it| it.starts_with(title)));
    found.expect("a column") - 1
}

/// The name under which the score of somebody in an item is sent, and what the cell holds.
fn cell(grid: &Value, who: &str, item: &str) -> (String, String) {
    let prompt = &row(grid, who)["cells"][column(grid, item)]["prompt"];
    (text(prompt, "name"), text(prompt, "value"))
}

/// The rows of a report: the title, and the cells.
async fn report(client: &Client, path: &str) -> Vec<(String, Vec<String>)> {
    let found = read(client, path).await;
    let cell = |it: &Value| {
        let found = it["text"].as_str().or(it["state"]["text"].as_str());
        found.expect("a text").to_owned()
    };
    let rows = found["rows"].as_array().expect("rows").iter();
    let cells = |it: &Value| {
        it["cells"]
            .as_array()
            .expect("cells")
            .iter()
            .map(cell)
            .collect()
    };
    rows.map(|it| (text(it, "title"), cells(it))).collect()
}

both! {
    async fn scores_and_course_grades_are_written_from_the_grid(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let grid = read(&teacher, GRID).await;
        let (essay, held) = cell(&grid, "Ada Moreau", "Essay 1");
        assert_eq!(held, "94.25");
        let (second, _) = cell(&grid, "Quinn Adeyemi", "Essay 2");
        let (grade, none) = prompt(&grid, "Ada Moreau", "grade:");
        assert_eq!(none, "");
        let form = [(essay.as_str(), "ex"), (second.as_str(), "81,5"), (grade.as_str(), "A-")];
        send(&teacher, GRID, &form).await.expect(StatusCode::SEE_OTHER);
        let grid = read(&teacher, GRID).await;
        assert_eq!(cell(&grid, "Ada Moreau", "Essay 1").1, "EX");
        assert_eq!(cell(&grid, "Quinn Adeyemi", "Essay 2").1, "81.5");
        let path = "/direct/gradebook-override.json?siteId=biology-101";
        let entered = async || {
            let all = list(&teacher, path, "gradebook-override").await;
            all.iter().map(|it| text(it, "grade")).filter(|it| it == "A-").count()
        };
        assert_eq!(entered().await, 1);
        // What is emptied is taken back, and what others see is not touched.
        let form = json!({ grade.as_str(): "", essay.as_str(): "" });
        teacher.post(GRID, &form).await.expect(StatusCode::OK);
        assert_eq!(entered().await, 0);
        let grid = read(&teacher, GRID).await;
        assert_eq!(cell(&grid, "Ada Moreau", "Essay 1").1, "");
        assert_eq!(cell(&grid, "Quinn Adeyemi", "Essay 2").1, "81.5");
    }

    async fn nothing_is_written_if_a_cell_is_wrong(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let grid = read(&teacher, GRID).await;
        let (right, _) = cell(&grid, "Ada Moreau", "Essay 1");
        let (wrong, _) = cell(&grid, "Ada Moreau", "Essay 2");
        let (grade, _) = prompt(&grid, "Ada Moreau", "grade:");
        for (name, value) in [(&wrong, "many"), (&wrong, "-1"), (&wrong, "100.5"), (&grade, "Z")] {
            let form = [(right.as_str(), "50"), (name.as_str(), value)];
            let page = send(&teacher, &GRID.replace("json", "html"), &form).await;
            let page = page.expect(StatusCode::BAD_REQUEST).text();
            assert!(page.contains("Not accepted") && page.contains("value=\"50\""), "{value}: {page}");
            assert_eq!(read(&teacher, GRID).await, grid, "{value}");
        }
        let more = [(wrong.as_str(), "100.5"), ("more", "false"), ("more", "true")];
        send(&teacher, GRID, &more).await.expect(StatusCode::SEE_OTHER);
        assert_eq!(cell(&read(&teacher, GRID).await, "Ada Moreau", "Essay 2").1, "100.5");
    }

    async fn what_is_graded_elsewhere_and_the_classes_of_others_are_not_in_the_grid(app: TestApp) {
        let (teacher, assistant) = (app.user("instructor1").await, app.user("ta1").await);
        let grid = read(&teacher, GRID).await;
        let external = &row(&grid, "Ada Moreau")["cells"][column(&grid, "Essay: what is alive?")];
        assert_eq!(external, &json!({ "text": "44" }));
        let own = read(&assistant, GRID).await;
        let (all, few) = (grid["rows"].as_array(), own["rows"].as_array());
        assert!(few.is_some_and(|it| !it.is_empty()) && few.map(Vec::len) < all.map(Vec::len), "{own}");
        assert_eq!(own["columns"].as_array().and_then(|it| it.last()), Some(&json!("Course grade")));
        let (grade, _) = prompt(&grid, "Ada Moreau", "grade:");
        assistant.post(GRID, &json!({ grade.as_str(): "A" })).await.expect(StatusCode::OK);
        assert_eq!(read(&teacher, GRID).await, grid, "nobody sends what the own grid has not");
        app.user("student1").await.get(GRID).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_large_class_has_parts(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let grid = read(&teacher, &format!("{GRID}?_start=10&_limit=10")).await;
        let parts = grid["parts"].as_array().expect("parts").iter();
        let parts: Vec<_> = parts.map(|it| (text(it, "label"), it["isHere"] == true)).collect();
        assert_eq!(parts, [("Students 1 to 10".to_owned(), false), ("Students 11 to 20".to_owned(), true)]);
        assert_eq!(grid["rows"].as_array().map(Vec::len), Some(10));
    }

    async fn the_report_tells_what_made_the_course_grade(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let rows = report(&student, OWN).await;
        let find = |title: &str| {
            let found = rows.iter().find(|it| it.0 == title);
            found.unwrap_or_else(|| panic!("no {title}: {rows:?}")).1.clone()
        };
        assert_eq!(rows[0].0, "Course grade so far");
        assert_eq!(rows[0].1[0], "82.53 % B-");
        assert_eq!(find("Homework"), ["94.25 %", "30 %", "28.28", "The lowest is left out"]);
        let adds = ["Homework", "Labs", "Exams"].map(|it| find(it)[2].parse::<f64>().expect("a number"));
        assert!((adds.iter().sum::<f64>() - 82.53).abs() < 0.02, "{adds:?}");
        assert_eq!(find("Essay 1")[3], "Left out as the lowest; Well argued.");
        assert_eq!(find("Lab report: onion cells")[0], "Not graded yet");
        // Items that are not released are nobody's business but of those who grade.
        assert!(rows.iter().all(|it| it.0 != "Midterm exam"), "{rows:?}");
        let ada = row(&read(&teacher, GRID).await, "Ada Moreau")["path"].as_str().expect("a path").to_owned();
        let seen = report(&teacher, &format!("/direct{ada}.json")).await;
        assert!(seen.iter().any(|it| it.0 == "Midterm exam"), "{seen:?}");
        let user = read(&student, "/direct/user/current.json").await;
        let other = app.user("student2").await;
        let path = format!("/direct/gradebook/report/biology-101/{}.json", text(&user, "id"));
        student.get(&path).await.expect(StatusCode::OK);
        other.get(&path).await.expect(StatusCode::FORBIDDEN);
        teacher.get(OWN).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_table_is_looked_at_before_it_is_imported(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let sent = "Student ID;Essay 1\nstudent1;77,5\n";
        let import = "/direct/gradebook/import/biology-101";
        let form = [("csv", sent), ("preview", "false"), ("preview", "true")];
        let page = send(&teacher, import, &form).await;
        let page = page.expect(StatusCode::OK).text().to_owned();
        for shown in ["The table would change 1 score", "Ada Moreau", "94.25", "77.5", "Set these scores"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert_eq!(cell(&read(&teacher, GRID).await, "Ada Moreau", "Essay 1").1, "94.25");
        // What is wrong is told on the form, which comes back.
        let wrong = [("csv", "Student ID;Essay 1\nnobody;1\n"), ("preview", "true")];
        let page = send(&teacher, import, &wrong).await;
        let page = page.expect(StatusCode::BAD_REQUEST).text();
        assert!(page.contains("Line 2, column 1") && page.contains("nobody;1"), "{page}");
        send(&teacher, import, &[("csv", sent)]).await.expect(StatusCode::OK);
        assert_eq!(cell(&read(&teacher, GRID).await, "Ada Moreau", "Essay 1").1, "77.5");
    }

    async fn a_table_may_come_as_a_file(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let file = |bytes: &[u8]| {
            let head = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"grades.csv\"\r\n\r\n";
            [head.as_bytes(), bytes, b"\r\n--x--\r\n"].concat()
        };
        let path = "/direct/gradebook/import/biology-101.json";
        let send = async |client: &Client, bytes: &[u8]| {
            client.send(http::Method::POST, path, "multipart/form-data; boundary=x", file(bytes).into()).await
        };
        let sent = "\u{feff}Student ID,Essay 1\nstudent1,70\n".as_bytes();
        send(&app.user("student1").await, sent).await.expect(StatusCode::FORBIDDEN);
        send(&teacher, b"Student ID,Essay 1\nstudent1,\xff\n").await.expect(StatusCode::BAD_REQUEST);
        send(&teacher, sent).await.expect(StatusCode::OK);
        assert_eq!(cell(&read(&teacher, GRID).await, "Ada Moreau", "Essay 1").1, "70");
    }
}
