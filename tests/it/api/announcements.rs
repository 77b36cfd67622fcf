//! `GET /api/users/me/announcements`

use http::StatusCode;
use tests::{TestApp, both};

use crate::shape::assert_shape;

const PATH: &str = "/api/users/me/announcements";
const SHAPE: &str = "id text, title text, subject text, body text, siteId text, siteTitle text, createdBy text, \
    author text, createdDate instant, date whole, order whole, highlighted flag, url text";

both! {
    async fn the_announcements_of_pinned_sites_are_told_newest_first(app: TestApp) {
        let answer = app.user("student1").await.get(PATH).await;
        answer.expect(StatusCode::OK);
        let body = answer.json();
        assert_shape(&body, &["announcements list, sites list"]);
        let announcements = body["announcements"].as_array().expect("a list");
        assert_eq!(announcements.len(), 5);
        for announcement in announcements {
            assert_shape(announcement, &[SHAPE]);
            let site = announcement["siteId"].as_str().expect("a site");
            let tool = format!("/portal/site/{site}/tool/");
            assert!(announcement["url"].as_str().is_some_and(|it| it.starts_with(&tool)));
        }
        let dates = announcements.iter().map(|it| it["date"].as_i64()).collect::<Vec<_>>();
        assert!(dates.is_sorted_by(|a, b| a >= b), "{dates:?}");
    }

    async fn what_a_student_may_not_see_is_left_out(app: TestApp) {
        let answer = app.user("student11").await.get(PATH).await;
        let text = answer.expect(StatusCode::OK).text();
        for hidden in ["Lab A", "midterm", "Guest lecture", "library closes", "salt marsh"] {
            assert!(!text.contains(hidden), "{hidden}");
        }
    }

    async fn strangers_are_told_nothing(app: TestApp) {
        app.anonymous().get(PATH).await.expect(StatusCode::UNAUTHORIZED);
    }
}
