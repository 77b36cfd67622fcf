//! Many users beside the demo university: they are like its own, and counted like them.

use entity_core::Caller;
use entity_core::engine::Audit;
use entity_core::testing::origin;
use entity_providers::face::demo::scale::{self, Part};
use http::StatusCode;
use tests::{TestApp, both};

use crate::usage::assert_exact;

/// Some that are quick to make.
const FEW: Part = Part {
    first: 40,
    students: 12,
    instructors: 2,
    first_course: 3,
    courses: 4,
    courses_of_student: 2,
    announcements: 3,
    assignments: 2,
    files: 3,
};

both! {
    async fn what_is_added_is_like_what_people_make(app: TestApp) {
        let add = |part: Part| {
            let dispatcher = app.service().dispatcher.clone().with_write_limit(None);
            async move {
                let origin = origin(Caller::anonymous());
                let work = dispatcher.write(&origin, |cx| {
                    Box::pin(async move { Ok((scale::add(cx, &part).await?, Audit::Later)) })
                });
                work.await
            }
        };
        let added = add(FEW).await.expect("the database takes it");
        assert_eq!((added.users, added.sites, added.members), (14, 4, 26));
        // Of each course: 3 announcements, 2 assignments, events and items, and 3 files; of each seat two submissions and
        // scores.
        assert_eq!(added.entities, 4 * (3 + 2 + 2 + 2 + 3) + 24 * (2 + 2));
        add(FEW).await.expect_err("they are there");
        assert_exact(&app, &[]).await;

        let student = app.user("user000040").await;
        let sites = student.get("/direct/site.json").await.json();
        let sites = sites["site_collection"].as_array().expect("sites").clone();
        let own: Vec<&str> = sites.iter().filter_map(|it| it["id"].as_str()).filter(|it| it.starts_with("course-")).collect();
        assert_eq!(own.len(), 2, "{own:?}");
        let site = own[0];
        let teacher = app.user("user000052").await;
        let taught = app.user("user000053").await;
        let grades = student.get(&format!("/direct/gradebook/site/{site}.json")).await.json();
        assert_eq!(grades["assignments"].as_array().map(Vec::len), Some(2), "{grades}");
        for path in ["announcement/site", "assignment/site", "content/site", "calendar/site"] {
            let list = student.get(&format!("/direct/{path}/{site}.json")).await;
            list.expect(StatusCode::OK);
            let list = list.json();
            let length = list.as_object().and_then(|it| it.values().find_map(|it| it.as_array())).map(Vec::len);
            let expected = match path {
                "announcement/site" => 3,
                "content/site" => 4,
                _ => 2,
            };
            assert_eq!(length, Some(expected), "{path}: {list}");
        }
        let pages = student.get(&format!("/direct/site/{site}/pages.json")).await;
        pages.expect(StatusCode::OK);
        assert!(pages.json().as_array().is_some_and(|it| it.len() == 11), "{}", pages.text());
        // Courses 3 and 5 are the first instructor's, 4 and 6 the second one's.
        let number: u32 = site.trim_start_matches("course-").parse().expect("a number");
        let grader = if number % 2 == 1 { teacher } else { taught };
        let mine = grader.get(&format!("/direct/gradebook/export/{site}")).await;
        mine.expect(StatusCode::OK);
    }
}
