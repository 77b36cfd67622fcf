//! `GET /api/users/{userId}/sites`: which tools have something new.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::sites::sites;

/// The tools with alerts, each behind its site.
async fn alerts(client: &Client) -> Vec<String> {
    let mut found = Vec::new();
    for site in sites(client, "/api/users/me/sites").await {
        let tools = site["tools"].as_array().expect("a list").iter();
        let told = tools.filter(|it| it["hasAlerts"] == true);
        let name = |it: &Value| it.as_str().expect("a text").to_owned();
        found.extend(told.map(|it| format!("{} {}", name(&site["siteId"]), name(&it["id"]))));
    }
    found
}

both! {
    async fn a_tool_has_alerts_while_its_list_of_notifications_has_unviewed_ones(app: TestApp) {
        const ALERT: &str = "biology-101 sakai.announcements";
        let (author, student) = (app.user("instructor1").await, app.user("student1").await);
        let viewed = async |query: &str| {
            let path = format!("/api/users/me/notifications/markViewed{query}");
            student.post(&path, &json!({})).await.expect(StatusCode::OK);
        };
        let change = async |path: &str, fields: Value| {
            author.put(path, &fields).await.expect(StatusCode::NO_CONTENT);
            app.service().catch_up().await.expect("it follows");
        };
        assert_eq!(alerts(&student).await, [ALERT], "of the announcements of the demo");
        viewed("?siteId=history-210").await;
        assert_eq!(alerts(&student).await, [ALERT]);
        viewed("").await;
        assert!(alerts(&student).await.is_empty());

        // What is hidden alerts nobody, and does so when it is shown, until it is hidden again.
        let draft = json!({"siteId": "biology-101", "title": "Not finished", "draft": true});
        let made = author.post("/direct/announcement.json", &draft).await.expect(StatusCode::CREATED).json();
        let path = format!("/direct{}", made["entityReference"].as_str().expect("a reference"));
        app.service().catch_up().await.expect("it follows");
        assert!(alerts(&student).await.is_empty());
        change(&path, json!({"draft": false})).await;
        assert_eq!(alerts(&student).await, [ALERT]);
        change(&path, json!({"draft": true})).await;
        assert!(alerts(&student).await.is_empty());
        change(&path, json!({"draft": false})).await;
        assert_eq!(alerts(&student).await, [ALERT]);

        // However many hidden ones are newer.
        for _ in 0..51 {
            author.post("/direct/announcement.json", &draft).await.expect(StatusCode::CREATED);
        }
        app.service().catch_up().await.expect("it follows");
        assert_eq!(alerts(&student).await, [ALERT]);

        // They are the caller's own, and nobody else's.
        let of_student = sites(&app.user("admin").await, "/api/users/student1/sites").await;
        let tools = of_student.iter().flat_map(|it| it["tools"].as_array().expect("a list"));
        assert!(tools.clone().count() > 0 && tools.clone().all(|it| it["hasAlerts"] == false));
        author.delete(&path).await.expect(StatusCode::NO_CONTENT);
        app.service().catch_up().await.expect("it follows");
        assert!(alerts(&student).await.is_empty());
    }
}
