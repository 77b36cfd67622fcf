//! Errors below `/direct`: the same facts in every format.

use http::header::ACCEPT;
use http::{Method, StatusCode};
use roxmltree::Document;
use serde_json::{Value, json};
use tests::{Answer, TestApp, above_storage};

use super::{FORM, JSON, XML};
use crate::shape::{assert_same, is_instant};

const UNKNOWN: &str = "/direct/site/nowhere";

/// Fails unless `answer` is an error in JSON, whole.
#[track_caller]
fn assert_error(answer: &Answer, status: StatusCode) {
    answer.expect(status);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    let error = &body["error"];
    let mut names: Vec<_> = error.as_object().expect("an object").keys().collect();
    names.retain(|it| *it != "fields");
    assert_eq!(names, ["status", "message", "timestamp", "requestId"]);
    assert!(is_instant(error["timestamp"].as_str().unwrap_or_default()));
    assert_eq!(error["status"], status.as_str());
    assert_eq!(error["requestId"].as_str(), answer.header("x-request-id"));
}

above_storage! {
    async fn an_error_is_an_object_with_status_message_and_time(app: TestApp) {
        let student = app.user("student1").await;
        for (path, status) in [
            (UNKNOWN, StatusCode::NOT_FOUND),
            ("/direct/nothing", StatusCode::NOT_FOUND),
            ("/direct/site/biology-101/nothing", StatusCode::NOT_FOUND),
            ("/nothing", StatusCode::NOT_FOUND),
            ("/direct/site/history-210", StatusCode::FORBIDDEN),
            ("/direct/site?nonsense=1", StatusCode::BAD_REQUEST),
            ("/direct/site?_limit=-1", StatusCode::BAD_REQUEST),
            ("/direct/site/", StatusCode::BAD_REQUEST),
            ("/direct//site", StatusCode::BAD_REQUEST),
            ("/direct/site/%zz", StatusCode::BAD_REQUEST),
            ("/direct/site/..%2fuser", StatusCode::BAD_REQUEST),
        ] {
            assert_error(&student.get(path).await, status);
        }
        assert_error(&app.anonymous().get(UNKNOWN).await, StatusCode::UNAUTHORIZED);
    }

    async fn an_unknown_parameter_is_named(app: TestApp) {
        let answer = app.user("student1").await.get("/direct/site?nonsense=1").await;
        assert_eq!(answer.json()["error"]["fields"][0]["name"], "nonsense");
    }

    async fn an_error_is_told_in_xml(app: TestApp) {
        let answer = app.user("student1").await.get("/direct/site/nowhere.xml").await;
        answer.expect(StatusCode::NOT_FOUND);
        let document = Document::parse(answer.text()).expect("well-formed XML");
        let root = document.root_element();
        assert!(root.has_tag_name("error"));
        let text = |name: &str| {
            let child = root.children().find(|it| it.has_tag_name(name));
            child.and_then(|it| it.text()).unwrap_or_default().to_owned()
        };
        assert_eq!(text("status"), "404");
        assert!(!text("message").is_empty() && is_instant(&text("timestamp")));
    }

    async fn an_error_is_told_as_a_page(app: TestApp) {
        let browser = app.user("student1").await.with_header(ACCEPT, "text/html");
        let answer = browser.get(UNKNOWN).await;
        answer.expect(StatusCode::NOT_FOUND);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let page = answer.text();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Status 404"), "{page}");
    }

    async fn readers_of_feeds_are_told_errors_in_json(app: TestApp) {
        let student = app.user("student1").await;
        for extension in ["atom", "rss"] {
            let answer = student.get(&format!("/direct/announcement/site/nowhere.{extension}")).await;
            assert_error(&answer, StatusCode::NOT_FOUND);
        }
    }

    async fn an_error_is_told_as_rfc_9457_to_those_who_ask_for_it(app: TestApp) {
        let client = app.user("student1").await.with_header(ACCEPT, "application/problem+json");
        let answer = client.get("/direct/site?nonsense=1").await;
        answer.expect(StatusCode::BAD_REQUEST);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!((&problem["status"], &problem["title"]), (&json!(400), &json!("Bad Request")));
        assert!(problem["detail"].is_string() && problem["fields"][0]["name"] == "nonsense");
    }

    async fn a_body_of_another_kind_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for media_type in ["text/plain", "multipart/form-data; boundary=x"] {
            let answer = teacher.send(Method::POST, "/direct/announcement", media_type, "{}".into()).await;
            assert_error(&answer, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    }

    async fn a_malformed_body_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (media_type, body) in [
            (JSON, "{"),
            (JSON, "[]"),
            (JSON, r#"{"title": 5}"#),
            (JSON, r#"{"title":"x","title":"y"}"#),
            (XML, "<announcement>"),
            (XML, "<!DOCTYPE a [<!ENTITY b \"c\">]><announcement><title>&b;</title></announcement>"),
            (FORM, "title=%zz"),
            (FORM, "title=%ff"),
        ] {
            let answer = teacher.send(Method::POST, "/direct/announcement", media_type, body.into()).await;
            assert_error(&answer, StatusCode::BAD_REQUEST);
        }
    }

    async fn a_body_that_is_too_large_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (media_type, bytes) in [(JSON, (1 << 20) + 1), (FORM, (1 << 16) + 1)] {
            let body = "x".repeat(bytes);
            let answer = teacher.send(Method::POST, "/direct/announcement", media_type, body.into()).await;
            assert_error(&answer, StatusCode::PAYLOAD_TOO_LARGE);
        }
    }

    async fn a_format_that_is_not_offered_is_406(app: TestApp) {
        let student = app.user("student1").await;
        let picky = student.clone().with_header(ACCEPT, "image/png");
        assert_error(&picky.get("/direct/site").await, StatusCode::NOT_ACCEPTABLE);
        for path in ["/direct/membership.atom", "/direct/user/current.rss", "/direct/site/biology-101/pages.atom"] {
            assert_error(&student.get(path).await, StatusCode::NOT_ACCEPTABLE);
        }
    }

    async fn all_wrong_fields_are_named_at_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": 5, "nonsense": true, "highlight": "perhaps"});
        let answer = teacher.post("/direct/announcement", &body).await;
        assert_error(&answer, StatusCode::BAD_REQUEST);
        let error = answer.json()["error"].take();
        let fields = error["fields"].as_array().expect("a list").iter();
        let mut names = fields.map(|it| it["name"].clone()).collect::<Vec<_>>();
        names.sort_by_key(Value::to_string);
        assert_eq!(names, ["highlight", "nonsense", "title"]);
        let as_xml = teacher.send(Method::POST, "/direct/announcement.xml", JSON, body.to_string().into()).await;
        as_xml.expect(StatusCode::BAD_REQUEST);
        let fields = json!({"status": "400", "fields": error["fields"]});
        assert_same(as_xml.text(), &fields);
    }
}
