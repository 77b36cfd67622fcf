//! `/direct/describe`

use http::{Method, StatusCode};
use serde_json::Value;
use tests::{TestApp, both};

use super::{JSON, list, read, text};
use crate::shape::assert_same;

const TYPES: [&str; 7] = [
    "announcement",
    "feed",
    "invitation",
    "membership",
    "session",
    "site",
    "user",
];

fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|it| text(it, key)).collect()
}

both! {
    async fn everything_that_is_registered_is_described_to_everybody(app: TestApp) {
        let catalog = read(&app.anonymous(), "/direct/describe.json").await;
        assert_eq!(names(&catalog["types"], "prefix"), TYPES);
    }

    async fn a_type_is_described_alone_as_among_the_others(app: TestApp) {
        let stranger = app.anonymous();
        let catalog = read(&stranger, "/direct/describe.json").await;
        for described in catalog["types"].as_array().expect("a list") {
            let path = format!("/direct/{}/describe", text(described, "prefix"));
            assert_eq!(read(&stranger, &path).await, *described);
            let xml = stranger.get(&format!("{path}.xml")).await;
            assert_same(xml.expect(StatusCode::OK).text(), described);
            let page = stranger.get(&format!("{path}.html")).await;
            assert!(page.expect(StatusCode::OK).text().starts_with("<!DOCTYPE html>"));
        }
        stranger.get("/direct/nothing/describe").await.expect(StatusCode::NOT_FOUND);
    }

    async fn the_fields_of_a_description_are_those_of_the_entities(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (prefix, path) in [
            ("announcement", "/direct/announcement/site/biology-101.json"),
            ("membership", "/direct/membership/site/biology-101.json"),
            ("session", "/direct/session.json"),
            ("site", "/direct/site.json"),
        ] {
            let described = read(&teacher, &format!("/direct/{prefix}/describe.json")).await;
            let described = names(&described["fields"], "name");
            let item = list(&teacher, path, prefix).await.swap_remove(0);
            let keys = item.as_object().expect("an entity").keys();
            let sent = keys.filter(|it| !it.starts_with("entity")).collect::<Vec<_>>();
            assert_eq!(sent, described.iter().collect::<Vec<_>>(), "{prefix}");
        }
    }

    async fn a_description_takes_no_writes(app: TestApp) {
        let stranger = app.anonymous();
        let answer = stranger.send(Method::POST, "/direct/describe", JSON, "{}".into()).await;
        answer.expect(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
}
