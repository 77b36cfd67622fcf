//! `GET /api/user/roles`

use http::StatusCode;
use serde_json::json;
use tests::{TestApp, both};

const PATH: &str = "/api/user/roles";

both! {
    async fn administrators_are_super_users_and_nobody_else(app: TestApp) {
        for (eid, expected) in [("admin", true), ("instructor1", false), ("student1", false)] {
            let answer = app.user(eid).await.get(PATH).await;
            answer.expect(StatusCode::OK);
            assert_eq!(answer.json(), json!({"isSuperUser": expected}), "{eid}");
        }
    }
}
