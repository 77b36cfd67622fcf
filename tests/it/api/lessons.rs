//! `GET /api/sites/{siteId}/lessons`

use http::StatusCode;
use tests::{TestApp, both};

const PATH: &str = "/api/sites/biology-101/lessons";

both! {
    async fn the_lessons_of_a_site_are_told_in_order(app: TestApp) {
        for (eid, expected) in [("student1", 2), ("ta1", 2), ("instructor1", 4)] {
            let client = app.user(eid).await;
            let body = client.get(PATH).await.expect(StatusCode::OK).json();
            let lessons = body["lessons"].as_array().expect("a list");
            assert_eq!(lessons.len(), expected, "{eid}");
            for lesson in lessons {
                assert_eq!(lesson["title"], lesson["lessonTitle"]);
                client.get(lesson["url"].as_str().expect("a path")).await.expect(StatusCode::OK);
            }
            assert!(lessons.iter().map(|it| it["sequence"].as_i64()).is_sorted());
        }
        let student = app.user("student1").await;
        let part = student.get(&format!("{PATH}?_limit=1")).await;
        assert_eq!(part.expect(StatusCode::OK).json()["lessons"].as_array().map(Vec::len), Some(1));
    }
}
