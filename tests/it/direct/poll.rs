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

    async fn options_and_the_own_vote_have_addresses_of_their_own(app: TestApp) {
        for (eid, votes) in [("student1", 0), ("student3", 1), ("instructor1", 0), ("admin", 0)] {
            let client = app.user(eid).await;
            let open = find(&client, OPEN).await;
            let id = whole(&open, "pollId");
            let path = format!("/direct/poll/{id}/option");
            let options = list(&client, &format!("{path}.json"), "poll-option").await;
            assert_eq!(options.len(), 3);
            for (it, inside) in options.iter().zip(open["options"].as_array().expect("a list")) {
                for key in ["optionId", "pollId", "text", "optionOrder", "votes"] {
                    assert_eq!(it[key], inside[key], "{key}");
                }
                let own = format!("/direct/poll-option/{}.json", it["optionId"]);
                assert_eq!(&read(&client, &own).await, it);
            }
            let path = format!("/direct/poll/{id}/vote");
            let own = list(&client, &format!("{path}.json"), "poll-vote").await;
            assert_eq!(own.len(), votes, "{eid}");
            let me = id_of(&client).await;
            for it in &own {
                assert_eq!((&it["userId"], &it["pollId"]), (&json!(me), &json!(id)));
                assert_eq!(it["pollOption"][0], open["votes"][0]["pollOption"]);
            }
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

    async fn what_is_no_number_has_the_status_that_clients_know(app: TestApp) {
        let student = app.user("student1").await;
        for prefix in ["poll", "poll-option", "poll-vote"] {
            for id in ["x", "1x", "99999999999"] {
                student.get(&format!("/direct/{prefix}/{id}.json")).await.expect(StatusCode::NOT_ACCEPTABLE);
            }
        }
    }
}
