//! `/direct/webcontent` and `/direct/news`

use http::StatusCode;
use serde_json::json;
use tests::{TestApp, both};

use super::created;

both! {
    async fn whoever_looks_after_the_site_writes_addresses_of_the_web(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for kind in ["webcontent", "news"] {
            let prefix = format!("/direct/{kind}");
            let entry = |url: &str| json!({"siteId": "biology-101", "title": "Elsewhere", "url": url});
            for url in ["javascript:alert(1)", "data:text/html,x", "/direct/user/current", "ftp://example.org", "https://", "//example.org", "file:///etc/passwd"] {
                let answer = teacher.post(&prefix, &entry(url)).await;
                assert!(answer.expect(StatusCode::BAD_REQUEST).text().contains("`url`"), "{url}: {}", answer.text());
            }
            let id = created(&teacher.post(&prefix, &entry("https://example.org/a?b=c")).await, kind);
            let changed = teacher.put(&format!("{prefix}/{id}"), &json!({"url": "javascript:alert(1)"})).await;
            changed.expect(StatusCode::BAD_REQUEST);
        }
    }
}
