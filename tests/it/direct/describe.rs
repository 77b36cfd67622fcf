//! `/direct/describe`

use std::io::Read as _;

use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, IF_NONE_MATCH, VARY};
use http::{Method, StatusCode};
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use tests::{Answer, TestApp, above_storage};

use super::{JSON, list, read, text};

fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|it| text(it, key)).collect()
}

/// The texts of the elements `path`, one below the other, in `node`.
fn texts<'a>(node: Node<'a, '_>, path: &[&str]) -> Vec<&'a str> {
    match path {
        [] => vec![node.text().unwrap_or_default()],
        [name, rest @ ..] => {
            let named = node.children().filter(|it| it.has_tag_name(*name));
            named.flat_map(|it| texts(it, rest)).collect()
        }
    }
}

above_storage! {
    async fn clients_find_the_elements_of_the_description_that_they_know(app: TestApp) {
        let stranger = app.anonymous();
        let answer = stranger.get("/direct/describe.xml").await;
        let document = Document::parse(answer.expect(StatusCode::OK).text()).expect("XML");
        let root = document.root_element();
        assert!(root.has_tag_name("describe"));
        let types: Vec<_> = app.service().dispatcher.registry().routes().map(|it| it.prefix).collect();
        assert_eq!(texts(root, &["prefixes", "prefix", "prefix"]), types);
        let addresses = texts(root, &["prefixes", "prefix", "describeURL"]);
        assert_eq!(addresses.len(), types.len());
        assert!(addresses.iter().any(|it| it.starts_with("http") && it.ends_with("/direct/announcement/describe")), "{addresses:?}");
        assert!(texts(root, &["prefixes", "prefix", "capabilities", "capability", "name"]).contains(&"CollectionResolvable"));

        let answer = stranger.get("/direct/announcement/describe.xml").await;
        let document = Document::parse(answer.expect(StatusCode::OK).text()).expect("XML");
        let root = document.root_element();
        assert!(root.has_tag_name("prefix"));
        for (element, path) in [
            ("collectionURL", "/announcement"),
            ("createURL", "/announcement/new"),
            ("showURL", "/announcement/:ID:"),
            ("updateURL", "/announcement/:ID:/edit"),
            ("deleteURL", "/announcement/:ID:/delete"),
        ] {
            assert_eq!(texts(root, &[element]), [path]);
        }
        assert!(texts(root, &["customActions", "customAction", "action"]).contains(&"motd"));
        assert!(texts(root, &["outputFormats", "format"]).contains(&"xml"));
        assert_eq!(texts(root, &["inputFormats", "format"]), ["json", "xml"]);
        let names = texts(root, &["entityClass", "fields", "field", "name"]);
        assert!(names.is_sorted() && names.contains(&"announcementId"), "{names:?}");
        assert_eq!(texts(root, &["entityClass", "fields", "field", "writeable"]).len(), names.len());
    }

    async fn data_that_are_no_entity_stand_below_the_prefix_in_xml(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["userPerms", "pages"] {
            let answer = student.get(&format!("/direct/site/biology-101/{path}.xml")).await;
            let document = Document::parse(answer.expect(StatusCode::OK).text()).expect("XML");
            assert!(document.root_element().has_tag_name("site"), "{path}: {}", answer.text());
        }
    }

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

    async fn a_type_is_described_alone_as_among_the_others(app: TestApp) {
        let stranger = app.anonymous();
        let catalog = read(&stranger, "/direct/describe.json").await;
        for described in catalog["types"].as_array().expect("a list") {
            let path = format!("/direct/{}/describe", text(described, "prefix"));
            assert_eq!(read(&stranger, &path).await, *described);
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

    async fn a_description_is_sent_compressed_to_whoever_takes_that(app: TestApp) {
        let stranger = app.anonymous();
        for path in ["/api/openapi.json", "/direct/describe.xml", "/direct/describe.html", "/assets/lectern.css"] {
            let plain = stranger.get(path).await;
            let client = stranger.clone().with_header(ACCEPT_ENCODING, "br;q=1, gzip;q=0.8");
            let answer = client.get(path).await;
            assert_eq!(answer.expect(StatusCode::OK).header(CONTENT_ENCODING), Some("gzip"), "{path}");
            let mut text = Vec::new();
            GzDecoder::new(answer.body.as_ref()).read_to_end(&mut text).expect("compressed bytes");
            assert_eq!(text, plain.body, "{path}");
            assert!(answer.body.len() * 3 < plain.body.len(), "{path}");
            for it in [&answer, &plain] {
                assert!(it.header(VARY).is_some_and(|it| it.contains("Accept-Encoding")), "{path}");
            }
            if let Some(tag) = answer.header(ETAG) {
                assert_ne!(plain.header(ETAG), Some(tag), "other bytes have another tag");
                let again = client.with_header(IF_NONE_MATCH, tag).get(path).await;
                again.expect(StatusCode::NOT_MODIFIED);
            }
        }
        let maria = app.user("instructor1").await.with_header(ACCEPT_ENCODING, "gzip");
        for path in ["/direct/describe.html", "/direct/site.json"] {
            let own = maria.get(path).await;
            assert_eq!(own.expect(StatusCode::OK).header(CONTENT_ENCODING), None, "it is one reader's own: {path}");
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
