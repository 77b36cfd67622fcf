//! The audit log tells of every request what its client was told, once.

use axum::body::Body;
use http::header::{ACCEPT, AUTHORIZATION, ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderName, Method, Request, StatusCode};
use serde_json::json;
use server::base::address::Peer;
use tests::app::PASSWORD;
use tests::{Answer, Client, TestApp, both};

use tests::rows::audited;

use crate::direct::news;

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const NEWS: &str = "/direct/announcement";
const PAGES: &str = "text/html,*/*;q=0.8";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

fn id(answer: &Answer) -> &str {
    let id = answer.header("x-request-id");
    id.expect("every answer has the request's id")
}

/// Asserts that the log has one row of the request, with this status.
async fn assert_told(app: &TestApp, answer: &Answer, status: StatusCode) {
    answer.expect(status);
    let rows = audited(app, id(answer)).await;
    let is_told = rows.len() == 1 && rows[0].ends_with(&format!(" {}", status.as_u16()));
    assert!(is_told, "{status}: {rows:?}");
}

/// Makes one.
async fn made(teacher: &Client, title: &str) -> String {
    let answer = teacher.post(NEWS, &news(title)).await;
    let id = answer.expect(StatusCode::CREATED).header("EntityId");
    format!("{NEWS}/{}", id.expect("an id"))
}

tests::app_with! {
    /// The service, where passwords may come with each request.
    WithBasic, [("auth.basic", "true")]
}

both! {
    async fn a_login_and_a_logout_are_told_as_they_are_answered(app: TestApp) {
        let stranger = app.anonymous();
        let browser = app.anonymous().with_header(ACCEPT, PAGES);
        for (client, path, names, password, status) in [
            (&stranger, "/api/login", ["username", "password"], PASSWORD, StatusCode::OK),
            (&stranger, "/api/login", ["username", "password"], "wrong", StatusCode::UNAUTHORIZED),
            (&stranger, "/api/login", ["username", "password"], "", StatusCode::BAD_REQUEST),
            (&stranger, "/direct/session", ["_username", "_password"], PASSWORD, StatusCode::CREATED),
            (&stranger, "/direct/session", ["_username", "_password"], "wrong", StatusCode::FORBIDDEN),
            (&browser, "/direct/session", ["_username", "_password"], PASSWORD, StatusCode::SEE_OTHER),
        ] {
            let [name, secret] = names;
            let form = format!("{name}=student1&{secret}={password}");
            assert_told(&app, &client.post_form(path, &form).await, status).await;
        }
        let body = json!({"username": "student1", "password": PASSWORD});
        assert_told(&app, &stranger.post("/api/login", &body).await, StatusCode::OK).await;
        let student = app.user("student1").await;
        assert_told(&app, &student.post_form("/api/logout", "").await, StatusCode::OK).await;
        assert_told(&app, &student.post_form("/api/logout", "").await, StatusCode::UNAUTHORIZED).await;
        let student = app.user("student1").await;
        let ended = student.delete("/direct/session/current").await;
        assert_told(&app, &ended, StatusCode::NO_CONTENT).await;
        let browser = app.user("student1").await.with_header(ACCEPT, PAGES);
        let ended = browser.post_form("/direct/session/current", "_method=DELETE").await;
        assert_told(&app, &ended, StatusCode::SEE_OTHER).await;
    }

    async fn a_refused_password_in_a_header_is_told(app: WithBasic) {
        let mut guess = Request::get("/direct/user/current.json")
            .header(AUTHORIZATION, "Basic c3R1ZGVudDE6d3Jvbmc=")
            .body(Body::empty())
            .expect("a request");
        // Over the network it would have to be encrypted.
        guess.extensions_mut().insert(Peer(([127, 0, 0, 1], 4000).into()));
        let answer = app.0.anonymous().try_send(guess).await.expect("an answer");
        assert_told(&app.0, &answer, StatusCode::UNAUTHORIZED).await;
    }

    async fn a_write_is_told_as_it_is_answered(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let browser = teacher.clone().with_header(ACCEPT, PAGES);
        let whole = teacher.clone().with_header(PREFER, "return=representation");
        let dry = teacher.clone().with_header(PREFER, "tx=rollback");
        let keyed = teacher.clone().with_header(KEY, "k");
        let path = made(&teacher, "One").await;
        let form = "siteId=biology-101&title=Two";
        let patch = |it: &Client| {
            let (client, path) = (it.clone(), path.clone());
            let body = r#"{"title": "Three"}"#;
            async move { client.send(Method::PATCH, &path, "application/merge-patch+json", body.into()).await }
        };
        let title = json!({"title": "Four"});
        for (answer, status) in [
            (teacher.post(NEWS, &news("Two")).await, StatusCode::CREATED),
            (teacher.post_form(NEWS, form).await, StatusCode::CREATED),
            (browser.post_form(NEWS, form).await, StatusCode::SEE_OTHER),
            (dry.post(NEWS, &news("Two")).await, StatusCode::CREATED),
            (keyed.post(NEWS, &news("Two")).await, StatusCode::CREATED),
            (keyed.post(NEWS, &news("Two")).await, StatusCode::CREATED),
            (keyed.post(NEWS, &news("Other")).await, StatusCode::UNPROCESSABLE_ENTITY),
            (teacher.put(&path, &title).await, StatusCode::NO_CONTENT),
            (whole.put(&path, &title).await, StatusCode::OK),
            (dry.put(&path, &title).await, StatusCode::NO_CONTENT),
            (patch(&teacher).await, StatusCode::NO_CONTENT),
            (patch(&whole).await, StatusCode::OK),
            (browser.post_form(&path, "title=Five").await, StatusCode::SEE_OTHER),
            (browser.post_form(&path, "title=").await, StatusCode::BAD_REQUEST),
            (teacher.put(&path, &json!({"nonsense": 1})).await, StatusCode::BAD_REQUEST),
            (teacher.clone().with_header(IF_MATCH, "\"0\"").put(&path, &title).await, StatusCode::PRECONDITION_FAILED),
            (teacher.send(Method::PUT, &path, "text/plain", "x".into()).await, StatusCode::UNSUPPORTED_MEDIA_TYPE),
            (app.user("student1").await.put(&path, &title).await, StatusCode::FORBIDDEN),
            (app.anonymous().put(&path, &title).await, StatusCode::UNAUTHORIZED),
            (teacher.put("/direct/announcement/none", &title).await, StatusCode::NOT_FOUND),
            (teacher.put(NEWS, &title).await, StatusCode::METHOD_NOT_ALLOWED),
            (teacher.put("/direct/session/current", &json!({})).await, StatusCode::NO_CONTENT),
            (teacher.delete(&path).await, StatusCode::NO_CONTENT),
            (teacher.delete(&path).await, StatusCode::NOT_FOUND),
            (browser.post_form(&made(&teacher, "Six").await, "_method=DELETE").await, StatusCode::SEE_OTHER),
            (app.user("student1").await.post("/direct/feed", &json!({"path": "/announcement/user"})).await, StatusCode::CREATED),
        ] {
            assert_told(&app, &answer, status).await;
        }
    }

    async fn a_read_is_told_as_it_is_answered(app: TestApp) {
        let student = app.user("student1").await;
        let path = "/direct/site/biology-101.json";
        let tag = student.get(path).await.header(ETAG).expect("a version").to_owned();
        for (answer, status) in [
            (student.get(path).await, StatusCode::OK),
            (student.clone().with_header(IF_NONE_MATCH, &tag).get(path).await, StatusCode::NOT_MODIFIED),
            (student.get("/direct/site/none.json").await, StatusCode::NOT_FOUND),
            (student.get("/direct/batch.json?_refs=batch").await, StatusCode::BAD_REQUEST),
            (student.get("/nowhere").await, StatusCode::NOT_FOUND),
            (student.get("/api/user/roles").await, StatusCode::OK),
            (app.anonymous().get("/api/user/roles").await, StatusCode::UNAUTHORIZED),
        ] {
            assert_told(&app, &answer, status).await;
        }
    }

    async fn each_operation_of_a_batch_is_told_as_it_is_answered(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = made(&teacher, "One").await;
        let operations = json!([
            {"method": "POST", "path": "announcement", "body": news("Two")},
            {"method": "PUT", "path": path, "body": {"title": "Three"}},
            {"method": "PUT", "path": format!("{path}.json"), "body": {"title": "Four"}, "headers": {"Prefer": "return=representation"}},
            {"method": "GET", "path": "user/current"},
            {"method": "DELETE", "path": path},
        ]);
        let expected = |batch: u16| {
            let mut rows = vec![
                "POST /direct/announcement 201".to_owned(),
                format!("PUT {path} 204"),
                format!("PUT {path}.json 200"),
                "GET /direct/user/current 200".to_owned(),
                format!("DELETE {path} 204"),
                format!("POST /direct/batch.json {batch}"),
            ];
            rows.sort();
            rows
        };
        let dry = teacher.clone().with_header(PREFER, "tx=rollback");
        for client in [&dry, &teacher] {
            let body = json!({"atomic": true, "operations": operations});
            let answer = client.post("/direct/batch.json", &body).await;
            answer.expect(StatusCode::OK);
            assert_eq!(audited(&app, id(&answer)).await, expected(200));
        }
        // On their own, with what is no longer there.
        let answer = teacher.post("/direct/batch.json", &json!({"operations": operations})).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let rows = audited(&app, id(&answer)).await;
        let mut told: Vec<String> = answer.json()["results"].as_array().expect("results").iter()
            .map(|it| it["status"].to_string())
            .chain(["207".to_owned()])
            .collect();
        told.sort();
        let mut statuses: Vec<_> = rows.iter().filter_map(|it| it.rsplit(' ').next()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, told, "{rows:?}");
    }

    async fn of_a_batch_that_was_given_up_what_failed_is_told(app: TestApp) {
        let student = app.user("student1").await;
        let body = json!({"atomic": true, "operations": [
            {"method": "POST", "path": "feed", "body": {"path": "/announcement/user"}},
            {"method": "GET", "path": "user/current"},
            {"method": "POST", "path": "announcement", "body": news("Mine")},
            {"method": "GET", "path": "site"},
        ]});
        let answer = student.post("/direct/batch.json", &body).await;
        answer.expect(StatusCode::FORBIDDEN);
        let expected = [
            "GET /direct/user/current 200",
            "POST /direct/announcement 403",
            "POST /direct/batch.json 403",
        ];
        assert_eq!(audited(&app, id(&answer)).await, expected);
    }

    async fn each_reference_of_a_batch_is_told_as_it_is_answered(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let form = "siteId=biology-101&ref0.title=One";
        let path = "/direct/batch.json?_refs=announcement,announcement/new";
        let answer = teacher.send(Method::POST, path, FORM, form.into()).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let expected = [
            "POST /direct/announcement 201",
            "POST /direct/announcement/new 400",
            "POST /direct/batch.json 207",
        ];
        assert_eq!(audited(&app, id(&answer)).await, expected);
        let answer = teacher.send(Method::POST, path, JSON, "{}".into()).await;
        assert_told(&app, &answer, StatusCode::UNSUPPORTED_MEDIA_TYPE).await;
    }
}
