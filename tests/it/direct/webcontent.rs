//! `/direct/webcontent` and `/direct/news`

use http::StatusCode;
use serde_json::json;
use tests::{TestApp, both};

use super::{created, list, read, text};
use crate::shape::{METADATA, assert_same, assert_shape};

const ENTRY: &str = "id text, siteId text, title text, url text";

both! {
    async fn a_site_leads_to_pages_and_feeds_elsewhere(app: TestApp) {
        for (kind, url) in [
            ("webcontent", "https://tree-of-life.example/"),
            ("news", "https://news.example/biology.rss"),
        ] {
            let path = format!("/direct/{kind}/site/biology-101");
            for eid in ["student1", "instructor1"] {
                let client = app.user(eid).await;
                let entries = list(&client, &format!("{path}.json"), kind).await;
                assert_eq!(entries.len(), 1);
                assert_shape(&entries[0], &[ENTRY, METADATA]);
                assert_eq!(entries[0]["url"], url);
                let whole = read(&client, &format!("{path}.json")).await;
                assert_same(client.get(&format!("{path}.xml")).await.expect(StatusCode::OK).text(), &whole);
                let page = client.get(&format!("{path}.html")).await;
                assert!(page.expect(StatusCode::OK).text().contains(&text(&entries[0], "title")));
                let one = read(&client, &format!("/direct/{kind}/{}.json", text(&entries[0], "id"))).await;
                assert_eq!(one, entries[0]);
            }
            let stranger = app.user("instructor2").await;
            stranger.get(&format!("{path}.json")).await.expect(StatusCode::FORBIDDEN);
            stranger.get(&format!("/direct/{kind}/site/none.json")).await.expect(StatusCode::NOT_FOUND);
            app.anonymous().get(&format!("{path}.json")).await.expect(StatusCode::UNAUTHORIZED);
        }
    }

    async fn whoever_looks_after_the_site_writes_addresses_of_the_web(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for kind in ["webcontent", "news"] {
            let prefix = format!("/direct/{kind}");
            let entry = |url: &str| json!({"siteId": "biology-101", "title": "Elsewhere", "url": url});
            for url in ["javascript:alert(1)", "data:text/html,x", "/direct/user/current", "ftp://example.org", "https://", "//example.org", "file:///etc/passwd"] {
                let answer = teacher.post(&prefix, &entry(url)).await;
                assert!(answer.expect(StatusCode::BAD_REQUEST).text().contains("`url`"), "{url}: {}", answer.text());
            }
            student.post(&prefix, &entry("https://example.org/a")).await.expect(StatusCode::FORBIDDEN);
            let id = created(&teacher.post(&prefix, &entry("https://example.org/a?b=c")).await, kind);
            let path = format!("{prefix}/{id}");
            teacher.put(&path, &json!({"url": "javascript:alert(1)"})).await.expect(StatusCode::BAD_REQUEST);
            student.put(&path, &json!({"title": "Mine"})).await.expect(StatusCode::FORBIDDEN);
            teacher.put(&path, &json!({"url": "http://example.org/b"})).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(read(&student, &path).await["url"], "http://example.org/b");
            student.delete(&path).await.expect(StatusCode::FORBIDDEN);
            teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
            teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
        }
    }
}
