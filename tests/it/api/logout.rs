//! `POST /api/logout`

use http::StatusCode;
use http::header::SET_COOKIE;
use serde_json::json;
use tests::{TestApp, both};

use crate::shape::assert_shape;

const PATH: &str = "/api/logout";

both! {
    async fn a_logout_ends_the_session_and_takes_the_cookie_away(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.post_form(PATH, "").await;
        answer.expect(StatusCode::OK);
        assert_shape(&answer.json(), &["status text, message text"]);
        assert_eq!(answer.json()["status"], "success");
        let cookie = answer.header(SET_COOKIE).expect("the cookie is taken away");
        assert!(cookie.starts_with("JSESSIONID=;") && cookie.contains("Max-Age=0"), "{cookie}");
        student.get("/api/user/roles").await.expect(StatusCode::UNAUTHORIZED);
        student.post_form(PATH, "").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_logout_ends_no_other_session(app: TestApp) {
        let (here, there) = (app.user("student1").await, app.user("student1").await);
        here.post(PATH, &json!({})).await.expect(StatusCode::OK);
        there.get("/api/user/roles").await.expect(StatusCode::OK);
    }

    async fn who_is_not_logged_in_can_not_log_out(app: TestApp) {
        app.anonymous().post_form(PATH, "").await.expect(StatusCode::UNAUTHORIZED);
    }
}
