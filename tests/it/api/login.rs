//! `POST /api/login`

use http::header::SET_COOKIE;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Answer, TestApp, both};

use crate::shape::is_instant;

const PATH: &str = "/api/login";
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

tests::app_with! {
    /// The service, where the body of an answer has no id of a session.
    WithoutId, [("login.bodySessionId", "omit")]
}

async fn post(app: &TestApp, media_type: &str, body: &str) -> Answer {
    app.anonymous()
        .send(Method::POST, PATH, media_type, body.to_owned().into())
        .await
}

fn form(username: &str) -> String {
    format!("username={username}&password={PASSWORD}")
}

#[track_caller]
fn assert_error(answer: &Answer, status: StatusCode) {
    answer.expect(status);
    let error = answer.json()["error"].take();
    assert_eq!(error["status"], status.as_str());
    assert!(!error["message"].as_str().unwrap_or_default().is_empty());
    assert!(is_instant(error["timestamp"].as_str().unwrap_or_default()));
    assert_eq!(answer.header(SET_COOKIE), None);
}

both! {
    async fn a_request_without_a_body_lacks_both(app: TestApp) {
        for path in [PATH, "/direct/session"] {
            let request = app.anonymous().try_request(Method::POST, path, None).await;
            assert_error(&request.expect("an answer"), StatusCode::BAD_REQUEST);
        }
    }

    async fn a_login_and_a_logout_come_in_the_envelope_on_request(app: TestApp) {
        let path = format!("{PATH}?envelope=true");
        let client = app.anonymous();
        let by_form = client.post_form(&path, &form("student1")).await;
        let by_json = client.post(&path, &json!({"username": "student1", "password": PASSWORD})).await;
        let logout = app.user("student1").await.post_form("/api/logout?envelope=true", "").await;
        for answer in [&by_form, &by_json, &logout] {
            answer.expect(StatusCode::OK);
            assert_eq!(answer.json()["status"], "success");
            assert!(is_instant(answer.json()["timestamp"].as_str().unwrap_or_default()));
            assert!(answer.header(SET_COOKIE).is_some());
        }
        assert_eq!(by_form.json()["data"]["displayName"], "Ada Moreau");
        assert!(by_json.json()["data"].is_string());
        assert_eq!(logout.json()["data"]["status"], "success");
        assert_error(&client.post_form(&path, "username=student1&password=wrong").await, StatusCode::UNAUTHORIZED);
    }

    async fn a_form_is_answered_with_an_object(app: TestApp) {
        let answer = post(&app, FORM, &form("student1")).await;
        answer.expect(StatusCode::OK);
        let result = answer.json();
        assert_eq!((&result["status"], &result["displayName"]), (&json!("success"), &json!("Ada Moreau")));
        let names: Vec<_> = result.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["status", "userId", "sessionId", "displayName", "csrfToken"]);
        let expected = format!("JSESSIONID={}.svc; ", result["sessionId"].as_str().expect("an id"));
        assert!(answer.header(SET_COOKIE).expect("a cookie").starts_with(&expected));
    }

    async fn json_is_answered_with_the_bare_session_id(app: TestApp) {
        let body = json!({"username": "student1", "password": PASSWORD}).to_string();
        let answer = post(&app, JSON, &body).await;
        answer.expect(StatusCode::OK);
        let id = answer.json();
        let expected = format!("JSESSIONID={}.svc; ", id.as_str().expect("a text"));
        assert!(answer.header(SET_COOKIE).expect("a cookie").starts_with(&expected));
    }

    async fn the_cookie_is_for_the_browser_session_and_out_of_reach_of_scripts(app: TestApp) {
        let answer = post(&app, FORM, &form("student1")).await;
        let cookie = answer.header(SET_COOKIE).expect("a cookie");
        let attributes = cookie.split("; ").skip(1).collect::<Vec<_>>();
        assert!(attributes.contains(&"Path=/") && attributes.contains(&"HttpOnly"), "{cookie}");
        for absent in ["Expires", "Max-Age", "Domain", "Secure"] {
            assert!(!attributes.iter().any(|it| it.starts_with(absent)), "{cookie}");
        }
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }

    async fn an_e_mail_address_is_a_name_too(app: TestApp) {
        let answer = post(&app, FORM, &form("student1%40example.edu")).await;
        assert_eq!(answer.expect(StatusCode::OK).json()["displayName"], "Ada Moreau");
    }

    async fn a_blank_name_or_password_in_a_form_is_an_error_object(app: TestApp) {
        for body in [
            "", "username=student1", "password=x", "username=&password=x", "username=+%09&password=x",
            "username=student1&password=", "username=student1&password=++", "user=student1&pass=x",
        ] {
            assert_error(&post(&app, FORM, body).await, StatusCode::BAD_REQUEST);
        }
    }

    async fn a_blank_name_or_password_in_json_is_a_text(app: TestApp) {
        for body in [
            "{}", r#"{"username":"student1"}"#, r#"{"username":"","password":"x"}"#,
            r#"{"username":" ","password":"x"}"#, r#"{"username":null,"password":null}"#,
        ] {
            let answer = post(&app, JSON, body).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json(), "username and password are required");
            assert_eq!(answer.header(SET_COOKIE), None);
        }
    }

    async fn a_malformed_body_is_refused(app: TestApp) {
        for body in ["username=%zz&password=x", "username=a&username=b&password=x", "username=%ff&password=x"] {
            assert_error(&post(&app, FORM, body).await, StatusCode::BAD_REQUEST);
        }
        for body in ["", "{", "[]", r#"{"username":1,"password":"x"}"#] {
            let answer = post(&app, JSON, body).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(matches!(answer.json(), Value::String(_)), "{body}");
        }
    }

    async fn another_kind_of_body_is_refused(app: TestApp) {
        for media_type in ["text/plain", "application/xml", "multipart/form-data; boundary=x"] {
            let answer = post(&app, media_type, &form("student1")).await;
            assert_error(&answer, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    }

    async fn a_body_that_is_too_large_is_refused(app: TestApp) {
        let body = format!("username=x&password={}", "x".repeat(8192));
        assert_error(&post(&app, FORM, &body).await, StatusCode::PAYLOAD_TOO_LARGE);
    }

    async fn a_wrong_password_and_an_unknown_name_look_the_same(app: TestApp) {
        let mut messages = Vec::new();
        for (media_type, body) in [
            (FORM, "username=student1&password=wrong"),
            (FORM, "username=nobody&password=wrong"),
            (JSON, r#"{"username":"student1","password":"wrong"}"#),
            (JSON, r#"{"username":"nobody","password":"wrong"}"#),
        ] {
            let answer = post(&app, media_type, body).await;
            assert_error(&answer, StatusCode::UNAUTHORIZED);
            messages.push(answer.json()["error"]["message"].clone());
        }
        messages.dedup();
        assert_eq!(messages.len(), 1, "{messages:?}");
    }

    async fn a_shut_account_looks_like_a_wrong_password(app: TestApp) {
        let admin = app.user("admin").await;
        let id = app.user("student1").await.get("/direct/user/current").await.json()["id"].take();
        let path = format!("/direct/user/{}", id.as_str().expect("an id"));
        let answer = admin.put(&path, &json!({"disabled": true})).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_error(&post(&app, FORM, &form("student1")).await, StatusCode::UNAUTHORIZED);
    }

    async fn credentials_in_the_address_are_refused(app: TestApp) {
        let path = format!("{PATH}?{}", form("student1"));
        let answer = app.anonymous().post_form(&path, "").await;
        assert_error(&answer, StatusCode::BAD_REQUEST);
    }

    async fn each_login_has_a_new_id_and_ends_the_session_before(app: TestApp) {
        let before = app.user("student1").await;
        let answer = before.post_form(PATH, &form("student1")).await;
        let cookie = answer.expect(StatusCode::OK).header(SET_COOKIE).expect("a cookie");
        assert!(!cookie.starts_with(before.cookie().expect("a cookie")));
        before.get("/api/user/roles").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn other_methods_are_not_taken(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.get(PATH).await;
        assert_error(&answer, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("allow"), Some("POST, OPTIONS"));
    }

    async fn no_answer_tells_the_session_id_where_it_is_to_be_omitted(app: WithoutId) {
        let app = app.0;
        let by_form = post(&app, FORM, &form("student1")).await;
        let by_json = post(&app, JSON, &json!({"username": "student1", "password": PASSWORD}).to_string()).await;
        let fields = form("student1").replace("username", "_username").replace("password=", "_password=");
        let by_session = app.anonymous().post_form("/direct/session", &fields).await;
        for answer in [&by_form, &by_json, &by_session] {
            assert!(answer.status.is_success());
            let cookie = answer.header(SET_COOKIE).expect("a cookie");
            let id = cookie.split(['=', '.']).nth(1).expect("an id");
            assert!(!answer.text().contains(id));
            let has_id = |value: &http::HeaderValue| value.as_bytes().windows(id.len()).any(|it| it == id.as_bytes());
            assert!(answer.headers.iter().all(|(name, value)| name == SET_COOKIE || !has_id(value)));
        }
        assert_eq!(by_form.json().get("sessionId"), None);
        assert_eq!(by_json.json().as_str(), by_json.header("x-sakai-session"));
        assert_eq!(Some(by_session.text()), by_session.header("x-sakai-session"));
    }
}
