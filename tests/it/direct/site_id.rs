//! The ids that people choose for sites.

use http::StatusCode;
use http::header::ACCEPT;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::read;

/// Ids, each with the segment that stands for it in addresses.
const IDS: [(&str, &str); 5] = [
    ("a.b", "a.b"),
    ("a~b", "a~b"),
    ("B\u{fc}cher-101", "B%C3%BCcher-101"),
    ("a%2Fb", "a%252Fb"),
    ("7\"<b>#?&'", "7%22%3Cb%3E%23%3F&'"),
];

async fn create(client: &Client, id: &str) -> Answer {
    let body = json!({"id": id, "title": "Chosen", "type": "course"});
    client.post("/direct/site.json", &body).await
}

/// Every address that `value` has for this service.
fn addresses(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(
            text.strip_prefix("http://127.0.0.1:8080")
                .map(str::to_owned),
        ),
        Value::Array(items) => items.iter().for_each(|it| addresses(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| addresses(it, found)),
        _ => {}
    }
}

both! {
    async fn an_id_may_have_what_a_segment_may_hold(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (id, segment) in IDS {
            let answer = create(&teacher, id).await;
            answer.expect(StatusCode::CREATED);
            let location = format!("http://127.0.0.1:8080/direct/site/{segment}");
            assert_eq!(answer.header("location"), Some(location.as_str()));
            assert_eq!(answer.header("EntityId"), Some(segment));
            let body = json!({"title": "News", "body": "<p>x</p>", "siteId": id});
            teacher.post("/direct/announcement", &body).await.expect(StatusCode::CREATED);
            for format in ["json", "xml", "html"] {
                let path = format!("/direct/site/{segment}.{format}");
                teacher.get(&path).await.expect(StatusCode::OK);
            }
            let site = read(&teacher, &format!("/direct/site/{segment}.json")).await;
            assert_eq!((&site["id"], &site["entityURL"]), (&json!(id), &json!(location)));
            for path in ["pages", "perms", "exists", "userPerms"] {
                teacher.get(&format!("/direct/site/{segment}/{path}.json")).await.expect(StatusCode::OK);
            }
            for list in ["announcement", "calendar", "membership"] {
                let path = format!("/direct/{list}/site/{segment}.json");
                assert_eq!(teacher.get(&path).await.status, StatusCode::OK, "{path}");
            }
            for feed in ["atom", "rss"] {
                let feed = teacher.get(&format!("/direct/announcement/site/{segment}.{feed}")).await;
                feed.expect(StatusCode::OK);
                assert!(feed.text().contains("News"), "{}", feed.text());
                let escaped = segment.replace('&', "&amp;").replace('\'', "&apos;");
                assert!([segment, &*escaped].iter().any(|it| feed.text().contains(*it)), "{}", feed.text());
            }
            for path in [format!("/api/sites/{segment}/grades"), format!("/portal/site/{segment}")] {
                let status = teacher.get(&path).await.status;
                assert!(status.is_success() || status.is_redirection(), "{path}: {status}");
            }
            let changed = json!({"title": "Changed"});
            teacher.put(&format!("/direct/site/{segment}"), &changed).await.expect(StatusCode::NO_CONTENT);
        }
    }

    async fn every_address_of_such_a_site_leads_somewhere(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let browser = app.user("instructor1").await.with_header(ACCEPT, "text/html");
        for (id, segment) in IDS {
            create(&teacher, id).await.expect(StatusCode::CREATED);
            let path = format!("/direct/site/{segment}");
            let mut found = Vec::new();
            addresses(&read(&teacher, &format!("{path}.json")).await, &mut found);
            for suffix in ["pages", "perms"] {
                addresses(&read(&teacher, &format!("{path}/{suffix}.json")).await, &mut found);
            }
            addresses(&read(&teacher, &format!("/direct/membership/site/{segment}.json")).await, &mut found);
            assert!(found.len() > 3, "{found:?}");
            for address in found {
                let status = teacher.get(&address).await.status;
                assert!(status.is_success() || status.is_redirection(), "{id}: {address}: {status}");
            }
            let page = browser.get(&format!("{path}.html")).await;
            let links = page.text().split("href=\"").skip(1).filter_map(|it| it.split('"').next());
            let links = links.map(|it| it.replace("&#38;", "&").replace("&#39;", "'"));
            let own: Vec<_> = links.filter(|it| it.contains(segment)).collect();
            assert!(own.len() > 3, "{own:?}");
            for address in own {
                let address = address.replace("http://127.0.0.1:8080", "");
                let status = browser.get(&address).await.status;
                assert!(status.is_success() || status.is_redirection(), "{id}: {address}: {status}");
            }
        }
    }

    async fn sec_an_id_passes_for_no_other(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for id in [
            "Biology-101", "biology-1\u{43e}1", "b\u{456}ology-101", "bi0logy-101", "BIOLOGY-lOl",
        ] {
            create(&teacher, id).await.expect(StatusCode::CONFLICT);
        }
        create(&teacher, "bu\u{308}cher").await.expect(StatusCode::CREATED);
        assert_eq!(read(&teacher, "/direct/site/b%C3%BCcher.json").await["id"], "b\u{fc}cher");
        create(&teacher, "b\u{fc}cher").await.expect(StatusCode::CONFLICT);
        teacher.delete("/direct/site/b%C3%BCcher").await.expect(StatusCode::NO_CONTENT);
        create(&teacher, "B\u{fc}cher").await.expect(StatusCode::CREATED);
    }

    async fn an_id_that_addresses_can_not_hold_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for id in [
            ".a", "~a", "!a", "-a", "a/b", "a:b", "a,b", "a;b", "a\\b", "a b", "a\u{a0}b", "a\tb", "a\u{200b}b",
            "a\u{202e}b", "a\u{3164}b", "a\u{200d}b", "a.json", "a.xml", "a.html", "a.atom", "a.", "new", "describe",
        ] {
            let answer = create(&teacher, id).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(answer.text().contains("`id`") || answer.text().contains("\"id\""), "{}", answer.text());
        }
        create(&teacher, &"\u{fc}".repeat(50)).await.expect(StatusCode::BAD_REQUEST);
    }
}
