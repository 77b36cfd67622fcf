//! `GET /api/users/me/announcements`

use http::StatusCode;
use tests::{TestApp, both};

const PATH: &str = "/api/users/me/announcements";

both! {
    async fn the_announcements_of_pinned_sites_are_told_newest_first(app: TestApp) {
        let answer = app.user("student1").await.get(PATH).await;
        answer.expect(StatusCode::OK);
        let body = answer.json();
        let announcements = body["announcements"].as_array().expect("a list");
        assert_eq!(announcements.len(), 5);
        for announcement in announcements {
            let site = announcement["siteId"].as_str().expect("a site");
            let tool = format!("/portal/site/{site}/tool/");
            assert!(announcement["url"].as_str().is_some_and(|it| it.starts_with(&tool)));
        }
        let dates = announcements.iter().map(|it| it["date"].as_i64()).collect::<Vec<_>>();
        assert!(dates.is_sorted_by(|a, b| a >= b), "{dates:?}");
    }
}
