//! Settings, tags, reactions, votes and statistics.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{PATH, TOPICS, ok, rels, remove};

async fn set(client: &Client, name: &str, value: Value) -> StatusCode {
    client
        .post(&format!("{PATH}/settings/{name}"), &value)
        .await
        .status
}

async fn topic(client: &Client, fields: Value) -> Value {
    ok(&client.post(TOPICS, &fields).await)
}

fn path(of: &Value) -> &str {
    of["url"].as_str().expect("a path")
}

both! {
    async fn settings_are_changed_by_those_who_change_the_site(app: TestApp) {
        let (student, instructor) = (app.user("student1").await, app.user("instructor1").await);
        let settings = ok(&student.get(PATH).await)["settings"].take();
        for (name, value) in [("allowBookmarking", true), ("allowReactions", true), ("allowUpvoting", false), ("allowAnonPosting", true), ("allowPinning", true), ("siteLocked", false), ("requireGuidelinesAgreement", false)] {
            assert_eq!(settings[name], value, "{name}");
            assert_eq!(set(&instructor, name, json!(!value)).await, StatusCode::OK, "{name}");
            assert_eq!(ok(&student.get(PATH).await)["settings"][name], !value, "{name}");
            assert_eq!(set(&instructor, name, json!(value)).await, StatusCode::OK, "{name}");
        }
        assert_eq!(set(&instructor, "unknown", json!(true)).await, StatusCode::OK);
        assert_eq!(set(&instructor, "siteLocked", json!("x")).await, StatusCode::BAD_REQUEST);
        assert_eq!(set(&instructor, "guidelines", json!("<p>Be kind</p><script>x</script>")).await, StatusCode::OK);
        let guidelines = ok(&student.get(PATH).await)["settings"]["guidelines"].take();
        assert_eq!(guidelines, "<p>Be kind</p>");
        // The settings are those of this site alone.
        assert_eq!(ok(&app.user("instructor2").await.get("/api/sites/history-210/conversations").await)["settings"]["guidelines"], "");
    }

    async fn guidelines_are_shown_until_somebody_agrees(app: TestApp) {
        let (student, other, instructor) = (app.user("student1").await, app.user("student2").await, app.user("instructor1").await);
        let shows = async |client: &Client| ok(&client.get(PATH).await)["showGuidelines"].take();
        assert_eq!(shows(&student).await, false);
        assert_eq!(set(&instructor, "requireGuidelinesAgreement", json!(true)).await, StatusCode::OK);
        assert_eq!(shows(&student).await, true);
        let agree = format!("{PATH}/agree");
        // What only reads changes nothing.
        student.get(&agree).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(shows(&student).await, true);
        for _ in 0..2 {
            student.post(&agree, &json!({})).await.expect(StatusCode::OK);
        }
        assert_eq!((shows(&student).await, shows(&other).await), (json!(false), json!(true)));
    }

    async fn a_locked_site_is_written_by_moderators_only(app: TestApp) {
        let (student, ta, instructor) = (app.user("student1").await, app.user("ta1").await, app.user("instructor1").await);
        let open = topic(&student, json!({"title": "Before"})).await;
        let posts = format!("{}/posts", path(&open));
        let post = ok(&student.post(&posts, &json!({"message": "x"})).await);
        assert_eq!(set(&instructor, "siteLocked", json!(true)).await, StatusCode::OK);
        let bundle = ok(&student.get(PATH).await);
        for name in ["canCreateTopic", "canCreateQuestion", "canCreateDiscussion", "canEditTags"] {
            assert_eq!(bundle[name], false, "{name}");
        }
        assert_eq!(ok(&ta.get(PATH).await)["canCreateTopic"], true);
        let seen = ok(&student.get(path(&open)).await);
        assert_eq!((&seen["locked"], &seen["canPost"], &seen["canReact"], &seen["lockedByDate"]), (&json!(true), &json!(false), &json!(false), &json!(false)));
        student.post(TOPICS, &json!({"title": "x"})).await.expect(StatusCode::FORBIDDEN);
        student.post(&posts, &json!({"message": "x"})).await.expect(StatusCode::FORBIDDEN);
        student.put(path(&post), &json!({"message": "y"})).await.expect(StatusCode::FORBIDDEN);
        student.post(&format!("{}/comments", path(&post)), &json!({"message": "y"})).await.expect(StatusCode::FORBIDDEN);
        ta.post(TOPICS, &json!({"title": "x"})).await.expect(StatusCode::OK);
        assert_eq!(set(&instructor, "siteLocked", json!(false)).await, StatusCode::OK);
        student.post(&posts, &json!({"message": "x"})).await.expect(StatusCode::OK);
        for name in ["allowPinning", "allowBookmarking"] {
            assert_eq!(set(&instructor, name, json!(false)).await, StatusCode::OK);
        }
        let seen = ok(&ta.get(path(&open)).await);
        assert_eq!((&seen["canPin"], &seen["canBookmark"]), (&json!(false), &json!(false)));
        ta.post(&format!("{}/pinned", path(&open)), &json!(true)).await.expect(StatusCode::FORBIDDEN);
        ta.post(&format!("{}/bookmarked", path(&open)), &json!(true)).await.expect(StatusCode::FORBIDDEN);
    }

    async fn tags_are_put_on_topics_and_taken_off_when_they_are_deleted(app: TestApp) {
        let (student, ta) = (app.user("student1").await, app.user("ta1").await);
        let tags = format!("{PATH}/tags");
        let before = ok(&student.get(&tags).await).as_array().map(Vec::len).expect("a list");
        ta.post(&tags, &json!([{"label": ""}])).await.expect(StatusCode::BAD_REQUEST);
        let all = ok(&ta.post(&tags, &json!([{"label": "Alpha", "siteId": "other", "description": "First"}, {"label": "Beta"}])).await);
        let all = all.as_array().expect("a list");
        assert_eq!(all.len(), before + 2);
        let find = |label: &str| all.iter().find(|it| it["label"] == label).expect("a tag").clone();
        let (alpha, beta) = (find("Alpha"), find("Beta"));
        assert_eq!((&alpha["siteId"], &alpha["description"]), (&json!("biology-101"), &json!("First")));
        let tagged = topic(&student, json!({"title": "Tagged", "tags": [alpha, beta["id"]]})).await;
        assert_eq!(tagged["tags"], json!([alpha, beta]));
        let one = format!("{tags}/{}", alpha["id"]);
        assert_eq!(ok(&ta.put(&one, &json!({"label": "Gamma"})).await)["label"], "Gamma");
        assert_eq!(ok(&student.get(path(&tagged)).await)["tags"][1]["label"], "Gamma");
        assert_eq!(remove(&ta, &one).await, StatusCode::OK);
        assert_eq!(ok(&student.get(path(&tagged)).await)["tags"], json!([beta]));
        let direct = format!("/direct/conversations/{}.json", tagged["id"].as_str().expect("an id"));
        assert_eq!(ok(&student.get(&direct).await)["tags"], json!([beta["id"].to_string()]));
        assert_eq!(ok(&student.put(path(&tagged), &json!({"tags": []})).await)["tags"], json!([]));
        student.put(path(&tagged), &json!({"tags": [alpha["id"]]})).await.expect(StatusCode::BAD_REQUEST);
        // Tags of another site are none here.
        let elsewhere = app.user("instructor2").await.post("/api/sites/history-210/conversations/tags", &json!([{"label": "Far"}])).await;
        let far = &ok(&elsewhere)[0];
        student.put(path(&tagged), &json!({"tags": [far["id"]]})).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn reactions_are_counted_once_a_person(app: TestApp) {
        let (author, reader, other) = (app.user("student1").await, app.user("student2").await, app.user("student3").await);
        let made = topic(&author, json!({"title": "React"})).await;
        let post = ok(&author.post(&format!("{}/posts", path(&made)), &json!({"message": "x"})).await);
        for thing in [&made, &post] {
            let react = format!("{}/reactions", path(thing));
            author.post(&react, &json!({"KEY": true})).await.expect(StatusCode::FORBIDDEN);
            reader.post(&react, &json!({"ANGRY": true})).await.expect(StatusCode::BAD_REQUEST);
            reader.post(&react, &json!({"KEY": "x"})).await.expect(StatusCode::BAD_REQUEST);
            for _ in 0..2 {
                assert_eq!(ok(&reader.post(&react, &json!({"KEY": true, "LOVE_IT": true, "GOOD_IDEA": false})).await), json!({"KEY": 1, "LOVE_IT": 1}));
            }
            assert_eq!(ok(&other.post(&react, &json!({"KEY": true})).await), json!({"KEY": 2, "LOVE_IT": 1}));
            assert_eq!(ok(&reader.post(&react, &json!({"LOVE_IT": false})).await), json!({"KEY": 2}));
        }
        let own = json!({"THUMBS_UP": false, "LOVE_IT": false, "GOOD_IDEA": false, "KEY": true});
        let none = json!({"THUMBS_UP": false, "LOVE_IT": false, "GOOD_IDEA": false, "KEY": false});
        for (client, reactions, can) in [(&reader, &own, true), (&author, &none, false)] {
            let seen = ok(&client.get(path(&made)).await);
            assert_eq!((&seen["myReactions"], &seen["reactionTotals"], &seen["canReact"]), (reactions, &json!({"KEY": 2}), &json!(can)));
            assert_eq!(rels(&seen).contains(&"react"), can);
            let told = ok(&client.get(&format!("{}/posts?page=0", path(&made))).await);
            assert_eq!((&told[0]["myReactions"], &told[0]["numberOfThreadReactions"], &told[0]["canReact"]), (reactions, &json!(2), &json!(can)));
        }
        let instructor = app.user("instructor1").await;
        assert_eq!(set(&instructor, "allowReactions", json!(false)).await, StatusCode::OK);
        reader.post(&format!("{}/reactions", path(&made)), &json!({"KEY": false})).await.expect(StatusCode::FORBIDDEN);
        assert_eq!(ok(&reader.get(path(&made)).await)["canReact"], false);
    }

    async fn votes_are_counted_once_a_person(app: TestApp) {
        let (author, reader, other) = (app.user("student1").await, app.user("student2").await, app.user("student3").await);
        let made = topic(&author, json!({"title": "Vote"})).await;
        let post = ok(&author.post(&format!("{}/posts", path(&made)), &json!({"message": "x"})).await);
        let vote = async |client: &Client, thing: &Value, what: &str| client.post(&format!("{}/{what}", path(thing)), &json!({})).await.status;
        assert_eq!(vote(&reader, &made, "upvote").await, StatusCode::FORBIDDEN);
        assert_eq!(set(&app.user("instructor1").await, "allowUpvoting", json!(true)).await, StatusCode::OK);
        for thing in [&made, &post] {
            reader.get(&format!("{}/upvote", path(thing))).await.expect(StatusCode::METHOD_NOT_ALLOWED);
            reader.get(&format!("{}/unupvote", path(thing))).await.expect(StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(vote(&author, thing, "upvote").await, StatusCode::FORBIDDEN);
            for (client, what) in [(&reader, "upvote"), (&reader, "upvote"), (&other, "upvote"), (&other, "unupvote"), (&other, "unupvote")] {
                assert_eq!(vote(client, thing, what).await, StatusCode::OK);
            }
        }
        for (client, upvoted, can) in [(&reader, true, true), (&other, false, true), (&author, false, false)] {
            let seen = ok(&client.get(path(&made)).await);
            let told = ok(&client.get(&format!("{}/posts?page=0", path(&made))).await);
            for it in [&seen, &told[0]] {
                assert_eq!((&it["upvotes"], &it["upvoted"], &it["canUpvote"], &it["canViewUpvotes"]), (&json!(1), &json!(upvoted), &json!(can), &json!(true)));
                assert_eq!((rels(it).contains(&"upvote"), rels(it).contains(&"unupvote")), (can, can));
            }
        }
    }

    async fn statistics_tell_how_much_each_member_takes_part(app: TestApp) {
        let (author, reader, instructor) = (app.user("student1").await, app.user("student2").await, app.user("instructor1").await);
        let stats = format!("{PATH}/stats");
        assert_eq!(ok(&author.get(PATH).await)["links"], json!([]));
        assert_eq!(ok(&instructor.get(PATH).await)["links"], json!([{"rel": "stats", "href": stats}]));
        for wrong in [json!({}), json!({"interval": "YEAR"}), json!({"interval": "WEEK", "page": 0}), json!({"interval": "WEEK", "sort": "x"})] {
            instructor.post(&stats, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        let name = ok(&author.get("/direct/user/current.json").await)["displayName"].take();
        let reader_name = ok(&reader.get("/direct/user/current.json").await)["displayName"].take();
        let all = async |interval: &str| {
            let mut members = Vec::new();
            for page in 1.. {
                let body = json!({"interval": interval, "page": page, "sort": "nameAscending"});
                let told = ok(&instructor.post(&stats, &body).await);
                let part = told["stats"].as_array().expect("a list").clone();
                if part.is_empty() {
                    assert_eq!(told["total"], members.len());
                    break;
                }
                members.extend(part);
            }
            members
        };
        let of = |members: &[Value], name: &Value| members.iter().find(|it| it["name"] == *name).expect("a member").clone();
        let before = all("ALL_TIME").await;
        let made = topic(&author, json!({"title": "Counted"})).await;
        let nameless = topic(&author, json!({"title": "Not counted", "anonymous": true, "allowAnonymousPosts": true})).await;
        let post = ok(&author.post(&format!("{}/posts", path(&made)), &json!({"message": "x"})).await);
        ok(&author.post(&format!("{}/posts", path(&nameless)), &json!({"message": "x", "anonymous": true})).await);
        for thing in [&made, &nameless, &post] {
            ok(&reader.post(&format!("{}/reactions", path(thing)), &json!({"KEY": true, "LOVE_IT": true})).await);
        }
        reader.post(&format!("{}/posts/markpostsviewed", path(&made)), &json!([post["id"]])).await.expect(StatusCode::OK);
        let after = all("ALL_TIME").await;
        let grown = |name: &Value, field: &str| of(&after, name)[field].as_i64().expect("a number") - of(&before, name)[field].as_i64().expect("a number");
        assert_eq!((grown(&name, "topicsCreated"), grown(&name, "postsCreated")), (1, 1));
        assert_eq!((grown(&reader_name, "topicReactions"), grown(&reader_name, "postReactions")), (2, 2));
        assert_eq!((grown(&reader_name, "topicsViewed"), grown(&reader_name, "postsViewed")), (1, 1));
        app.advance(chrono::TimeDelta::days(8));
        let instructor = app.user("instructor1").await;
        for interval in ["WEEK", "THIS_WEEK"] {
            let told = ok(&instructor.post(&stats, &json!({"interval": interval, "sort": "topicReactionsDescending"})).await);
            assert_eq!(told["stats"][0]["topicReactions"], 0, "{told}");
        }
        let told = ok(&instructor.post(&stats, &json!({"interval": "ALL_TIME", "sort": "postReactionsDescending"})).await);
        assert_eq!(told["stats"][0]["name"], reader_name);
    }
}
