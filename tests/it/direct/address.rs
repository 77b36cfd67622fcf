//! Addresses: which spellings lead somewhere.

use http::StatusCode;
use tests::{TestApp, both};

both! {
    async fn an_empty_segment_is_refused_everywhere(app: TestApp) {
        let (stranger, student) = (app.anonymous(), app.user("student1").await);
        for path in [
            "//", "//direct/site", "/direct//", "/direct//site", "/direct/site/", "/direct/site//pages", "/direct/describe/",
            "/api/", "//api/user/roles", "/api//user/roles", "/api/user/roles/", "//livez", "/feeds//x.atom", "/nowhere/", "/nowhere//x",
        ] {
            for client in [&stranger, &student] {
                client.get(path).await.expect(StatusCode::BAD_REQUEST);
            }
        }
    }

    async fn the_start_page_may_end_with_a_slash(app: TestApp) {
        let student = app.user("student1").await;
        let (with, without) = (student.get("/direct/").await, student.get("/direct").await);
        with.expect(StatusCode::OK);
        assert_eq!(with.body, without.body);
    }
}
