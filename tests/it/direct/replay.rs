//! Stored responses of an `Idempotency-Key` are replayed to nobody who could not send the request now.

use chrono::TimeDelta;
use http::{HeaderName, StatusCode};
use serde_json::json;
use tests::{Answer, Client, TestApp, both};

use super::created;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const PREFER: HeaderName = HeaderName::from_static("prefer");
const NEWS: &str = "/direct/announcement";
const BATCH: &str = "/direct/batch.json";
const WORD: &str = "Wolpertinger";

/// Gives students of `site` these rights, or takes them away.
async fn let_students(app: &TestApp, site: &str, rights: &serde_json::Value) {
    let admin = app.user("admin").await;
    let answer = admin
        .post(&format!("/direct/site/{site}/setPerms"), rights)
        .await;
    answer.expect(StatusCode::OK);
}

/// A student of those who may announce.
async fn student(app: &TestApp) -> Client {
    let rights = json!({"Student:annc.new": true, "Student:annc.revise.any": true, "Student:annc.delete.any": true});
    let_students(app, "biology-101", &rights).await;
    app.user("student1").await
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

both! {
    async fn authz_8_a_replay_tells_nothing_to_somebody_who_lost_the_right(app: TestApp) {
        let keyed = student(&app).await.with_header(KEY, "replay");
        let news = json!({"siteId": "biology-101", "title": WORD});
        let first = keyed.post(NEWS, &news).await;
        assert!(first.expect(StatusCode::CREATED).text().contains(WORD));
        let again = keyed.post(NEWS, &news).await;
        assert!(is_replayed(&again) && again.body == first.body);
        // What others may elsewhere is another matter.
        let_students(&app, "history-210", &json!({"Student:annc.new": true})).await;
        let again = keyed.post(NEWS, &news).await;
        assert!(is_replayed(&again) && again.body == first.body, "{}", again.text());

        let_students(&app, "biology-101", &json!({"Student:annc.new": false})).await;
        let refused = keyed.post(NEWS, &news).await;
        assert!(!refused.expect(StatusCode::FORBIDDEN).text().contains(WORD));
        assert_eq!(refused.header("entityid"), None);
        // With the right, the answer comes back: it was done once.
        let_students(&app, "biology-101", &json!({"Student:annc.new": true})).await;
        let again = keyed.post(NEWS, &news).await;
        assert!(is_replayed(&again) && again.body == first.body);

        let admin = app.user("admin").await;
        admin.put("/direct/user/student1", &json!({"disabled": true})).await;
        let refused = keyed.post(NEWS, &news).await;
        assert!(!refused.expect(StatusCode::UNAUTHORIZED).text().contains(WORD));
    }

    async fn authz_8_of_what_is_gone_a_replay_tells_only_how_it_went(app: TestApp) {
        let keyed = student(&app).await.with_header(KEY, "replay").with_header(PREFER, "return=representation");
        let teacher = app.user("instructor1").await;
        let news = json!({"siteId": "biology-101", "title": "Boots"});
        let made = created(&teacher.post(NEWS, &news).await, "announcement");
        let path = format!("{NEWS}/{made}");
        let change = json!({"title": WORD});
        let first = keyed.post(&path, &change).await;
        assert!(first.expect(StatusCode::OK).text().contains(WORD));
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        let_students(&app, "history-210", &json!({"Student:annc.new": true})).await;
        let again = keyed.post(&path, &change).await;
        again.expect(StatusCode::OK);
        assert!(is_replayed(&again) && again.body.is_empty(), "{}", again.text());
        assert_eq!(again.header("content-type"), None);
    }

    async fn authz_8_a_batch_tells_only_how_it_went_once_permissions_changed(app: TestApp) {
        let student = student(&app).await;
        let keyed = student.clone().with_header(KEY, "references");
        let form = format!("siteId=biology-101&title={WORD}");
        let references = format!("{BATCH}?_refs=announcement,announcement");
        let first_references = keyed.post_form(&references, &form).await;
        first_references.expect(StatusCode::OK);
        let mut first = Vec::new();
        let batch = |is_atomic: bool| json!({"atomic": is_atomic, "operations": [
            {"method": "POST", "path": "announcement", "body": {"siteId": "biology-101", "title": WORD}},
            {"method": "GET", "path": "announcement/site/biology-101"},
        ]});
        for is_atomic in [true, false] {
            let keyed = student.clone().with_header(KEY, &format!("batch {is_atomic}"));
            let answer = keyed.post(BATCH, &batch(is_atomic)).await;
            assert!(answer.expect(StatusCode::OK).text().contains(WORD));
            let again = keyed.post(BATCH, &batch(is_atomic)).await;
            assert!(is_replayed(&again) && again.body == answer.body);
            first.push((keyed, answer));
        }
        let_students(&app, "biology-101", &json!({"Student:annc.new": false, "Student:annc.read": false})).await;
        for (is_atomic, (keyed, first)) in [true, false].into_iter().zip(first) {
            let again = keyed.post(BATCH, &batch(is_atomic)).await;
            assert!(is_replayed(&again) && !again.text().contains(WORD), "{}", again.text());
            let (first, again) = (first.json(), again.json());
            for (index, status) in [(0, 201), (1, 200)] {
                assert_eq!(again["results"][index]["status"], status);
                assert!(again["results"][index]["data"].is_null(), "{again}");
            }
            let id = |it: &serde_json::Value| it["results"][0]["headers"]["entityid"].clone();
            assert_eq!(id(&again), id(&first), "{again}");
        }
        let again = keyed.post_form(&references, &form).await;
        assert!(is_replayed(&again) && !again.text().contains(WORD), "{}", again.text());
        assert_eq!(again.json()["ref1"]["status"], 201);
    }

    async fn how_long_results_are_kept_is_a_setting(app: KeptForAnHour) {
        let app = app.0;
        let news = json!({"siteId": "biology-101", "title": WORD});
        // Sessions end before an hour is over.
        let send = async || {
            let keyed = app.user("instructor1").await.with_header(KEY, "hour");
            let answer = keyed.post(NEWS, &news).await;
            is_replayed(answer.expect(StatusCode::CREATED))
        };
        assert!(!send().await);
        app.advance(TimeDelta::minutes(59));
        assert!(send().await);
        app.advance(TimeDelta::minutes(2));
        assert!(!send().await);
    }
}

tests::app_with! {
    /// A service that keeps results for an hour.
    KeptForAnHour, [("retention.idempotency", "1h")]
}
