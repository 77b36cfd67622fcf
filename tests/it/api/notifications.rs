//! `/api/users/me/notifications`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const PATH: &str = "/api/users/me/notifications";
const SITE: &str = "biology-101";

pub(super) async fn told(client: &Client) -> Vec<Value> {
    let body = client.get(PATH).await.expect(StatusCode::OK).json();
    body.as_array().expect("a list").clone()
}

/// The one about what has this title, if there is one.
fn about<'a>(list: &'a [Value], title: &str) -> Option<&'a Value> {
    let mut found = list.iter().filter(|it| it["title"] == title);
    let first = found.next();
    assert!(found.next().is_none(), "told twice of {title}");
    first
}

async fn announce(client: &Client, fields: Value) -> String {
    let mut body = json!({"siteId": SITE, "body": "<p>Room 7</p>"});
    for (name, value) in fields.as_object().expect("fields") {
        body[name] = value.clone();
    }
    let made = client.post("/direct/announcement.json", &body).await;
    let made = made.expect(StatusCode::CREATED).json();
    made["entityReference"]
        .as_str()
        .expect("a reference")
        .to_owned()
}

both! {
    async fn members_are_told_and_mark_it_as_read(app: TestApp) {
        let author = app.user("instructor1").await;
        let reference = announce(&author, json!({"title": "Exam room"})).await;
        app.service().catch_up().await.expect("it follows");
        let student = app.user("student1").await;
        let list = told(&student).await;
        let time = |it: &Value| it["eventDate"].as_f64();
        assert!(list.iter().is_sorted_by(|newer, older| time(newer) >= time(older)));
        let mine = about(&list, "Exam room").expect("told");
        assert_eq!(mine["ref"], json!(reference));
        assert_eq!((&mine["event"], &mine["tool"]), (&json!("annc.new"), &json!("sakai.announcements")));
        assert_eq!((&mine["siteId"], &mine["viewed"]), (&json!(SITE), &json!(false)));
        let page = student.get(mine["url"].as_str().expect("an address")).await;
        assert!(page.expect(StatusCode::OK).text().contains("Exam room"));
        assert!(about(&told(&author).await, "Exam room").is_none(), "the author knows it");
        assert!(about(&told(&app.user("instructor2").await).await, "Exam room").is_none());

        let one = format!("{PATH}/{}", mine["id"]);
        for body in [json!({}), json!({"viewed": true})] {
            let read = student.put(&one, &body).await.expect(StatusCode::OK).json();
            assert_eq!((&read["viewed"], &read["read"], &read["id"]), (&json!(true), &json!(true), &mine["id"]));
        }
    }

    async fn what_may_not_be_seen_is_not_told_until_it_may(app: TestApp) {
        let author = app.user("instructor1").await;
        let draft = announce(&author, json!({"title": "Not finished", "draft": true})).await;
        app.service().catch_up().await.expect("it follows");
        let student = app.user("student1").await;
        assert!(about(&told(&student).await, "Not finished").is_none());
        let counted = student.get("/direct/notification.json?_count=exact").await;
        let count = counted.expect(StatusCode::OK).header("x-total-count").map(str::to_owned);
        assert_eq!(count, Some(told(&student).await.len().to_string()));

        let address = format!("/direct{draft}");
        author.put(&address, &json!({"draft": false, "title": "Finished"})).await;
        app.service().catch_up().await.expect("it follows");
        assert!(about(&told(&student).await, "Finished").is_some(), "the present title");
        author.delete(&address).await.expect(StatusCode::NO_CONTENT);
        app.service().catch_up().await.expect("it follows");
        assert!(about(&told(&student).await, "Finished").is_none());
    }

    async fn they_are_viewed_and_cleared(app: TestApp) {
        let author = app.user("instructor1").await;
        for title in ["One", "Two", "Three"] {
            announce(&author, json!({"title": title})).await;
        }
        app.service().catch_up().await.expect("it follows");
        let (student, other) = (app.user("student1").await, app.user("student2").await);
        let all = told(&student).await.len();
        let viewed = format!("{PATH}/markViewed?siteId={SITE}&toolId=sakai.assignment.grades");
        student.post(&viewed, &json!({})).await.expect(StatusCode::OK);
        assert!(told(&student).await.iter().any(|it| it["viewed"] == false));
        student.post(&format!("{PATH}/markViewed"), &json!({})).await.expect(StatusCode::OK);
        assert!(told(&student).await.iter().all(|it| it["viewed"] == true));
        assert!(told(&other).await.iter().any(|it| it["viewed"] == false));

        let one = about(&told(&student).await, "Two").expect("told")["id"].clone();
        for _ in 0..2 {
            student.post(&format!("{PATH}/{one}/clear"), &json!({})).await.expect(StatusCode::OK);
        }
        assert_eq!(told(&student).await.len(), all - 1);
        let of_other = about(&told(&other).await, "Two").expect("told")["id"].clone();
        student.post(&format!("{PATH}/{of_other}/clear"), &json!({})).await.expect(StatusCode::OK);
        student.post(&format!("{PATH}/clear"), &json!({})).await.expect(StatusCode::OK);
        assert!(told(&student).await.is_empty());
        assert!(about(&told(&other).await, "Two").is_some());
    }

    async fn what_is_hidden_is_neither_counted_nor_cleared(app: TestApp) {
        let author = app.user("instructor1").await;
        let shown = announce(&author, json!({"title": "Zqx shown"})).await;
        let draft = announce(&author, json!({"title": "Zqx draft", "draft": true})).await;
        app.service().catch_up().await.expect("it follows");
        let student = app.user("student1").await;
        let unviewed = told(&student).await.iter().filter(|it| it["viewed"] == false).count();
        let changed = async |action: &str| {
            let done = student.post(&format!("{PATH}/{action}"), &json!({})).await;
            done.expect(StatusCode::OK).json()["count"].clone()
        };
        assert_eq!(changed("markViewed").await, json!(unviewed));
        let all = told(&student).await.len();
        assert_eq!(changed("clear").await, json!(all));
        assert_eq!(changed("clear").await, json!(0));
        for (reference, fields) in [(&shown, json!({"draft": true})), (&draft, json!({"draft": false}))] {
            author.put(&format!("/direct{reference}"), &fields).await.expect(StatusCode::NO_CONTENT);
        }
        app.service().catch_up().await.expect("it follows");
        let list = told(&student).await;
        assert_eq!(about(&list, "Zqx draft").expect("told when it is published")["viewed"], json!(false));
        assert!(about(&list, "Zqx shown").is_none());
    }

    async fn only_the_student_is_told_of_a_returned_grade(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let task = json!({"context": SITE, "title": "Essay on cells", "openTime": "2020-01-01T00:00:00Z",
            "dueTime": "2099-01-01T00:00:00Z", "closeTime": "2099-01-01T00:00:00Z", "gradeScale": "SCORE_GRADE_TYPE", "gradeScaleMaxPoints": "10"});
        let task = teacher.post("/direct/assignment.json", &task).await.expect(StatusCode::CREATED).json();
        let student = app.user("student1").await;
        let work = json!({"gradableId": task["id"], "context": SITE, "submittedText": "<p>Mine</p>"});
        let work = student.post("/direct/assignment-submission.json", &work).await;
        let work = work.expect(StatusCode::CREATED).json();
        let address = format!("/direct/assignment-submission/{}", work["id"].as_str().expect("an id"));
        let told_of = async |client: &Client| {
            app.service().catch_up().await.expect("it follows");
            let list = told(client).await;
            list.iter().filter(|it| it["event"] == "asn.grade.submission").count()
        };
        teacher.put(&address, &json!({"grade": "8"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(told_of(&student).await, 0);
        teacher.put(&address, &json!({"grade": "8", "returned": true})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(told_of(&student).await, 1);
        teacher.put(&address, &json!({"grade": "8", "returned": true})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(told_of(&student).await, 1);
        assert_eq!(told_of(&app.user("student2").await).await, 0);
    }

    async fn two_machines_tell_of_each_event_once(app: TestApp) {
        let author = app.user("instructor1").await;
        let mut writes = Vec::new();
        for number in 0..20 {
            let author = author.clone();
            writes.push(tokio::spawn(async move {
                announce(&author, json!({"title": format!("Number {number}")})).await
            }));
        }
        for _ in 0..5 {
            let service = app.service();
            let (one, other) = tokio::join!(service.catch_up(), service.catch_up());
            one.and(other).expect("they follow");
        }
        for write in writes {
            write.await.expect("no panic");
        }
        app.service().catch_up().await.expect("it follows");
        let list = told(&app.user("student1").await).await;
        for number in 0..20 {
            assert!(about(&list, &format!("Number {number}")).is_some(), "{number}");
        }
    }
}
