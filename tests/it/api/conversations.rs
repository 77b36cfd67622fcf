//! `/api/sites/{siteId}/conversations` and `/api/sites/{siteId}/topics`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

mod anonymous;
mod further;
mod threads;

const PATH: &str = "/api/sites/biology-101/conversations";
const TOPICS: &str = "/api/sites/biology-101/topics";

fn rels(value: &Value) -> Vec<&str> {
    let links = value["links"].as_array().expect("links");
    links.iter().filter_map(|it| it["rel"].as_str()).collect()
}

async fn remove(client: &Client, path: &str) -> StatusCode {
    client.delete(path).await.status
}

fn ok(answer: &Answer) -> Value {
    answer.expect(StatusCode::OK).json()
}

both! {
    async fn the_conversations_of_a_site_are_told_with_links(app: TestApp) {
        for (eid, topics, is_staff) in [("student1", 3, false), ("ta1", 5, true), ("instructor1", 5, true)] {
            let body = ok(&app.user(eid).await.get(PATH).await);
            let told = body["topics"].as_array().expect("topics");
            assert_eq!(told.len(), topics, "{eid}");
            for it in told {
                assert!(["self", "bookmark", "markpostsviewed", "posts", "post"].iter().all(|rel| rels(it).contains(rel)));
                assert_eq!(rels(it).contains(&"pin"), is_staff, "{eid}");
                assert_eq!(it["isMine"], it["mine"]);
            }
            assert_eq!((&body["isInstructor"], &body["canPin"]), (&json!(is_staff), &json!(is_staff)), "{eid}");
            assert_eq!(body["canUpdatePermissions"], eid == "instructor1");
            assert_eq!(body["blankTopic"]["url"], TOPICS);
            assert_eq!(body["groups"].as_array().map(Vec::len), Some(if is_staff { 2 } else { 1 }), "{eid}");
        }
        let student = app.user("student1").await;
        let part = ok(&student.get(&format!("{PATH}?_limit=1")).await);
        assert_eq!(part["topics"].as_array().map(Vec::len), Some(1));
    }

    async fn topics_are_created_at_both_addresses(app: TestApp) {
        let (student, ta) = (app.user("student1").await, app.user("ta1").await);
        let body = json!({"title": "Topic 3", "message": "<p>hi</p>", "type": "QUESTION", "visibility": "SITE", "tags": [], "groups": [], "draft": false});
        let made = student.post(PATH, &body).await;
        let topic = made.expect(StatusCode::CREATED).json();
        let path = topic["url"].as_str().expect("a path");
        assert_eq!(made.header("Location"), Some(format!("http://127.0.0.1:8080{path}").as_str()));
        assert_eq!(ok(&student.get(path).await), topic);
        assert_eq!((&topic["title"], &topic["isMine"], &topic["canEdit"]), (&json!("Topic 3"), &json!(true), &json!(true)));
        // What clients send back is the whole template, with the title.
        let mut whole = ok(&student.get(PATH).await)["blankTopic"].take();
        whole["title"] = json!("From the template");
        assert_eq!(ok(&student.post(TOPICS, &whole).await)["type"], "QUESTION");
        for (body, field) in [
            (json!({"title": ""}), "title"),
            (json!({}), "title"),
            (json!({"title": "x", "type": "POLL"}), "type"),
            (json!({"title": "x", "visibility": "ALL"}), "visibility"),
            (json!({"title": "x", "anonymous": "yes"}), "anonymous"),
            (json!({"title": "x", "tags": [{"id": 1}]}), "tags"),
            (json!({"title": "x", "graded": true}), "graded"),
            (json!({"title": "x", "dueDate": "soon"}), "dueDate"),
        ] {
            let error = student.post(PATH, &body).await.expect(StatusCode::BAD_REQUEST).json();
            assert!(error.to_string().contains(field), "{field}: {error}");
        }
        student.put(path, &json!({"anonymous": true})).await.expect(StatusCode::BAD_REQUEST);
        let mut back = topic.clone();
        back["title"] = json!("Topic 4");
        assert_eq!(ok(&student.put(path, &back).await)["title"], "Topic 4");
        ta.post(&format!("{path}/pinned"), &json!(true)).await.expect(StatusCode::OK);
        assert_eq!(ok(&ta.post(&format!("{path}/locked"), &json!(true)).await)["locked"], true);
        student.post(&format!("{path}/bookmarked"), &json!(true)).await.expect(StatusCode::OK);
        let seen = ok(&student.get(path).await);
        assert_eq!((&seen["bookmarked"], &seen["pinned"], &seen["canEdit"]), (&json!(true), &json!(true), &json!(false)));
        assert_eq!(ok(&ta.get(path).await)["bookmarked"], false);
        ta.post(&format!("{path}/hidden"), &json!(true)).await.expect(StatusCode::OK);
        assert_eq!(remove(&student, path).await, StatusCode::FORBIDDEN);
        assert_eq!(remove(&ta, path).await, StatusCode::OK);
        assert_eq!(remove(&ta, path).await, StatusCode::NOT_FOUND);
    }

    async fn posts_and_comments_are_written_and_viewed(app: TestApp) {
        let (student, other) = (app.user("student1").await, app.user("student2").await);
        let topic = student.post(PATH, &json!({"title": "Leaves"})).await.json();
        let posts = format!("{}/posts", topic["url"].as_str().expect("a path"));
        let first_answer = student.post(PATH, &json!({"title": "Roots", "mustPostBeforeViewing": true})).await.json();
        let unread = format!("{}/posts?page=0", first_answer["url"].as_str().expect("a path"));
        other.get(&unread).await.expect(StatusCode::FORBIDDEN);
        student.get(&unread).await.expect(StatusCode::OK);
        let first = ok(&student.post(&posts, &json!({"message": "<p>One</p>", "topic": topic["id"], "replyable": true})).await);
        let reply = ok(&other.post(&posts, &json!({"message": "Two", "parentPost": first["id"], "parentThread": first["id"]})).await);
        assert_eq!((&reply["parentThread"], &reply["depth"]), (&first["id"], &json!(2)));
        let path = first["url"].as_str().expect("a path");
        let comment = ok(&other.post(&format!("{path}/comments"), &json!({"message": "Three", "topicId": topic["id"]})).await);
        let told = ok(&other.get(&format!("{posts}?page=0&sort=OLDEST")).await);
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
        assert_eq!((&told[0]["posts"][0]["id"], &told[0]["comments"][0]["id"]), (&reply["id"], &comment["id"]));
        assert_eq!((&told[0]["howActive"], &told[0]["isMine"], &told[0]["canDelete"]), (&json!(2), &json!(false), &json!(false)));
        other.get(&format!("{posts}?page=x")).await.expect(StatusCode::BAD_REQUEST);
        other.get(&format!("{posts}?sort=BEST")).await.expect(StatusCode::BAD_REQUEST);
        let view = topic["url"].as_str().expect("a path");
        assert_eq!(ok(&other.get(view).await)["numberOfUnreadPosts"], 1);
        for _ in 0..2 {
            other.post(&format!("{posts}/markpostsviewed"), &json!([first["id"], reply["id"], "none"])).await.expect(StatusCode::OK);
        }
        let seen = ok(&other.get(view).await);
        assert_eq!((&seen["numberOfUnreadPosts"], &seen["viewed"]), (&json!(0), &json!(true)));
        let comment = format!("{path}/comments/{}", comment["id"].as_str().expect("an id"));
        assert_eq!(ok(&other.put(&comment, &json!({"message": "Four"})).await)["message"], "Four");
        assert_eq!(remove(&student, path).await, StatusCode::CONFLICT);
        assert_eq!(remove(&other, &comment).await, StatusCode::OK);
        assert_eq!(ok(&student.put(path, &json!({"message": "Five"})).await)["message"], "Five");
        student.post(&posts, &json!({"message": "x", "anonymous": true})).await.expect(StatusCode::BAD_REQUEST);
        student.post(&posts, &json!({"message": ""})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(remove(&other, reply["url"].as_str().expect("a path")).await, StatusCode::OK);
        assert_eq!(remove(&student, path).await, StatusCode::OK);
    }
}
