//! `GET /api/sites/{siteId}/lessons`

use http::StatusCode;
use tests::{TestApp, both};

use crate::shape::assert_shape;

const PATH: &str = "/api/sites/biology-101/lessons";
const SHAPE: &str = "id whole, title text, lessonTitle text, url text, contentsURL url, siteId text, sequence whole, \
    required flag, prerequisite flag, hidden flag, releaseDate whole?, gradebookPoints number?, locked flag, \
    completed flag";

both! {
    async fn the_lessons_of_a_site_are_told_in_order(app: TestApp) {
        for (eid, expected) in [("student1", 2), ("ta1", 2), ("instructor1", 4)] {
            let client = app.user(eid).await;
            let body = client.get(PATH).await.expect(StatusCode::OK).json();
            assert_shape(&body, &["lessons list"]);
            let lessons = body["lessons"].as_array().expect("a list");
            assert_eq!(lessons.len(), expected, "{eid}");
            for lesson in lessons {
                assert_shape(lesson, &[SHAPE]);
                assert_eq!(lesson["title"], lesson["lessonTitle"]);
                client.get(lesson["url"].as_str().expect("a path")).await.expect(StatusCode::OK);
            }
            assert!(lessons.iter().map(|it| it["sequence"].as_i64()).is_sorted());
        }
        let student = app.user("student1").await;
        student.get("/api/sites/nowhere/lessons").await.expect(StatusCode::NOT_FOUND);
        app.user("instructor2").await.get(PATH).await.expect(StatusCode::FORBIDDEN);
        app.anonymous().get(PATH).await.expect(StatusCode::UNAUTHORIZED);
        let part = student.get(&format!("{PATH}?_limit=1")).await;
        assert_eq!(part.expect(StatusCode::OK).json()["lessons"].as_array().map(Vec::len), Some(1));
    }
}
