//! The same thing in several formats.

use http::StatusCode;
use http::header::ACCEPT;
use tests::{TestApp, both};

use super::read;
use crate::shape::assert_same;

const PATHS: [&str; 11] = [
    "/direct/announcement",
    "/direct/announcement/site/biology-101",
    "/direct/announcement/user",
    "/direct/announcement/motd",
    "/direct/membership",
    "/direct/membership/site/biology-101",
    "/direct/site",
    "/direct/site/biology-101",
    "/direct/site/biology-101/pages",
    "/direct/site/biology-101/groups",
    "/direct/user/current",
];

both! {
    async fn xml_tells_the_same_as_json(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for path in PATHS {
            let json = read(&teacher, &format!("{path}.json")).await;
            let xml = teacher.get(&format!("{path}.xml")).await;
            xml.expect(StatusCode::OK);
            assert_eq!(xml.header("content-type"), Some("application/xml; charset=utf-8"));
            assert_same(xml.text(), &json);
        }
    }

    async fn an_instant_in_xml_is_readable_by_people_too(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let xml = teacher.get("/direct/announcement/site/field-trip.xml").await;
        let document = roxmltree::Document::parse(xml.text()).expect("well-formed XML");
        let created = document.descendants().find(|it| it.has_tag_name("createdOn"));
        let created = created.expect("an instant");
        assert_eq!(created.attribute("type"), Some("date"));
        // 50 hours before 10 o'clock of 21 November 2026.
        assert_eq!(created.attribute("date"), Some("2026-11-19T08:00:00Z"));
        assert_eq!(created.text(), Some("1795075200000"));
    }

    async fn the_default_is_json(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let anything = teacher.clone().with_header(ACCEPT, "*/*");
        for client in [teacher, anything] {
            let answer = client.get("/direct/site/biology-101").await;
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }

    async fn the_header_picks_the_format_and_the_extension_wins(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (accept, path, expected) in [
            ("application/xml", "/direct/site", "application/xml; charset=utf-8"),
            ("text/html;q=0.5, application/xml", "/direct/site", "application/xml; charset=utf-8"),
            ("text/html, application/xml;q=0.9", "/direct/site", "text/html; charset=utf-8"),
            ("text/html", "/direct/site.json", "application/json"),
        ] {
            let client = teacher.clone().with_header(ACCEPT, accept);
            let answer = client.get(path).await;
            answer.expect(StatusCode::OK);
            assert_eq!(answer.header("content-type"), Some(expected), "{accept} {path}");
        }
    }

    async fn every_address_has_a_page_for_people(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for path in PATHS {
            let page = teacher.get(&format!("{path}.html")).await;
            page.expect(StatusCode::OK);
            let text = page.text();
            assert!(text.starts_with("<!DOCTYPE html>") && text.contains("<h1"), "{path}");
        }
    }

    async fn a_dot_in_an_id_is_no_format(app: TestApp) {
        let admin = app.user("admin").await;
        let body = serde_json::json!({"eid": "ada.lovelace"});
        admin.post("/direct/user", &body).await.expect(StatusCode::CREATED);
        assert_eq!(read(&admin, "/direct/user/ada.lovelace").await["eid"], "ada.lovelace");
        assert_eq!(read(&admin, "/direct/user/ada.lovelace.json").await["eid"], "ada.lovelace");
    }
}
