//! Pages are small: the first ones that people open take at most 60 kB as HTML.

use http::StatusCode;
use http::header::ACCEPT;
use tests::{TestApp, both};

/// The most bytes of a page.
const MOST: usize = 60_000;

both! {
    async fn the_first_pages_are_at_most_60_kb(app: TestApp) {
        for eid in ["student1", "instructor1"] {
            let client = app.user(eid).await.with_header(ACCEPT, "text/html");
            let assignments = client.get("/direct/assignment/site/biology-101.html").await;
            let first = assignments.text().split("href=\"/direct/assignment/").skip(1);
            let first = first.filter_map(|it| it.split('"').next()).find(|it| it.contains('-') && !it.contains('?'));
            let assignment = format!("/direct/assignment/{}", first.expect("an assignment"));
            for path in [
                "/portal",
                "/direct/site/biology-101.html",
                "/direct/assignment/site/biology-101.html?_limit=25",
                "/direct/announcement/site/biology-101.html?_limit=25",
                "/direct/membership/site/biology-101.html?_limit=25",
                "/direct/gradebook/site/biology-101.html",
                "/direct/calendar/site/biology-101.html",
                &assignment,
            ] {
                let page = client.get(path).await;
                // Students don't hold the roster.
                if (eid, page.status) == ("student1", StatusCode::FORBIDDEN) && path.contains("/membership/") {
                    continue;
                }
                page.expect(StatusCode::OK);
                assert!(page.body.len() <= MOST, "{eid}: {path} takes {}", page.body.len());
            }
        }
    }
}
