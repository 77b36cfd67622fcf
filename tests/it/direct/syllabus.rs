//! `/direct/syllabus`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, list, read, text};
use crate::shape::{METADATA, assert_same, assert_shape};

const WHOLE: &str = "/direct/syllabus/site/biology-101";
const ITEM: &str =
    "title text, data text, order whole, startDate whole?, endDate whole?, attachments list";
const ENTITY: &str =
    "id text, siteId text, draft flag, createdBy text, createdOn whole, modifiedOn whole";

async fn items(client: &Client, path: &str) -> Vec<Value> {
    let whole = read(client, path).await;
    assert_shape(&whole, &["siteId text, redirectUrl text?, items list"]);
    whole["items"].as_array().expect("a list").clone()
}

fn titles(items: &[Value]) -> Vec<String> {
    items.iter().map(|it| text(it, "title")).collect()
}

fn item(title: &str) -> Value {
    json!({"siteId": "biology-101", "title": title})
}

both! {
    async fn the_whole_has_the_keys_that_clients_read(app: TestApp) {
        for eid in ["student1", "instructor1"] {
            let client = app.user(eid).await;
            let items = items(&client, &format!("{WHOLE}.json")).await;
            for it in &items {
                assert_shape(it, &[ITEM]);
            }
            let orders: Vec<_> = items.iter().map(|it| it["order"].as_i64()).collect();
            assert!(orders.is_sorted());
            let file = &items[0]["attachments"][0];
            assert_shape(file, &["title text, url text, type text"]);
            assert_eq!(file["title"], "reading-list.pdf");
            assert!(items.iter().any(|it| it["startDate"].is_i64() && it["endDate"].is_i64()));
            let xml = client.get(&format!("{WHOLE}.xml")).await;
            let xml = xml.expect(StatusCode::OK).text();
            for it in ["<siteId>biology-101</siteId>", "<title>Cell membranes</title>", "reading-list.pdf"] {
                assert!(xml.contains(it), "{it} in {xml}");
            }
            client.get(&format!("{WHOLE}.html")).await.expect(StatusCode::OK);
        }
    }

    async fn what_is_not_there_or_closed_is_not_found(app: TestApp) {
        for (eid, path) in [
            ("student1", "/direct/syllabus/site/none.json"),
            ("student1", "/direct/syllabus/site/history-210.json"),
            ("student1", "/direct/syllabus/site/field-trip.json"),
            ("instructor2", "/direct/syllabus/site/biology-101.json"),
        ] {
            app.user(eid).await.get(path).await.expect(StatusCode::NOT_FOUND);
        }
        app.anonymous().get(WHOLE).await.expect(StatusCode::UNAUTHORIZED);
        app.user("student1").await.get("/direct/syllabus/site").await.expect(StatusCode::BAD_REQUEST);
    }

    async fn t3_drafts_are_for_those_who_write_the_syllabus(app: TestApp) {
        const DRAFT: &str = "Excursion to the salt marsh";
        for (eid, sees) in [("student1", false), ("ta1", true), ("instructor1", true)] {
            let client = app.user(eid).await;
            let whole = titles(&items(&client, &format!("{WHOLE}.json")).await);
            assert_eq!(whole.iter().any(|it| it == DRAFT), sees, "{eid}");
            let listed = list(&client, "/direct/syllabus.json?siteId=biology-101", "syllabus").await;
            assert_eq!(titles(&listed), whole, "{eid}");
            let feed = client.get("/direct/syllabus.atom?siteId=biology-101").await;
            assert_eq!(feed.expect(StatusCode::OK).text().contains(DRAFT), sees, "{eid}");
        }
    }

    async fn an_item_is_an_entity(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for it in list(&teacher, "/direct/syllabus.json?siteId=biology-101", "syllabus").await {
            assert_shape(&it, &[ITEM, ENTITY, METADATA]);
        }
        let id = created(&teacher.post("/direct/syllabus", &item("The last week")).await, "syllabus");
        let path = format!("/direct/syllabus/{id}");
        let one = read(&teacher, &path).await;
        let xml = teacher.get(&format!("{path}.xml")).await;
        assert_same(xml.expect(StatusCode::OK).text(), &one);
        let all = items(&teacher, &format!("{WHOLE}.json")).await;
        assert_eq!(text(all.last().expect("an item"), "title"), "The last week");
        teacher.put(&path, &json!({"order": -1, "draft": true})).await.expect(StatusCode::NO_CONTENT);
        let all = items(&teacher, &format!("{WHOLE}.json")).await;
        assert_eq!(text(&all[0], "title"), "The last week");
        app.user("student1").await.get(&path).await.expect(StatusCode::NOT_FOUND);
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn students_write_nothing(app: TestApp) {
        let student = app.user("student1").await;
        student.post("/direct/syllabus", &item("Mine")).await.expect(StatusCode::FORBIDDEN);
        let all = list(&student, "/direct/syllabus.json?siteId=biology-101", "syllabus").await;
        let path = format!("/direct/syllabus/{}", text(&all[0], "id"));
        student.put(&path, &json!({"title": "Mine"})).await.expect(StatusCode::FORBIDDEN);
        student.delete(&path).await.expect(StatusCode::FORBIDDEN);
    }

    async fn out_1_the_text_is_made_harmless(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let mut evil = item("<b>x</b>");
        evil["data"] = json!("<p onclick='x()'>kept<script>alert(1)</script><svg/onload=x></p>");
        let id = created(&teacher.post("/direct/syllabus", &evil).await, "syllabus");
        let one = read(&teacher, &format!("/direct/syllabus/{id}")).await;
        assert_eq!(one["data"], "<p>kept</p>");
        for path in [format!("/direct/syllabus/{id}.html"), format!("{WHOLE}.html")] {
            let page = teacher.get(&path).await;
            assert!(!page.expect(StatusCode::OK).text().contains("<b>x"), "{path}");
        }
    }

    async fn hostile_items_are_refused_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (name, value) in [
            ("title", json!("")), ("title", json!(7)), ("title", json!("x".repeat(300))), ("data", json!(["x"])),
            ("order", json!("last")), ("order", json!(1.5)), ("order", json!(1e300)), ("startDate", json!("soon")),
            ("startDate", json!("9999999999999999999999")), ("endDate", json!({})), ("draft", json!("maybe")),
            ("attachments", json!("x")), ("attachments", json!([{"name": "x", "url": "javascript:alert(1)"}])),
            ("nonsense", json!(1)),
        ] {
            let mut hostile = item("t");
            hostile[name] = value.clone();
            let answer = teacher.post("/direct/syllabus", &hostile).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let told = answer.json()["error"]["fields"][0]["name"].take();
            assert!(told.as_str().is_some_and(|it| it.starts_with(name)), "{value}: {}", answer.text());
        }
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
        student.post(path, &sent).await.expect(StatusCode::FORBIDDEN);
        for wrong in ["javascript:alert(1)", "https://", "https://example.org/\"><script>", "example.org", ""] {
            let wrong = json!({"siteId": "biology-101", "redirectUrl": wrong});
            instructor.post(path, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        let id = created(&instructor.post(path, &sent).await, "syllabus-redirect");
        instructor.post(path, &sent).await.expect(StatusCode::CONFLICT);
        let whole = read(&student, &format!("{WHOLE}.json")).await;
        assert_eq!(whole["redirectUrl"], sent["redirectUrl"]);
        let entity = read(&student, &format!("/direct/syllabus-redirect/{id}.json")).await;
        assert_shape(&entity, &["id text, siteId text, redirectUrl text, modifiedOn whole, entityReference text, entityURL url, entityId text"]);
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
        app.user("student1").await.post(path, &sent).await.expect(StatusCode::FORBIDDEN);
    }
}
