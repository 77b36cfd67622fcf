//! The token of a private feed is told once, and stands nowhere else: not in the database, not in a log.

use chrono::TimeDelta;
use http::header::{ACCEPT, CACHE_CONTROL};
use http::{HeaderName, Method, StatusCode};
use serde_json::json;
use tests::rows::{databases, texts};
use tests::{TestApp, both};

use super::{BASE, BIOLOGY, PrivateFeed, fetch};

/// Every row of every table that tells of requests and of feeds.
async fn everything(app: &TestApp) -> String {
    app.service().audit.flush().await;
    let mut all = Vec::new();
    for (index, connection) in databases(app).await.iter().enumerate() {
        let audit =
            "SELECT path || ' ' || coalesce(user_id, '-') || ' ' || method AS line FROM audit";
        all.extend(texts(connection, audit).await);
        if index == 0 {
            let outbox = "SELECT kind || ' ' || reference AS line FROM outbox";
            all.extend(texts(connection, outbox).await);
            let feeds = "SELECT id || token_hash || user_id || title || path || query || formats AS line FROM feed";
            all.extend(texts(connection, feeds).await);
        }
    }
    all.join("\n")
}

both! {
    async fn what_is_read_at_a_private_address_is_kept_by_its_reader_alone(app: TestApp) {
        let (owner, stranger) = (app.user("student1").await, app.anonymous());
        let feed = PrivateFeed::new(&owner, &json!({"path": BIOLOGY, "title": "My <bio>"})).await;
        for format in ["atom", "rss"] {
            let read = stranger.get(&feed.path(format)).await;
            read.expect(StatusCode::OK);
            assert_eq!(read.header(CACHE_CONTROL), Some("private, max-age=300, must-revalidate"));
            assert_eq!(read.header("x-robots-tag"), Some("noindex, noarchive"));
            assert_eq!(read.text().contains("<ttl>5</ttl>"), format == "rss", "{}", read.text());
            let parsed = fetch(&stranger, &feed.path(format)).await;
            assert_eq!(parsed.title.expect("a title").content, "My <bio>");
        }
        let wrong = stranger.get("/feeds/nothing/biology-101.atom").await;
        wrong.expect(StatusCode::NOT_FOUND);
        assert_eq!(wrong.header("x-robots-tag"), Some("noindex, noarchive"));
        assert_eq!(wrong.header(CACHE_CONTROL), Some("no-store"));
        let page = owner.get("/direct/feed.html").await;
        for (told, is_told) in [("Last used", true), ("Expires", true), ("never", true), ("User", false)] {
            let is_column = page.text().split_once("<table").expect("a table").1.contains(told);
            assert_eq!(is_column, is_told, "{told} in {}", page.text());
        }
    }

    async fn a_browser_is_shown_what_is_in_a_private_feed_and_how_to_subscribe(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::new(&owner, &json!({"path": BIOLOGY, "title": "My <bio>"})).await;
        let path = feed.path("atom");
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
            ("text/html", "application/atom+xml"),
            // Java before 19, with which other learning systems subscribe.
            ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/atom+xml"),
            ("application/atom+xml,application/rss+xml;q=0.9,text/html;q=0.8,*/*;q=0.1", "application/atom+xml"),
            ("text/html, application/atom+xml", "application/atom+xml"),
            ("*/*", "application/atom+xml"),
            ("application/json", "application/atom+xml"),
        ] {
            let answer = app.anonymous().with_header(ACCEPT, accept).get(&path).await;
            answer.expect(StatusCode::OK);
            let found = answer.header("content-type").unwrap_or_default();
            assert!(found.starts_with(expected), "{accept}: {found}");
            assert_eq!(answer.header("x-robots-tag"), Some("noindex, noarchive"));
        }
        for (header, value) in [("sec-fetch-dest", "document"), ("upgrade-insecure-requests", "1")] {
            let browser = app.anonymous().with_header(HeaderName::from_static(header), value);
            let found = browser.get(&path).await;
            assert!(found.header("content-type").unwrap_or_default().starts_with("text/html"), "{header}");
        }
        let browser = app.anonymous().with_header(ACCEPT, "text/html,application/xhtml+xml");
        let page = browser.get(&path).await;
        let page = page.text();
        let address = format!("<code>{BASE}{path}</code>");
        for told in ["My &#60;bio&#62;", &address, "Quiz on cell membranes", "feed reader"] {
            assert!(page.contains(told), "{told}: {page}");
        }
        assert!(!page.contains("/edit"), "{page}");
        let delete = owner.send(Method::DELETE, &feed.entity, "text/plain", "".into()).await;
        delete.expect(StatusCode::NO_CONTENT);
        let gone = browser.get(&path).await;
        assert!(gone.expect(StatusCode::NOT_FOUND).text().contains("revoked"), "{}", gone.text());
        app.anonymous().get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn who_reads_a_private_feed_without_a_pause_has_to_wait(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        let other = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        for _ in 0..60 {
            stranger.get(&feed.path("atom")).await.expect(StatusCode::OK);
        }
        let refused = stranger.get(&feed.path("rss")).await;
        refused.expect(StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.header("retry-after"), Some("10"));
        stranger.get(&other.path("atom")).await.expect(StatusCode::OK);
        app.advance(TimeDelta::seconds(10));
        stranger.get(&feed.path("atom")).await.expect(StatusCode::OK);
        stranger.get(&feed.path("atom")).await.expect(StatusCode::TOO_MANY_REQUESTS);
    }

    async fn the_token_is_told_once_and_kept_nowhere(app: TestApp) {
        let (owner, admin) = (app.user("student1").await, app.user("admin").await);
        let answer = owner.post("/direct/feed/new", &json!({"path": BIOLOGY})).await;
        answer.expect(StatusCode::CREATED);
        assert_eq!(answer.header(CACHE_CONTROL), Some("no-store"));
        let feed = PrivateFeed {
            entity: format!("/direct/feed/{}", answer.header("EntityId").expect("an id")),
            made: answer.json(),
        };
        let user = feed.made["userId"].as_str().expect("an owner");
        let stranger = app.anonymous();
        fetch(&stranger, &feed.path("atom")).await;
        let token = feed.token();
        for said_nothing in ["_=123", "nocache=1", "utm_source=x&fbclid=y", "_limit=1&x=1"] {
            let answer = stranger.get(&format!("{}?{said_nothing}", feed.path("atom"))).await;
            answer.expect(StatusCode::OK);
        }
        for path in [
            format!("/feeds/{token}/other.atom"),
            format!("/feeds/{token}/biology-101.ics"),
            format!("/feeds/{token}"),
            format!("/feeds/{token}/"),
            format!("/feeds//{token}"),
        ] {
            let refused = stranger.get(&path).await;
            assert!(!refused.text().contains(&token), "{path}");
        }
        let refused = stranger.send(Method::PUT, &feed.path("atom"), "application/json", "{}".into()).await;
        assert!(!refused.text().contains(&token));
        for (client, path) in [
            (&owner, feed.entity.clone()),
            (&owner, format!("{}.html", feed.entity)),
            (&owner, format!("{}/edit.html", feed.entity)),
            (&owner, "/direct/feed.xml".to_owned()),
            (&owner, "/direct/feed.opml".to_owned()),
            (&owner, "/direct/feed.csv".to_owned()),
            (&admin, feed.entity.clone()),
            (&admin, format!("/direct/feed.json?userId={user}")),
        ] {
            let shown = client.get(&path).await;
            assert!(!shown.expect(StatusCode::OK).text().contains(&token), "{path}");
            assert!(!shown.text().contains("/feeds/"), "{path}");
        }
        let everything = everything(&app).await;
        assert!(!everything.contains(&token), "{everything}");
        assert!(everything.contains(&format!("/feeds/[token]/biology-101.atom {user} GET")), "{everything}");
        assert!(everything.contains("/feeds/[token]/other.atom - GET"), "{everything}");
    }

    async fn a_client_that_wants_no_answer_is_told_nothing(app: TestApp) {
        let prefer = http::HeaderName::from_static("prefer");
        let owner = app.user("student1").await.with_header(prefer, "return=minimal");
        let answer = owner.post("/direct/feed", &json!({"path": BIOLOGY})).await;
        answer.expect(StatusCode::CREATED);
        assert!(answer.body.is_empty());
    }
}
