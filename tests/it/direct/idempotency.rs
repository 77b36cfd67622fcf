//! `Idempotency-Key`: what is sent twice is done once.

use chrono::TimeDelta;
use http::{HeaderName, StatusCode};
use serde_json::json;
use tests::{Client, TestApp, both};
use tokio::task::JoinSet;

use super::{created, list};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const NEWS: &str = "/direct/announcement";

async fn titles(client: &Client, title: &str) -> usize {
    let all = list(
        client,
        "/direct/announcement/site/biology-101.json",
        "announcement",
    )
    .await;
    all.iter().filter(|it| it["title"] == title).count()
}

both! {
    async fn the_first_result_is_answered_again(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "\"k1\"");
        let body = json!({"siteId": "biology-101", "title": "Once"});
        let first = keyed.post(NEWS, &body).await;
        created(&first, "announcement");
        assert_eq!(first.header("idempotency-replayed"), None);
        let again = keyed.post(NEWS, &body).await;
        again.expect(StatusCode::CREATED);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.body, first.body);
        for name in ["location", "entityid", "etag", "content-type"] {
            assert_eq!(again.header(name), first.header(name), "{name}");
        }
        assert_eq!(titles(&teacher, "Once").await, 1);
    }

    async fn another_request_with_the_same_key_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "k2");
        let body = json!({"siteId": "biology-101", "title": "Once"});
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        let other = json!({"siteId": "biology-101", "title": "Twice"});
        keyed.post(NEWS, &other).await.expect(StatusCode::UNPROCESSABLE_ENTITY);
        keyed.post(&format!("{NEWS}/new"), &body).await.expect(StatusCode::UNPROCESSABLE_ENTITY);
        // Keys are each user's own.
        let other = app.user("ta1").await.with_header(KEY, "k2");
        assert_ne!(other.post(NEWS, &body).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }

    async fn a_failure_may_be_tried_again_and_a_day_later_all_is_forgotten(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "k3");
        keyed.post(NEWS, &json!({"siteId": "biology-101"})).await.expect(StatusCode::BAD_REQUEST);
        let body = json!({"siteId": "biology-101", "title": "Once"});
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        app.advance(TimeDelta::hours(25));
        let teacher = app.user("instructor1").await;
        teacher.clone().with_header(KEY, "k3").post(NEWS, &body).await.expect(StatusCode::CREATED);
        assert_eq!(titles(&teacher, "Once").await, 2);
    }

    async fn a_key_is_one_text(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": "Once"});
        for key in ["", "\"\"", "x".repeat(256).as_str()] {
            let keyed = teacher.clone().with_header(KEY, key);
            keyed.post(NEWS, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        let twice = teacher.clone().with_header(KEY, "a").with_header(KEY, "b");
        twice.post(NEWS, &body).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(titles(&teacher, "Once").await, 0);
    }

    async fn a_storm_of_retries_does_it_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "storm");
        let mut storm = JoinSet::new();
        for _ in 0..16 {
            let keyed = keyed.clone();
            let body = json!({"siteId": "biology-101", "title": "Storm"});
            storm.spawn(async move { keyed.post(NEWS, &body).await });
        }
        let answers = storm.join_all().await;
        let first = created(&answers[0], "announcement");
        for answer in &answers {
            assert_eq!(created(answer, "announcement"), first);
        }
        assert_eq!(titles(&teacher, "Storm").await, 1);
    }
}
