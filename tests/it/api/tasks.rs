//! `/api/users/me/tasks`, `/api/sites/{siteId}/tasks` and `/api/tasks`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const MINE: &str = "/api/users/me/tasks";
const OF_SITE: &str = "/api/sites/biology-101/tasks";

async fn tasks(client: &Client, path: &str) -> Vec<Value> {
    let body = client.get(path).await.expect(StatusCode::OK).json();
    assert!(body["canAddTask"].is_boolean(), "{body}");
    body["tasks"].as_array().expect("a list").clone()
}

fn named<'a>(list: &'a [Value], description: &str) -> Vec<&'a Value> {
    list.iter()
        .filter(|it| it["description"] == description)
        .collect()
}

/// The path that a task has of its assignment.
fn path_of(id: &str) -> String {
    format!("/direct/assignment/{id}")
}

both! {
    async fn an_assignment_gives_each_student_a_task_that_is_as_hidden_as_it_is(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let assignment = json!({
            "context": "biology-101", "title": "Zebra fish", "openTime": "2026-11-20T10:00:00Z",
            "dueTime": "2026-12-01T10:00:00Z", "closeTime": "2026-12-02T10:00:00Z",
        });
        let made = teacher.post("/direct/assignment", &assignment).await;
        let id = made.expect(StatusCode::CREATED).header("EntityId").expect("an id").to_owned();
        let path = format!("/direct/assignment/{id}");
        let (first, second) = (app.user("student1").await, app.user("student11").await);
        for path in [MINE, OF_SITE] {
            assert_eq!(named(&tasks(&teacher, path).await, "Zebra fish").len(), 0);
            let all = tasks(&first, path).await;
            let task = named(&all, "Zebra fish")[0];
            assert_eq!((&task["system"], &task["complete"], &task["assignationType"]), (&json!(true), &json!(false), &json!("site")));
            assert_eq!((&task["reference"], &task["url"]), (&json!(format!("/assignment/{id}")), &json!(path_of(&id))));
            assert_eq!(task["due"], 1_796_119_200_000_i64);
        }
        // What is the user's own stays when the assignment changes.
        let all = tasks(&second, MINE).await;
        let own = format!("/api/tasks/{}", named(&all, "Zebra fish")[0]["userTaskId"]);
        second.put(&own, &json!({"priority": 5, "notes": "Ask Ada"})).await.expect(StatusCode::OK);
        second.put(&own, &json!({"description": "Nothing"})).await.expect(StatusCode::CONFLICT);
        teacher.put(&path, &json!({"title": "Zebra finch"})).await.expect(StatusCode::NO_CONTENT);
        let all = tasks(&second, MINE).await;
        let task = named(&all, "Zebra finch")[0];
        assert_eq!((&task["priority"], &task["notes"]), (&json!(5), &json!("Ask Ada")));
        let found = second.get("/direct/task.json?_search=finch").await.json();
        assert_eq!(found["task_collection"].as_array().map(Vec::len), Some(1), "{found}");
        // Handed in is done.
        let work = json!({"context": "biology-101", "gradableId": id, "submittedText": "Stripes."});
        first.post("/direct/assignment-submission", &work).await.expect(StatusCode::CREATED);
        assert_eq!(named(&tasks(&first, MINE).await, "Zebra finch")[0]["complete"], true);
        assert_eq!(named(&tasks(&second, MINE).await, "Zebra finch")[0]["complete"], false);
        // Hidden, it takes its tasks along.
        let [_, other] = app.groups().await.try_into().expect("two groups");
        let hidden = [json!({"groups": [other]}), json!({"draft": true}), json!({"draft": false, "openTime": "2026-11-30T10:00:00Z"})];
        for (change, count) in hidden.iter().zip([1, 0, 0]) {
            teacher.put(&path, change).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(named(&tasks(&first, MINE).await, "Zebra finch").len(), 0, "{change}");
            for path in [MINE, OF_SITE] {
                assert_eq!(named(&tasks(&second, path).await, "Zebra finch").len(), count, "{change}");
            }
            let found = second.get("/direct/task.json?_search=finch").await.json();
            assert_eq!(found["task_collection"].as_array().map(Vec::len), Some(count), "{change}");
        }
        teacher.put(&path, &json!({"openTime": "2026-11-20T10:00:00Z"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(named(&tasks(&second, MINE).await, "Zebra finch").len(), 1);
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(named(&tasks(&second, MINE).await, "Zebra finch").len(), 0);
    }

    async fn a_user_notes_changes_and_deletes_tasks(app: TestApp) {
        let student = app.user("student1").await;
        let sent = json!({"description": "Buy paint", "priority": 5, "due": 1_999_000_000_000_i64,
            "notes": "<p>Blue<script>x</script></p>", "assignationType": "user", "owner": "somebody"});
        let made = student.post("/api/tasks", &sent).await.expect(StatusCode::OK).json();
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
    }
}
