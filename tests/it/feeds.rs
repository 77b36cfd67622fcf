//! `/feeds`: content for the holder of the address of a private feed, and its secrets.

mod address;
mod coming;
mod making;
mod marks;
mod newest;
mod reading;
mod secrecy;

use feed_rs::model::Feed;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client};

/// The address of the service.
const BASE: &str = "http://127.0.0.1:8080";
const BIOLOGY: &str = "/announcement/site/biology-101";

/// A private feed that was just made.
struct PrivateFeed {
    /// Its place among the entities.
    entity: String,
    /// The answer that told the addresses.
    made: Value,
}

impl PrivateFeed {
    /// One of `owner`, of the addresses and fields in `fields`.
    async fn new(owner: &Client, fields: &Value) -> Self {
        let answer = owner.post("/direct/feed", fields).await;
        answer.expect(StatusCode::CREATED);
        let made = answer.json();
        let id = made["id"].as_str().expect("an id");
        Self {
            entity: format!("/direct/feed/{id}"),
            made,
        }
    }

    /// One of `owner`, which shows the announcements of the first course.
    async fn of_biology(owner: &Client) -> Self {
        Self::new(owner, &json!({"path": BIOLOGY})).await
    }

    /// The path of its address in this format.
    fn path(&self, format: &str) -> String {
        path_of(&self.made, format)
    }

    /// Its token.
    fn token(&self) -> String {
        let path = self.path("atom");
        path.split('/').nth(2).expect("a token").to_owned()
    }
}

/// The path of the address in this format that `answer` tells.
fn path_of(answer: &Value, format: &str) -> String {
    let address = answer["addresses"][format].as_str();
    let address = address.unwrap_or_else(|| panic!("no address for {format}: {answer}"));
    address.strip_prefix(BASE).expect("our own").to_owned()
}

fn parsed(answer: &Answer) -> Feed {
    answer.expect(StatusCode::OK);
    feed_rs::parser::parse(&*answer.body).expect("a feed")
}

async fn fetch(client: &Client, path: &str) -> Feed {
    parsed(&client.get(path).await)
}

/// Everything of a refusal but the instant and the request's id.
fn essence(answer: &Answer) -> (StatusCode, Value) {
    let mut body: Value = answer.json();
    let error = body["error"].as_object_mut().expect("an error");
    error.remove("timestamp");
    error.remove("requestId");
    (answer.status, body)
}

/// Returns the answer at the address of a feed that never was.
async fn nothing(stranger: &Client) -> (StatusCode, Value) {
    let answer = stranger
        .get(&format!("/feeds/{}/biology-101.atom", "A".repeat(43)))
        .await;
    answer.expect(StatusCode::NOT_FOUND);
    essence(&answer)
}
