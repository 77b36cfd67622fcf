//! `/api/users/me/tasks`, `/api/sites/{siteId}/tasks` and `/api/tasks`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use crate::shape::assert_shape;

const MINE: &str = "/api/users/me/tasks";
const OF_SITE: &str = "/api/sites/biology-101/tasks";
const SHAPE: &str = "userTaskId whole, taskId whole, userId text, siteId text?, siteTitle text, description text, \
    reference text, system flag, complete flag, owner text, starts whole, due whole?, priority whole, notes text, \
    softDeleted flag, assignationType text, taskAssignedTo text";

async fn tasks(client: &Client, path: &str) -> Vec<Value> {
    let body = client.get(path).await.expect(StatusCode::OK).json();
    assert!(body["canAddTask"].is_boolean(), "{body}");
    let list = body["tasks"].as_array().expect("a list").clone();
    for task in &list {
        assert_shape(task, &[SHAPE]);
    }
    list
}

fn named<'a>(list: &'a [Value], description: &str) -> Vec<&'a Value> {
    list.iter()
        .filter(|it| it["description"] == description)
        .collect()
}

both! {
    async fn a_user_notes_changes_and_deletes_tasks(app: TestApp) {
        let student = app.user("student1").await;
        let sent = json!({"description": "Buy paint", "priority": 5, "due": 1_999_000_000_000_i64,
            "notes": "<p>Blue<script>x</script></p>", "assignationType": "user", "owner": "somebody"});
        let made = student.post("/api/tasks", &sent).await.expect(StatusCode::OK).json();
        assert_shape(&made, &[SHAPE]);
        let own = student.get("/direct/user/current.json").await.json()["id"].clone();
        assert_eq!((&made["owner"], &made["userId"]), (&own, &own));
        assert_eq!((&made["priority"], &made["notes"]), (&json!(5), &json!("<p>Blue</p>")));
        assert_eq!(named(&tasks(&student, MINE).await, "Buy paint").len(), 1);

        let path = format!("/api/tasks/{}", made["userTaskId"]);
        let changed = student.put(&path, &json!({"complete": true})).await.expect(StatusCode::OK).json();
        assert_eq!((&changed["complete"], &changed["description"]), (&json!(true), &json!("Buy paint")));
        // Some clients send another number in the address than in the body, which counts.
        let sent = json!({"userTaskId": made["userTaskId"], "priority": 1});
        student.put("/api/tasks/1", &sent).await.expect(StatusCode::OK);

        let other = app.user("student2").await;
        other.put(&path, &json!({"complete": false})).await.expect(StatusCode::NOT_FOUND);
        other.delete(&path).await.expect(StatusCode::NOT_FOUND);
        student.delete(&path).await.expect(StatusCode::OK);
        student.delete(&path).await.expect(StatusCode::NOT_FOUND);
        for (body, field) in [
            (json!({}), "description"),
            (json!({"description": ""}), "description"),
            (json!({"description": "x".repeat(256)}), "description"),
            (json!({"description": "x", "priority": 9}), "priority"),
            (json!({"description": "x", "starts": 2_000, "due": 1_000}), "due"),
            (json!({"description": "x", "assignationType": "all"}), "assignationType"),
        ] {
            let refused = student.post("/api/tasks", &body).await.expect(StatusCode::BAD_REQUEST).json();
            assert!(refused.to_string().contains(field), "{body}: {refused}");
        }
    }

    async fn a_teacher_hands_out_a_task_and_each_student_does_it_alone(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = teacher.get(OF_SITE).await.expect(StatusCode::OK).json();
        assert_eq!((&body["canAddTask"], &body["canUpdateSite"]), (&json!(true), &json!(true)));
        let group = body["groups"][0]["reference"].clone();
        let sent = json!({"description": "Label the samples", "siteId": "biology-101", "assignationType": "site"});
        let made = teacher.post("/api/tasks", &sent).await.expect(StatusCode::OK).json();
        assert_eq!(made["taskAssignedTo"], json!("#SITE#"));
        let (one, two) = (app.user("student1").await, app.user("student2").await);
        let of_one = tasks(&one, OF_SITE).await;
        let task = named(&of_one, "Label the samples")[0];
        assert_eq!((&task["taskId"], &task["owner"]), (&made["taskId"], &made["userId"]));
        let path = format!("/api/tasks/{}", task["userTaskId"]);
        one.put(&path, &json!({"complete": true})).await.expect(StatusCode::OK);
        let renamed = one.put(&path, &json!({"description": "Nothing"})).await;
        renamed.expect(StatusCode::CONFLICT);
        assert_eq!(named(&tasks(&two, OF_SITE).await, "Label the samples")[0]["complete"], json!(false));

        let to_group = json!({"description": "Group work", "siteId": "biology-101", "assignationType": "group",
            "selectedGroups": [group]});
        let made = teacher.post("/api/tasks", &to_group).await.expect(StatusCode::OK).json();
        assert!(made["taskAssignedTo"].as_str().is_some_and(|it| it.starts_with("#GROUP# ")), "{made}");
        let mut told = 0;
        for number in 1..=20 {
            let student = app.user(&format!("student{number}")).await;
            told += named(&tasks(&student, MINE).await, "Group work").len();
        }
        assert!((1..20).contains(&told), "{told}");

        one.post("/api/tasks", &sent).await.expect(StatusCode::FORBIDDEN);
        let foreign = json!({"description": "x", "siteId": "biology-101", "assignationType": "group",
            "selectedGroups": ["nowhere"]});
        teacher.post("/api/tasks", &foreign).await.expect(StatusCode::BAD_REQUEST);
        app.user("instructor2").await.post("/api/tasks", &sent).await.expect(StatusCode::FORBIDDEN);
        one.get("/api/sites/nowhere/tasks").await.expect(StatusCode::NOT_FOUND);
        app.user("instructor2").await.get(OF_SITE).await.expect(StatusCode::FORBIDDEN);
        app.anonymous().get(MINE).await.expect(StatusCode::UNAUTHORIZED);
    }
}
