//! `/direct/chat-channel` and `/direct/chat-message`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, id_of, link, list, read, text};

const SITE: &str = "biology-101";
const CHANNELS: &str = "/direct/chat-channel.json?siteId=biology-101";

/// The id of the room of the demo.
async fn room(client: &Client) -> String {
    let channels = list(client, CHANNELS, "chat-channel").await;
    text(&channels[0], "id")
}

async fn said(client: &Client, query: &str) -> Vec<Value> {
    list(
        client,
        &format!("/direct/chat-message.json?{query}"),
        "chat-message",
    )
    .await
}

fn bodies(messages: &[Value]) -> Vec<String> {
    messages.iter().map(|it| text(it, "body")).collect()
}

/// Says something as programs do, and returns its id.
async fn say(client: &Client, room: &str, body: &str) -> String {
    let form = format!("chatChannelId={room}&body={body}&csrftoken=0123abcd");
    created(
        &client.post_form("/direct/chat-message/new", &form).await,
        "chat-message",
    )
}

both! {
    async fn the_newest_are_listed_with_the_oldest_of_them_first(app: TestApp) {
        let client = app.user("student1").await;
        let id = room(&client).await;
        let all = said(&client, &format!("channelId={id}")).await;
        assert_eq!(bodies(&all)[0], "Is the lab open this afternoon?");
        let newest = said(&client, &format!("channelId={id}&items=2")).await;
        assert_eq!(newest, all[3..]);
        assert_eq!(said(&client, &format!("channelId={id}&items=0")).await, all);
        assert_eq!(said(&client, &format!("siteId={SITE}&items=2")).await, newest);
        let turned = said(&client, &format!("channelId={id}&items=2&_order=messageDate_desc")).await;
        assert_eq!(turned.len(), 2);
        assert_eq!(turned[0], all[4]);
        let counted = client.get(&format!("/direct/chat-message.json?channelId={id}&items=2&_count=exact")).await;
        assert_eq!(counted.header("x-total-count"), Some("2"));
        let part = client.get(&format!("/direct/chat-message.json?channelId={id}&items=4&_limit=2")).await;
        assert_eq!(part.json()["chat-message_collection"], json!(all[3..]));
        let before = list(&client, &link(&part, "next").expect("older ones"), "chat-message").await;
        assert_eq!(before, all[1..3]);
        // What is newer than the last that a program has.
        let last = all[2]["messageDate"].as_i64().expect("milliseconds");
        assert_eq!(said(&client, &format!("channelId={id}&messageDate[gt]={last}")).await, all[3..]);
        assert_eq!(said(&client, &format!("channelId={id}&_search=lab")).await, all[..1]);
        for query in ["items=x", "items=-1", "items=2&_cursor="] {
            let path = format!("/direct/chat-message.json?channelId={id}&{query}");
            client.get(&path).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn members_say_something_in_the_way_of_programs(app: TestApp) {
        let (student, teacher) = (app.user("student2").await, app.user("instructor1").await);
        let id = room(&student).await;
        let said_id = say(&student, &id, "Hello+%3Cb%3Eall%3C%2Fb%3E").await;
        let newest = said(&teacher, &format!("channelId={id}&items=1")).await;
        assert_eq!((text(&newest[0], "id"), text(&newest[0], "body")), (said_id.clone(), "Hello <b>all</b>".to_owned()));
        assert_eq!(text(&newest[0], "siteId"), SITE);
        let page = teacher.get(&format!("/direct/chat-message/{said_id}.html")).await;
        assert!(!page.text().contains("<b>all"), "{}", page.text());
        let fields = json!({"chatChannelId": id, "body": "As JSON", "siteId": "history-210", "owner": "x"});
        let other = created(&student.post("/direct/chat-message", &fields).await, "chat-message");
        let one = read(&student, &format!("/direct/chat-message/{other}.json")).await;
        assert_eq!((text(&one, "siteId"), text(&one, "owner")), (SITE.to_owned(), id_of(&student).await));
        for fields in [
            json!({"chatChannelId": id}),
            json!({"chatChannelId": id, "body": "  "}),
            json!({"chatChannelId": id, "body": "x".repeat(4001)}),
            json!({"chatChannelId": "none", "body": "x"}),
            json!({"body": "x"}),
        ] {
            student.post("/direct/chat-message/new", &fields).await.expect(StatusCode::BAD_REQUEST);
        }
        student.get("/direct/chat-message.json?channelId=none").await.expect(StatusCode::NOT_FOUND);
        // What was said stays as it is.
        let path = format!("/direct/chat-message/{said_id}");
        student.put(&path, &json!({"body": "Other"})).await.expect(StatusCode::METHOD_NOT_ALLOWED);
    }

    async fn messages_are_deleted_by_those_who_hold_the_function(app: TestApp) {
        let (student, teacher) = (app.user("student2").await, app.user("instructor1").await);
        let id = room(&student).await;
        let (own, other) = (say(&student, &id, "Mine").await, say(&teacher, &id, "Yours").await);
        let path = |it: &str| format!("/direct/chat-message/{it}");
        let grant = teacher.post_form("/direct/site/biology-101/setPerms", "Student:chat.delete.own=true").await;
        grant.expect(StatusCode::OK);
        let newest = said(&student, &format!("channelId={id}&items=2")).await;
        assert_eq!((&newest[0]["removeable"], &newest[1]["removeable"]), (&json!(true), &json!(false)));
        student.delete(&path(&other)).await.expect(StatusCode::FORBIDDEN);
        student.delete(&path(&own)).await.expect(StatusCode::NO_CONTENT);
        teacher.delete(&path(&other)).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(said(&student, &format!("channelId={id}")).await.len(), 5);
    }

    async fn a_room_is_made_changed_and_ends_with_its_messages(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let fields = json!({"siteId": SITE, "title": "Essay", "filterType": "SelectMessagesByNumber", "filterParam": 20});
        let id = created(&teacher.post("/direct/chat-channel", &fields).await, "chat-channel");
        let path = format!("/direct/chat-channel/{id}");
        for wrong in [
            json!({"filterParam": 0}),
            json!({"filterParam": 1001}),
            json!({"filterType": "Some"}),
            json!({"title": ""}),
        ] {
            teacher.put(&path, &wrong).await.expect(StatusCode::BAD_REQUEST);
        }
        say(&student, &id, "When").await;
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        student.get(&format!("/direct/chat-message.json?channelId={id}")).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(said(&student, &format!("siteId={SITE}")).await.len(), 5);
    }
}
