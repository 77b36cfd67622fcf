//! `/direct/describe`

use http::header::{ETAG, IF_NONE_MATCH};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, TestApp, both};

use super::{JSON, list, read, text};
use crate::shape::assert_same;

const TYPES: [&str; 19] = [
    "announcement",
    "assignment",
    "assignment-submission",
    "calendar",
    "feed",
    "gradebook",
    "gradebook-category",
    "gradebook-change",
    "gradebook-item",
    "gradebook-override",
    "gradebook-score",
    "invitation",
    "membership",
    "server-config",
    "session",
    "site",
    "syllabus",
    "term",
    "user",
];

fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|it| text(it, key)).collect()
}

both! {
    async fn the_description_and_the_document_tell_the_same_addresses(app: TestApp) {
        let client = app.anonymous();
        let described = client.get("/direct/describe.json").await.json();
        let text = |it: &serde_json::Value| it.as_str().expect("text").to_owned();
        let mut told = std::collections::BTreeSet::new();
        for kind in described["types"].as_array().expect("types") {
            let base = format!("/direct/{}", text(&kind["prefix"]));
            for it in kind["addresses"].as_array().expect("addresses") {
                told.insert((text(&it["method"]), base.clone() + &text(&it["path"])));
            }
            for action in kind["actions"].as_array().expect("actions") {
                let id = if action["target"] == "entity" { "/{id}" } else { "" };
                let mut path = format!("{base}{id}/{}", text(&action["name"]));
                let arguments = action["arguments"].as_array().expect("arguments");
                let required = arguments.iter().filter(|it| it["required"] == true).count();
                for (index, argument) in arguments.iter().enumerate() {
                    if index >= required {
                        told.insert((text(&action["method"]), path.clone()));
                    }
                    path = format!("{path}/{{{}}}", text(&argument["name"]));
                }
                told.insert((text(&action["method"]), path));
            }
        }
        let document = client.get("/api/openapi.json").await.json();
        let mut listed = std::collections::BTreeSet::new();
        for (path, operations) in document["paths"].as_object().expect("paths") {
            let is_of_type = path.starts_with("/direct/") && !path.contains("describe") && !path.starts_with("/direct/batch");
            for method in operations.as_object().expect("operations").keys().filter(|_| is_of_type) {
                listed.insert((method.to_uppercase(), path.clone()));
            }
        }
        assert_eq!(told, listed);
        assert!(told.contains(&("POST".to_owned(), "/direct/session".to_owned())));
    }

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

    async fn a_description_is_made_once_and_known_again(app: TestApp) {
        let (maria, stranger) = (app.user("instructor1").await, app.anonymous());
        for path in [
            "/direct/describe.json", "/direct/describe.xml", "/direct/describe.html", "/direct",
            "/direct/site/describe", "/direct/site/describe.html", "/api/openapi.json", "/api/docs",
        ] {
            for reader in [&maria, &stranger] {
                let first = reader.get(path).await;
                let tag = first.expect(StatusCode::OK).header(ETAG).expect("a tag").to_owned();
                let again = reader.clone().with_header(IF_NONE_MATCH, &tag).get(path).await;
                again.expect(StatusCode::NOT_MODIFIED);
                assert_eq!((again.header(ETAG), again.body.len()), (Some(tag.as_str()), 0), "{path}");
                let other = reader.clone().with_header(IF_NONE_MATCH, "\"00-json\"").get(path).await;
                assert_eq!(other.expect(StatusCode::OK).body, first.body, "{path}");
            }
        }
    }

    async fn a_page_of_a_description_names_its_own_reader(app: TestApp) {
        let admin = app.user("admin").await;
        let renamed = json!({"firstName": "Jo<b>&", "lastName": "O'Hara"});
        admin.put("/direct/user/student1.json", &renamed).await.expect(StatusCode::NO_CONTENT);
        let (jo, maria) = (app.user("student1").await, app.user("instructor1").await);
        for path in ["/direct/describe.html", "/direct/site/describe.html", "/api/docs"] {
            // What a page made for its reader alone shows.
            for reader in [&jo, &maria, &app.anonymous(), &jo] {
                let own = reader.get("/direct/feed/new.html").await;
                let page = reader.get(path).await;
                let shown = |answer: &Answer| {
                    let (_, behind) = answer.text().split_once("<body").expect("a page");
                    let line_with = |mark: &str| behind.lines().find_map(|it| it.find(mark).and_then(|at| it.get(at..)).map(str::to_owned));
                    (line_with("Your account"), line_with("name=\"sakai_csrf_token\""))
                };
                if own.status == StatusCode::OK {
                    assert_eq!(shown(&page), shown(&own), "{path}");
                } else {
                    assert_eq!(shown(&page), (None, None), "{path}");
                }
            }
        }
    }

    async fn a_description_takes_no_writes(app: TestApp) {
        let stranger = app.anonymous();
        let answer = stranger.send(Method::POST, "/direct/describe", JSON, "{}".into()).await;
        answer.expect(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
}
