//! Copies of courses.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{list, read, text};

const COPY: &str = "/direct/site/biology-101/copy.json";
const DAYS: i64 = 364;

/// The values of a field, sorted.
async fn values(client: &Client, prefix: &str, site: &str, field: &str) -> Vec<String> {
    let name = match prefix {
        "assignment" | "assignment-submission" => "context",
        "sam_pub" => "ownerSiteId",
        _ => "siteId",
    };
    let path = format!("/direct/{prefix}.json?{name}={site}&_limit=200");
    let all = list(client, &path, prefix).await;
    let mut values: Vec<_> = all.iter().map(|it| it[field].to_string()).collect();
    values.sort();
    values
}

async fn work(client: &Client, site: &str) -> Value {
    let all = list(
        client,
        &format!("/direct/assignment/site/{site}.json"),
        "assignment",
    )
    .await;
    let found = all
        .iter()
        .find(|it| it["title"] == "Lab report: onion cells");
    found.expect("the assignment").clone()
}

both! {
    async fn what_was_prepared_is_in_the_copy_and_what_people_did_is_not(app: TestApp) {
        let teacher = app.user("instructor1").await;
        // A title may be the word that addresses have for the course.
        let item = json!({ "siteId": "biology-101", "name": "biology-101", "points": 5 });
        teacher.post("/direct/gradebook-item.json", &item).await.expect(StatusCode::CREATED);
        let sent = json!({ "title": "Biology 102", "days": DAYS });
        let answer = teacher.post(COPY, &sent).await;
        let made: Value = serde_json::from_str(answer.expect(StatusCode::OK).text()).expect("JSON");
        let site = text(&made, "id");
        assert_eq!((&made["title"], &made["published"]), (&json!("Biology 102"), &json!(false)));
        for (prefix, field) in [
            ("assignment", "title"),
            ("sam_pub", "title"),
            ("quiz-question", "text"),
            ("calendar", "title"),
            ("lessons", "lessonTitle"),
            ("lesson-item", "name"),
            ("syllabus", "title"),
            ("gradebook-item", "name"),
            ("gradebook-category", "name"),
            ("forums-topic", "title"),
            ("webcontent", "title"),
        ] {
            let before = values(&teacher, prefix, "biology-101", field).await;
            assert!(!before.is_empty(), "{prefix}");
            assert_eq!(values(&teacher, prefix, &site, field).await, before, "{prefix}");
        }
        for prefix in ["announcement", "assignment-submission", "gradebook-score", "quiz-attempt", "forums-message"] {
            assert_eq!(values(&teacher, prefix, &site, "id").await, Vec::<String>::new(), "{prefix}");
        }
        let (before, after) = (work(&teacher, "biology-101").await, work(&teacher, &site).await);
        let due = |it: &Value| it["dueTime"]["epochSecond"].as_i64().expect("an instant");
        assert_eq!(due(&after) - due(&before), DAYS * 24 * 60 * 60);
        let file = text(&after["attachments"][0], "url");
        assert!(file.contains(&format!("/attachment/{site}/")), "{file}");
        let (_, path) = file.split_once("/access/").expect("a path");
        teacher.get(&format!("/access/{path}")).await.expect(StatusCode::OK);
        let items = list(&teacher, &format!("/direct/gradebook-item.json?siteId={site}"), "gradebook-item").await;
        let item = items.iter().find(|it| it["name"] == after["title"]).expect("its item");
        assert_eq!(text(item, "externalReference"), format!("/assignment/{}", text(&after, "id")));
        // Nobody else is in it, and the groups are empty.
        let members = list(&teacher, &format!("/direct/membership/site/{site}.json"), "membership").await;
        assert_eq!(members.len(), 1);
        let groups = read(&teacher, &format!("/direct/site/{site}/groups.json")).await;
        assert_eq!(groups.as_array().map(Vec::len), Some(2));
        // Both go their own ways.
        let path = format!("/direct/assignment/{}.json", text(&after, "id"));
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(work(&teacher, "biology-101").await, before);
    }

    async fn who_looks_after_a_course_copies_it_and_nobody_else(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let sent = json!({ "title": "Mine" });
        app.user("student1").await.post(COPY, &sent).await.expect(StatusCode::FORBIDDEN);
        for wrong in [json!({}), json!({ "title": "x", "days": "soon" }), json!({ "title": "x", "days": 40_000 })] {
            teacher.post(COPY, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        let page = teacher.clone().with_header(http::header::ACCEPT, crate::direct::BROWSER);
        let page = page.get("/direct/site/biology-101.html").await;
        assert!(page.text().contains("Copy the course"), "{}", page.text());
    }
}
