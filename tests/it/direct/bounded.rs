//! Answers repeat no more than a bounded part of a request: the texts of errors, and the lines of the head.

use http::header::ACCEPT;
use http::{HeaderName, Method};
use serde_json::{Map, Value};
use tests::{Answer, Client, TestApp, both};

use super::{FORM, JSON, XML};

const NEWS: &str = "/direct/announcement";
const BATCH: &str = "/direct/batch.json";
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The maximum number of bytes of an error as data, and as a page.
const DATA: usize = 24 << 10;
const PAGE: usize = 48 << 10;
/// The maximum number of lines of a head. Here is no connection, which adds up to four.
const LINES: usize = 36;

/// Requests with something long in them that an error may name.
fn requests() -> Vec<(Method, String, &'static str, String)> {
    let long = "Wolpertinger&lt;".repeat(300);
    let (long, many) = (&long, 3000);
    let fields: Map<String, Value> = (0..many)
        .map(|it| (format!("unknown{it}"), Value::from(1)))
        .collect();
    let one = Map::from_iter([(long.repeat(8), Value::from(1))]);
    let json = |fields: &Map<String, Value>| Value::from(fields.clone()).to_string();
    let pairs = |count: usize| -> String {
        let pairs: Vec<_> = (0..count).map(|it| format!("unknown{it}=1")).collect();
        pairs.join("&")
    };
    let name = long.replace(['&', ';'], "");
    let news = || NEWS.to_owned();
    let mut requests = vec![
        (Method::POST, news(), JSON, json(&fields)),
        (Method::POST, news(), JSON, json(&one)),
        (Method::POST, news(), FORM, pairs(2000)),
        (Method::POST, news(), FORM, format!("{}=1", name.repeat(4))),
        (Method::POST, news(), XML, format!("<{0}/>", name.repeat(8))),
        (
            Method::POST,
            news(),
            JSON,
            format!("\"{}\"", long.repeat(8)),
        ),
        (
            Method::POST,
            BATCH.to_owned(),
            JSON,
            format!(
                r#"{{"operations": [{{"method": "GET", "path": "/{}"}}]}}"#,
                name.repeat(8)
            ),
        ),
        (
            Method::POST,
            BATCH.to_owned(),
            JSON,
            format!(
                r#"{{"operations": [{{"method": "GET", "path": "site", "headers": {{"{}": ""}}}}]}}"#,
                name.repeat(8)
            ),
        ),
        (
            Method::POST,
            "/direct/membership/site/biology-101".into(),
            FORM,
            format!("memberRole={}&userSearchValues=student2", name.repeat(4)),
        ),
    ];
    let asked = [
        format!("{NEWS}?{}", pairs(400)),
        format!("{NEWS}?{name}=1"),
        format!("{NEWS}?_order={name}"),
        format!("{NEWS}?_fields={name}"),
        format!("{NEWS}?createdOn[{name}]=1"),
        format!("{NEWS}?createdOn={name}"),
        format!("{NEWS}/{name}"),
    ];
    requests.extend(asked.map(|path| (Method::GET, path, JSON, String::new())));
    requests
}

async fn check(client: &Client, most: usize) -> usize {
    let mut longest = 0;
    for (method, path, media_type, body) in requests() {
        let begin: String = format!("{method} {path} {body}").chars().take(80).collect();
        let answer = client.send(method, &path, media_type, body.into()).await;
        assert!(
            answer.status.is_client_error(),
            "{begin}: {}",
            answer.status
        );
        assert!(
            answer.body.len() <= most,
            "{begin}: {} bytes",
            answer.body.len()
        );
        longest = longest.max(answer.body.len());
    }
    longest
}

both! {
    async fn out_11_an_error_is_short_however_long_the_request_is(app: TestApp) {
        let teacher = app.user("instructor1").await.with_header(PREFER, "handling=strict");
        for (accepted, most) in [
            (JSON, DATA), (XML, DATA), ("application/problem+json", DATA), ("text/html", PAGE),
        ] {
            let client = teacher.clone().with_header(ACCEPT, accepted);
            let longest = check(&client, most).await;
            assert!(longest > 500, "{accepted}: {longest} bytes tell something");
        }
    }

    async fn out_11_a_head_has_few_lines_however_much_was_asked(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for count in [1, 5, 50] {
            let answer = ask_for(&teacher, "site/biology-101", count).await;
            assert!(answer.headers.len() <= LINES, "{count}: {} lines", answer.headers.len());
            let keys = answer.headers.get_all("batchkeys").iter();
            let keys: Vec<&str> = keys.flat_map(|it| it.to_str().expect("text").split(", ")).collect();
            let expected: Vec<String> = (0..count).map(|it| format!("ref{it}")).collect();
            assert_eq!(keys, expected);
        }
        let answer = ask_for(&teacher, &format!("site/{}", "x".repeat(1000)), 50).await;
        let bytes: usize = answer.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        assert!(answer.headers.len() <= LINES && bytes < 16 << 10, "{} lines, {bytes} bytes", answer.headers.len());
    }
}

/// A batch that changes nothing of what is at `reference`, `count` times.
async fn ask_for(client: &Client, reference: &str, count: usize) -> Answer {
    let further = vec![format!("_refs={reference}"); count - 1].join("&");
    let path = format!("{BATCH}?_refs={reference}");
    let answer = client.send(Method::POST, &path, FORM, further.into()).await;
    assert!(answer.status.is_success(), "{}", answer.status);
    let results = answer.json();
    assert_eq!(results.as_object().expect("results").len(), count);
    answer
}
