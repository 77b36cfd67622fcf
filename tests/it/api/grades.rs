//! `/api/sites/{siteId}/grades` and its like.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

const OF_BIOLOGY: &str = "/api/sites/biology-101/grades";

both! {
    async fn students_are_told_their_released_scores(app: TestApp) {
        let student = app.user("student1").await;
        let body = student.get(OF_BIOLOGY).await.expect(StatusCode::OK).json();
        assert!(body["courseGrade"]["displayGrade"].as_str().is_some_and(|it| it.ends_with("%)")));
        let items = body["items"].as_array().expect("a list");
        let names: Vec<_> = items.iter().map(|it| it["name"].as_str().expect("a name")).collect();
        let of_assignments = ["Lab report: onion cells", "Essay: what is alive?"];
        let own = ["Essay 1", "Essay 2", "Microscopy lab", "Quiz on cells", "Herbarium", "Quiz: before the first lab"];
        assert_eq!(names, [&of_assignments[..], &own].concat());
        assert_eq!((&items[2]["score"], &items[2]["points"]), (&json!(94.25), &json!(100.0)));
        for grade in body["grades"].as_array().expect("a list") {
            assert_eq!((&grade["siteRole"], &grade["ungraded"]), (&json!("Student"), &json!(0)));
        }
        assert_eq!(body["grades"][2]["score"], "94.25");
    }

    async fn instructors_are_told_of_the_class(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let body = instructor.get(OF_BIOLOGY).await.expect(StatusCode::OK).json();
        assert_eq!(body["courseGrade"]["displayGrade"], Value::Null);
        let items = body["items"].as_array().expect("a list");
        assert_eq!(items.len(), 11);
        assert!(items.iter().all(|it| it["score"].is_null()));
        let grades = body["grades"].as_array().expect("a list");
        let of = |name: &str| grades.iter().find(|it| it["name"] == name).expect("a grade").clone();
        assert_eq!((&of("Essay 2")["ungraded"], &of("Essay 2")["notGradedYet"]), (&json!(8), &json!(false)));
        assert_eq!((&of("Final exam")["score"], &of("Final exam")["ungraded"]), (&json!(""), &json!(20)));
        assert!(of("Essay 1")["score"].as_str().is_some_and(|it| it.len() == 5), "two places");
        assert!(of("Essay 1")["url"].as_str().is_some_and(|it| it.starts_with("/portal/site/biology-101/tool/")));
    }

    async fn the_grades_of_pinned_sites_are_told_by_site(app: TestApp) {
        let student = app.user("student20").await;
        for path in ["/api/users/me/grades", "/api/grades/users/me"] {
            let body = student.get(path).await.expect(StatusCode::OK).json();
            let sites: Vec<_> = body["grades"].as_array().expect("a list").iter().map(|it| it["siteId"].clone()).collect();
            assert_eq!(sites.len(), 11);
            assert_eq!((&sites[0], &sites[10]), (&json!("biology-101"), &json!("history-210")));
        }
        let alias = student.get("/api/grades/sites/biology-101").await.expect(StatusCode::OK).json();
        assert_eq!(alias, student.get(OF_BIOLOGY).await.json());
        student.get("/api/grades/nothing").await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_portal_grades_a_student(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = app.user("student1").await;
        let user = student.get("/direct/user/current.json").await.json();
        let body = instructor.get(OF_BIOLOGY).await.json();
        let item = body["items"].as_array().and_then(|it| it.iter().find(|it| it["name"] == "Herbarium")).expect("an item");
        let item = item["id"].as_str().expect("an id").to_owned();
        let path = format!("{OF_BIOLOGY}/{item}/{}", user["id"].as_str().expect("an id"));
        let grade = json!({"grade": "3.5", "comment": "Pressed well.", "reference": ""});
        instructor.post(&path, &grade).await.expect(StatusCode::OK);
        let own = student.get(OF_BIOLOGY).await.json();
        let told = own["items"].as_array().expect("a list").iter().find(|it| it["id"] == *item).expect("an item").clone();
        assert_eq!((&told["score"], &told["comment"]), (&json!(3.5), &json!("Pressed well.")));
        for wrong in ["much", "1e3", "-1", "0.00001"] {
            instructor.post(&path, &json!({"grade": wrong})).await.expect(StatusCode::BAD_REQUEST);
        }
        let unknown = format!("{OF_BIOLOGY}/nothing/{}", user["id"].as_str().expect("an id"));
        assert!(instructor.post(&unknown, &grade).await.status.is_client_error());
    }
}
