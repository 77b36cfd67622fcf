//! `/direct/gradebook`, and the types of which gradebooks consist.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{JSON, id_of, link, list, read, text};
use crate::shape::{METADATA, assert_same, assert_shape};

const BIOLOGY: &str = "/direct/gradebook/site/biology-101.json";
const BOOK: &str = "siteId text, siteName text, assignments list";
const ROW: &str = "itemName text, grade text?, points number, userId text, userName text";
const ITEM: &str = "itemId text, siteId text, name text, points number, categoryId text?, dueDate whole?, \
    extraCredit flag, released flag, counted flag, position whole, externalReference text?, createdOn whole, \
    modifiedOn whole, version whole";
const SCORE: &str = "scoreId text, siteId text, itemId text, itemName text, userId text, userName text, \
    score number?, excused flag, comment text, gradedBy text, gradedOn whole, version whole";
const CHANGE: &str = "changeId text, siteId text, itemId text, userId text, changedBy text, changedOn whole, \
    scoreBefore number?, score number?, excused flag, comment text";
const OVERRIDE: &str = "overrideId text, siteId text, userId text, grade text, reason text, enteredBy text, \
    enteredOn whole, version whole";
const COURSE_GRADE: &str = "enteredGrade text?, calculatedGrade text?, mappedGrade text?, displayGrade text?, \
    pointsEarned number?, totalPointsPossible number?, dateRecorded whole?";
/// The metadata of every entity without a title.
const UNTITLED: &str = "entityReference text, entityURL url, entityId text";

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
        assert_shape(&book, &[BOOK, METADATA]);
        assert_eq!((&book["siteId"], &book["entityTitle"]), (&json!("biology-101"), &book["siteName"]));
        let own = id_of(&student).await;
        let rows = book["assignments"].as_array().expect("a list");
        let items = list(&student, "/direct/gradebook-item.json?siteId=biology-101&_limit=0", "gradebook-item").await;
        assert_eq!(rows.len(), items.len());
        for row in rows {
            assert_shape(row, &[ROW]);
            assert_eq!(row["userId"], own);
        }
        assert_eq!((&rows[2]["itemName"], &rows[2]["grade"]), (&json!("Essay 1"), &json!("94.25")));
        for hidden in ["Midterm exam", "Final exam"] {
            assert!(!book.to_string().contains(hidden), "{hidden} is not released");
        }
        let xml = student.get("/direct/gradebook/site/biology-101.xml").await;
        assert_same(xml.expect(StatusCode::OK).text(), &book);
    }

    async fn instructors_read_a_row_for_each_student_and_item(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let book = read(&instructor, BIOLOGY).await;
        let rows = book["assignments"].as_array().expect("a list");
        assert_eq!(rows.len(), 220);
        for it in rows { assert_shape(it, &[ROW]); }
        let midterm = rows.iter().filter(|it| it["itemName"] == "Midterm exam");
        assert!(midterm.clone().all(|it| it["grade"].is_string()));
        assert_eq!(midterm.count(), 20);
        let xml = instructor.get("/direct/gradebook/site/biology-101.xml").await;
        assert_same(xml.expect(StatusCode::OK).text(), &book);
        let part = instructor.get("/direct/gradebook/site/biology-101.json?_limit=150").await;
        let next = link(&part, "next").expect("a next part");
        let rest = read(&instructor, &next).await;
        let mut both = part.json()["assignments"].as_array().expect("a list").clone();
        both.extend(rest["assignments"].as_array().expect("a list").clone());
        assert_eq!(both, *rows);
    }

    async fn gradebooks_of_all_sites_are_a_collection(app: TestApp) {
        let student = app.user("student20").await;
        let books = list(&student, "/direct/gradebook/my.json", "gradebook").await;
        let sites: Vec<_> = books.iter().map(|it| text(it, "siteId")).collect();
        assert_eq!(sites, ["biology-101", "history-210"]);
        for it in &books { assert_shape(it, &[BOOK, METADATA]); }
        app.anonymous().get("/direct/gradebook/my.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn one_item_comes_with_comments(app: TestApp) {
        let student = app.user("student1").await;
        let book = read(&student, "/direct/gradebook/item/biology-101/Essay%201.json").await;
        let rows = book["assignments"].as_array().expect("a list");
        assert_eq!(rows.len(), 1);
        assert_shape(&rows[0], &[ROW, "comment text?"]);
        assert_eq!(rows[0]["comment"], "Well argued.");
        assert_shape(&book, &[BOOK, METADATA, "itemName text, comment text"]);
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

    async fn refusals_have_the_statuses_that_clients_know(app: TestApp) {
        let student = app.user("student1").await;
        for (path, status) in [
            ("site/field-trip.json", StatusCode::BAD_REQUEST),
            ("item/field-trip/x.json", StatusCode::BAD_REQUEST),
            ("site/history-210.json", StatusCode::FORBIDDEN),
            ("site/nothing.json", StatusCode::NOT_FOUND),
            ("site/biology-101.json?_start=-1", StatusCode::BAD_REQUEST),
            ("site/biology-101.json?_limit=99999999999999999999", StatusCode::BAD_REQUEST),
        ] {
            student.get(&format!("/direct/gradebook/{path}")).await.expect(status);
        }
        app.anonymous().get(BIOLOGY).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn the_parts_of_a_gradebook_have_the_keys_that_are_described(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let student = app.user("student1").await;
        for item in list(&student, "/direct/gradebook-item.json", "gradebook-item").await {
            assert_shape(&item, &[ITEM, METADATA]);
            assert_eq!(item["released"], true);
        }
        for (who, number) in [(&student, 7), (&instructor, 97)] {
            let scores = list(who, "/direct/gradebook-score.json", "gradebook-score").await;
            for it in &scores { assert_shape(it, &[SCORE, UNTITLED]); }
            assert_eq!(scores.len(), number);
        }
        let changes = list(&instructor, "/direct/gradebook-change.json", "gradebook-change").await;
        for it in &changes { assert_shape(it, &[CHANGE, UNTITLED]); }
        let own = id_of(&student).await;
        let entered = json!({"siteId": "biology-101", "userId": own, "grade": "A-"});
        instructor.post("/direct/gradebook-override.json", &entered).await.expect(StatusCode::CREATED);
        let overrides = list(&instructor, "/direct/gradebook-override.json", "gradebook-override").await;
        assert_shape(&overrides[0], &[OVERRIDE, UNTITLED]);
        let course = read(&student, "/direct/gradebook/course/biology-101.json").await;
        assert_shape(&course["students"][0], &["userId text, userName text, courseGrade object"]);
        assert_shape(&course["students"][0]["courseGrade"], &[COURSE_GRADE]);
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
        let exam = text(&item(&instructor, "Final exam").await, "itemId");
        for fields in [
            json!({"points": "many"}), json!({"points": 1e300}), json!({"points": -1}), json!({"points": 0.00001}),
            json!({"points": null}), json!({"name": ""}), json!({"name": "x".repeat(300)}), json!({"name": "Essay 1"}),
            json!({"categoryId": "nothing"}), json!({"dueDate": "tomorrow"}), json!({"dueDate": 1e40}),
            json!({"position": 1e30}), json!({"released": 7}), json!({"counted": null}), json!({"unknown": 1}),
        ] {
            let answer = instructor.put(&format!("/direct/gradebook-item/{exam}"), &fields).await;
            assert!(answer.status.is_client_error() || fields.get("counted").is_some(), "{fields} {}", answer.status);
        }
        for body in ["{\"scores\":", "[]", "{\"scores\":[[[[]]]]}", "{\"scores\":[null]}", "{\"scores\":{\"a\":1}}", "{}"] {
            let path = "/direct/gradebook-score/site/biology-101.json";
            let answer = instructor.send(Method::POST, path, JSON, body.into()).await;
            assert!(answer.status.is_client_error(), "{body} {}", answer.status);
        }
    }
}
