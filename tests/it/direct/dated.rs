//! Dates: single entities and entries of feeds have them. A list has none, because the dates of its entries do not tell
//! when it changed: one of them may have been deleted.

use chrono::TimeDelta;
use http::StatusCode;
use http::header::{ETAG, IF_MODIFIED_SINCE, LAST_MODIFIED};
use serde_json::json;
use tests::{TestApp, both};

use super::created;

const NEWS: &str = "/direct/announcement";
const OF_SITE: &str = "/direct/announcement/site/biology-101";

both! {
    async fn a_list_has_a_tag_and_no_date(app: TestApp) {
        let student = app.user("student1").await;
        let now = app.service().now().format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        for format in ["json", "xml", "atom", "rss", "csv"] {
            let path = format!("{OF_SITE}.{format}");
            let answer = student.clone().with_header(IF_MODIFIED_SINCE, &now).get(&path).await;
            answer.expect(StatusCode::OK);
            assert!(answer.header(ETAG).is_some(), "{path}");
            assert_eq!(answer.header(LAST_MODIFIED), None, "{path}");
        }
    }

    async fn an_entry_is_news_as_of_its_release(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let release = app.service().now() + TimeDelta::minutes(10);
        let fields = json!({"siteId": "biology-101", "title": "Later", "releaseDate": release.timestamp_millis()});
        created(&teacher.post(NEWS, &fields).await, "announcement");
        app.advance(TimeDelta::minutes(20));
        let answer = student.get(&format!("{OF_SITE}.atom")).await;
        let feed = feed_rs::parser::parse(&*answer.body).expect("a feed");
        let entry = feed.entries.iter().find(|it| it.title.as_ref().is_some_and(|it| it.content == "Later"));
        let entry = entry.expect("what came out");
        assert_eq!((entry.updated, entry.published), (Some(release), Some(release)));
        assert!(feed.updated >= entry.updated);
    }
}
