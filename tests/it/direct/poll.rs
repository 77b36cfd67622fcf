//! `/direct/poll`, `/direct/poll-option` and `/direct/poll-vote`

mod asked;
mod results;
mod secrecy;
mod voting;

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{FORM, JSON, XML, created, id_of, list, read, text};
use crate::shape::{METADATA, assert_same, assert_shape};

const POLL: &str = "pollId whole, owner text, siteId text, creationDate whole, text text, description text, \
    minOptions whole, maxOptions whole, voteOpen whole, voteClose whole, displayResult text, limitVoting flag, \
    currentUserVoted flag, options list";
/// The fields that the service has besides.
const OURS: &str = "key text, modifiedDate whole, votes list, voters whole?";
const INSIDE: &str = "optionId whole, pollId whole, text text, optionOrder whole, votes whole?";
const OPTION: &str = "key text, poll text, pollText text, siteId text, owner text";
const VOTE: &str = "key text, id whole, poll text, pollId whole, pollText text, pollOption list, siteId text, \
    userId text, voteDate whole";
const SITE: &str = "biology-101";
const OF_BIOLOGY: &str = "/direct/poll/site/biology-101.json";
const OPEN: &str = "When shall the review session be?";
const OVER: &str = "Which organisms shall we look at in the last lab?";

/// The poll of the demo university with this question, as `client` sees it.
async fn find(client: &Client, question: &str) -> Value {
    let all = list(client, OF_BIOLOGY, "poll").await;
    let found = all.into_iter().find(|it| it["text"] == question);
    found.unwrap_or_else(|| panic!("there is no poll {question}"))
}

fn whole(value: &Value, key: &str) -> i64 {
    let found = value[key].as_i64();
    found.unwrap_or_else(|| panic!("`{key}` is no whole number: {value}"))
}

/// The poll `id`, as `client` sees it.
async fn poll(client: &Client, id: i64) -> Value {
    read(client, &format!("/direct/poll/{id}.json")).await
}

/// A new poll with these fields and the options `one`, `two` and `three`, and the ids of these.
async fn make(teacher: &Client, mut fields: Value) -> (i64, Vec<i64>) {
    fields["siteId"] = SITE.into();
    if fields["text"].is_null() {
        fields["text"] = "Which one?".into();
    }
    let id = created(&teacher.post("/direct/poll", &fields).await, "poll");
    let texts = json!({"text": ["one", "two", "three"]});
    let path = format!("/direct/poll/{id}/options.json");
    let made = teacher
        .post(&path, &texts)
        .await
        .expect(StatusCode::OK)
        .json();
    let options = made["options"].as_array().expect("a list").iter();
    (
        whole(&made, "pollId"),
        options.map(|it| whole(it, "optionId")).collect(),
    )
}

/// Votes for these options by the address that `way` names.
async fn send(client: &Client, way: &str, poll: i64, options: &[i64]) -> Answer {
    let fields = json!({"pollId": poll, "pollOption": options});
    let path = match way {
        "own" => format!("/direct/poll/{poll}/vote.json"),
        way => format!("/direct/poll-vote/{way}.json"),
    };
    client.post(&path, &fields).await
}

async fn vote(client: &Client, poll: i64, options: &[i64]) -> StatusCode {
    send(client, "vote", poll, options).await.status
}

/// The instant so many seconds from now, in milliseconds.
fn at(app: &TestApp, seconds: i64) -> i64 {
    let then = app.service().now() + TimeDelta::seconds(seconds);
    then.timestamp_millis()
}

both! {
    async fn y68_the_number_of_votes_is_no_figure_of_a_site(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let days = format!("/direct/activity/site/{SITE}.json");
        let (poll, options) = make(&teacher, json!({"displayResult": "never"})).await;
        app.service().catch_up().await.expect("events are counted");
        let before = list(&teacher, &days, "activity").await;
        assert_eq!(vote(&student, poll, &options[..1]).await, StatusCode::OK);
        app.service().catch_up().await.expect("events are counted");
        assert_eq!(list(&teacher, &days, "activity").await, before);
    }

    async fn a_poll_has_the_keys_that_clients_read(app: TestApp) {
        for eid in ["student1", "student3", "instructor1"] {
            let client = app.user(eid).await;
            for path in [OF_BIOLOGY, "/direct/poll.json", "/direct/poll.json?siteId=biology-101"] {
                let polls = list(&client, path, "poll").await;
                assert_eq!(polls.len(), 2, "{eid} {path}");
                for it in &polls {
                    assert_shape(it, &[POLL, OURS, METADATA]);
                    let id = whole(it, "pollId");
                    assert!(i32::try_from(id).is_ok(), "{id} is no 32-bit number");
                    assert_eq!(it["entityReference"], format!("/poll/{id}"));
                    assert_eq!(it["entityTitle"], it["text"]);
                    for query in ["", "?includeVotes=true&includeOptions=true", "?includeVotes=false"] {
                        assert_eq!(&read(&client, &format!("/direct/poll/{id}.json{query}")).await, it);
                    }
                    for option in it["options"].as_array().expect("a list") {
                        assert_shape(option, &[INSIDE]);
                        assert_eq!(option["pollId"], id);
                    }
                }
                let json = read(&client, path).await;
                let xml = client.get(&path.replace(".json", ".xml")).await;
                assert_same(xml.expect(StatusCode::OK).text(), &json);
                client.get(&path.replace(".json", ".html")).await.expect(StatusCode::OK);
            }
            let id = whole(&find(&client, OPEN).await, "pollId");
            let xml = client.get(&format!("/direct/poll/{id}.xml")).await;
            assert_same(xml.expect(StatusCode::OK).text(), &poll(&client, id).await);
        }
    }

    async fn options_and_the_own_vote_have_addresses_of_their_own(app: TestApp) {
        for (eid, votes) in [("student1", 0), ("student3", 1), ("instructor1", 0), ("admin", 0)] {
            let client = app.user(eid).await;
            let open = find(&client, OPEN).await;
            let id = whole(&open, "pollId");
            let path = format!("/direct/poll/{id}/option");
            let options = list(&client, &format!("{path}.json"), "poll-option").await;
            assert_eq!(options.len(), 3);
            for (it, inside) in options.iter().zip(open["options"].as_array().expect("a list")) {
                assert_shape(it, &[INSIDE, OPTION, METADATA]);
                for key in ["optionId", "pollId", "text", "optionOrder", "votes"] {
                    assert_eq!(it[key], inside[key], "{key}");
                }
                let own = format!("/direct/poll-option/{}.json", it["optionId"]);
                assert_eq!(&read(&client, &own).await, it);
            }
            let xml = client.get(&format!("{path}.xml")).await;
            assert_same(xml.expect(StatusCode::OK).text(), &read(&client, &format!("{path}.json")).await);
            let path = format!("/direct/poll/{id}/vote");
            let own = list(&client, &format!("{path}.json"), "poll-vote").await;
            assert_eq!(own.len(), votes, "{eid}");
            let me = id_of(&client).await;
            for it in &own {
                assert_shape(it, &[VOTE, METADATA]);
                assert_eq!((&it["userId"], &it["pollId"]), (&json!(me), &json!(id)));
                assert_eq!(it["pollOption"][0], open["votes"][0]["pollOption"]);
            }
            let xml = client.get(&format!("{path}.xml")).await;
            assert_same(xml.expect(StatusCode::OK).text(), &read(&client, &format!("{path}.json")).await);
        }
    }

    async fn the_demo_university_has_a_poll_that_is_open_and_one_that_is_over(app: TestApp) {
        let (fresh, voted) = (app.user("student1").await, app.user("student3").await);
        let votes = |poll: &Value| -> Vec<Value> {
            poll["options"].as_array().expect("a list").iter().map(|it| it["votes"].clone()).collect()
        };
        assert_eq!(votes(&find(&fresh, OPEN).await), [Value::Null, Value::Null, Value::Null]);
        assert_eq!(votes(&find(&voted, OPEN).await), [4, 5, 2]);
        for client in [&fresh, &voted] {
            let over = find(client, OVER).await;
            assert_eq!(votes(&over), [7, 3, 5, 1]);
            assert_eq!(over["voters"], 16);
        }
    }

    async fn who_may_not_read_is_told_the_status_that_clients_know(app: TestApp) {
        let (student, stranger) = (app.user("student1").await, app.anonymous());
        let other = app.user("instructor2").await;
        let open = whole(&find(&student, OPEN).await, "pollId");
        for path in ["poll.json", "poll/site/biology-101.json", "poll/1.json", &format!("poll/{open}.json")] {
            stranger.get(&format!("/direct/{path}")).await.expect(StatusCode::UNAUTHORIZED);
        }
        for prefix in ["poll", "poll-option", "poll-vote"] {
            for (id, status) in [
                ("x", StatusCode::NOT_ACCEPTABLE),
                ("1x", StatusCode::NOT_ACCEPTABLE),
                ("99999999999", StatusCode::NOT_ACCEPTABLE),
                ("1", StatusCode::NOT_FOUND),
            ] {
                student.get(&format!("/direct/{prefix}/{id}.json")).await.expect(status);
            }
        }
        for (path, status) in [
            (format!("poll/{open}.json"), StatusCode::FORBIDDEN),
            (format!("poll/{open}/vote.json"), StatusCode::FORBIDDEN),
            (format!("poll/{open}/option.json"), StatusCode::FORBIDDEN),
            ("poll/site/biology-101.json".to_owned(), StatusCode::FORBIDDEN),
            ("poll/site/nowhere.json".to_owned(), StatusCode::NOT_FOUND),
            ("poll/x/vote.json".to_owned(), StatusCode::NOT_ACCEPTABLE),
        ] {
            other.get(&format!("/direct/{path}")).await.expect(status);
        }
        assert_eq!(list(&other, "/direct/poll.json", "poll").await, Vec::<Value>::new());
    }

    async fn a_poll_is_invisible_before_it_opens(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let fields = json!({"voteOpen": at(&app, 60), "voteClose": at(&app, 120)});
        let (id, options) = make(&teacher, fields).await;
        let seen = |polls: Vec<Value>| polls.iter().any(|it| it["pollId"] == id);
        for (client, sees) in [(&teacher, true), (&student, false), (&app.user("ta1").await, false)] {
            assert_eq!(seen(list(client, OF_BIOLOGY, "poll").await), sees);
            let status = if sees { StatusCode::OK } else { StatusCode::NOT_FOUND };
            client.get(&format!("/direct/poll/{id}.json")).await.expect(status);
            client.get(&format!("/direct/poll/{id}/option.json")).await.expect(status);
            client.get(&format!("/direct/poll-option/{}.json", options[0])).await.expect(status);
        }
        assert_eq!(vote(&student, id, &options[..1]).await, StatusCode::BAD_REQUEST, "as if there were none");
        assert_eq!(vote(&teacher, id, &options[..1]).await, StatusCode::FORBIDDEN);
        app.advance(TimeDelta::seconds(60));
        assert!(seen(list(&student, OF_BIOLOGY, "poll").await));
        assert_eq!(vote(&student, id, &options[..1]).await, StatusCode::OK);
    }
}
