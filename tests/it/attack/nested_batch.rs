//! A batch in a batch multiplied what one request may do. Nothing nests, however the inner address is written.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const BATCH: &str = "/direct/batch.json";

/// Addresses that a reader of addresses, a proxy or a person might take for that of a batch.
const SPELLINGS: [&str; 24] = [
    "batch",
    "batch.json",
    "/direct/batch.json",
    "%62atch.json",
    "/direct/%62atch.json",
    "batc%68",
    "%62%61%74%63%68.json",
    "%42atch.json",
    "BATCH.json",
    "batch%2Ejson",
    "batch#x",
    "batch.json#",
    "/direct/%62atch#x",
    "batch.json;x=1",
    "batch%3Bx",
    "batch%20",
    "%2562atch.json",
    "./batch.json",
    "announcement/../batch.json",
    "%2e/batch.json",
    "http://127.0.0.1:8080/direct/batch.json",
    "http%3A//127.0.0.1:8080/direct/batch.json",
    "//127.0.0.1:8080/direct/batch.json",
    "/direct//batch.json",
];

fn news() -> Value {
    json!({"method": "POST", "path": "announcement", "body": {"siteId": "biology-101", "title": "Nested"}})
}

/// Returns whether an announcement of an inner batch came to be.
async fn is_nested(client: &Client) -> bool {
    let answer = client
        .get("/direct/announcement/site/biology-101.json")
        .await;
    answer.expect(StatusCode::OK);
    answer.text().contains("Nested")
}

/// Fails if one of the results says that its request was carried out.
fn refuse_success(answer: &tests::Answer, spelling: &str) {
    if answer.status.is_client_error() {
        return;
    }
    answer.expect(StatusCode::MULTI_STATUS);
    let json = answer.json();
    let result = [&json["results"][0], &json["ref0"]]
        .into_iter()
        .find(|it| it.is_object());
    let status = result.and_then(|it| it["status"].as_u64());
    let is_refused = status.is_some_and(|it| (400..500).contains(&it));
    assert!(is_refused, "{spelling}: {}", answer.text());
}

both! {
    async fn operations_hold_no_batch_in_any_spelling(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let inner = json!({"operations": [news()]});
        for spelling in SPELLINGS {
            for is_atomic in [false, true] {
                let outer = json!({"atomic": is_atomic, "operations": [
                    {"method": "POST", "path": spelling, "body": inner},
                ]});
                refuse_success(&teacher.post(BATCH, &outer).await, spelling);
                let outer = json!({"atomic": is_atomic, "operations": [
                    {"method": "GET", "path": format!("{spelling}?_refs=user/current")},
                ]});
                refuse_success(&teacher.post(BATCH, &outer).await, spelling);
            }
        }
        assert!(!is_nested(&teacher).await);
    }

    async fn references_hold_no_batch_in_any_spelling(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for spelling in SPELLINGS {
            let query = |inner: &str| {
                let pairs = [("_refs", format!("{spelling}{inner}")), ("separator", "|".to_owned())];
                entity_formats::write_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())))
            };
            let read = teacher.get(&format!("{BATCH}?{}", query("?_refs=user/current"))).await;
            refuse_success(&read, spelling);
            let form = "ref0._refs=announcement&ref0.siteId=biology-101&ref0.title=Nested";
            let written = teacher.post_form(&format!("{BATCH}?{}", query("")), form).await;
            refuse_success(&written, spelling);
        }
        assert!(!is_nested(&teacher).await);
    }

    async fn what_an_earlier_operation_made_names_no_batch(app: TestApp) {
        let admin = app.user("admin").await;
        let outer = json!({"operations": [
            {"id": "made", "method": "POST", "path": "site", "body": {"id": "batch", "title": "Batch", "type": "project"}},
            {"method": "POST", "path": "$made.entityId", "body": {"operations": [news()]}},
        ]});
        let answer = admin.post(BATCH, &outer).await;
        answer.expect(StatusCode::MULTI_STATUS);
        assert_eq!(answer.json()["results"][1]["status"], 400, "{}", answer.text());
        assert!(!is_nested(&admin).await);
    }

    async fn a_private_feed_reads_no_batch(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for spelling in SPELLINGS {
            let path = format!("/{}?_refs=announcement", spelling.trim_start_matches('/'));
            let feed = json!({"path": path, "formats": ["atom"]});
            let answer = teacher.post("/direct/feed", &feed).await;
            assert!(answer.status.is_client_error(), "{spelling}: {}", answer.status);
        }
    }
}
