//! Making private feeds: the callers who may, the addresses that may be read, and the maximum number of feeds.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{BIOLOGY, PrivateFeed, fetch};

async fn feeds_of(owner: &Client) -> Vec<Value> {
    let mut list = owner.get("/direct/feed.json").await.json();
    match list["feed_collection"].take() {
        Value::Array(feeds) => feeds,
        other => panic!("{other} is no list"),
    }
}

both! {
    async fn nobody_makes_a_feed_of_what_they_may_not_read(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let news = json!({"siteId": "biology-101", "title": "Not yet", "draft": true});
        let draft = teacher.post("/direct/announcement", &news).await;
        let draft = format!("/announcement/{}", draft.header("EntityId").expect("an id"));
        for (path, status) in [
            ("/announcement/site/nowhere", StatusCode::NOT_FOUND),
            ("/announcement/biology-101:main:nothing", StatusCode::NOT_FOUND),
            (draft.as_str(), StatusCode::NOT_FOUND),
            ("/announcement/site/history-210", StatusCode::FORBIDDEN),
            ("/announcement?siteId=history-210", StatusCode::FORBIDDEN),
            ("/site/history-210", StatusCode::FORBIDDEN),
        ] {
            let refused = student.post("/direct/feed", &json!({"path": path})).await;
            refused.expect(status);
            assert!(refused.text().contains("at the address of `path`"), "{}", refused.text());
        }
        assert!(feeds_of(&student).await.is_empty());
        PrivateFeed::new(&teacher, &json!({"path": draft})).await;
    }

    async fn a_query_that_the_address_refuses_makes_no_feed(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["/announcement?_fields=nothing", "/announcement?siteId[near]=x", "/announcement?_limit=x"] {
            let refused = student.post("/direct/feed", &json!({"path": path})).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert_eq!(refused.json()["error"]["fields"][0]["name"], "query", "{path}");
        }
    }

    async fn nobody_has_more_than_fifty_that_live(app: TestApp) {
        let owner = app.user("student1").await;
        let end = app.service().now() + TimeDelta::minutes(10);
        let mut last = None;
        for number in 0..50 {
            let expires = [Value::Null, json!(end), json!(end + TimeDelta::minutes(1))];
            let expires = expires.get(number).unwrap_or(&Value::Null);
            last = Some(PrivateFeed::new(&owner, &json!({"path": BIOLOGY, "expires": expires})).await);
        }
        let one_more = async || owner.post("/direct/feed", &json!({"path": BIOLOGY})).await;
        one_more().await.expect(StatusCode::CONFLICT);
        app.advance(TimeDelta::minutes(12));
        let expired = async || {
            let all = feeds_of(&owner).await;
            let expired = all.iter().filter(|it| it["expired"] == true).map(|it| it["expires"].clone());
            (all.len(), expired.collect::<Vec<_>>())
        };
        let later = json!(end + TimeDelta::minutes(1));
        assert_eq!(expired().await.1.len(), 2);
        // The one that ended first gives way first.
        one_more().await.expect(StatusCode::CREATED);
        assert_eq!(expired().await, (50, vec![later]));
        one_more().await.expect(StatusCode::CREATED);
        assert_eq!(expired().await, (50, Vec::new()));
        one_more().await.expect(StatusCode::CONFLICT);
        owner.delete(&last.expect("fifty").entity).await.expect(StatusCode::NO_CONTENT);
        one_more().await.expect(StatusCode::CREATED);
    }

    async fn a_feed_that_is_over_says_so_until_it_has_another_end(app: TestApp) {
        let owner = app.user("student1").await;
        let end = app.service().now() + TimeDelta::minutes(10);
        let feed = PrivateFeed::new(&owner, &json!({"path": BIOLOGY, "expires": end})).await;
        assert_eq!(feed.made["expired"], false);
        app.advance(TimeDelta::minutes(10));
        let shown = owner.get(&format!("{}.json", feed.entity)).await.json();
        assert_eq!(shown["expired"], true);
        owner.put(&feed.entity, &json!({"expires": null})).await.expect(StatusCode::NO_CONTENT);
        let shown = owner.get(&format!("{}.json", feed.entity)).await.json();
        assert_eq!(shown["expired"], false);
        fetch(&app.anonymous(), &feed.path("atom")).await;
    }
}
