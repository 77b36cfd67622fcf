//! `/portal/logout`.

use http::StatusCode;
use http::header::{LOCATION, SET_COOKIE};
use serde_json::json;
use tests::rows::audited;
use tests::{TestApp, above_storage};

use super::assert_page;

above_storage! {
    async fn csrf_3_a_link_only_asks_whether_to_log_out(app: TestApp) {
        let student = app.user("student1").await;
        let page = student.get("/portal/logout").await;
        page.expect(StatusCode::OK);
        assert_page(&page, &["<form method=\"post\" action=\"/portal/logout\">", "href=\"/portal\""]);
        let session = student.get("/direct/session/current.json").await.json();
        assert_eq!(session["userEid"], "student1");
    }

    async fn a_form_logs_out_and_takes_the_cookie_away(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.post_form("/portal/logout", "").await;
        answer.expect(StatusCode::FOUND);
        assert_eq!(answer.header(LOCATION), Some("/portal"));
        assert!(answer.header(SET_COOKIE).is_some_and(|it| it.contains("Max-Age=0")));
        let session = student.get("/direct/session/current.json").await.json();
        assert_eq!(session["userId"], json!(null));
        let id = answer.header("x-request-id").expect("an id");
        assert_eq!(audited(&app, id).await, ["POST /portal/logout 302"]);
    }

    async fn without_a_session_it_leads_to_where_one_logs_in(app: TestApp) {
        let stranger = app.anonymous();
        for answer in [stranger.get("/portal/logout").await, stranger.post_form("/portal/logout", "").await] {
            answer.expect(StatusCode::FOUND);
            assert_eq!(answer.header(LOCATION), Some("/portal"));
            assert_eq!(answer.header(SET_COOKIE), None);
        }
    }
}
