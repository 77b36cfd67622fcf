//! `/direct/conversations`, `/direct/conversations-post`, `/direct/conversations-comment` and `/direct/conversations-mark`

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, list, read, text};

const SITE: &str = "biology-101";

async fn topic(client: &Client, fields: Value) -> String {
    let mut topic = json!({"siteId": SITE, "title": "About leaves"});
    merge(&mut topic, &fields);
    created(
        &client.post("/direct/conversations", &topic).await,
        "conversations",
    )
}

async fn post(client: &Client, topic: &str, fields: Value) -> String {
    let mut post = json!({"siteId": SITE, "topicId": topic, "message": "<p>Text</p>"});
    merge(&mut post, &fields);
    created(
        &client.post("/direct/conversations-post", &post).await,
        "conversations-post",
    )
}

fn merge(to: &mut Value, fields: &Value) {
    let to = to.as_object_mut().expect("an object");
    to.extend(fields.as_object().expect("an object").clone());
}

async fn change(client: &Client, path: &str, fields: Value) -> StatusCode {
    client.put(&format!("/direct/{path}"), &fields).await.status
}

both! {
    async fn conversations_have_the_keys_that_clients_read(app: TestApp) {
        for (eid, expected) in [("student1", 3), ("student20", 2), ("ta1", 5), ("instructor1", 5)] {
            let client = app.user(eid).await;
            let all = list(&client, "/direct/conversations.json?siteId=biology-101", "conversations").await;
            assert_eq!(all.len(), expected, "{eid}");
            assert_eq!(all[0]["pinned"], true);
            for it in &all {
                let path = format!("/direct/conversations/{}", text(it, "id"));
                client.get(&format!("{path}.html")).await.expect(StatusCode::OK);
            }
            let question = all.iter().find(|it| it["type"] == "QUESTION" && it["hidden"] == false).expect("a question");
            assert_eq!((&question["resolved"], &question["numberOfPosts"]), (&json!(true), &json!(2)), "{eid}");
        }
    }

    async fn wrong_topics_are_refused_by_their_fields(app: TestApp) {
        let student = app.user("student1").await;
        let lab_b = {
            let bundle = read(&app.user("instructor1").await, "/api/sites/biology-101/conversations").await;
            bundle["groups"].as_array().expect("groups").iter().find(|it| it["title"] == "Lab B").expect("Lab B")["id"].clone()
        };
        for (fields, field) in [
            (json!({"title": ""}), "title"),
            (json!({"title": null}), "title"),
            (json!({"title": "x".repeat(256)}), "title"),
            (json!({"type": "POLL"}), "type"),
            (json!({"visibility": "ALL"}), "visibility"),
            (json!({"visibility": "GROUP"}), "groups"),
            (json!({"visibility": "GROUP", "groups": [lab_b]}), "groups"),
            (json!({"anonymous": "x"}), "anonymous"),
            (json!({"tags": ["1"]}), "tags"),
            (json!({"tags": ["x"]}), "tags"),
        ] {
            let mut body = json!({"siteId": SITE, "title": "Fine"});
            merge(&mut body, &fields);
            let answer = student.post("/direct/conversations.json", &body).await;
            let error = answer.expect(StatusCode::BAD_REQUEST).json();
            assert_eq!(error["error"]["fields"][0]["name"], field, "{error}");
        }
        for fields in [json!({"pinned": true}), json!({"hidden": true}), json!({"locked": true}), json!({"dueDate": 946_684_800_000_i64})] {
            let mut body = json!({"siteId": SITE, "title": "Fine"});
            merge(&mut body, &fields);
            student.post("/direct/conversations", &body).await.expect(StatusCode::FORBIDDEN);
        }
        student.post("/direct/conversations", &json!({"siteId": "nowhere", "title": "x"})).await.expect(StatusCode::NOT_FOUND);
        student.post("/direct/conversations", &json!({"siteId": "history-210", "title": "x"})).await.expect(StatusCode::FORBIDDEN);
    }

    async fn what_is_locked_is_written_by_moderators_only(app: TestApp) {
        let (student, ta) = (app.user("student1").await, app.user("ta1").await);
        let id = topic(&student, json!({})).await;
        let first = post(&student, &id, json!({})).await;
        let path = format!("conversations/{id}");
        assert_eq!(change(&student, &path, json!({"locked": true})).await, StatusCode::FORBIDDEN);
        assert_eq!(change(&ta, &path, json!({"locked": true})).await, StatusCode::NO_CONTENT);
        assert_eq!(change(&student, &path, json!({"title": "Mine"})).await, StatusCode::FORBIDDEN);
        assert_eq!(change(&student, &format!("conversations-post/{first}"), json!({"message": "x"})).await, StatusCode::FORBIDDEN);
        let body = json!({"siteId": SITE, "topicId": id, "message": "x"});
        student.post("/direct/conversations-post", &body).await.expect(StatusCode::FORBIDDEN);
        student.post("/direct/conversations-comment", &json!({"siteId": SITE, "postId": first, "message": "x"})).await.expect(StatusCode::FORBIDDEN);
        student.delete(&format!("/direct/conversations-post/{first}")).await.expect(StatusCode::FORBIDDEN);
        student.delete(&format!("/direct/{path}")).await.expect(StatusCode::FORBIDDEN);
        ta.post("/direct/conversations-post", &body).await.expect(StatusCode::CREATED);
        assert_eq!(change(&ta, &path, json!({"locked": false, "lockDate": 946_684_800_000_i64})).await, StatusCode::NO_CONTENT);
        student.post("/direct/conversations-post", &body).await.expect(StatusCode::FORBIDDEN);
    }

    async fn posts_answer_each_other(app: TestApp) {
        let (student, other) = (app.user("student1").await, app.user("student2").await);
        let id = topic(&student, json!({})).await;
        let mut above = post(&student, &id, json!({})).await;
        let first = above.clone();
        for depth in 2..=5 {
            above = post(&other, &id, json!({"parentPost": above})).await;
            let made = read(&other, &format!("/direct/conversations-post/{above}.json")).await;
            assert_eq!((&made["depth"], &made["parentThread"]), (&json!(depth), &json!(first)));
        }
        let elsewhere = topic(&student, json!({})).await;
        let wrong = [(&id, above.as_str(), StatusCode::BAD_REQUEST), (&elsewhere, first.as_str(), StatusCode::BAD_REQUEST), (&id, "none", StatusCode::NOT_FOUND)];
        for (topic, parent, status) in wrong {
            let body = json!({"siteId": SITE, "topicId": topic, "message": "x", "parentPost": parent});
            let error = student.post("/direct/conversations-post.json", &body).await.expect(status).json();
            assert_eq!(error["error"]["fields"][0]["name"], "parentPost", "{error}");
        }
        student.delete(&format!("/direct/conversations-post/{first}")).await.expect(StatusCode::CONFLICT);
        other.delete(&format!("/direct/conversations-post/{above}")).await.expect(StatusCode::NO_CONTENT);
        student.delete(&format!("/direct/conversations/{id}")).await.expect(StatusCode::NO_CONTENT);
        other.get(&format!("/direct/conversations-post/{first}.json")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn y60_a_dry_run_of_an_answer_opens_no_topic_to_answer_first(app: TestApp) {
        let (student, other) = (app.user("student1").await, app.user("student2").await);
        let id = topic(&student, json!({"mustPostBeforeViewing": true})).await;
        let hidden = post(&student, &id, json!({"message": "<p>Chlorophyll</p>"})).await;
        let dry = other.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        let batch = json!({"atomic": true, "operations": [
            {"method": "POST", "path": "conversations-post", "body": {"siteId": SITE, "topicId": id, "message": "<p>Mine</p>"}},
            {"method": "GET", "path": format!("conversations-post/{hidden}.json")},
            {"method": "GET", "path": format!("conversations-post.json?topicId={id}")},
            {"method": "GET", "path": format!("conversations/{id}.json")},
        ]});
        let told = dry.post("/direct/batch.json", &batch).await.expect(StatusCode::OK).json();
        assert!(!told.to_string().contains("Chlorophyll"), "{told}");
        assert_eq!(told["results"][0]["data"]["message"], "<p>Mine</p>", "what was sent: {told}");
        assert_eq!(told["results"][3]["data"]["numberOfPosts"], 0, "{told}");
    }

    async fn private_posts_and_those_in_topics_to_answer_first_are_not_for_all(app: TestApp) {
        let (student, other, third) = (app.user("student1").await, app.user("student2").await, app.user("student3").await);
        let id = topic(&student, json!({"mustPostBeforeViewing": true})).await;
        let own = post(&other, &id, json!({})).await;
        let path = format!("/direct/conversations-post/{own}.json");
        third.get(&path).await.expect(StatusCode::NOT_FOUND);
        let numbers = async |client: &Client| {
            let topic = read(client, &format!("/direct/conversations/{id}.json")).await;
            ["numberOfPosts", "numberOfThreads", "numberOfUnreadPosts"].map(|it| topic[it].clone())
        };
        assert_eq!(numbers(&third).await, [0, 0, 0].map(Value::from), "the numbers tell nothing before");
        assert_eq!(numbers(&student).await, [1, 1, 1].map(Value::from));
        assert_eq!(numbers(&app.user("instructor1").await).await, [1, 1, 1].map(Value::from));
        student.get(&path).await.expect(StatusCode::OK);
        post(&third, &id, json!({"draft": true})).await;
        third.get(&path).await.expect(StatusCode::NOT_FOUND);
        let private = post(&third, &id, json!({"parentPost": null, "privatePost": true})).await;
        third.get(&path).await.expect(StatusCode::OK);
        let private_path = format!("/direct/conversations-post/{private}.json");
        for (client, status) in [(&other, StatusCode::NOT_FOUND), (&student, StatusCode::OK), (&third, StatusCode::OK)] {
            client.get(&private_path).await.expect(status);
        }
        app.user("instructor1").await.get(&private_path).await.expect(StatusCode::OK);
        let answer = post(&student, &id, json!({"parentPost": private})).await;
        other.get(&format!("/direct/conversations-post/{answer}.json")).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(read(&other, &format!("/direct/conversations/{id}.json")).await["numberOfPosts"], 1);
    }

    async fn the_calendar_shows_when_a_topic_is_due(app: TestApp) {
        let (student, instructor) = (app.user("student1").await, app.user("instructor1").await);
        let due = (app.service().now() + TimeDelta::days(3)).timestamp_millis();
        let id = topic(&instructor, json!({"title": "Due soon", "dueDate": due})).await;
        let events = format!("/direct/calendar/site/{SITE}.json");
        let is_there = async |client: &Client| client.get(&events).await.text().contains("Due soon");
        assert!(is_there(&student).await);
        let path = format!("conversations/{id}");
        assert_eq!(change(&instructor, &path, json!({"hidden": true})).await, StatusCode::NO_CONTENT);
        assert!(!is_there(&student).await);
        assert_eq!(change(&instructor, &path, json!({"hidden": false})).await, StatusCode::NO_CONTENT);
        assert!(is_there(&student).await);
        instructor.delete(&format!("/direct/{path}")).await.expect(StatusCode::NO_CONTENT);
        assert!(!is_there(&instructor).await);
    }
}
