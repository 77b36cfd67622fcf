//! Nobody learns who has written what is anonymous: whatever they ask, it is the same whoever has written it.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both, is_left_out};

use super::{TOPICS, ok, remove};

const SITE: &str = "biology-101";
const FORMATS: [&str; 6] = ["json", "xml", "html", "csv", "atom", "rss"];
const ORDERS: [&str; 6] = [
    "NEWEST",
    "OLDEST",
    "MOST_ACTIVE",
    "LEAST_ACTIVE",
    "ASC_CREATOR",
    "DESC_CREATOR",
];
/// The number of worlds on each database.
const WORLDS: u64 = 6;

/// Random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A text that was written without a name.
struct Written {
    id: String,
    /// The path below `/direct`.
    path: String,
}

/// All addresses at which something might be told of the author, who is one of `candidates`.
fn addresses(written: &Written, topic: &str, candidates: &[String]) -> Vec<String> {
    let mut paths = Vec::new();
    for format in FORMATS {
        for kind in ["conversations", "conversations-post"] {
            let list = format!("/direct/{kind}.{format}?siteId={SITE}");
            for further in [
                "",
                "&_order=creator",
                "&_order=creator_desc",
                "&_order=modifier",
                "&_expand=creator",
                "&_search=Student",
                "&_search=text",
            ] {
                paths.push(format!("{list}{further}"));
            }
            for field in ["creator", "modifier"] {
                paths.extend(candidates.iter().map(|it| format!("{list}&{field}={it}")));
            }
        }
        paths.push(format!("/direct/{}.{format}", written.path));
        paths.push(format!("/direct/conversations/{topic}.{format}"));
        paths.push(format!("/direct/calendar.{format}?siteId={SITE}"));
    }
    paths.extend(
        candidates
            .iter()
            .map(|it| format!("/direct/user/{it}.json")),
    );
    for it in [
        "conversations-mark",
        "conversations-comment",
        "notification",
    ] {
        paths.push(format!("/direct/{it}.json"));
    }
    paths.push(format!("/direct/{}.json?_expand=creator", written.path));
    paths.push(format!("/api/sites/{SITE}/conversations"));
    paths.push(format!("{TOPICS}/{topic}"));
    paths.extend(ORDERS.map(|it| format!("{TOPICS}/{topic}/posts?page=0&sort={it}")));
    paths.push("/api/users/me/notifications".to_owned());
    paths.push("/api/users/me/dashboard".to_owned());
    paths
}

/// Everything that `client` is told, with one name for the id of what is written, and without what differs from one
/// answer to the next.
async fn told(client: &Client, paths: &[String], written: &Written) -> Vec<String> {
    let mut all = Vec::new();
    for path in paths {
        let (first, second) = (client.get(path).await, client.get(path).await);
        assert!(!first.status.is_server_error(), "{path}: {}", first.text());
        let lines = first.text().lines().zip(second.text().lines());
        let lines: Vec<_> = lines.filter(|it| it.0 == it.1).map(|it| it.0).collect();
        let count = first.header("x-total-count").unwrap_or_default().to_owned();
        let told = format!("{} {} {count}\n{}", path, first.status, lines.join("\n"));
        all.push(without_names(&told.replace(&written.id, "WRITTEN")));
    }
    all
}

/// `text` with one name for all ids in feeds, which are made of addresses.
fn without_names(text: &str) -> String {
    let mut parts = text.split("urn:uuid:");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all.push_str("urn:uuid:");
        all.push_str(part.get(36..).unwrap_or(part));
    }
    all
}

async fn made(client: &Client, kind: &str, fields: &Value) -> Written {
    let answer = client.post(&format!("/direct/{kind}"), fields).await;
    let id = answer
        .expect(StatusCode::CREATED)
        .header("entityid")
        .expect("an id")
        .to_owned();
    Written {
        path: format!("{kind}/{id}"),
        id,
    }
}

/// Makes a world of random posts of several people, and returns the topic and a post of it.
async fn world(app: &TestApp, numbers: &mut Numbers) -> (String, String) {
    let author = app.user(&format!("student{}", 1 + numbers.below(6))).await;
    let topic = json!({
        "siteId": SITE, "title": format!("Topic {}", numbers.below(1000)), "allowAnonymousPosts": true,
        "anonymous": false, "mustPostBeforeViewing": false,
    });
    let topic = made(&author, "conversations", &topic).await.id;
    let mut last = String::new();
    for _ in 0..2 + numbers.below(3) {
        let name = format!("student{}", 1 + numbers.below(6));
        let author = app.user(&name).await;
        // Who has written without a name before keeps that label: candidates write their first such post.
        let is_anonymous = name == "student1" && numbers.below(2) == 0;
        let post = json!({"siteId": SITE, "topicId": topic, "message": "Some text", "anonymous": is_anonymous});
        last = made(&author, "conversations-post", &post).await.id;
        let react = format!("{TOPICS}/{topic}/posts/{last}/reactions");
        let reader = app.user(&format!("student{}", 7 + numbers.below(3))).await;
        reader
            .post(&react, &json!({"KEY": true}))
            .await
            .expect(StatusCode::OK);
    }
    (topic, last)
}

both! {
    async fn anonymous_authors_can_not_be_told_apart(app: TestApp) {
        if is_left_out(&app) {
            return;
        }
        let mut different = Vec::new();
        for seed in 0..WORLDS {
            let mut numbers = Numbers(seed * 7919 + 17);
            let (topic, last) = world(&app, &mut numbers).await;
            let (kind, fields) = match seed % 3 {
                0 => ("conversations", json!({"siteId": SITE, "title": "A text", "anonymous": true})),
                1 => ("conversations-post", json!({"siteId": SITE, "topicId": topic, "message": "A text", "anonymous": true})),
                _ => ("conversations-post", json!({"siteId": SITE, "topicId": topic, "message": "A text", "anonymous": true, "parentPost": last})),
            };
            let attacker = app.user("student10").await;
            let names = [2 + numbers.below(2), 4 + numbers.below(2)].map(|it| format!("student{it}"));
            let mut candidates = Vec::new();
            for name in &names {
                let own = app.user(name).await.get("/direct/user/current.json").await.json();
                candidates.push(own["id"].as_str().expect("an id").to_owned());
            }
            let mut told_of = Vec::new();
            for name in &names {
                let author = app.user(name).await;
                let written = made(&author, kind, &fields).await;
                let place = if kind == "conversations" { written.id.clone() } else { topic.clone() };
                let paths = addresses(&written, &place, &candidates);
                let all = told(&attacker, &paths, &written).await;
                assert!(all.iter().any(|it| it.contains("A text")), "nothing is told");
                told_of.push(all);
                let own = author.get(&format!("/direct/{}.json", written.path)).await.json();
                assert!(candidates.contains(&own["creator"].as_str().expect("a text").to_owned()));
                assert_eq!(remove(&author, &format!("/direct/{}", written.path)).await, StatusCode::NO_CONTENT);
            }
            let pairs = told_of[0].iter().zip(&told_of[1]);
            different.extend(pairs.filter(|it| it.0 != it.1).map(|it| format!("{seed}:\n{}\n---\n{}", it.0, it.1)));
        }
        assert!(different.is_empty(), "{}: {}", different.len(), different.first().map_or("", String::as_str));
    }

    async fn only_authors_and_those_who_may_know_them_see_who_is_anonymous(app: TestApp) {
        let (author, instructor, admin) = (app.user("student1").await, app.user("instructor1").await, app.user("admin").await);
        let topic = author.post(TOPICS, &json!({"title": "Who am I?", "anonymous": true, "allowAnonymousPosts": true})).await;
        let topic = ok(&topic);
        assert_eq!((&topic["isMine"], &topic["anonymous"]), (&json!(true), &json!(true)));
        let (path, id) = (topic["url"].as_str().expect("a path"), topic["creator"].as_str().expect("an id"));
        let posts = format!("{path}/posts");
        ok(&instructor.post(&posts, &json!({"message": "I know", "anonymous": true})).await);
        for client in [&instructor, &app.user("student2").await] {
            let seen = ok(&client.get(path).await);
            assert_eq!((&seen["creator"], &seen["modifier"], &seen["creatorDisplayName"]), (&json!(""), &json!(""), &json!("Anonymous")));
            assert_eq!((&seen["isMine"], &seen["resolved"]), (&json!(false), &json!(false)));
        }
        let told = ok(&app.user("student2").await.get(&format!("{posts}?page=0")).await);
        assert_eq!((&told[0]["creatorDisplayName"], &told[0]["isInstructor"]), (&json!("Anonymous 1"), &json!(false)));
        assert_eq!(ok(&admin.get(path).await)["creator"], id);
        // Moderators change it, and still do not learn whose it is; it stays the author's.
        assert_eq!(ok(&instructor.put(path, &json!({"title": "Who?"})).await)["creator"], "");
        assert_eq!(ok(&author.get(path).await)["creator"], id);
        let due = json!({"dueDate": app.service().now().timestamp() + 86_400});
        ok(&instructor.put(path, &due).await);
        let events = instructor.get(&format!("/direct/calendar/site/{SITE}.json")).await.expect(StatusCode::OK).text().to_owned();
        assert!(events.contains("Who?") && !events.contains(id), "{events}");
        // The author reads what is said to them alone.
        let private = ok(&app.user("student2").await.post(&posts, &json!({"message": "To you", "privatePost": true})).await);
        let private = private["id"].as_str().expect("an id");
        author.get(&format!("/direct/conversations-post/{private}.json")).await.expect(StatusCode::OK);
        app.user("student3").await.get(&format!("/direct/conversations-post/{private}.json")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn names_are_left_out_only_where_that_is_allowed(app: TestApp) {
        let (student, instructor) = (app.user("student1").await, app.user("instructor1").await);
        let named = ok(&student.post(TOPICS, &json!({"title": "With names"})).await);
        let posts = format!("{}/posts", named["url"].as_str().expect("a path"));
        let nameless = json!({"message": "x", "anonymous": true});
        student.post(&posts, &nameless).await.expect(StatusCode::BAD_REQUEST);
        let setting = "/api/sites/biology-101/conversations/settings/allowAnonPosting";
        instructor.post(setting, &json!(false)).await.expect(StatusCode::OK);
        for fields in [json!({"title": "x", "anonymous": true}), json!({"title": "x", "allowAnonymousPosts": true})] {
            student.post(TOPICS, &fields).await.expect(StatusCode::BAD_REQUEST);
        }
        instructor.post(setting, &json!(true)).await.expect(StatusCode::OK);
        let open = ok(&student.post(TOPICS, &json!({"title": "Without", "allowAnonymousPosts": true})).await);
        let posts = format!("{}/posts", open["url"].as_str().expect("a path"));
        let post = ok(&student.post(&posts, &nameless).await);
        let path = post["url"].as_str().expect("a path");
        student.put(path, &json!({"message": "y", "anonymous": false})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(ok(&student.put(path, &json!({"message": "y", "anonymous": true})).await)["message"], "y");
    }
}
