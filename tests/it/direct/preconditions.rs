//! All preconditions together, for every method, against the order in which RFC 9110 has them judged.

use chrono::TimeDelta;
use http::header::{
    ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use http::{HeaderName, Method, StatusCode};
use serde_json::json;
use tests::{Client, TestApp, both};

use super::{JSON, created};

const NEWS: &str = "/direct/announcement";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const LONG_AGO: &str = "Sat, 01 Jan 2000 00:00:00 GMT";

/// The state that a header names: it is not sent, it names the present one, or it names another one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Nothing,
    This,
    Other,
}

const ALL: [Says; 3] = [Says::Nothing, Says::This, Says::Other];

/// RFC 9110, section 13.2.2, step by step. The headers are `If-Match`, `If-Unmodified-Since`, `If-None-Match`
/// and `If-Modified-Since`.
fn expected(method: &Method, says: [Says; 4], success: StatusCode) -> StatusCode {
    let [matched, unmodified, none_matched, modified] = says;
    let reads = method.is_safe();
    let is_meant = match (matched, unmodified) {
        (Says::Nothing, it) | (it, _) => it != Says::Other,
    };
    if !is_meant {
        return StatusCode::PRECONDITION_FAILED;
    }
    match (none_matched, reads, modified) {
        (Says::This, true, _) | (Says::Nothing, true, Says::This) => StatusCode::NOT_MODIFIED,
        (Says::This, false, _) => StatusCode::PRECONDITION_FAILED,
        _ => success,
    }
}

/// `client` with the headers that say so of something with this tag and this date.
fn demanding(client: &Client, says: [Says; 4], tag: &str, date: &str) -> Client {
    let texts = [
        (tag, "\"x\""),
        (date, LONG_AGO),
        (tag, "\"x\""),
        (date, LONG_AGO),
    ];
    let names = [
        IF_MATCH,
        IF_UNMODIFIED_SINCE,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
    ];
    let headers = names.into_iter().zip(texts).zip(says);
    headers.fold(
        client.clone(),
        |client, ((name, (this, other)), says)| match says {
            Says::Nothing => client,
            Says::This => client.with_header(name, this),
            Says::Other => client.with_header(name, other),
        },
    )
}

fn combinations() -> impl Iterator<Item = [Says; 4]> {
    let one = |index: usize, place: u32| ALL[index / 3_usize.pow(place) % 3];
    (0..81).map(move |it| [one(it, 0), one(it, 1), one(it, 2), one(it, 3)])
}

async fn announcement(teacher: &Client) -> String {
    let news = json!({"siteId": "biology-101", "title": "News"});
    let id = created(&teacher.post(NEWS, &news).await, "announcement");
    format!("{NEWS}/{id}")
}

both! {
    async fn preconditions_are_judged_in_their_order(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let entity = announcement(&teacher).await;
        // In the second of its last change, something has no date.
        app.advance(TimeDelta::seconds(1));
        let lists = ["/direct/announcement/site/biology-101.json", "/direct/announcement/site/biology-101.atom"];
        let all = [Method::GET, Method::HEAD, Method::PUT, Method::PATCH, Method::DELETE];
        let reads = [Method::GET, Method::HEAD];
        for (path, methods) in [(entity.as_str(), &all[..]), (lists[0], &reads[..]), (lists[1], &reads[..])] {
            let known = teacher.get(path).await;
            let tag = known.header(ETAG).expect("a version");
            let date = known.header(LAST_MODIFIED);
            assert_eq!(date.is_some(), path == entity, "{path}");
            for method in methods {
                let success = if method.is_safe() { StatusCode::OK } else { StatusCode::NO_CONTENT };
                for says in combinations() {
                    // Everything is given up in the end, so that the state stays the same.
                    let client = demanding(&teacher, says, tag, date.unwrap_or(LONG_AGO));
                    let client = client.with_header(PREFER, "tx=rollback");
                    let answer = client.send(method.clone(), path, JSON, "{}".into()).await;
                    let [matched, unmodified, none_matched, modified] = says;
                    // Of what has no date nothing is said by one.
                    let heard = |says| if date.is_some() { says } else { Says::Nothing };
                    let heard = [matched, heard(unmodified), none_matched, heard(modified)];
                    let expected = expected(method, heard, success);
                    assert_eq!(answer.status, expected, "{method} {path} {says:?}");
                }
            }
        }
    }

    async fn a_star_stands_for_whatever_there_is(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher).await;
        for (name, written, shown) in [
            (IF_MATCH, StatusCode::NO_CONTENT, StatusCode::OK),
            (IF_NONE_MATCH, StatusCode::PRECONDITION_FAILED, StatusCode::NOT_MODIFIED),
        ] {
            let client = teacher.clone().with_header(name, "*");
            client.put(&path, &json!({"title": "Changed"})).await.expect(written);
            client.get(&path).await.expect(shown);
            client.get(&format!("{path}.html")).await.expect(shown);
        }
    }

    async fn what_is_not_there_yet_matches_nothing(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let news = json!({"siteId": "biology-101", "title": "Never"});
        for tag in ["\"x\"", "*"] {
            let client = teacher.clone().with_header(IF_MATCH, tag);
            client.post(NEWS, &news).await.expect(StatusCode::PRECONDITION_FAILED);
            client.put("/direct/session/current", &json!({})).await.expect(StatusCode::PRECONDITION_FAILED);
        }
        let list = teacher.get("/direct/announcement/site/biology-101.json").await;
        assert!(!list.text().contains("Never"));
        created(&teacher.clone().with_header(IF_NONE_MATCH, "*").post(NEWS, &news).await, "announcement");
    }

    async fn an_operation_of_a_batch_is_judged_as_if_it_came_alone(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announcement(&teacher).await;
        app.advance(TimeDelta::seconds(1));
        let known = teacher.get(&path).await;
        let tag = known.header(ETAG).expect("a version");
        let date = known.header(LAST_MODIFIED).expect("a date");
        let below = path.trim_start_matches("/direct/");
        for (method, name, value, status) in [
            ("PUT", "If-None-Match", "*", 412),
            ("PUT", "If-None-Match", tag, 412),
            ("PUT", "If-None-Match", "\"x\"", 204),
            ("GET", "If-None-Match", tag, 304),
            ("GET", "If-Match", "\"x\"", 412),
            ("GET", "If-Unmodified-Since", LONG_AGO, 412),
            ("PUT", "If-Unmodified-Since", LONG_AGO, 412),
            ("PUT", "If-Unmodified-Since", date, 204),
            ("GET", "If-Modified-Since", date, 304),
        ] {
            let body = (method == "PUT").then(|| json!({"title": "News"}));
            let operation = json!({"method": method, "path": below, "body": body, "headers": {name: value}});
            let answer = teacher.post("/direct/batch.json", &json!({"operations": [operation]})).await;
            let told = &answer.json()["results"][0]["status"];
            assert_eq!(told.as_u64().or_else(|| told.as_str()?.parse().ok()), Some(status), "{method} {name} {value}");
        }
    }
}
