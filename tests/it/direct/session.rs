//! `/direct/session`

use chrono::TimeDelta;
use http::header::SET_COOKIE;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Answer, TestApp, both};

use super::{FORM, JSON, read};

const CURRENT: &str = "/direct/session/current.json";

/// The id of the session that `answer` begins, out of its cookie.
fn id_in_cookie(answer: &Answer) -> &str {
    let cookie = answer.header(SET_COOKIE).expect("a cookie");
    let value = cookie
        .strip_prefix("JSESSIONID=")
        .expect("the session's cookie");
    value.split(".svc;").next().expect("an id")
}

both! {
    async fn a_session_is_asked_for_without_keeping_it_alive(app: TestApp) {
        let student = app.user("student1").await;
        for (path, target) in [
            ("current/norefresh", "current.json"), ("current/norefresh.json", "current.json"), ("current/norefresh.xml", "current.xml"),
        ] {
            let answer = student.get(&format!("/direct/session/{path}")).await;
            answer.expect(StatusCode::FOUND);
            let expected = format!("http://127.0.0.1:8080/direct/session/{target}?auto=true");
            assert_eq!(answer.header("location"), Some(expected.as_str()));
        }
        for _ in 0..3 {
            app.advance(chrono::TimeDelta::minutes(14));
            student.get("/direct/session/current/norefresh").await;
        }
        student.get("/api/user/roles").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn nobody_has_a_session_without_a_user_and_gets_none(app: TestApp) {
        let answer = app.anonymous().get(CURRENT).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json()["userId"], Value::Null);
        assert_eq!(answer.json()["userEid"], Value::Null);
        assert_eq!(answer.header(SET_COOKIE), None);
        assert_eq!(answer.header("x-sakai-session"), None);
    }

    async fn every_answer_names_the_session_and_never_its_id(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.get("/direct/site/nowhere").await;
        let handle = answer.header("x-sakai-session").expect("the public name of the session");
        assert!(!student.cookie().expect("a cookie").contains(handle));
        let session = read(&student, &format!("/direct/session/{handle}.json")).await;
        assert_eq!((&session["id"], &session["userEid"]), (&json!(handle), &json!("student1")));
    }

    async fn a_post_logs_in_with_a_form_json_or_a_query(app: TestApp) {
        let pairs = format!("_username=student1&_password={PASSWORD}");
        let object = json!({"_username": "student1", "_password": PASSWORD}).to_string();
        for (path, media_type, body) in [
            ("/direct/session".to_owned(), FORM, pairs.clone()),
            ("/direct/session/new".to_owned(), JSON, object),
            (format!("/direct/session?{pairs}"), FORM, String::new()),
        ] {
            let stranger = app.anonymous();
            let answer = stranger.send(Method::POST, &path, media_type, body.into()).await;
            answer.expect(StatusCode::CREATED);
            let id = answer.text();
            assert_eq!(id, id_in_cookie(&answer));
            assert_eq!(answer.header("EntityId"), Some(id));
            let cookie = format!("JSESSIONID={id}.svc");
            let student = stranger.with_header(http::header::COOKIE, &cookie);
            assert_eq!(read(&student, CURRENT).await["userEid"], "student1");
        }
    }

    async fn a_wrong_password_is_403_and_none_400_here(app: TestApp) {
        let stranger = app.anonymous();
        let post = async |form: &str| stranger.post_form("/direct/session", form).await;
        post("_username=student1&_password=wrong").await.expect(StatusCode::FORBIDDEN);
        post("_username=nobody&_password=wrong").await.expect(StatusCode::FORBIDDEN);
        for form in ["_username=student1", "_password=x", "_username=+&_password=x", "x=y"] {
            let answer = post(form).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.header(SET_COOKIE), None);
        }
    }

    async fn a_browser_that_logs_in_is_sent_to_the_start_page(app: TestApp) {
        let browser = app.anonymous().with_header(http::header::ACCEPT, "text/html,*/*;q=0.8");
        let form = format!("_username=student1&_password={PASSWORD}");
        let answer = browser.post_form("/direct/session", &form).await;
        answer.expect(StatusCode::SEE_OTHER);
        assert_eq!(id_in_cookie(&answer).len(), 43);
    }

    async fn a_delete_logs_out_by_word_handle_or_id(app: TestApp) {
        for way in ["current", "handle", "id"] {
            let student = app.user("student1").await;
            let first = student.get(CURRENT).await;
            let handle = first.header("x-sakai-session").expect("the public name");
            let cookie = student.cookie().expect("a cookie");
            let id = cookie.trim_start_matches("JSESSIONID=").trim_end_matches(".svc");
            let name = match way {
                "handle" => handle,
                "id" => id,
                other => other,
            };
            let answer = student.delete(&format!("/direct/session/{name}")).await;
            answer.expect(StatusCode::NO_CONTENT);
            let cleared = answer.header(SET_COOKIE).expect("the cookie is taken away");
            assert!(cleared.contains("Max-Age=0"), "{cleared}");
            assert_eq!(read(&student, CURRENT).await["userId"], Value::Null, "{way}");
            student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        }
    }

    async fn a_session_ends_when_nobody_uses_it(app: TestApp) {
        let student = app.user("student1").await;
        app.advance(TimeDelta::minutes(29));
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        app.advance(TimeDelta::minutes(31));
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_session_is_kept_alive_by_its_name_or_its_id(app: TestApp) {
        let student = app.user("student1").await;
        let cookie = student.cookie().expect("a cookie");
        let id = cookie.trim_start_matches("JSESSIONID=").trim_end_matches(".svc").to_owned();
        let first = student.get(CURRENT).await;
        let handle = first.header("x-sakai-session").expect("the public name");
        for _ in 0..2 {
            for name in [handle, id.as_str()] {
                app.advance(TimeDelta::minutes(25));
                let path = format!("/direct/session/{name}.json");
                let answer = student.send(Method::PUT, &path, JSON, "".into()).await;
                answer.expect(StatusCode::NO_CONTENT);
            }
        }
        let page = student.get(&format!("/direct/session/{handle}.html")).await;
        assert!(!page.expect(StatusCode::OK).text().contains("/edit"), "there is nothing to fill in");
    }

    async fn a_session_is_kept_alive_by_a_put(app: TestApp) {
        let student = app.user("student1").await;
        for _ in 0..3 {
            app.advance(TimeDelta::minutes(25));
            student.put("/direct/session/current", &json!({})).await.expect(StatusCode::NO_CONTENT);
        }
        student.get("/direct/site.json").await.expect(StatusCode::OK);
    }
}
