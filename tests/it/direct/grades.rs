//! `/direct/grades`, which the tools of instructors read and write.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{id_of, read, text};
use crate::shape::{assert_same, assert_shape};

const BOOK: &str = "id text, courseId text, students list, items list, entityReference text, entityURL url, entityId text";
const STUDENT: &str = "userId text, username text, name text, courseGrade text?";
const ITEM: &str = "id text, name text, gradebookId text, pointsPossible number, dueDate whole?, type text, released flag, \
    includedInCourseGrade flag, scores list";
const SCORE: &str = "id text, itemId text, userId text, username text, grade text?, comment text?";

both! {
    async fn instructors_read_courses_students_and_gradebooks(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let courses = read(&instructor, "/direct/grades/courses.json").await;
        let course = &courses.as_array().expect("a list")[0];
        assert_shape(course, &["id text, title text"]);
        assert_eq!(course["id"], "biology-101");
        let students = read(&instructor, "/direct/grades/students/biology-101.json").await;
        let students = students.as_array().expect("a list");
        assert_eq!(students.len(), 20);
        for it in students { assert_shape(it, &[STUDENT]); }
        let book = read(&instructor, "/direct/grades/gradebook/biology-101.json").await;
        assert_shape(&book, &[BOOK]);
        let items = book["items"].as_array().expect("a list");
        assert_eq!(items.len(), 11);
        for it in items { assert_shape(it, &[ITEM]); }
        let essay = items.iter().find(|it| it["name"] == "Essay 1").expect("an item");
        let scores = essay["scores"].as_array().expect("a list");
        for it in scores { assert_shape(it, &[SCORE]); }
        assert_eq!(scores.len(), 20);
        let first = scores.iter().find(|it| it["username"] == "student1").expect("a score");
        assert_eq!((&first["grade"], &first["comment"]), (&json!("94.25"), &json!("Well argued.")));
        let xml = instructor.get("/direct/grades/gradebook/biology-101.xml").await;
        assert_same(xml.expect(StatusCode::OK).text(), &book);
        let one = read(&instructor, "/direct/grades/gradeitem/biology-101/Essay%201.json").await;
        assert_eq!(one, *essay);
        let few = read(&instructor, "/direct/grades/gradebook/biology-101.json?_limit=3").await;
        assert_eq!(few["students"].as_array().map(Vec::len), Some(3));
        instructor.get("/direct/grades/gradeitem/biology-101/None.json").await.expect(StatusCode::NOT_FOUND);
        instructor.get("/direct/grades/students/nothing.json").await.expect(StatusCode::NOT_FOUND);
    }

    async fn students_are_refused(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["courses", "students/biology-101", "gradebook/biology-101", "gradeitem/biology-101/Essay%201", "biology-101"] {
            student.get(&format!("/direct/grades/{path}.json")).await.expect(StatusCode::FORBIDDEN);
            app.anonymous().get(&format!("/direct/grades/{path}.json")).await.expect(StatusCode::UNAUTHORIZED);
        }
        let item = json!({"name": "Clicker", "pointsPossible": 5, "scores": []});
        student.post("/direct/grades/gradeitem/biology-101.json", &item).await.expect(StatusCode::FORBIDDEN);
    }

    async fn an_item_is_written_with_its_scores_or_not_at_all(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = id_of(&app.user("student2").await).await;
        let path = "/direct/grades/gradeitem/biology-101.json";
        let scores = json!([{"username": "student1", "grade": "4.5", "comment": "Quick"}, {"userId": student, "grade": 3}]);
        let sent = json!({"name": "Clicker", "pointsPossible": 5, "dueDate": 1_796_115_600_000_i64, "scores": scores});
        let made = instructor.post(path, &sent).await.expect(StatusCode::OK).json();
        assert_shape(&made, &[ITEM]);
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
