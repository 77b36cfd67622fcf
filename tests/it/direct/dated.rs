//! Dates: single entities and entries of feeds have them. A list has none, because the dates of its entries do not tell
//! when it changed: one of them may have been deleted.

use chrono::TimeDelta;
use http::header::{ETAG, IF_MODIFIED_SINCE, LAST_MODIFIED};
use http::{Method, StatusCode};
use serde_json::json;
use tests::{TestApp, both};

use super::{FORM, JSON, XML, created, list, read};

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

    async fn dates_are_read_in_the_forms_that_people_write(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let fields = json!({"siteId": "biology-101", "title": "Then", "releaseDate": "2027-01-15T08:00Z"});
        let id = created(&teacher.post(NEWS, &fields).await, "announcement");
        let path = format!("{NEWS}/{id}");
        assert_eq!(read(&teacher, &path).await["releaseDate"], 1_800_000_000_000_i64);
        for (asked, is_found) in [
            ("[ge]=2027-01-15", true), ("[ge]=2027-01-16", false), ("=2027-01-15T09:00:00%2B0100", true),
            ("=2027-01-15T03:00-05:00", true), ("=20270115T080000Z", true), ("=1800000000000", true),
        ] {
            let found = list(&teacher, &format!("{NEWS}.json?siteId=biology-101&title=Then&releaseDate{asked}"), "announcement").await;
            assert_eq!(!found.is_empty(), is_found, "{asked}");
        }
        let sent = [
            (JSON, r#"{"releaseDate":1800000000}"#), (JSON, r#"{"releaseDate":"20270115"}"#), (FORM, "releaseDate=20270115"),
            (XML, r#"<announcement><releaseDate type="date">1800000000</releaseDate></announcement>"#),
        ];
        for (media_type, body) in sent {
            let answer = teacher.send(Method::PUT, &path, media_type, body.into()).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(answer.text().contains("12 digits"), "{body}: {}", answer.text());
        }
        for asked in ["20270115", "1800000000"] {
            let answer = teacher.get(&format!("{NEWS}.json?createdOn[ge]={asked}")).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(answer.text().contains("12 digits"), "{asked}: {}", answer.text());
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
