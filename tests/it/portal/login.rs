//! `POST /portal/xlogin` and `/portal/relogin`.

use http::header::{ACCEPT, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderName, Method, StatusCode};
use serde_json::json;
use tests::app::PASSWORD;
use tests::rows::{audited, databases, texts};
use tests::{Answer, Client, TestApp, above_storage};

use super::{FORM, assert_page};

const PATHS: [&str; 2] = ["/portal/xlogin", "/portal/relogin"];
const PASSWORD_FIELD: &str = "<input name=\"pw\" type=\"password\"";

fn form(eid: &str, password: &str) -> String {
    format!("eid={eid}&pw={password}")
}

/// Asserts that the answer is the form to log in, and begins no session.
#[track_caller]
fn assert_form(answer: &Answer, status: StatusCode) {
    answer.expect(status);
    assert_page(
        answer,
        &[
            PASSWORD_FIELD,
            "<input name=\"eid\"",
            "action=\"/portal/xlogin\"",
        ],
    );
    assert_eq!(answer.header(SET_COOKIE), None);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

tests::app_with! {
    /// A service with little patience.
    Impatient, [("login.accountFailures", "2")]
}

tests::app_with! {
    /// A service that asks for tokens.
    WithTokens, [("csrf.mode", "token")]
}

above_storage! {
    async fn a_login_leads_to_the_start_page_with_the_cookie(app: TestApp) {
        for path in PATHS {
            let answer = app.anonymous().post_form(path, &form("student1", PASSWORD)).await;
            answer.expect(StatusCode::FOUND);
            assert_eq!(answer.header(LOCATION), Some("/portal"));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            let cookie = answer.header(SET_COOKIE).expect("a cookie");
            assert!(cookie.starts_with("JSESSIONID=") && cookie.contains("HttpOnly"), "{cookie}");
            let pair = cookie.split(';').next().unwrap_or_default();
            let client = app.anonymous().with_header(http::header::COOKIE, pair);
            let session = client.get("/direct/session/current.json").await.json();
            assert_eq!(session["userEid"], "student1");
            assert_page(client.get("/portal").await.expect(StatusCode::OK), &["My sites"]);
        }
    }

    async fn a_login_leads_back_to_the_page_from_which_one_came(app: TestApp) {
        let browser = app.anonymous().with_header(ACCEPT, "text/html");
        let refused = browser.get("/direct/assignment/site/biology-101.html?_limit=5").await;
        let page = refused.expect(StatusCode::UNAUTHORIZED).text();
        let link = "/portal/xlogin?to=%2Fdirect%2Fassignment%2Fsite%2Fbiology-101.html%3F_limit%3D5";
        assert!(page.contains(link), "{page}");
        let to = "value=\"/direct/assignment/site/biology-101.html?_limit=5\"";
        assert_page(browser.get(link).await.expect(StatusCode::OK), &[to]);
        for (to, expected) in [
            ("%2Fdirect%2Fsite.html%3F_limit%3D5", "/direct/site.html?_limit=5"),
            ("%2Faccess%2Fcontent%2Fgroup%2Fa", "/access/content/group/a"),
            ("%2F%2Fevil.example%2Fdirect%2F", "/portal"),
            ("https%3A%2F%2Fevil.example%2F", "/portal"),
            ("%2F%5Cevil.example", "/portal"),
            ("%2Fdirect%2F%5C", "/portal"),
            ("%2Fdirect%2Fa%0D%0Ab", "/portal"),
            ("%2Fportal%2Fxlogin", "/portal"),
            ("%2Fportal%2Flogout", "/portal"),
            ("%2Fdirect%2Fsession%2Fnew.html", "/portal"),
            ("", "/portal"),
        ] {
            let sent = format!("{}&to={to}", form("student1", PASSWORD));
            let answer = app.anonymous().post_form("/portal/xlogin", &sent).await;
            assert_eq!(answer.expect(StatusCode::FOUND).header(LOCATION), Some(expected), "{to}");
            let sent = format!("{}&to={to}", form("student1", "not-this-one"));
            let again = app.anonymous().post_form("/portal/xlogin", &sent).await;
            assert_eq!(again.text().contains("name=\"to\""), expected != "/portal", "{to}");
        }
    }

    async fn a_wrong_password_is_answered_with_the_form(app: TestApp) {
        for path in PATHS {
            for eid in ["student1", "nobody", "%22%3E%3Cscript%3E"] {
                let answer = app.anonymous().post_form(path, &form(eid, "not-this-one")).await;
                assert_form(&answer, StatusCode::OK);
                assert!(!answer.text().contains("not-this-one"));
                assert_eq!(answer.text().matches("<script").count(), 1, "but that of all pages");
            }
        }
    }

    async fn whatever_the_client_accepts_it_is_the_form(app: TestApp) {
        for accept in ["text/html", "*/*", "application/json"] {
            let client = app.anonymous().with_header(ACCEPT, accept);
            assert_form(&client.post_form(PATHS[0], &form("student1", "wrong")).await, StatusCode::OK);
            assert_form(&client.get("/portal").await, StatusCode::OK);
            assert_form(&client.get("/portal/").await, StatusCode::OK);
            assert_form(&client.get(PATHS[0]).await, StatusCode::OK);
        }
    }

    async fn auth_1_blank_or_doubled_fields_are_a_bad_request(app: TestApp) {
        for body in [
            "", "eid=student1", "pw=x", "eid=&pw=x", "eid=+&pw=x", "eid=student1&pw=++",
            "eid=a&eid=b&pw=x", "eid=student1&pw=%zz", "eid=%ff&pw=x",
        ] {
            assert_form(&app.anonymous().post_form(PATHS[0], body).await, StatusCode::BAD_REQUEST);
        }
        let empty = app.anonymous().send(Method::POST, PATHS[0], "text/plain", "".into()).await;
        assert_form(&empty, StatusCode::BAD_REQUEST);
    }

    async fn auth_5_only_a_form_of_usual_size_is_read(app: TestApp) {
        let stranger = app.anonymous();
        let body = json!({"eid": "student1", "pw": PASSWORD}).to_string();
        let answer = stranger.send(Method::POST, PATHS[0], "application/json", body.into()).await;
        answer.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let large = form("student1", &"x".repeat(9000));
        stranger.post_form(PATHS[0], &large).await.expect(StatusCode::PAYLOAD_TOO_LARGE);
        let in_query = format!("{}?{}", PATHS[0], form("student1", PASSWORD));
        assert_form(&stranger.post_form(&in_query, "").await, StatusCode::BAD_REQUEST);
        assert_form(&stranger.post_form(&in_query, &form("student1", PASSWORD)).await, StatusCode::BAD_REQUEST);
        stranger.put(PATHS[0], &json!({})).await.expect(StatusCode::METHOD_NOT_ALLOWED);
    }

    async fn auth_4_all_doors_count_the_same_failures(app: Impatient) {
        let stranger = app.0.anonymous();
        let api = "username=student1&password=wrong";
        stranger.post_form("/api/login", api).await.expect(StatusCode::UNAUTHORIZED);
        assert_form(&stranger.post_form(PATHS[0], &form("student1", "wrong")).await, StatusCode::OK);
        for path in PATHS {
            let answer = stranger.post_form(path, &form("student1", PASSWORD)).await;
            assert_form(&answer, StatusCode::TOO_MANY_REQUESTS);
            assert!(answer.header(RETRY_AFTER).is_some());
        }
        stranger.post_form("/api/login", api).await.expect(StatusCode::TOO_MANY_REQUESTS);
    }

    async fn sess_2_a_login_ends_the_session_before(app: TestApp) {
        let before = app.user("student1").await;
        before.post_form(PATHS[1], &form("student1", PASSWORD)).await.expect(StatusCode::FOUND);
        let session = before.get("/direct/session/current.json").await.json();
        assert_eq!(session["userId"], json!(null));
    }

    async fn it_is_told_like_every_login(app: TestApp) {
        let id = |answer: &Answer| answer.header("x-request-id").expect("an id").to_owned();
        let stranger = app.anonymous();
        let good = stranger.post_form(PATHS[0], &form("student1", PASSWORD)).await;
        let bad = stranger.post_form(PATHS[0], &form("student1", "wrong")).await;
        assert_eq!(audited(&app, &id(&good)).await, ["POST /portal/xlogin 302"]);
        // A refusal, whatever clients of this address are told.
        assert_eq!(audited(&app, &id(&bad)).await, ["POST /portal/xlogin 401"]);
        let connections = databases(&app).await;
        let sql = "SELECT kind AS line FROM outbox WHERE details LIKE '%/portal/xlogin%' ORDER BY sequence";
        assert_eq!(texts(&connections[0], sql).await, ["user.login.ws", "user.login.failed"]);
    }

    async fn csrf_5_another_site_can_not_log_anybody_in(app: TestApp) {
        let fetch = HeaderName::from_static("sec-fetch-site");
        let foreign = app.anonymous().with_header(fetch, "cross-site");
        for path in PATHS {
            let answer = foreign.post_form(path, &form("student1", PASSWORD)).await;
            answer.expect(StatusCode::FORBIDDEN);
            assert_eq!(answer.header(SET_COOKIE), None);
        }
    }

    async fn csrf_2_the_forms_carry_the_token_of_their_session(app: WithTokens) {
        let client = app.0.user("student1").await;
        let refused = client.post_form("/portal/logout", "").await;
        refused.expect(StatusCode::FORBIDDEN);
        for page in ["/portal/logout", "/portal/xlogin"] {
            let text = client.get(page).await.text().to_owned();
            let mark = "name=\"sakai_csrf_token\" value=\"";
            let tokens: Vec<_> = text.split(mark).skip(1).filter_map(|it| it.split('"').next()).collect();
            assert_eq!(tokens.len(), 2, "one in the form and one in the header: {text}");
            assert_eq!(tokens[0], tokens[1]);
        }
        let session = client.get("/direct/session/current.json").await.json();
        let token = session["csrfToken"].as_str().expect("a token");
        let out = format!("sakai_csrf_token={token}");
        client.post_form("/portal/logout", &out).await.expect(StatusCode::FOUND);
    }

    async fn out_8_nothing_in_a_request_leads_elsewhere(app: TestApp) {
        let names = ["url", "redirect", "returnUrl", "helper", "Location", "next", "refer"];
        for target in ["https://evil.example/", "//evil.example", "/%5Cevil.example", "%2f%2fevil.example"] {
            for name in names {
                let path = format!("/portal/xlogin?{name}={target}");
                let body = format!("{}&{name}={target}", form("student1", PASSWORD));
                let client = elsewhere(&app);
                let answer = client.post_form(&path, &body).await;
                answer.expect(StatusCode::FOUND);
                assert_eq!(answer.header(LOCATION), Some("/portal"), "{path}");
            }
        }
        let student = app.user("student1").await;
        for path in ["/portal//evil.example", "/portal/site///evil.example", "/portal/site/%2fevil.example"] {
            let answer = student.get(path).await;
            assert!(answer.status.is_client_error(), "{path}");
            assert_eq!(answer.header(LOCATION), None);
        }
        let media = student.send(Method::POST, "/portal/logout?url=//evil.example", FORM, "".into()).await;
        assert_eq!(media.header(LOCATION), Some("/portal"));
    }
}

/// A client that names another host.
fn elsewhere(app: &TestApp) -> Client {
    let forwarded = HeaderName::from_static("x-forwarded-host");
    app.anonymous().with_header(forwarded, "evil.example")
}
