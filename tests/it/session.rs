//! Sessions as clients see them.

use chrono::TimeDelta;
use http::StatusCode;
use tests::{TestApp, both};

both! {
    async fn a_session_ends_when_nobody_uses_it(app: TestApp) {
        let student = app.user("student1").await;
        app.advance(TimeDelta::minutes(29));
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        app.advance(TimeDelta::minutes(31));
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }
}
