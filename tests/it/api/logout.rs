//! `POST /api/logout`

use http::StatusCode;
use http::header::SET_COOKIE;
use tests::{TestApp, both};

const PATH: &str = "/api/logout";

both! {
    async fn a_logout_ends_the_session_and_takes_the_cookie_away(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.post_form(PATH, "").await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json()["status"], "success");
        assert!(answer.json()["message"].is_string());
        let cookie = answer.header(SET_COOKIE).expect("the cookie is taken away");
        assert!(cookie.starts_with("JSESSIONID=;") && cookie.contains("Max-Age=0"), "{cookie}");
        student.get("/api/user/roles").await.expect(StatusCode::UNAUTHORIZED);
        student.post_form(PATH, "").await.expect(StatusCode::UNAUTHORIZED);
    }
}
