//! `/direct/grades`, which the tools of instructors read and write.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{id_of, read, text};

both! {
    async fn instructors_read_courses_students_and_gradebooks(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let courses = read(&instructor, "/direct/grades/courses.json").await;
        let course = &courses.as_array().expect("a list")[0];
        assert_eq!(course["id"], "biology-101");
        let students = read(&instructor, "/direct/grades/students/biology-101.json").await;
        let students = students.as_array().expect("a list");
        assert_eq!(students.len(), 20);
        let book = read(&instructor, "/direct/grades/gradebook/biology-101.json").await;
        let items = book["items"].as_array().expect("a list");
        assert_eq!(items.len(), 11);
        let essay = items.iter().find(|it| it["name"] == "Essay 1").expect("an item");
        let scores = essay["scores"].as_array().expect("a list");
        assert_eq!(scores.len(), 20);
        let first = scores.iter().find(|it| it["username"] == "student1").expect("a score");
        assert_eq!((&first["grade"], &first["comment"]), (&json!("94.25"), &json!("Well argued.")));
        let one = read(&instructor, "/direct/grades/gradeitem/biology-101/Essay%201.json").await;
        assert_eq!(one, *essay);
        let few = read(&instructor, "/direct/grades/gradebook/biology-101.json?_limit=3").await;
        assert_eq!(few["students"].as_array().map(Vec::len), Some(3));
        instructor.get("/direct/grades/gradeitem/biology-101/None.json").await.expect(StatusCode::NOT_FOUND);
        instructor.get("/direct/grades/students/nothing.json").await.expect(StatusCode::NOT_FOUND);
    }

    async fn an_item_is_written_with_its_scores_or_not_at_all(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = id_of(&app.user("student2").await).await;
        let path = "/direct/grades/gradeitem/biology-101.json";
        let scores = json!([{"username": "student1", "grade": "4.5", "comment": "Quick"}, {"userId": student, "grade": 3}]);
        let sent = json!({"name": "Clicker", "pointsPossible": 5, "dueDate": 1_796_115_600_000_i64, "scores": scores});
        let made = instructor.post(path, &sent).await.expect(StatusCode::OK).json();
        assert_eq!((&made["pointsPossible"], &made["type"], &made["released"]), (&json!(5.0), &json!("internal"), &json!(true)));
        let mut grades: Vec<String> = made["scores"].as_array().expect("a list").iter().map(|it| text(it, "grade")).collect();
        grades.sort();
        assert_eq!(grades, ["3.0", "4.5"]);
        let changed = json!({"pointsPossible": 6, "scores": [{"username": "student1", "grade": "5"}]});
        let named = "/direct/grades/gradeitem/biology-101/Clicker.json";
        let done = instructor.post(named, &changed).await.expect(StatusCode::OK).json();
        assert_eq!((&done["id"], &done["pointsPossible"]), (&made["id"], &json!(6.0)));
        for wrong in [
            json!({"name": "Never", "pointsPossible": 5, "scores": [{"username": "nobody", "grade": 1}]}),
            json!({"name": "Never", "pointsPossible": 5, "scores": [{"username": "student1", "grade": "lots"}]}),
            json!({"name": "Never", "pointsPossible": 5, "scores": [{"username": "student1", "grade": {}}]}),
            json!({"name": "Never", "pointsPossible": -5}),
            json!({"name": "Never"}), json!({"pointsPossible": 5}), json!({"name": "x".repeat(300), "pointsPossible": 1}),
            json!({"name": "Never", "pointsPossible": 5, "scores": [{"userId": "nobody", "grade": 1}]}),
        ] {
            let answer = instructor.post(path, &wrong).await;
            assert!(answer.status.is_client_error(), "{wrong} {}", answer.status);
        }
        let book = read(&instructor, "/direct/grades/gradebook/biology-101.json").await;
        let names: Vec<&Value> = book["items"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
        assert!(names.contains(&&json!("Clicker")) && !names.contains(&&json!("Never")), "{names:?}");
    }
}
