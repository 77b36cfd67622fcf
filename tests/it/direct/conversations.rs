//! `/direct/conversations`, `/direct/conversations-post`, `/direct/conversations-comment` and `/direct/conversations-mark`

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, list, read, text};
use crate::shape::{METADATA, assert_same, assert_shape};

const SITE: &str = "biology-101";
const TOPIC: &str = "id text, title text, message text, type text, siteId text, siteTitle text, creator text, \
    creatorDisplayName text, created whole, modifier text, modified whole, visibility text, forInstructors flag, \
    groups list, draft flag, pinned flag, hidden flag, locked flag, closed flag, anonymous flag, \
    allowAnonymousPosts flag, tags list, mustPostBeforeViewing flag, \
    showDate whole?, hideDate whole?, lockDate whole?, dueDate whole?, resolved flag, numberOfPosts whole, \
    numberOfThreads whole, numberOfUnreadPosts whole, hasPosted flag, bookmarked flag, viewed flag, \
    upvotes whole, upvoted flag, myReactions object, reactionTotals object";
const POST: &str = "id text, topicId text, topicTitle text, topicType text, siteId text, parentPost text?, parentThread text?, depth whole, \
    message text, creator text, creatorDisplayName text, anonymous flag, isInstructor flag, created whole, modifier text, \
    modified whole, late flag, draft flag, privatePost flag, hidden flag, locked flag, numberOfComments whole, \
    verifier text, verifierDisplayName text, \
    viewed flag, upvotes whole, upvoted flag, myReactions object, reactionTotals object";
const COMMENT: &str = "id text, postId text, topicId text, topicTitle text, siteId text, message text, creator text, \
    creatorDisplayName text, created whole, modifier text, modified whole";

async fn topics(client: &Client) -> Vec<String> {
    let path = format!("/direct/conversations.json?siteId={SITE}");
    let topics = list(client, &path, "conversations").await;
    topics.iter().map(|it| text(it, "title")).collect()
}

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
                assert_shape(it, &[TOPIC, METADATA]);
                let path = format!("/direct/conversations/{}", text(it, "id"));
                assert_same(client.get(&format!("{path}.xml")).await.text(), it);
                client.get(&format!("{path}.html")).await.expect(StatusCode::OK);
            }
            for it in list(&client, "/direct/conversations-post.json", "conversations-post").await {
                assert_shape(&it, &[POST, METADATA]);
            }
            for it in list(&client, "/direct/conversations-comment.json", "conversations-comment").await {
                assert_shape(&it, &[COMMENT, METADATA]);
            }
            let question = all.iter().find(|it| it["type"] == "QUESTION" && it["hidden"] == false).expect("a question");
            assert_eq!((&question["resolved"], &question["numberOfPosts"]), (&json!(true), &json!(2)), "{eid}");
        }
    }

    async fn everybody_sees_the_topics_that_are_for_them(app: TestApp) {
        let student = app.user("student1").await;
        let other = app.user("student2").await;
        let (ta, instructor) = (app.user("ta1").await, app.user("instructor1").await);
        let groups = read(&instructor, "/api/sites/biology-101/conversations").await["groups"].take();
        let lab_b = groups.as_array().expect("groups").iter().find(|it| it["title"] == "Lab B").expect("Lab B")["id"].clone();
        let at = |days| (app.service().now() + TimeDelta::days(days)).timestamp_millis();
        for (fields, sees, moderator_sees) in [
            (json!({"title": "T plain"}), true, true),
            (json!({"title": "T draft", "draft": true}), false, false),
            (json!({"title": "T hidden", "hidden": true}), false, true),
            (json!({"title": "T later", "showDate": at(1)}), false, true),
            (json!({"title": "T over", "hideDate": at(-1)}), false, true),
            (json!({"title": "T staff", "visibility": "INSTRUCTORS"}), false, true),
            (json!({"title": "T group", "visibility": "GROUP", "groups": [lab_b]}), false, true),
        ] {
            let title = text(&fields, "title");
            let id = topic(&instructor, fields).await;
            assert!(topics(&instructor).await.contains(&title), "{title}");
            assert_eq!(topics(&student).await.contains(&title), sees, "{title}");
            assert_eq!(topics(&ta).await.contains(&title), moderator_sees, "{title}");
            let status = if sees { StatusCode::OK } else { StatusCode::NOT_FOUND };
            student.get(&format!("/direct/conversations/{id}.json")).await.expect(status);
            let told = student.get("/direct/conversations.atom").await.text().to_owned()
                + student.get(&format!("/direct/conversations.json?_search={}", title.get(2..).expect("a long title"))).await.text()
                + student.get("/api/sites/biology-101/conversations").await.text();
            assert_eq!(told.contains(&title), sees, "{title}");
            let written = other.post("/direct/conversations-post", &json!({"siteId": SITE, "topicId": id, "message": "x"})).await;
            assert_eq!(written.status, if sees { StatusCode::CREATED } else { StatusCode::NOT_FOUND }, "{title}");
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

    async fn nobody_changes_what_others_wrote_without_the_right_to(app: TestApp) {
        let (student, other) = (app.user("student1").await, app.user("student2").await);
        let id = topic(&student, json!({})).await;
        let post_id = post(&student, &id, json!({})).await;
        let comment = json!({"siteId": SITE, "postId": post_id, "message": "x"});
        let comment = created(&student.post("/direct/conversations-comment", &comment).await, "conversations-comment");
        for (path, fields) in [
            (format!("conversations-comment/{comment}"), json!({"message": "Changed"})),
            (format!("conversations-post/{post_id}"), json!({"message": "Changed"})),
            (format!("conversations/{id}"), json!({"title": "Changed"})),
        ] {
            assert_eq!(change(&other, &path, fields.clone()).await, StatusCode::FORBIDDEN, "{path}");
            other.delete(&format!("/direct/{path}")).await.expect(StatusCode::FORBIDDEN);
            assert_eq!(change(&student, &path, fields).await, StatusCode::NO_CONTENT, "{path}");
            student.delete(&format!("/direct/{path}")).await.expect(StatusCode::NO_CONTENT);
        }
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
