//! The same thing in several formats.

use chrono::TimeDelta;
use http::StatusCode;
use http::header::ACCEPT;
use tests::{TestApp, above_storage};

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

/// The formats, the default first, with their media types.
const FORMATS: [(&str, &str); 7] = [
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("atom", "application/atom+xml"),
    ("rss", "application/rss+xml"),
    ("csv", "text/csv"),
    ("ics", "text/calendar"),
];

/// Negotiates the content: returns the best of `offered` for `accept`. The most exact range decides the quality of a
/// format, the order decides between formats of the same quality.
fn wanted<'a>(accept: &[(&str, u32)], offered: &[(&str, &'a str)]) -> Option<&'a str> {
    let quality = |media_type: &str| {
        let (kind, _) = media_type.split_once('/').expect("a media type");
        let of = |range: &str| accept.iter().find(|it| it.0 == range).map(|it| it.1);
        let exact = of(media_type).or_else(|| of(&format!("{kind}/*")));
        exact.or_else(|| of("*/*")).unwrap_or(0)
    };
    let best = offered
        .iter()
        .map(|it| quality(it.1))
        .max()
        .filter(|it| *it > 0)?;
    offered
        .iter()
        .find(|it| quality(it.1) == best)
        .map(|it| it.1)
}

above_storage! {
    async fn entities_and_lists_name_themselves_in_the_head(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (path, reference) in [
            ("site", "/site"), ("site/biology-101", "/site/biology-101"), ("announcement/site/biology-101", "/announcement"),
            ("membership/site/biology-101", "/membership"),
        ] {
            for (extension, format) in [("", "json"), (".json", "json"), (".xml", "xml"), (".html", "html")] {
                let answer = teacher.get(&format!("/direct/{path}{extension}")).await;
                answer.expect(StatusCode::OK);
                let prefix = path.split('/').next();
                assert_eq!(answer.header("x-entity-prefix"), prefix, "{path}{extension}");
                assert_eq!(answer.header("x-entity-reference"), Some(reference), "{path}{extension}");
                assert_eq!(answer.header("x-entity-url"), Some(format!("/{path}.{format}").as_str()));
                assert_eq!(answer.header("x-entity-format"), Some(format));
            }
        }
        let plain = teacher.get("/direct/describe.json").await;
        assert_eq!(plain.header("x-entity-prefix"), None);
    }

    async fn the_format_is_the_one_that_is_wanted_most_of_those_that_are_offered(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let accepts: [&[(&str, u32)]; 10] = [
            &[("application/atom+xml", 10), ("application/json", 9)],
            &[("text/calendar", 10), ("*/*", 1)],
            &[("text/calendar", 10), ("text/html", 5), ("application/json", 3)],
            &[("application/atom+xml", 10), ("application/json", 1)],
            &[("text/csv", 10), ("application/xml", 3), ("application/*", 2)],
            &[("application/json", 0), ("*/*", 1)],
            &[("text/*", 5), ("text/html", 0)],
            &[("application/rss+xml", 10), ("text/csv", 10)],
            &[("image/*", 10)],
            &[("text/calendar", 10)],
        ];
        for path in [
            "/direct/announcement",
            "/direct/announcement/site/biology-101",
            "/direct/membership",
            "/direct/site/biology-101",
            "/direct/site/biology-101/pages",
            "/direct/session/current",
            "/direct/user/current",
            "/direct/announcement/new",
            "/direct/describe",
            "/direct/batch?_refs=/direct/site/biology-101",
        ] {
            let (bare, query) = path.split_once('?').unwrap_or((path, ""));
            let mut offered = Vec::new();
            for format in FORMATS {
                let named = teacher.get(&format!("{bare}.{}?{query}", format.0)).await;
                if named.status != StatusCode::NOT_ACCEPTABLE {
                    named.expect(StatusCode::OK);
                    offered.push(format);
                }
            }
            assert!(!offered.is_empty(), "{path}");
            for accept in accepts {
                let header: Vec<_> = accept
                    .iter()
                    .map(|(range, tenths)| format!("{range};q={}", f64::from(*tenths) / 10.0))
                    .collect();
                let answer = teacher.clone().with_header(ACCEPT, &header.join(", ")).get(path).await;
                if let Some(media_type) = wanted(accept, &offered) {
                    answer.expect(StatusCode::OK);
                    let found = answer.header("content-type").unwrap_or_default();
                    assert!(found.starts_with(media_type), "{path} {header:?}: {found}");
                    continue;
                }
                answer.expect(StatusCode::NOT_ACCEPTABLE);
                let json = answer.json();
                let message = json["error"]["message"].as_str().expect("a message");
                let (_, list) = message.split_once("offered are ").expect("a list");
                let mut told: Vec<_> = list.split(", ").collect();
                // This one comes from a crate of its own, and is not in the table.
                told.retain(|it| FORMATS.iter().any(|format| format.0 == *it));
                let names: Vec<_> = offered.iter().map(|it| it.0).collect();
                assert_eq!(told, names, "{path} {header:?}");
            }
        }
    }

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

    async fn x55_the_date_is_that_of_the_clock_also_when_it_was_set_back(app: TestApp) {
        let client = app.anonymous();
        for (hours, expected) in [
            (0, "Sat, 21 Nov 2026 10:00:00 GMT"),
            (-3, "Sat, 21 Nov 2026 07:00:00 GMT"),
            (1, "Sat, 21 Nov 2026 08:00:00 GMT"),
        ] {
            app.advance(TimeDelta::hours(hours));
            for path in ["/livez", "/direct/describe", "/nowhere"] {
                assert_eq!(client.get(path).await.header("date"), Some(expected), "{path}");
            }
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
