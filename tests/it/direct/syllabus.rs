//! `/direct/syllabus`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, read, text};

const WHOLE: &str = "/direct/syllabus/site/biology-101";

async fn items(client: &Client, path: &str) -> Vec<Value> {
    let whole = read(client, path).await;
    whole["items"].as_array().expect("a list").clone()
}

fn titles(items: &[Value]) -> Vec<String> {
    items.iter().map(|it| text(it, "title")).collect()
}

fn item(title: &str) -> Value {
    json!({"siteId": "biology-101", "title": title})
}

both! {
    async fn an_item_stands_at_the_end_or_where_it_is_put(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let id = created(&teacher.post("/direct/syllabus", &item("The last week")).await, "syllabus");
        let all = items(&teacher, &format!("{WHOLE}.json")).await;
        assert_eq!(text(all.last().expect("an item"), "title"), "The last week");
        teacher.put(&format!("/direct/syllabus/{id}"), &json!({"order": -1})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(text(&items(&teacher, &format!("{WHOLE}.json")).await[0], "title"), "The last week");
    }

    async fn items_that_end_before_they_begin_are_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let mut turned = item("t");
        turned["startDate"] = json!("2026-12-02T00:00:00Z");
        turned["endDate"] = json!("2026-12-01T00:00:00Z");
        teacher.post("/direct/syllabus", &turned).await.expect(StatusCode::BAD_REQUEST);
        let mut last = item("at the end of all numbers");
        last["order"] = json!(i64::MAX);
        created(&teacher.post("/direct/syllabus", &last).await, "syllabus");
        created(&teacher.post("/direct/syllabus", &item("and one more")).await, "syllabus");
    }

    async fn the_tool_of_a_site_leads_to_its_items(app: TestApp) {
        let student = app.user("student1").await;
        let pages = read(&student, "/direct/site/biology-101/pages.json").await;
        let tools = pages.as_array().expect("a list").iter().map(|it| &it["tools"][0]);
        let tool = tools.into_iter().find(|it| it["toolId"] == "sakai.syllabus").expect("a tool");
        let path = text(tool, "url").replace("http://127.0.0.1:8080", "");
        let answer = student.get(&path).await;
        assert_eq!(answer.header("location"), Some("/direct/syllabus.html?siteId=biology-101"));
        student.get("/direct/syllabus.html?siteId=biology-101").await.expect(StatusCode::OK);
    }

    async fn a_syllabus_can_be_elsewhere(app: TestApp) {
        let (instructor, student) = (app.user("instructor1").await, app.user("student1").await);
        let path = "/direct/syllabus-redirect.json";
        let sent = json!({"siteId": "biology-101", "redirectUrl": "https://example.org/syllabus?a=1&b=2"});
        for wrong in ["javascript:alert(1)", "https://", "https://example.org/\"><script>", "example.org", ""] {
            let wrong = json!({"siteId": "biology-101", "redirectUrl": wrong});
            instructor.post(path, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        let id = created(&instructor.post(path, &sent).await, "syllabus-redirect");
        instructor.post(path, &sent).await.expect(StatusCode::CONFLICT);
        let whole = read(&student, &format!("{WHOLE}.json")).await;
        assert_eq!(whole["redirectUrl"], sent["redirectUrl"]);
        let alone = json!({"siteId": "field-trip", "redirectUrl": "http://example.org"});
        app.user("admin").await.post(path, &alone).await.expect(StatusCode::CREATED);
        let whole = read(&student, "/direct/syllabus/site/field-trip.json").await;
        assert_eq!((&whole["redirectUrl"], &whole["items"]), (&alone["redirectUrl"], &json!([])));
        instructor.delete(&format!("/direct/syllabus-redirect/{id}")).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{WHOLE}.json")).await["redirectUrl"], Value::Null);
    }

    async fn items_are_made_for_each_day_of_a_course(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let before = items(&instructor, &format!("{WHOLE}.json")).await.len();
        let path = "/direct/syllabus/bulk/biology-101.json";
        let sent = json!({"title": "Lab", "firstDate": "2026-12-01", "lastDate": "2026-12-10", "days": "TU,TH",
            "startTime": "10:15", "endTime": "11:45"});
        let made = instructor.post(path, &sent).await.expect(StatusCode::OK).json();
        assert_eq!(made["ids"].as_array().map(Vec::len), Some(4));
        let all = items(&instructor, &format!("{WHOLE}.json")).await;
        assert_eq!(titles(&all[before..]), ["Lab 1", "Lab 2", "Lab 3", "Lab 4"]);
        assert_eq!(all[before]["startDate"], 1_796_120_100_000_i64);
        assert_eq!(all[before]["endDate"], 1_796_125_500_000_i64);
        for (name, value) in [("days", "someday"), ("firstDate", "2026-12-32"), ("lastDate", "2026-11-01"), ("lastDate", "2199-01-01"),
            ("startTime", "25:00"), ("endTime", "09:00"), ("title", ""), ("lastDate", "+99999-01-01")] {
            let mut wrong = sent.clone();
            wrong[name] = json!(value);
            instructor.post(path, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        assert_eq!(items(&instructor, &format!("{WHOLE}.json")).await.len(), before + 4);
    }
}
