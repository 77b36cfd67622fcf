//! `GET /api/users/me/forums` and `GET /api/sites/{siteId}/forums/summary`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const MINE: [&str; 2] = ["/api/users/me/forums", "/api/users/current/forums/summary"];
const OF_SITE: &str = "/api/sites/biology-101/forums/summary";

async fn read(client: &Client, path: &str) -> Value {
    client.get(path).await.expect(StatusCode::OK).json()
}

both! {
    async fn what_is_new_in_forums_is_counted_by_site(app: TestApp) {
        let student = app.user("student1").await;
        for path in MINE {
            let body = read(&student, path).await;
            let all = body["forums"].as_array().expect("a list");
            let sites: Vec<_> = all.iter().map(|it| &it["siteId"]).collect();
            assert_eq!(sites, ["biology-101"]);
            assert_eq!(all[0]["messageCount"], 0);
            // Two answers, one lost coat and what the exam is about. What waits for approval and what is behind a first
            // answer does not count.
            assert_eq!(all[0]["forumCount"], 4);
            for url in ["siteUrl", "forumUrl"] {
                student.get(all[0][url].as_str().expect("a path")).await;
            }
        }
        let of_site = read(&student, OF_SITE).await;
        assert_eq!(of_site["forums"][0], read(&student, MINE[0]).await["forums"][0]);
        // The teacher sees all seven, and wrote two.
        let teacher = app.user("instructor1").await;
        assert_eq!(read(&teacher, OF_SITE).await["forums"][0]["forumCount"], 5);
    }

    async fn a_site_without_news_is_left_out(app: TestApp) {
        let student = app.user("student1").await;
        let forums = student.get("/direct/forums-topic.json?siteId=biology-101").await.json();
        for topic in forums["forums-topic_collection"].as_array().expect("a list") {
            let path = format!("/direct/forums-topic/{}/read", topic["id"]);
            student.post(&path, &json!({})).await.expect(StatusCode::OK);
        }
        assert_eq!(read(&student, OF_SITE).await, json!({"forums": []}));
        assert_eq!(read(&student, MINE[0]).await["forums"], json!([]));
    }
}
