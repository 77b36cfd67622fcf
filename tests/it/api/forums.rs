//! `GET /api/users/me/forums` and `GET /api/sites/{siteId}/forums/summary`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use crate::shape::assert_shape;

const MINE: [&str; 2] = ["/api/users/me/forums", "/api/users/current/forums/summary"];
const OF_SITE: &str = "/api/sites/biology-101/forums/summary";
const SHAPE: &str = "messageCount whole, forumCount whole, siteId text, siteTitle text, siteUrl text, forumUrl text";

async fn read(client: &Client, path: &str) -> Value {
    client.get(path).await.expect(StatusCode::OK).json()
}

both! {
    async fn what_is_new_in_forums_is_counted_by_site(app: TestApp) {
        let student = app.user("student1").await;
        for path in MINE {
            let body = read(&student, path).await;
            assert_shape(&body, &["forums list, sites list"]);
            let all = body["forums"].as_array().expect("a list");
            let sites: Vec<_> = all.iter().map(|it| &it["siteId"]).collect();
            assert_eq!(sites, ["biology-101"]);
            assert_shape(&all[0], &[SHAPE]);
            assert_eq!(all[0]["messageCount"], 0);
            // Two answers, one lost coat and what the exam is about. What waits for approval and what is behind a first
            // answer does not count.
            assert_eq!(all[0]["forumCount"], 4);
            for url in ["siteUrl", "forumUrl"] {
                student.get(all[0][url].as_str().expect("a path")).await;
            }
            for site in body["sites"].as_array().expect("a list") {
                assert_shape(site, &["siteId text, title text"]);
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

    async fn what_is_not_there_or_closed_is_refused(app: TestApp) {
        let student = app.user("student1").await;
        for (path, status) in [
            ("/api/sites/nowhere/forums/summary", StatusCode::NOT_FOUND),
            ("/api/sites/history-210/forums/summary", StatusCode::FORBIDDEN),
        ] {
            student.get(path).await.expect(status);
        }
        for path in MINE.into_iter().chain([OF_SITE]) {
            app.anonymous().get(path).await.expect(StatusCode::UNAUTHORIZED);
        }
    }
}
