//! The addresses of private feeds, their queries, and the addresses that can't be read by one.

use chrono::TimeDelta;
use http::header::{ACCEPT, ALLOW};
use http::{Method, StatusCode};
use roxmltree::Document;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tests::{TestApp, above_storage};

use super::{BIOLOGY, PrivateFeed, essence, fetch, nothing};

above_storage! {
    async fn an_address_ends_with_what_is_read_and_the_format(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        assert_eq!(feed.made["formats"], json!(["atom", "rss"]));
        assert_eq!(feed.made["title"], "Announcements: site biology-101");
        assert_eq!(feed.made["lastUsed"], Value::Null);
        for format in ["atom", "rss"] {
            let expected = format!("/feeds/{}/biology-101.{format}", feed.token());
            assert_eq!(feed.path(format), expected);
        }
        assert_eq!(feed.token().len(), 43, "256 bits");
    }

    async fn only_the_very_address_is_one(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::new(&owner, &json!({"path": BIOLOGY, "formats": ["atom"]})).await;
        let stranger = app.anonymous();
        let token = feed.token();
        for path in [
            format!("/feeds/{token}/biology-101.rss"),
            format!("/feeds/{token}/biology-101.json"),
            format!("/feeds/{token}/biology-101.html"),
            format!("/feeds/{token}/biology-101"),
            format!("/feeds/{token}/other.atom"),
            format!("/feeds/{token}"),
            format!("/feeds/{token}/a/biology-101.atom"),
            format!("/feeds/{}/biology-101.atom", token.to_lowercase()),
            "/feeds/short/biology-101.atom".to_owned(),
        ] {
            assert_eq!(essence(&stranger.get(&path).await), nothing(&stranger).await, "{path}");
        }
        let empty = stranger.get(&format!("/feeds//{token}/biology-101.atom")).await;
        empty.expect(StatusCode::BAD_REQUEST);
        fetch(&stranger, &feed.path("atom")).await;
    }

    async fn a_private_address_only_reads(app: TestApp) {
        let owner = app.user("student1").await;
        let path = PrivateFeed::of_biology(&owner).await.path("atom");
        let stranger = app.anonymous();
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = stranger.send(method, &path, "application/json", "{}".into()).await;
            answer.expect(StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(answer.header(ALLOW), Some("GET, HEAD, OPTIONS"));
        }
        let answer = stranger.send(Method::OPTIONS, &path, "application/json", "".into()).await;
        answer.expect(StatusCode::NO_CONTENT);
        let head = stranger.send(Method::HEAD, &path, "application/json", "".into()).await;
        head.expect(StatusCode::OK);
        assert!(head.body.is_empty());
    }

    async fn what_is_no_feed_gets_no_address(app: TestApp) {
        let owner = app.user("student1").await;
        let soon = app.service().now() + TimeDelta::days(1);
        let past = app.service().now() - TimeDelta::seconds(1);
        for (fields, named) in [
            (json!({}), "path"),
            (json!({"path": ""}), "path"),
            (json!({"path": "/"}), "path"),
            (json!({"path": "/nothing"}), "path"),
            (json!({"path": "/feed"}), "path"),
            (json!({"path": "/session/current"}), "path"),
            (json!({"path": "/announcement/new"}), "path"),
            (json!({"path": "/announcement/a:b/edit"}), "path"),
            (json!({"path": "/announcement/nothing/at/all"}), "path"),
            (json!({"path": "https://other.example/direct/announcement"}), "path"),
            (json!({"path": BIOLOGY, "formats": ["json"]}), "formats"),
            (json!({"path": BIOLOGY, "formats": ["ics"]}), "formats"),
            (json!({"path": BIOLOGY, "expires": past}), "expires"),
            (json!({"path": "/announcement?nothing=1"}), "query"),
            (json!({"path": "/announcement?d=%"}), "query"),
            (json!({"path": format!("{BIOLOGY}?d=1"), "query": "d=2"}), "query"),
            (json!({"path": BIOLOGY, "expires": soon, "token": "x"}), "token"),
        ] {
            let answer = owner.post("/direct/feed", &fields).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], named, "{fields}");
        }
        let list = owner.get("/direct/feed.json").await.json();
        assert_eq!(list["feed_collection"], json!([]));
    }

    async fn a_feed_of_what_is_gone_is_still_its_owners(app: TestApp) {
        let owner = app.user("student1").await;
        let made = owner.post("/direct/feed", &json!({"path": BIOLOGY})).await;
        let path = format!("/direct/feed/{}", made.expect(StatusCode::CREATED).json()["id"].as_str().expect("an id"));
        let gone = "UPDATE feed SET path = '/a-type-that-was-unlinked'";
        app.service().storage.content.writer.execute_unprepared(gone).await.expect("a row");
        owner.put(&path, &json!({"title": "Old news"})).await.expect(StatusCode::NO_CONTENT);
        owner.put(&path, &json!({"title": " "})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(owner.get(&format!("{path}.json")).await.json()["title"], "Old news");
        let turned = owner.post(&format!("{path}/rotate"), &json!({})).await;
        assert!(turned.expect(StatusCode::OK).json()["addresses"].is_object());
        owner.put(&path, &json!({"formats": ["atom"]})).await.expect(StatusCode::BAD_REQUEST);
        owner.delete(&path).await.expect(StatusCode::NO_CONTENT);
    }

    async fn the_owner_sees_when_it_was_read(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        let used = async || {
            let shown = owner.get(&format!("{}.json", feed.entity)).await.json();
            shown["lastUsed"].clone()
        };
        assert_eq!(used().await, Value::Null);
        fetch(&stranger, &feed.path("atom")).await;
        let first = used().await;
        assert_eq!(first, json!(app.service().now()));
        app.advance(TimeDelta::minutes(9));
        fetch(&stranger, &feed.path("atom")).await;
        assert_eq!(used().await, first, "not every reading is written down");
        app.advance(TimeDelta::minutes(1));
        fetch(&stranger, &feed.path("rss")).await;
        assert_eq!(used().await, json!(app.service().now()));
        stranger.get(&format!("/feeds/{}/x.atom", feed.token())).await.expect(StatusCode::NOT_FOUND);
    }

    async fn an_owner_changes_title_formats_and_end(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        let end = app.service().now() + TimeDelta::days(1);
        let changes = json!({"title": "News", "formats": ["rss"], "expires": end, "path": "/announcement"});
        owner.put(&feed.entity, &changes).await.expect(StatusCode::NO_CONTENT);
        let shown = owner.get(&format!("{}.json", feed.entity)).await.json();
        assert_eq!((&shown["title"], &shown["formats"]), (&json!("News"), &json!(["rss"])));
        assert_eq!((&shown["expires"], &shown["path"]), (&json!(end), &json!(BIOLOGY)));
        stranger.get(&feed.path("atom")).await.expect(StatusCode::NOT_FOUND);
        fetch(&stranger, &feed.path("rss")).await;
        owner.put(&feed.entity, &json!({"expires": null})).await.expect(StatusCode::NO_CONTENT);
        app.advance(TimeDelta::days(2));
        fetch(&stranger, &feed.path("rss")).await;
    }

    async fn a_browser_is_shown_the_address_once(app: TestApp) {
        let owner = app.user("student1").await;
        let browser = owner.clone().with_header(ACCEPT, "text/html");
        let page = browser.post_form("/direct/feed/new", &format!("path={BIOLOGY}&formats=atom")).await;
        page.expect(StatusCode::CREATED);
        let text = page.text();
        let address = text.split("/feeds/").nth(1).and_then(|it| it.split(['"', '<', '&', ' ']).next());
        let address = format!("/feeds/{}", address.expect("an address"));
        fetch(&app.anonymous(), &address).await;
        let list = browser.get("/direct/feed.html").await;
        assert!(list.expect(StatusCode::OK).text().contains("biology-101"));
        assert!(!list.text().contains("/feeds/"));
    }

    async fn the_subscriptions_of_a_user_are_there_as_opml(app: TestApp) {
        let owner = app.user("student1").await;
        let fields = json!({"path": "/announcement?siteId=biology-101&_search=quiz", "title": "<Quiz> & co"});
        let feed = PrivateFeed::new(&owner, &fields).await;
        let answer = owner.get("/direct/feed.opml").await;
        let text = answer.expect(StatusCode::OK).text();
        let document = Document::parse(text).expect("well-formed XML");
        assert_eq!(document.root_element().attribute("version"), Some("2.0"));
        let outlines: Vec<_> = document.descendants().filter(|it| it.has_tag_name("outline")).collect();
        assert_eq!(outlines.len(), 1, "a subscription for each format would show all twice");
        for outline in outlines {
            assert_eq!(outline.attribute("text"), Some("<Quiz> & co"));
            assert_eq!(outline.attribute("type"), Some("rss"));
            let url = outline.attribute("xmlUrl").expect("an address");
            let path = url.strip_prefix("http://127.0.0.1:8080").expect("our own");
            let expected = fetch(&app.anonymous(), &feed.path("atom")).await.entries.len();
            assert_eq!(fetch(&owner, path).await.entries.len(), expected);
        }
        assert!(!text.contains(&feed.token()));
        owner.get("/direct/site.opml").await.expect(StatusCode::NOT_ACCEPTABLE);
    }
}
