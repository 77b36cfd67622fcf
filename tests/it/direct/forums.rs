//! `/direct/forums`, `/direct/forums-topic`, `/direct/forums-message` and `/direct/forums-read`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, list, read, text};

const SITE: &str = "biology-101";

async fn entity(client: &Client, kind: &str, title: &str) -> Value {
    let path = format!("/direct/{kind}.json?siteId={SITE}");
    let all = list(client, &path, kind).await;
    let found = all.into_iter().find(|it| it["title"] == title);
    found.unwrap_or_else(|| panic!("there is no {kind} {title}"))
}

async fn make(client: &Client, kind: &str, mut fields: Value) -> String {
    fields["siteId"] = SITE.into();
    if fields["title"].is_null() {
        fields["title"] = "Made".into();
    }
    created(
        &client.post(&format!("/direct/{kind}"), &fields).await,
        kind,
    )
}

/// A new topic in a new forum.
async fn topic(client: &Client, fields: Value) -> String {
    let forum = make(client, "forums", json!({})).await;
    let mut fields = fields;
    fields["forum"] = forum.into();
    make(client, "forums-topic", fields).await
}

async fn say(client: &Client, topic: &str, title: &str, above: Option<&str>) -> String {
    let above = above.map(|it| it.parse::<i64>().expect("a number"));
    let fields = json!({"topic": topic, "title": title, "replyTo": above});
    make(client, "forums-message", fields).await
}

async fn try_to_say(client: &Client, topic: &str, above: Option<i64>) -> StatusCode {
    let fields = json!({"siteId": SITE, "topic": topic, "title": "Made", "replyTo": above});
    client.post("/direct/forums-message", &fields).await.status
}

async fn act(client: &Client, path: &str) -> StatusCode {
    client
        .post(&format!("/direct/{path}"), &json!({}))
        .await
        .status
}

async fn threads(client: &Client, topic: &str) -> Vec<Value> {
    let whole = read(client, &format!("/direct/forums/topic/{topic}.json")).await;
    whole["threads"].as_array().expect("a list").clone()
}

fn titles(posts: &Value) -> Vec<String> {
    let posts = posts.as_array().expect("a list").iter();
    posts.map(|it| text(it, "title")).collect()
}

both! {
    async fn forums_lead_to_topics_threads_and_messages(app: TestApp) {
        for (eid, forums, topics) in [("student1", 2, 2), ("instructor1", 2, 2)] {
            let client = app.user(eid).await;
            let all = list(&client, "/direct/forums/site/biology-101.json", "forums").await;
            assert_eq!(all.len(), forums, "{eid}");
            let path = format!("/direct/forums/forum/{}", all[0]["id"]);
            let forum = read(&client, &format!("{path}.json")).await;
            assert_eq!(forum["topics"].as_array().map(Vec::len), Some(topics));
            let path = format!("/direct/forums/topic/{}", forum["topics"][0]["id"]);
            let topic = read(&client, &format!("{path}.json")).await;
            assert_eq!(titles(&topic["threads"]), ["Which stain for onion cells?", "Lost: a lab coat"]);
            let thread = &topic["threads"][0];
            assert_eq!(thread["threadId"], thread["messageId"]);
            assert_eq!(thread["totalMessages"], 3);
            let path = format!("/direct/forums/message/{}", thread["messageId"]);
            let message = read(&client, &format!("{path}.json")).await;
            assert_eq!(message["replies"], thread["replies"]);
            let newest = read(&client, "/direct/forums/messages/biology-101.json?n=3").await;
            let newest = newest["forums_collection"].as_array().expect("a list");
            assert_eq!(newest.len(), 3);
            assert!(newest.iter().map(|it| -it["createdOn"].as_i64().expect("seconds")).is_sorted());
            for path in ["forums/site/biology-101", &path.replace("/direct/", "")] {
                client.get(&format!("/direct/{path}.html")).await.expect(StatusCode::OK);
            }
        }
    }

    async fn what_is_no_number_is_refused(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["messages/biology-101.json?n=x", "forum/x", "topic/x", "message/99999999999"] {
            student.get(&format!("/direct/forums/{path}")).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn what_is_read_is_marked_by_those_who_say_so(app: TestApp) {
        let student = app.user("student2").await;
        let lab = entity(&student, "forums-topic", "The lab").await;
        let id = lab["id"].as_i64().expect("a number");
        let numbers = |it: &Value| (it["totalMessages"].as_i64(), it["readMessages"].as_i64());
        assert_eq!(numbers(&lab), (Some(4), Some(2)));
        for _ in 0..2 {
            let whole = read(&student, &format!("/direct/forums/topic/{id}.json")).await;
            assert_eq!(numbers(&whole), (Some(4), Some(2)), "reading marks nothing");
        }
        let coat = &threads(&student, &id.to_string()).await[1];
        assert_eq!(coat["read"], false);
        let path = format!("forums-message/{}/read", coat["messageId"]);
        for _ in 0..2 {
            assert_eq!(act(&student, &path).await, StatusCode::OK);
        }
        let lab = entity(&student, "forums-topic", "The lab").await;
        assert_eq!(numbers(&lab), (Some(4), Some(3)));
        assert_eq!(act(&student, &format!("forums-topic/{id}/read")).await, StatusCode::OK);
        let lab = entity(&student, "forums-topic", "The lab").await;
        assert_eq!(numbers(&lab), (Some(4), Some(4)));
        let marks = list(&student, "/direct/forums-read.json", "forums-read").await;
        assert!(marks.len() >= 3);
        let other = entity(&app.user("student4").await, "forums-topic", "The lab").await;
        assert_eq!(numbers(&other), (Some(4), Some(0)));
    }

    async fn a_moderated_message_appears_when_it_is_approved(app: TestApp) {
        let (teacher, author, other) = (app.user("instructor1").await, app.user("student1").await, app.user("student2").await);
        let topic = topic(&teacher, json!({"isModerated": true})).await;
        let id = say(&author, &topic, "Waiting", None).await;
        assert_eq!(threads(&author, &topic).await[0]["isApproved"], false);
        assert!(threads(&other, &topic).await.is_empty());
        other.get(&format!("/direct/forums/message/{id}.json")).await.expect(StatusCode::NOT_FOUND);
        let number = id.parse().ok();
        assert_eq!(try_to_say(&other, &topic, number).await, StatusCode::NOT_FOUND);
        assert_eq!(try_to_say(&author, &topic, number).await, StatusCode::CONFLICT);
        let path = format!("/direct/forums-message/{id}");
        author.put(&path, &json!({"body": "Better"})).await.expect(StatusCode::NO_CONTENT);
        let approve = format!("forums-message/{id}/approve");
        assert_eq!(act(&app.user("ta1").await, &approve).await, StatusCode::OK);
        assert_eq!(act(&teacher, &approve).await, StatusCode::CONFLICT);
        assert_eq!(threads(&other, &topic).await[0]["title"], "Waiting");
        author.put(&path, &json!({"body": "Worse"})).await.expect(StatusCode::CONFLICT);
        let own = say(&teacher, &topic, "Mine", None).await;
        let own = read(&other, &format!("/direct/forums/message/{own}.json")).await;
        assert_eq!(own["isApproved"], true);
    }

    async fn others_are_read_after_a_first_message(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let topic = topic(&teacher, json!({"isPostFirst": true})).await;
        let first = say(&teacher, &topic, "Behind", None).await;
        let path = format!("/direct/forums-topic/{topic}.json");
        assert_eq!(read(&student, &path).await["totalMessages"], 0);
        assert!(threads(&student, &topic).await.is_empty());
        assert_eq!(try_to_say(&student, &topic, first.parse().ok()).await, StatusCode::NOT_FOUND);
        let draft = json!({"topic": topic, "title": "Mine", "isDraft": true});
        let draft = make(&student, "forums-message", draft).await;
        assert_eq!(threads(&student, &topic).await.len(), 1);
        assert_eq!(threads(&teacher, &topic).await.len(), 1, "drafts are for their author");
        let path = format!("/direct/forums-message/{draft}");
        student.put(&path, &json!({"isDraft": false})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(threads(&student, &topic).await.len(), 1, "a message without a text does not count");
        student.put(&path, &json!({"body": "Mine"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(threads(&student, &topic).await.len(), 2);
        assert_eq!(threads(&teacher, &topic).await.len(), 2);
        student.put(&path, &json!({"isDraft": true})).await.expect(StatusCode::BAD_REQUEST);
        student.delete(&path).await.expect(StatusCode::NO_CONTENT);
        assert!(threads(&student, &topic).await.is_empty(), "a message that is deleted does not count");
    }

    async fn a_deleted_message_keeps_its_place_as_long_as_there_are_replies(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let topic = topic(&teacher, json!({})).await;
        let first = say(&student, &topic, "Gone", None).await;
        let reply = say(&teacher, &topic, "Stays", Some(&first)).await;
        let path = format!("/direct/forums-message/{first}");
        student.delete(&path).await.expect(StatusCode::NO_CONTENT);
        let left = threads(&student, &topic).await;
        assert_eq!((&left[0]["isDeleted"], &left[0]["title"], &left[0]["body"]), (&json!(true), &json!(""), &json!("")));
        assert_eq!(titles(&left[0]["replies"]), ["Stays"]);
        assert_eq!(left[0]["totalMessages"], 1);
        student.put(&path, &json!({"title": "Back"})).await.expect(StatusCode::CONFLICT);
        assert_eq!(try_to_say(&student, &topic, first.parse().ok()).await, StatusCode::CONFLICT);
        for id in [reply, first] {
            let path = format!("/direct/forums-message/{id}");
            teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
            teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
        }
        assert!(threads(&student, &topic).await.is_empty());
    }

    async fn nobody_writes_where_it_is_locked_closed_or_elsewhere(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let open = topic(&teacher, json!({})).await;
        let message = say(&student, &open, "Before", None).await;
        let path = format!("/direct/forums-topic/{open}");
        teacher.put(&path, &json!({"isLocked": true})).await.expect(StatusCode::NO_CONTENT);
        for client in [&teacher, &student] {
            assert_eq!(try_to_say(client, &open, None).await, StatusCode::CONFLICT);
        }
        let of_message = format!("/direct/forums-message/{message}");
        student.put(&of_message, &json!({"title": "After"})).await.expect(StatusCode::CONFLICT);
        student.delete(&of_message).await.expect(StatusCode::CONFLICT);
        teacher.put(&of_message, &json!({"title": "After"})).await.expect(StatusCode::NO_CONTENT);
        let closed = topic(&teacher, json!({"isAvailabilityRestricted": true, "closeDate": 1_700_000_000})).await;
        assert_eq!(try_to_say(&student, &closed, None).await, StatusCode::NOT_FOUND);
        for fields in [json!({"openDate": -1}), json!({"openDate": 1_800_000_000_000_i64}), json!({"openDate": 2, "closeDate": 1}), json!({"openDate": "soon"})] {
            teacher.put(&path, &fields).await.expect(StatusCode::BAD_REQUEST);
        }
        let elsewhere = topic(&teacher, json!({})).await;
        assert_eq!(try_to_say(&student, &elsewhere, message.parse().ok()).await, StatusCode::BAD_REQUEST);
        assert_eq!(try_to_say(&student, &elsewhere, Some(-7)).await, StatusCode::NOT_FOUND);
        let mut above = say(&student, &elsewhere, "0", None).await;
        for depth in 1..=10 {
            above = say(&student, &elsewhere, &depth.to_string(), Some(&above)).await;
        }
        assert_eq!(try_to_say(&student, &elsewhere, above.parse().ok()).await, StatusCode::BAD_REQUEST);
    }

    async fn moderators_grade_what_is_written_in_the_gradebook(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let item = created(&teacher.post("/direct/gradebook-item", &json!({"siteId": SITE, "name": "Forum work", "points": 10, "released": true})).await, "gradebook-item");
        let topic = topic(&teacher, json!({})).await;
        let path = format!("/direct/forums-topic/{topic}");
        let message = say(&student, &topic, "I think so", None).await;
        let grade = format!("/direct/forums-message/{message}/grade");
        let score = json!({"score": 8.5, "comment": "Well said"});
        teacher.post(&grade, &score).await.expect(StatusCode::CONFLICT);
        let has_button = async |client: &Client| {
            let page = client.get(&format!("/direct/forums-message/{message}.html")).await;
            page.text().contains(&grade)
        };
        assert!(!has_button(&teacher).await);
        teacher.put(&path, &json!({"assocGradebookItemName": "No item"})).await.expect(StatusCode::BAD_REQUEST);
        teacher.put(&path, &json!({"assocGradebookItemName": "Forum work"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &format!("{path}.json")).await["assocGradebookItemName"], "Forum work");
        assert_eq!(read(&student, &format!("{path}.json")).await["assocGradebookItemName"], Value::Null);
        assert!(has_button(&teacher).await && !has_button(&student).await);
        for wrong in [json!({}), json!({"score": "many"}), json!({"score": -1})] {
            teacher.post(&grade, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        teacher.post(&grade, &score).await.expect(StatusCode::OK);
        let user = text(&read(&student, "/direct/user/current.json").await, "id");
        let told = read(&student, &format!("/direct/gradebook-score/{item}:{user}.json")).await;
        assert_eq!((&told["score"], &told["comment"]), (&json!(8.5), &json!("Well said")));
        // Who is no student has no grade, and an item that is gone is said to be.
        let own = say(&teacher, &topic, "Indeed", None).await;
        teacher.post(&format!("/direct/forums-message/{own}/grade"), &score).await.expect(StatusCode::BAD_REQUEST);
        teacher.put(&format!("/direct/gradebook-item/{item}"), &json!({"name": "Talk"})).await.expect(StatusCode::NO_CONTENT);
        teacher.post(&grade, &score).await.expect(StatusCode::CONFLICT);
    }
}
