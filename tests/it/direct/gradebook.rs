//! `/direct/gradebook`, and the types of which gradebooks consist.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{JSON, id_of, link, list, read, text};

const BIOLOGY: &str = "/direct/gradebook/site/biology-101.json";

/// The item with this name in the first course.
async fn item(client: &Client, name: &str) -> Value {
    let path = "/direct/gradebook-item.json?siteId=biology-101";
    let items = list(client, path, "gradebook-item").await;
    items
        .into_iter()
        .find(|it| it["name"] == name)
        .expect("an item")
}

both! {
    async fn students_read_their_own_rows(app: TestApp) {
        let student = app.user("student1").await;
        let book = read(&student, BIOLOGY).await;
        assert_eq!((&book["siteId"], &book["entityTitle"]), (&json!("biology-101"), &book["siteName"]));
        let own = id_of(&student).await;
        let rows = book["assignments"].as_array().expect("a list");
        let items = list(&student, "/direct/gradebook-item.json?siteId=biology-101&_limit=0", "gradebook-item").await;
        assert_eq!(rows.len(), items.len());
        for row in rows {
            assert_eq!(row["userId"], own);
        }
        assert_eq!((&rows[2]["itemName"], &rows[2]["grade"]), (&json!("Essay 1"), &json!("94.25")));
        for hidden in ["Midterm exam", "Final exam"] {
            assert!(!book.to_string().contains(hidden), "{hidden} is not released");
        }
    }

    async fn instructors_read_a_row_for_each_student_and_item(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let book = read(&instructor, BIOLOGY).await;
        let rows = book["assignments"].as_array().expect("a list");
        assert_eq!(rows.len(), 220);
        let midterm = rows.iter().filter(|it| it["itemName"] == "Midterm exam");
        assert!(midterm.clone().all(|it| it["grade"].is_string()));
        assert_eq!(midterm.count(), 20);
        let part = instructor.get("/direct/gradebook/site/biology-101.json?_limit=150").await;
        let next = link(&part, "next").expect("a next part");
        let rest = read(&instructor, &next).await;
        let mut both = part.json()["assignments"].as_array().expect("a list").clone();
        both.extend(rest["assignments"].as_array().expect("a list").clone());
        assert_eq!(both, *rows);
    }

    async fn one_item_comes_with_comments(app: TestApp) {
        let student = app.user("student1").await;
        let book = read(&student, "/direct/gradebook/item/biology-101/Essay%201.json").await;
        let rows = book["assignments"].as_array().expect("a list");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["comment"], "Well argued.");
        for unknown in ["Midterm%20exam", "None"] {
            let path = format!("/direct/gradebook/item/biology-101/{unknown}.json");
            student.get(&path).await.expect(StatusCode::NOT_FOUND);
        }
    }

    async fn x30_one_item_says_its_name_and_its_comment_at_the_top(app: TestApp) {
        let path = "/direct/gradebook/item/biology-101/Essay%201.json";
        let own = read(&app.user("student1").await, path).await;
        assert_eq!((&own["itemName"], &own["comment"]), (&json!("Essay 1"), &json!("Well argued.")));
        let all = read(&app.user("instructor1").await, path).await;
        assert_eq!((&all["itemName"], &all["comment"]), (&json!("Essay 1"), &json!("")));
        let whole = read(&app.user("student1").await, BIOLOGY).await;
        assert!(whole.get("itemName").is_none() && whole.get("comment").is_none());
    }

    async fn x29_a_score_is_of_the_site_of_its_item(app: TestApp) {
        let (instructor, other) = (app.user("instructor1").await, app.user("instructor2").await);
        let id = text(&item(&instructor, "Herbarium").await, "itemId");
        let user = id_of(&app.user("student9").await).await;
        let draft = json!({"itemId": id, "userId": user, "score": 4});
        for (client, item) in [(&instructor, "nothing"), (&other, "nothing"), (&other, id.as_str())] {
            let refused = client.post("/direct/gradebook-score.json", &json!({"itemId": item, "userId": user, "score": 4})).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert_eq!(refused.json()["error"]["fields"][0]["name"], "itemId", "{item}");
        }
        app.user("student1").await.post("/direct/gradebook-score.json", &draft).await.expect(StatusCode::FORBIDDEN);
        let made = instructor.post("/direct/gradebook-score.json", &draft).await;
        made.expect(StatusCode::CREATED);
        assert_eq!(made.json()["siteId"], "biology-101");
    }

    async fn students_are_told_what_is_released_and_the_grade_that_was_entered(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = app.user("student1").await;
        for item in list(&student, "/direct/gradebook-item.json", "gradebook-item").await {
            assert_eq!(item["released"], true);
        }
        for (who, number) in [(&student, 7), (&instructor, 97)] {
            let scores = list(who, "/direct/gradebook-score.json", "gradebook-score").await;
            assert_eq!(scores.len(), number);
        }
        let own = id_of(&student).await;
        let entered = json!({"siteId": "biology-101", "userId": own, "grade": "A-"});
        instructor.post("/direct/gradebook-override.json", &entered).await.expect(StatusCode::CREATED);
        let course = read(&student, "/direct/gradebook/course/biology-101.json").await;
        assert_eq!(course["students"][0]["courseGrade"]["displayGrade"], "A-");
    }

    async fn a_score_is_given_changed_and_taken_back(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = app.user("student1").await;
        let essay = item(&instructor, "Herbarium").await;
        let user = id_of(&app.user("student9").await).await;
        let draft = json!({"siteId": "biology-101", "itemId": essay["itemId"], "userId": user, "score": 4.0001});
        let made = instructor.post("/direct/gradebook-score.json", &draft).await;
        made.expect(StatusCode::CREATED);
        let path = format!("/direct/gradebook-score/{}", text(&made.json(), "scoreId"));
        instructor.post("/direct/gradebook-score.json", &draft).await.expect(StatusCode::CONFLICT);
        let score = read(&instructor, &path).await;
        assert_eq!(score["score"], 4.0001);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        instructor.put(&path, &json!({"score": null, "excused": true})).await.expect(StatusCode::NO_CONTENT);
        let history = format!("/direct/gradebook-change.json?userId={user}&itemId={}", text(&essay, "itemId"));
        let changes = list(&instructor, &history, "gradebook-change").await;
        assert_eq!(changes.len(), 2);
        assert_eq!(list(&student, "/direct/gradebook-change.json", "gradebook-change").await.len(), 0);
        instructor.delete(&path).await.expect(StatusCode::NO_CONTENT);
        instructor.get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn many_scores_are_set_at_once_or_none(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let exam = text(&item(&instructor, "Final exam").await, "itemId");
        let mut scores = Vec::new();
        for number in 1..=20 {
            let student = app.user(&format!("student{number}")).await;
            scores.push(json!({"itemId": exam, "userId": id_of(&student).await, "score": number}));
        }
        let path = "/direct/gradebook-score/site/biology-101.json";
        let mut wrong = scores.clone();
        wrong.push(json!({"itemId": exam, "userId": "nobody", "score": 1}));
        instructor.post(path, &json!({"scores": wrong})).await.expect(StatusCode::BAD_REQUEST);
        let of_exam = format!("/direct/gradebook-score.json?itemId={exam}");
        assert_eq!(list(&instructor, &of_exam, "gradebook-score").await.len(), 0);
        let done = instructor.post(path, &json!({"scores": scores})).await;
        assert_eq!(done.expect(StatusCode::OK).json(), json!({"changed": 20}));
        assert_eq!(list(&instructor, &of_exam, "gradebook-score").await.len(), 20);
        app.user("student1").await.post(path, &json!({"scores": scores})).await.expect(StatusCode::FORBIDDEN);
    }

    async fn hostile_input_is_refused(app: TestApp) {
        let instructor = app.user("instructor1").await;
        for body in ["{\"scores\":", "[]", "{\"scores\":[[[[]]]]}", "{\"scores\":[null]}", "{\"scores\":{\"a\":1}}", "{}"] {
            let path = "/direct/gradebook-score/site/biology-101.json";
            let answer = instructor.send(Method::POST, path, JSON, body.into()).await;
            assert!(answer.status.is_client_error(), "{body} {}", answer.status);
        }
    }
}
