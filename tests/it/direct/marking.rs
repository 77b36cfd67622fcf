//! Tables by which many are graded at once, and the page of one work.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{list, read, text};

/// The assignment, worth 100 points, and the table by which it is graded.
async fn report(client: &Client) -> (String, Value) {
    let all = list(
        client,
        "/direct/assignment/site/biology-101.json",
        "assignment",
    )
    .await;
    let found = all
        .iter()
        .find(|it| it["title"] == "Lab report: onion cells");
    let id = text(found.expect("the assignment of the demo"), "id");
    let table = read(client, &format!("/direct/assignment/{id}/marking.json")).await;
    (id, table)
}

/// The row of somebody.
pub(super) fn row<'a>(table: &'a Value, name: &str) -> &'a Value {
    let rows = table["rows"].as_array().expect("rows");
    let found = rows.iter().find(|it| it["title"] == name);
    found.expect("a row of a student")
}

/// The name of the prompt of a kind in the row of somebody, and what it holds.
pub(super) fn prompt(table: &Value, name: &str, kind: &str) -> (String, String) {
    let cells = row(table, name)["cells"].as_array().expect("cells");
    let prompts = cells.iter().map(|it| &it["prompt"]);
    let mut found = prompts.filter(|it| it["name"].as_str().is_some_and(|it| it.starts_with(kind)));
    let found = found.next().expect("a prompt");
    (text(found, "name"), text(found, "value"))
}

/// Sends a form as a browser does.
pub(super) async fn send(client: &Client, path: &str, form: &[(&str, &str)]) -> Answer {
    let browser = client
        .clone()
        .with_header(http::header::ACCEPT, super::BROWSER);
    browser.post_form(path, &super::form(form)).await
}

fn state(table: &Value, name: &str) -> String {
    let cell = &row(table, name)["cells"][1];
    let told = cell["state"]["text"].as_str().or(cell["text"].as_str());
    told.expect("a state").to_owned()
}

both! {
    async fn many_are_graded_and_returned_by_one_form(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, table) = report(&teacher).await;
        let (name, _) = prompt(&table, "Benjamin Osei", "grade:");
        let (comment, _) = prompt(&table, "Benjamin Osei", "comment:");
        let (missing, _) = prompt(&table, "Quinn Adeyemi", "grade:");
        assert_eq!(state(&table, "Benjamin Osei"), "To grade");
        let path = format!("/direct/assignment/{id}/marking.json");
        let form = [(name.as_str(), "87,5"), (comment.as_str(), "a < b"), (missing.as_str(), "0")];
        send(&teacher, &format!("{path}?return=true"), &form).await.expect(StatusCode::SEE_OTHER);
        let (_, table) = report(&teacher).await;
        for (who, grade) in [("Benjamin Osei", "87.5"), ("Quinn Adeyemi", "0"), ("Ada Moreau", "91")] {
            assert_eq!(prompt(&table, who, "grade:").1, grade);
            assert_eq!(state(&table, who), "Returned", "{who}");
        }
        assert_eq!(prompt(&table, "Benjamin Osei", "comment:").1, "a < b");
        assert_eq!(state(&table, "Carla Jiménez"), "Draft");
    }

    async fn nothing_is_graded_if_one_grade_is_wrong(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, table) = report(&teacher).await;
        let (one, _) = prompt(&table, "Benjamin Osei", "grade:");
        let (other, _) = prompt(&table, "Ada Moreau", "grade:");
        let path = format!("/direct/assignment/{id}/marking.json");
        for wrong in ["many", "-1", "101"] {
            let sent = json!({ one.as_str(): "50", other.as_str(): wrong });
            let answer = teacher.post(&path, &sent).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(answer.text().contains(&other), "{}", answer.text());
            assert_eq!(report(&teacher).await.1, table, "{wrong}");
        }
        let sent = json!({ other.as_str(): "101", "more": true });
        teacher.post(&path, &sent).await.expect(StatusCode::OK);
        assert_eq!(prompt(&report(&teacher).await.1, "Ada Moreau", "grade:").1, "101");
    }

    async fn who_ticks_that_more_is_meant_keeps_the_tick(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, table) = report(&teacher).await;
        let (ada, _) = prompt(&table, "Ada Moreau", "grade:");
        let path = format!("/direct/assignment/{id}/marking.html");
        let refused = send(&teacher, &path, &[(ada.as_str(), "101"), ("more", "false")]).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert!(refused.text().contains("tick the box"), "{}", refused.text());
        let ticked = [("more", "false"), ("more", "true")];
        let wrong = [(ada.as_str(), "lots")].into_iter().chain(ticked).collect::<Vec<_>>();
        let page = send(&teacher, &path, &wrong).await;
        page.expect(StatusCode::BAD_REQUEST);
        assert!(page.text().contains("name=\"more\" type=\"checkbox\" value=\"true\" checked"), "{}", page.text());
        let right = [(ada.as_str(), "101")].into_iter().chain(ticked).collect::<Vec<_>>();
        send(&teacher, &path, &right).await.expect(StatusCode::SEE_OTHER);
        let work = row(&table, "Ada Moreau")["path"].as_str().expect("a path").to_owned();
        let mark = [("grade", "102"), ("more", "false"), ("more", "true"), ("then", "stay")];
        send(&teacher, &format!("/direct{work}/mark.html"), &mark).await.expect(StatusCode::SEE_OTHER);
        let page = teacher.get(&format!("/direct{work}.html")).await.expect(StatusCode::OK).text().to_owned();
        assert!(page.contains(&format!("page-up\"><a href=\"/direct/assignment/{id}.html\"")), "{page}");
        assert_eq!(prompt(&report(&teacher).await.1, "Ada Moreau", "grade:").1, "102");
        // What no cell can show is left to the page of the work.
        let long = serde_json::json!({ "feedbackComment": "word ".repeat(500) });
        teacher.post(&format!("/direct{work}/mark.json"), &long).await.expect(StatusCode::OK);
        let (_, table) = report(&teacher).await;
        assert_eq!(row(&table, "Ada Moreau")["cells"][4]["text"], "Long: open the work");
    }

    async fn what_another_grader_wrote_meanwhile_is_not_taken_back(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, table) = report(&teacher).await;
        let (ada, _) = prompt(&table, "Ada Moreau", "grade:");
        let (ben, _) = prompt(&table, "Benjamin Osei", "grade:");
        let path = format!("/direct/assignment/{id}/marking.json");
        teacher.post(&path, &json!({ ada.as_str(): "70" })).await.expect(StatusCode::OK);
        // A form that was made before shows 91, and whoever sends it has touched Benjamin's grade only.
        let before = json!({ ada.as_str(): "91", ben.as_str(): "" }).to_string();
        let form = [(ada.as_str(), "91"), (ben.as_str(), "60"), ("before", before.as_str())];
        send(&teacher, &path, &form).await.expect(StatusCode::SEE_OTHER);
        let (_, table) = report(&teacher).await;
        assert_eq!((prompt(&table, "Ada Moreau", "grade:").1, prompt(&table, "Benjamin Osei", "grade:").1), ("70".into(), "60".into()));
        let form = [(ada.as_str(), "95"), ("before", before.as_str())];
        let page = send(&teacher, &path.replace("json", "html"), &form).await;
        let page = page.expect(StatusCode::BAD_REQUEST).text();
        assert!(page.contains("was changed in the meantime to “70”"), "{page}");
        assert!(page.contains("value=\"95\"") && page.contains("class=\"save\""), "{page}");
    }

    async fn work_that_is_handed_in_again_is_to_be_graded_again(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, table) = report(&teacher).await;
        assert_eq!(state(&table, "Ada Moreau"), "Graded");
        let text = json!({ "submittedText": "Better." });
        student.post(&format!("/direct/assignment/{id}/submit.json"), &text).await.expect(StatusCode::OK);
        let (_, table) = report(&teacher).await;
        assert_eq!(state(&table, "Ada Moreau"), "To grade again");
        // Returning all graded leaves it.
        let path = format!("/direct/assignment/{id}/marking.json?return=true");
        teacher.post(&path, &json!({})).await.expect(StatusCode::OK);
        assert_eq!(state(&report(&teacher).await.1, "Ada Moreau"), "To grade again");
        let work = row(&table, "Ada Moreau")["path"].as_str().expect("a path").to_owned();
        let mark = json!({ "grade": "91", "then": "return" });
        teacher.post(&format!("/direct{work}/mark.json"), &mark).await.expect(StatusCode::OK);
        assert_eq!(state(&report(&teacher).await.1, "Ada Moreau"), "Returned");
    }

    async fn one_work_leads_to_the_next_one_and_the_last_to_the_first(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, table) = report(&teacher).await;
        let path = |who: &str| row(&table, who)["path"].as_str().expect("a path").to_owned();
        let (ada, ben) = (path("Ada Moreau"), path("Benjamin Osei"));
        let next = read(&teacher, &format!("/direct{ada}/next.json")).await;
        assert_eq!(format!("/assignment-submission/{}", text(&next, "id")), ben);
        let last = read(&teacher, &format!("/direct{ben}/next.json")).await;
        assert_eq!(format!("/assignment-submission/{}", text(&last, "id")), ada);
        let form = [("grade", "64"), ("then", "next")];
        let answer = send(&teacher, &format!("/direct{ada}/mark.html"), &form).await;
        answer.expect(StatusCode::SEE_OTHER);
        assert!(answer.header("location").is_some_and(|it| it.ends_with(&format!("{ben}.html"))));
        let page = teacher.get(&format!("/direct/assignment/{id}.html")).await;
        let page = page.expect(StatusCode::OK).text();
        assert!(page.contains("value=\"64\"") && page.contains("Save and return all graded"), "{page}");
        let student = app.user("student1").await;
        let page = student.get(&format!("/direct/assignment/{id}.html")).await;
        let page = page.expect(StatusCode::OK).text();
        assert!(!page.contains("Save and return all graded"), "{page}");
    }
}
