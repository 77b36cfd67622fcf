//! `/api/users/me/notifications`: who is told of replies.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use super::notifications::told;

const SITE: &str = "biology-101";

/// Makes an entity of the type `kind` in the site and returns its id.
pub(super) async fn made(client: &Client, kind: &str, mut fields: Value) -> String {
    if fields["siteId"].is_null() {
        fields["siteId"] = SITE.into();
    }
    let answer = client.post(&format!("/direct/{kind}"), &fields).await;
    let id = answer.expect(StatusCode::CREATED).header("entityid");
    id.expect("an id").to_owned()
}

async fn change(client: &Client, path: &str, fields: Value) {
    let answer = client.put(&format!("/direct/{path}"), &fields).await;
    answer.expect(StatusCode::NO_CONTENT);
}

pub(super) async fn id_of(client: &Client) -> Value {
    client.get("/direct/user/current.json").await.json()["id"].clone()
}

/// The notifications of `client` of this kind, once everything is followed.
pub(super) async fn of_kind(app: &TestApp, client: &Client, kind: &str) -> Vec<Value> {
    app.service().catch_up().await.expect("it follows");
    let mut all = told(client).await;
    all.retain(|it| it["event"] == kind);
    all
}

fn titles(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(|it| it["title"].as_str()).collect()
}

above_storage! {
    async fn the_author_of_a_message_is_told_of_replies_to_it(app: TestApp) {
        const KIND: &str = "forums.reply";
        let (teacher, author, other) = (app.user("instructor1").await, app.user("student1").await, app.user("student2").await);
        let forum = made(&teacher, "forums", json!({"title": "Questions"})).await;
        let topic = made(&teacher, "forums-topic", json!({"title": "Lab", "forum": forum})).await;
        let say = async |client: &Client, title: &str, above: &str, is_draft: bool| {
            let above = above.parse::<i64>().ok();
            let fields = json!({"topic": topic, "title": title, "replyTo": above, "isDraft": is_draft});
            made(client, "forums-message", fields).await
        };
        let question = say(&author, "Which stain?", "", false).await;
        say(&author, "I forgot to say", &question, false).await;
        let answer = say(&other, "Iodine", &question, false).await;
        let all = of_kind(&app, &author, KIND).await;
        assert_eq!(titles(&all), ["Iodine"], "of the replies of others");
        assert_eq!((&all[0]["tool"], &all[0]["fromUser"]), (&json!("sakai.forums"), &id_of(&other).await));
        author.get(all[0]["url"].as_str().expect("an address")).await.expect(StatusCode::OK);
        for client in [&other, &teacher, &app.user("student3").await] {
            assert!(of_kind(&app, client, KIND).await.is_empty());
        }

        // A draft tells nobody until it is sent.
        let draft = say(&teacher, "Not sent", &answer, true).await;
        assert!(of_kind(&app, &other, KIND).await.is_empty());
        change(&teacher, &format!("forums-message/{draft}"), json!({"isDraft": false, "title": "Sent"})).await;
        change(&teacher, &format!("forums-message/{draft}"), json!({"title": "Sent and changed"})).await;
        assert_eq!(titles(&of_kind(&app, &other, KIND).await), ["Sent and changed"]);

        // A deleted one, to which there are replies, keeps its place, but nobody is told of it any more.
        other.delete(&format!("/direct/forums-message/{answer}")).await.expect(StatusCode::NO_CONTENT);
        assert!(of_kind(&app, &author, KIND).await.is_empty());

        // What waits for approval is told when it is approved.
        change(&teacher, &format!("forums-topic/{topic}"), json!({"isModerated": true})).await;
        let waiting = say(&other, "Waiting", &question, false).await;
        assert!(of_kind(&app, &author, KIND).await.is_empty());
        teacher.post(&format!("/direct/forums-message/{waiting}/approve"), &json!({})).await.expect(StatusCode::OK);
        assert_eq!(titles(&of_kind(&app, &author, KIND).await), ["Waiting"]);
    }

    async fn whoever_is_answered_in_a_conversation_is_told(app: TestApp) {
        const KIND: &str = "conversations.reply";
        let (teacher, author) = (app.user("instructor1").await, app.user("student1").await);
        let (other, third) = (app.user("student2").await, app.user("student3").await);
        let topic = made(&author, "conversations", json!({"title": "About leaves"})).await;
        let post = async |client: &Client, mut fields: Value| {
            fields["topicId"] = topic.clone().into();
            fields["message"] = "<p>Text</p>".into();
            made(client, "conversations-post", fields).await
        };
        post(&author, json!({})).await;
        let first = post(&other, json!({})).await;
        let all = of_kind(&app, &author, KIND).await;
        assert_eq!(titles(&all), ["About leaves"]);
        assert_eq!(all[0]["ref"], format!("/conversations-post/{first}"));
        assert_eq!((&all[0]["tool"], &all[0]["fromUser"]), (&json!("sakai.conversations"), &id_of(&other).await));

        let draft = post(&teacher, json!({"parentPost": first, "draft": true})).await;
        assert!(of_kind(&app, &other, KIND).await.is_empty());
        let path = format!("conversations-post/{draft}");
        change(&teacher, &path, json!({"draft": false})).await;
        assert_eq!(of_kind(&app, &other, KIND).await.len(), 1);
        change(&teacher, &path, json!({"hidden": true})).await;
        assert!(of_kind(&app, &other, KIND).await.is_empty(), "it is hidden");
        change(&teacher, &path, json!({"hidden": false})).await;
        assert_eq!(of_kind(&app, &other, KIND).await.len(), 1);

        let comment = json!({"postId": first, "message": "Really?"});
        let comment = made(&third, "conversations-comment", comment).await;
        let all = of_kind(&app, &other, KIND).await;
        let reference = format!("/conversations-comment/{comment}");
        assert!(all.len() == 2 && all.iter().any(|it| it["ref"] == reference), "{all:?}");
        made(&other, "conversations-comment", json!({"postId": first, "message": "Yes."})).await;
        assert_eq!(of_kind(&app, &other, KIND).await.len(), 2, "nobody is told of what they wrote");
        assert_eq!(of_kind(&app, &author, KIND).await.len(), 1);
        for client in [&teacher, &third] {
            assert!(of_kind(&app, client, KIND).await.is_empty());
        }
        // Whoever is not in the site any more is told of nothing there.
        let id = id_of(&other).await;
        let membership = format!("/direct/membership/{}::site:{SITE}", id.as_str().expect("an id"));
        app.user("admin").await.delete(&membership).await.expect(StatusCode::NO_CONTENT);
        assert!(of_kind(&app, &other, KIND).await.is_empty());
    }

    async fn a_notification_of_a_reply_does_not_name_who_is_anonymous(app: TestApp) {
        const KIND: &str = "conversations.reply";
        let (author, other) = (app.user("student1").await, app.user("student2").await);
        let topic = json!({"title": "Who?", "anonymous": true, "allowAnonymousPosts": true});
        let topic = made(&author, "conversations", topic).await;
        let post = json!({"topicId": topic, "message": "Me", "anonymous": true});
        let post = made(&other, "conversations-post", post).await;
        let reply = json!({"topicId": topic, "message": "You?", "anonymous": true, "parentPost": post});
        made(&author, "conversations-post", reply).await;
        for (reader, writer) in [(&author, &other), (&other, &author)] {
            let all = of_kind(&app, reader, KIND).await;
            assert_eq!(all.len(), 1);
            assert_eq!((&all[0]["fromUser"], &all[0]["from"], &all[0]["fromDisplayName"]), (&json!(""), &json!(""), &json!("")));
            let account = writer.get("/direct/user/current.json").await.json();
            let listed = reader.get("/direct/notification.json").await.expect(StatusCode::OK).text().to_owned();
            for part in ["id", "displayName", "eid"] {
                let name = account[part].as_str().expect("a text");
                let quoted = format!("\"{name}\"");
                assert!(!all[0].to_string().contains(&quoted) && !listed.contains(&quoted), "{name}");
            }
        }
    }
}
