//! A batch answers what its parts would have been answered alone.
//!
//! Two services begin with the same data. One gets each request alone, the other all of a list in a batch; every
//! answer must be the same but for what differs between any two requests: ids that were made, times of errors.
//!
//! `PARITY_LISTS` says how many lists there are on each kind of storage.

use std::env;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use tests::{Answer, Backend, Client, OnBackend, TestApp};

const DEFAULT_LISTS: u32 = 200;
const JSON: &str = "application/json";
const CALLERS: [&str; 3] = ["instructor1", "student1", "admin"];
/// The headers that differ between two answers to one question.
const VARYING: [&str; 6] = [
    "date",
    "x-request-id",
    "etag",
    "location",
    "entityid",
    "entityreference",
];

fn number_of_lists() -> u32 {
    let given = env::var_os("PARITY_LISTS");
    given
        .and_then(|it| it.to_str()?.parse().ok())
        .unwrap_or(DEFAULT_LISTS)
}

/// Numbers without a visible order, the same at each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// One request, as it is sent alone and as an operation.
#[derive(Debug)]
struct Ask {
    method: Method,
    path: String,
    body: Option<Value>,
    media_type: &'static str,
    headers: Vec<(&'static str, &'static str)>,
}

impl Ask {
    fn random(random: &mut Random, known: &[String]) -> Self {
        let anything = [
            "site/biology-101",
            "site/history-210",
            "site/none",
            "user/current",
            "user/student2",
            "membership",
            "announcement/site/biology-101",
            "announcement/user",
            "announcement/none",
            "nonsense/1",
            "site.xml",
            "site/biology-101/pages",
            "announcement?_limit=2",
            "announcement?_limit=x",
            "user?nonsense=1",
            "site.atom",
            "describe",
        ];
        let own = random.pick(known).clone();
        let title = random.pick(&["Week one", "", "Ünïcödé <b>", "x"]);
        let headers = match random.below(5) {
            0 => vec![("prefer", "return=representation")],
            1 => vec![("if-match", "\"0000000000000001-json\"")],
            2 => vec![("prefer", "handling=strict, tx=rollback")],
            _ => Vec::new(),
        };
        let mut media_type = JSON;
        let (method, path, body) = match random.below(11) {
            0..=2 => (Method::GET, (*random.pick(&anything)).to_owned(), None),
            3 => (Method::GET, own, None),
            4 => {
                let site = random.pick(&["biology-101", "history-210", "none"]);
                (
                    Method::POST,
                    "announcement".to_owned(),
                    Some(json!({"siteId": site, "title": title})),
                )
            }
            5 => (
                Method::PUT,
                own,
                Some(json!({"title": title, "highlight": true})),
            ),
            6 => (
                Method::PATCH,
                own,
                Some(json!({"title": title, "nonsense": random.below(2)})),
            ),
            7 => {
                media_type = "application/x-www-form-urlencoded";
                let form = ["title=Form", "title=a%20b&highlight=on", "nonsense=1", "%"];
                (Method::PUT, own, Some(json!(random.pick(&form))))
            }
            8 => {
                media_type = "application/xml";
                let xml = [
                    "<announcement><title>XML</title><groups/></announcement>",
                    "<site><title>XML</title></site>",
                    "<",
                ];
                (Method::PUT, own, Some(json!(random.pick(&xml))))
            }
            9 => {
                media_type = "application/x-www-form-urlencoded";
                let form = json!("siteId=biology-101&title=From+a+form");
                (Method::POST, "announcement".to_owned(), Some(form))
            }
            _ => (Method::DELETE, own, None),
        };
        Self {
            method,
            path,
            body,
            media_type,
            headers,
        }
    }

    async fn send(&self, client: &Client) -> Answer {
        let client = self
            .headers
            .iter()
            .fold(client.clone(), |client, (name, value)| {
                client.with_header(name.parse().expect("a name"), value)
            });
        let client = client.with_header(http::header::ACCEPT, "application/json");
        let path = format!("/direct/{}", self.path);
        match &self.body {
            Some(body) => {
                let body = match body.as_str() {
                    Some(text) => Bytes::from(text.to_owned()),
                    None => Bytes::from(body.to_string()),
                };
                client
                    .send(self.method.clone(), &path, self.media_type, body)
                    .await
            }
            None if self.method == Method::DELETE => client.delete(&path).await,
            None => client.get(&path).await,
        }
    }

    fn to_operation(&self) -> Value {
        let headers: Map<_, _> = self
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let mut operation =
            json!({"method": self.method.as_str(), "path": self.path, "headers": headers});
        if let Some(body) = &self.body {
            operation["body"] = body.clone();
            if self.media_type != JSON {
                operation["headers"]["content-type"] = json!(self.media_type);
            }
        }
        operation
    }
}

/// Status, headers and body without what differs between any two answers.
type Facts = (u16, Vec<(String, Vec<String>)>, Value);

fn of_answer(answer: &Answer) -> Facts {
    let names: std::collections::BTreeSet<_> = answer
        .headers
        .keys()
        .map(http::HeaderName::as_str)
        .collect();
    let headers = names.into_iter().map(|name| {
        let values = answer.headers.get_all(name).iter();
        (
            name.to_owned(),
            values
                .filter_map(|it| it.to_str().ok())
                .map(ToOwned::to_owned)
                .collect(),
        )
    });
    let body = match answer.text() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    };
    (answer.status.as_u16(), headers.collect(), body)
}

fn of_result(result: &Value) -> Facts {
    let headers = result["headers"]
        .as_object()
        .expect("headers")
        .iter()
        .map(|(name, values)| {
            let values = values.as_array().expect("values").iter();
            (
                name.clone(),
                values
                    .filter_map(|it| it.as_str())
                    .map(ToOwned::to_owned)
                    .collect(),
            )
        });
    let body = match (&result["data"], &result["content"]) {
        (Value::Null, content) => content.clone(),
        (data, _) => data.clone(),
    };
    let status = result["status"]
        .as_u64()
        .and_then(|it| u16::try_from(it).ok());
    (status.expect("a status"), headers.collect(), body)
}

/// The same facts with `made`, the ids that this service gave, by their order.
fn comparable((status, headers, body): Facts, made: &[String]) -> String {
    let headers: Vec<_> = headers
        .into_iter()
        .filter(|(name, _)| !VARYING.contains(&name.as_str()) && !is_of_connection(name))
        .collect();
    let mut text = format!("{status} {headers:?} {body}");
    for (index, id) in made.iter().enumerate() {
        text = text.replace(id.as_str(), &format!("<made {index}>"));
    }
    for (start, end) in [("\"requestId\":\"", '"'), ("<requestId>", '<')] {
        text = without_what_follows(start, end, &text);
    }
    text
}

/// The text without what stands between `start` and the next `end`.
fn without_what_follows(start: &str, end: char, text: &str) -> String {
    let mut pieces = text.split(start);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |blind, piece| {
        blind + piece.split_once(end).map_or(piece, |(_id, rest)| rest)
    })
}

/// Headers that the way adds to every answer, and that a part of one does not have.
fn is_of_connection(name: &str) -> bool {
    ["x-sakai-session", "content-length", "vary", "cache-control"].contains(&name)
        || [
            "content-security-policy",
            "cross-origin-",
            "referrer-policy",
            "x-content-type-options",
        ]
        .iter()
        .any(|it| name.starts_with(it))
}

fn made_by(facts: &Facts) -> Option<String> {
    let id = facts
        .1
        .iter()
        .find(|(name, _)| name == "entityid")?
        .1
        .first()?;
    id.rsplit(':').next().map(ToOwned::to_owned)
}

async fn compare(alone: TestApp, together: TestApp, seed: u64) {
    let mut random = Random(seed);
    let (mut clients, mut made) = (Vec::new(), (Vec::new(), Vec::new()));
    for eid in CALLERS {
        clients.push((alone.user(eid).await, together.user(eid).await));
    }
    // Both look, because when a list was seen first is told with it.
    let (teacher, other) = &clients[0];
    let mut known = first_announcements(teacher).await;
    assert_eq!(first_announcements(other).await, known);
    for _ in 0..number_of_lists() {
        let (one, other) = random.pick(&clients).clone();
        let asks: Vec<_> = (0..=random.below(5))
            .map(|_| Ask::random(&mut random, &known))
            .collect();
        let mut expected = Vec::new();
        for ask in &asks {
            expected.push(of_answer(&ask.send(&one).await));
        }
        let operations: Vec<_> = asks.iter().map(Ask::to_operation).collect();
        let answer = other
            .post("/direct/batch.json", &json!({"operations": operations}))
            .await;
        assert!(
            [StatusCode::OK, StatusCode::MULTI_STATUS].contains(&answer.status),
            "{}",
            answer.text()
        );
        let json = answer.json();
        let results: Vec<_> = json["results"]
            .as_array()
            .expect("results")
            .iter()
            .map(of_result)
            .collect();
        made.0.extend(expected.iter().filter_map(made_by));
        made.1.extend(results.iter().filter_map(made_by));
        assert_eq!(results.len(), expected.len());
        for ((ask, expected), result) in asks.iter().zip(expected).zip(results) {
            assert_eq!(
                comparable(result, &made.1),
                comparable(expected, &made.0),
                "{ask:?}"
            );
        }
        if known.len() < 4 {
            known.push("announcement/none".to_owned());
        }
    }
    let made = u32::try_from(made.0.len()).expect("a small number");
    assert!(made * 40 > number_of_lists(), "only {made} were made");
}

async fn first_announcements(teacher: &Client) -> Vec<String> {
    let list = teacher
        .get("/direct/announcement/site/biology-101.json")
        .await
        .json();
    let items = list["announcement_collection"]
        .as_array()
        .expect("a list")
        .iter();
    items
        .map(|it| format!("announcement/{}", it["id"].as_str().expect("an id")))
        .collect()
}

async fn on(backend: Backend, seed: u64) {
    let (Some(alone), Some(together)) = (
        TestApp::on_backend(backend).await,
        TestApp::on_backend(backend).await,
    ) else {
        return;
    };
    compare(alone, together, seed).await;
}

#[tokio::test]
async fn a_batch_answers_what_its_parts_would_be_answered_alone_on_sqlite() {
    on(Backend::Sqlite, 1).await;
}

#[tokio::test]
async fn a_batch_answers_what_its_parts_would_be_answered_alone_on_postgres() {
    on(Backend::Postgres, 2).await;
}
