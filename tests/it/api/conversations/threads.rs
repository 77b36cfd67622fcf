//! Pages of threads, labels of anonymous writers, and answers that are marked as such.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{TOPICS, ok};

/// Makes a topic and returns the path of its posts.
async fn topic(client: &Client, fields: Value) -> String {
    let topic = ok(&client.post(TOPICS, &fields).await);
    format!("{}/posts", topic["url"].as_str().expect("a path"))
}

async fn post(client: &Client, posts: &str, fields: Value) -> Value {
    ok(&client.post(posts, &fields).await)
}

/// Puts the names of a page's threads into a list.
async fn page(client: &Client, posts: &str, query: &str) -> Vec<String> {
    let told = ok(&client.get(&format!("{posts}?{query}")).await);
    let told = told.as_array().expect("a list").iter();
    told.map(|it| it["message"].as_str().expect("a text").to_owned())
        .collect()
}

fn path(of: &Value) -> &str {
    of["url"].as_str().expect("a path")
}

async fn name(client: &Client, post: &Value) -> Value {
    let path = format!(
        "/direct/conversations-post/{}.json",
        post["id"].as_str().expect("an id")
    );
    ok(&client.get(&path).await)["creatorDisplayName"].clone()
}

both! {
    async fn pages_of_threads_have_each_thread_once(app: TestApp) {
        let (student, other, teacher) = (app.user("student1").await, app.user("student2").await, app.user("instructor1").await);
        let posts = topic(&student, json!({"title": "Leaves"})).await;
        let mut heads = Vec::new();
        for number in 0..23 {
            let author = if number % 2 == 0 { &student } else { &other };
            heads.push(post(author, &posts, json!({"message": format!("{number:02}")})).await);
        }
        // The thread 03 is the most active, with a comment, then 07.
        for (head, answers) in [(3, 3), (7, 2)] {
            for _ in 0..answers {
                post(&other, &posts, json!({"message": "Reply", "parentPost": heads[head]["id"]})).await;
            }
        }
        ok(&student.post(&format!("{}/comments", path(&heads[3])), &json!({"message": "Remark"})).await);
        for sort in ["NEWEST", "OLDEST", "MOST_ACTIVE", "LEAST_ACTIVE", "ASC_CREATOR", "DESC_CREATOR"] {
            let mut all = Vec::new();
            for number in 0..4 {
                let told = page(&student, &posts, &format!("page={number}&sort={sort}")).await;
                assert_eq!(told.len(), [10, 10, 3, 0][number], "{sort} {number}");
                all.extend(told);
            }
            match sort {
                "NEWEST" => assert!(all.iter().rev().is_sorted(), "{all:?}"),
                "OLDEST" => assert!(all.is_sorted(), "{all:?}"),
                "MOST_ACTIVE" => assert_eq!(all[..3], ["03", "07", "00"]),
                "LEAST_ACTIVE" => assert_eq!(all[20..], ["22", "07", "03"]),
                "ASC_CREATOR" => assert_eq!((&*all[0], &*all[22]), ("00", "21")),
                _ => assert_eq!((&*all[0], &*all[22]), ("01", "22")),
            }
            all.sort();
            all.dedup();
            assert_eq!(all.len(), 23, "{sort}");
        }
        let told = ok(&student.get(&format!("{posts}?sort=MOST_ACTIVE")).await);
        assert_eq!((&told[0]["howActive"], told[0]["comments"].as_array().map(Vec::len)), (&json!(4), Some(1)));
        // The page of a post is the one with its thread.
        let reply = told[0]["posts"][0]["id"].as_str().expect("an id");
        assert_eq!(page(&student, &posts, &format!("page=0&sort=OLDEST&postId={reply}")).await[3], "03");
        let last = heads[21]["id"].as_str().expect("an id");
        assert_eq!(page(&student, &posts, &format!("page=0&sort=OLDEST&postId={last}")).await, ["20", "21", "22"]);
        assert_eq!(page(&student, &posts, "page=1&sort=OLDEST&postId=none").await[0], "10");
        // What answers a post that the reader does not see stands for itself.
        ok(&teacher.post(&format!("{}/hidden", path(&heads[7])), &json!(true)).await);
        let shown = page(&student, &posts, "page=0&sort=OLDEST").await;
        assert!(!shown.contains(&"07".to_owned()) && shown.len() == 10, "{shown:?}");
        assert_eq!(page(&student, &posts, "page=2&sort=OLDEST").await, ["21", "22", "Reply", "Reply"]);
        assert_eq!(page(&teacher, &posts, "page=0&sort=OLDEST").await[7], "07");
    }

    async fn a_topic_with_one_page_has_it_whatever_is_asked_for(app: TestApp) {
        let student = app.user("student1").await;
        let posts = topic(&student, json!({"title": "Leaves"})).await;
        for number in 0..9 {
            post(&student, &posts, json!({"message": number.to_string()})).await;
        }
        assert_eq!(page(&student, &posts, "page=7&sort=OLDEST").await.len(), 9);
        post(&student, &posts, json!({"message": "9"})).await;
        assert_eq!(page(&student, &posts, "page=7").await.len(), 0);
        assert_eq!(page(&student, &posts, "page=0").await.len(), 10);
    }

    async fn l10_anonymous_writers_of_a_topic_are_told_apart_in_it_alone(app: TestApp) {
        let (one, two, reader) = (app.user("student1").await, app.user("student2").await, app.user("student3").await);
        let fields = json!({"title": "Leaves", "anonymous": true, "allowAnonymousPosts": true});
        let posts = topic(&one, fields.clone()).await;
        let nameless = |text: &str| json!({"message": text, "anonymous": true});
        let first = post(&two, &posts, nameless("a")).await;
        let asker = post(&one, &posts, nameless("b")).await;
        let again = post(&two, &posts, nameless("c")).await;
        let third = post(&reader, &posts, nameless("d")).await;
        assert_eq!(name(&reader, &first).await, "Anonymous 1");
        assert_eq!(name(&reader, &again).await, "Anonymous 1");
        assert_eq!(name(&reader, &asker).await, "Anonymous (author of the topic)");
        assert_eq!(name(&one, &third).await, "Anonymous 2");
        // A draft is numbered when it is published, and what few see not at all: the numbers tell of neither.
        let draft = post(&two, &posts, json!({"message": "e", "anonymous": true, "draft": true})).await;
        let private = post(&reader, &posts, json!({"message": "f", "anonymous": true, "privatePost": true})).await;
        assert_eq!(name(&one, &private).await, "Anonymous");
        ok(&two.put(path(&draft), &json!({"draft": false})).await);
        assert_eq!(name(&reader, &draft).await, "Anonymous 1");
        let told = reader.get(&format!("/direct/conversations-post.json?topicId={}&_limit=50", first["topic"].as_str().expect("an id"))).await;
        assert!(!told.text().contains("writer"), "{}", told.text());
        // In another topic, everybody begins anew.
        let other = topic(&reader, fields).await;
        let post = post(&one, &other, nameless("g")).await;
        assert_eq!(name(&two, &post).await, "Anonymous 1");
    }

    async fn instructors_mark_a_post_as_the_answer(app: TestApp) {
        let (asker, helper, teacher) = (app.user("student1").await, app.user("student2").await, app.user("instructor1").await);
        let posts = topic(&asker, json!({"title": "Why green?", "type": "QUESTION"})).await;
        let topic_path = posts.trim_end_matches("/posts");
        let answer = post(&helper, &posts, json!({"message": "Chlorophyll"})).await;
        let path = format!("/direct/conversations-post/{}", answer["id"].as_str().expect("an id"));
        assert_eq!(ok(&asker.get(topic_path).await)["resolved"], false);
        for _ in 0..2 {
            let marked = ok(&teacher.post(&format!("{path}/verify"), &json!({})).await);
            assert_ne!(marked["verifier"], "");
        }
        assert_eq!(ok(&asker.get(topic_path).await)["resolved"], true);
        let told = ok(&asker.get(&posts).await);
        let name = ok(&teacher.get("/direct/user/current.json").await)["displayName"].clone();
        assert_eq!(told[0]["verifierDisplayName"], name);
        ok(&teacher.post(&format!("{path}/unverify"), &json!({})).await);
        assert_eq!(ok(&asker.get(topic_path).await)["resolved"], false);
        assert_eq!(ok(&asker.get(&posts).await)[0]["verifierDisplayName"], Value::Null);
        // Neither what few see is the answer to a question, nor anything in a discussion.
        let private = post(&helper, &posts, json!({"message": "x", "privatePost": true})).await;
        let talk = topic(&teacher, json!({"title": "Green", "type": "DISCUSSION"})).await;
        let remark = post(&helper, &talk, json!({"message": "x"})).await;
        for it in [private, remark] {
            let path = format!("/direct/conversations-post/{}/verify", it["id"].as_str().expect("an id"));
            teacher.post(&path, &json!({})).await.expect(StatusCode::CONFLICT);
        }
    }

    async fn a_reply_to_what_vanished_is_not_found(app: TestApp) {
        let (one, two) = (app.user("student1").await, app.user("student2").await);
        let posts = topic(&one, json!({"title": "Leaves"})).await;
        let gone = post(&one, &posts, json!({"message": "x"})).await;
        let id = gone["id"].as_str().expect("an id");
        one.delete(path(&gone)).await.expect(StatusCode::OK);
        let reply = two.post(&posts, &json!({"message": "y", "parentPost": id})).await;
        assert!(reply.expect(StatusCode::NOT_FOUND).text().contains("parentPost"), "{}", reply.text());
        two.post(&format!("{}/comments", path(&gone)), &json!({"message": "y"})).await.expect(StatusCode::NOT_FOUND);
        let remark = json!({"siteId": "biology-101", "postId": id, "message": "y"});
        two.post("/direct/conversations-comment", &remark).await.expect(StatusCode::NOT_FOUND);
        assert!(page(&two, &posts, "page=0").await.is_empty());
    }

    async fn atom_tells_what_a_post_answers(app: TestApp) {
        let one = app.user("student1").await;
        let posts = topic(&one, json!({"title": "Leaves"})).await;
        let first = post(&one, &posts, json!({"message": "x"})).await;
        post(&one, &posts, json!({"message": "y", "parentPost": first["id"]})).await;
        let id = first["topic"].as_str().expect("an id");
        let feed = one.get(&format!("/direct/conversations-post.atom?topicId={id}")).await;
        let feed = feed.expect(StatusCode::OK).text();
        assert!(feed.contains("xmlns:thr=\"http://purl.org/syndication/thread/1.0\""), "{feed}");
        let entries: Vec<&str> = feed.split("<entry>").skip(1).collect();
        let reply = entries.iter().find(|it| it.contains("<thr:in-reply-to ")).expect("the reply");
        let above = entries.iter().find(|it| !it.contains("<thr:")).expect("the first");
        let element = reply.split("<thr:in-reply-to ").nth(1).and_then(|it| it.split('>').next()).expect("an element");
        let id = above.split("<id>").nth(1).and_then(|it| it.split('<').next()).expect("an id");
        let href = above.split("href=\"").nth(1).and_then(|it| it.split('"').next()).expect("an address");
        assert!(element.contains(&format!("ref=\"{id}\"")) && element.contains(&format!("href=\"{href}\"")), "{feed}");
    }
}
