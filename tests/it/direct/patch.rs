//! `PATCH`: documents that tell a difference, and headers that say how a write is to be carried out.

use bytes::Bytes;
use http::header::{ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, LAST_MODIFIED};
use http::{HeaderName, Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{FORM, JSON, created, read};

const MERGE: &str = "application/merge-patch+json";
const OPERATIONS: &str = "application/json-patch+json";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const NEWS: &str = "/direct/announcement";

async fn patch(client: &Client, path: &str, media_type: &str, body: &Value) -> Answer {
    let body = Bytes::from(body.to_string());
    client.send(Method::PATCH, path, media_type, body).await
}

async fn announcement(client: &Client, title: &str) -> String {
    let file = json!({"name": "map.pdf", "url": "https://example.org/map.pdf"});
    let body =
        json!({"siteId": "biology-101", "title": title, "body": "<p>x</p>", "attachments": [file]});
    let answer = client.post(NEWS, &body).await;
    format!("{NEWS}/{}", created(&answer, "announcement"))
}

both! {
    async fn a_merge_patch_changes_what_it_names(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "Before").await;
        for media_type in [MERGE, JSON] {
            let body = json!({"title": "After", "highlight": true});
            patch(&teacher, &path, media_type, &body).await.expect(StatusCode::NO_CONTENT);
            let after = read(&teacher, &path).await;
            assert_eq!((&after["title"], &after["highlight"]), (&json!("After"), &json!(true)));
            assert_eq!(after["attachments"].as_array().map(Vec::len), Some(1));
            patch(&teacher, &path, media_type, &json!({"highlight": null, "title": "Before"})).await;
            assert_eq!(read(&teacher, &path).await["highlight"], Value::Null);
        }
        let refused = patch(&teacher, &path, MERGE, &json!({"title": null})).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert_eq!(refused.json()["error"]["fields"][0]["name"], "title");
        patch(&teacher, &path, MERGE, &json!({"nonsense": 1})).await.expect(StatusCode::BAD_REQUEST);
        patch(&teacher, &path, MERGE, &json!([1])).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn operations_change_what_they_point_at(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "Before").await;
        let second = json!({"name": "plan.pdf", "url": "https://example.org/plan.pdf"});
        let body = json!([
            {"op": "test", "path": "/title", "value": "Before"},
            {"op": "replace", "path": "/title", "value": "After"},
            {"op": "add", "path": "/attachments/0", "value": second},
        ]);
        patch(&teacher, &path, OPERATIONS, &body).await.expect(StatusCode::NO_CONTENT);
        let after = read(&teacher, &path).await;
        assert_eq!(after["title"], "After");
        assert_eq!(after["attachments"][0]["name"], "plan.pdf");
        assert_eq!(after["attachments"][1]["name"], "map.pdf");
        // The test no longer holds, so that nothing of the rest is done.
        patch(&teacher, &path, OPERATIONS, &body).await.expect(StatusCode::CONFLICT);
        assert_eq!(read(&teacher, &path).await["attachments"].as_array().map(Vec::len), Some(2));
        let read_only = json!([{"op": "replace", "path": "/siteId", "value": "history-210"}]);
        let refused = patch(&teacher, &path, OPERATIONS, &read_only).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert_eq!(refused.json()["error"]["fields"][0]["name"], "siteId");
    }

    async fn only_patch_documents_patch_and_only_where_something_is(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "News").await;
        for media_type in [FORM, "application/xml", "text/plain"] {
            let answer = patch(&teacher, &path, media_type, &json!({})).await;
            answer.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        for method in [Method::PUT, Method::POST] {
            let answer = teacher.send(method, &path, OPERATIONS, Bytes::from("[]")).await;
            answer.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        patch(&teacher, NEWS, MERGE, &json!({})).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        patch(&teacher, "/direct/announcement/none", MERGE, &json!({})).await.expect(StatusCode::NOT_FOUND);
        let options = teacher.send(Method::OPTIONS, &path, JSON, Bytes::new()).await;
        assert!(options.header("allow").is_some_and(|it| it.contains("PATCH")));
        assert_eq!(options.header("accept-patch"), Some("application/merge-patch+json, application/json-patch+json"));
        let student = app.user("student1").await;
        patch(&student, &path, MERGE, &json!({"title": "x"})).await.expect(StatusCode::FORBIDDEN);
        patch(&app.anonymous(), &path, MERGE, &json!({"title": "x"})).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_lost_race_is_told_the_present_version(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "News").await;
        let tag = teacher.get(&path).await.header(ETAG).map(ToOwned::to_owned).expect("a version");
        let first = teacher.clone().with_header(IF_MATCH, &tag);
        patch(&first, &path, MERGE, &json!({"title": "One"})).await.expect(StatusCode::NO_CONTENT);
        let lost = patch(&first, &path, MERGE, &json!({"title": "Two"})).await;
        lost.expect(StatusCode::PRECONDITION_FAILED);
        let now = teacher.get(&path).await;
        assert_eq!(now.json()["title"], "One");
        assert_eq!(lost.header(ETAG), now.header(ETAG));
    }

    async fn x16_dates_guard_as_tags_do_when_their_second_is_over(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "News").await;
        assert_eq!(teacher.get(&path).await.header(LAST_MODIFIED), None, "it may change again in this second");
        let now = app.service().now().format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        teacher.clone().with_header(IF_MODIFIED_SINCE, &now).get(&path).await.expect(StatusCode::OK);
        let dated = teacher.clone().with_header(IF_UNMODIFIED_SINCE, &now);
        patch(&dated, &path, MERGE, &json!({"title": "One"})).await.expect(StatusCode::PRECONDITION_FAILED);
        app.advance(chrono::TimeDelta::seconds(2));
        let since = teacher.get(&path).await.header(LAST_MODIFIED).map(ToOwned::to_owned);
        let since = since.expect("a date");
        assert_eq!(since, now);
        teacher.clone().with_header(IF_MODIFIED_SINCE, &since).get(&path).await.expect(StatusCode::NOT_MODIFIED);
        let dated = teacher.clone().with_header(IF_UNMODIFIED_SINCE, &since);
        patch(&dated, &path, MERGE, &json!({"title": "One"})).await.expect(StatusCode::NO_CONTENT);
        patch(&dated, &path, MERGE, &json!({"title": "Two"})).await.expect(StatusCode::PRECONDITION_FAILED);
        teacher.clone().with_header(IF_MODIFIED_SINCE, &since).get(&path).await.expect(StatusCode::OK);
    }

    async fn a_strict_client_is_told_what_would_be_left_out(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "News").await;
        let sent = json!({"title": "x", "createdBy": "somebody", "entityId": "y"});
        teacher.put(&path, &sent).await.expect(StatusCode::NO_CONTENT);
        let strict = teacher.clone().with_header(PREFER, "handling=strict");
        let refused = strict.put(&path, &sent).await;
        refused.expect(StatusCode::BAD_REQUEST);
        let json = refused.json();
        let names: Vec<_> = json["error"]["fields"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
        assert_eq!(names, ["createdBy", "entityId"]);
        let answer = strict.put(&path, &json!({"title": "y"})).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(answer.header("preference-applied"), Some("handling=strict"));
    }

    async fn a_dry_run_answers_and_keeps_nothing(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher, "News").await;
        let rows = || async { read(&teacher, "/direct/announcement/site/biology-101.json").await };
        let before = rows().await;
        let dry = teacher.clone().with_header(PREFER, "tx=rollback, return=representation");
        let answer = dry.post(NEWS, &json!({"siteId": "biology-101", "title": "Dry"})).await;
        let id = created(&answer, "announcement");
        assert_eq!(answer.json()["title"], "Dry");
        let applied: Vec<_> = answer.headers.get_all("preference-applied").iter().collect();
        assert_eq!(applied, ["tx=rollback", "return=representation"]);
        teacher.get(&format!("{NEWS}/{id}")).await.expect(StatusCode::NOT_FOUND);
        let answer = dry.put(&path, &json!({"title": "Other"})).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json()["title"], "Other");
        dry.delete(&path).await.expect(StatusCode::NO_CONTENT);
        dry.put(&path, &json!({"title": ""})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(rows().await, before);
    }

    async fn what_can_not_be_answered_is_not_done(app: TestApp) {
        let admin = app.user("admin").await;
        let body = json!({"eid": "newcomer", "password": "correct horse battery"});
        admin.post("/direct/user.atom", &body).await.expect(StatusCode::NOT_ACCEPTABLE);
        admin.get("/direct/user/newcomer.json").await.expect(StatusCode::NOT_FOUND);
        admin.post("/direct/user.json", &body).await.expect(StatusCode::CREATED);
    }
}
