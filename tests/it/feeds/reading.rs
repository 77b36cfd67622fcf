//! A private feed shows what its owner may see at this moment, and nothing when the owner may see nothing.

use chrono::TimeDelta;
use http::StatusCode;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, REFERRER_POLICY};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{BIOLOGY, PrivateFeed, essence, fetch, nothing, path_of};

/// Returns the parts of the entries that a reader shows.
async fn told(client: &Client, path: &str) -> Vec<Value> {
    let feed = fetch(client, path).await;
    let entries = feed.entries.into_iter().map(|it| {
        json!({
            "id": it.id,
            "title": it.title.map(|it| it.content),
            "content": it.content.and_then(|it| it.body).or(it.summary.map(|it| it.content)),
            "updated": it.updated,
            "published": it.published,
            "authors": it.authors.into_iter().map(|it| it.name).collect::<Vec<_>>(),
            "links": it.links.into_iter().map(|it| it.href).collect::<Vec<_>>(),
            "categories": it.categories.into_iter().map(|it| it.term).collect::<Vec<_>>(),
        })
    });
    entries.collect()
}

async fn id_of(client: &Client) -> String {
    let user = client.get("/direct/user/current.json").await.json();
    user["id"].as_str().expect("an id").to_owned()
}

/// Takes the student out of the first course.
async fn remove(teacher: &Client, user: &str) {
    let path = format!("/direct/membership/{user}::site:biology-101");
    teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
}

both! {
    async fn everybody_reads_at_a_private_address_what_they_read_logged_in(app: TestApp) {
        let stranger = app.anonymous();
        let mut seen = Vec::new();
        for eid in ["student1", "student15", "ta1", "instructor1", "admin"] {
            let owner = app.user(eid).await;
            for path in [BIOLOGY, "/announcement/user", "/announcement", "/announcement/motd"] {
                let feed = PrivateFeed::new(&owner, &json!({"path": path})).await;
                for format in ["atom", "rss"] {
                    let expected = told(&owner, &format!("/direct{path}.{format}")).await;
                    let found = told(&stranger, &feed.path(format)).await;
                    assert_eq!(found, expected, "{eid} {path} {format}");
                }
            }
            seen.push(told(&owner, &format!("/direct{BIOLOGY}.atom")).await.len());
        }
        // Otherwise it would not matter on whose behalf the feed is read.
        assert!(seen[0] > 0 && seen[0] < seen[3], "{seen:?}");
    }

    async fn a_reader_who_is_logged_in_reads_as_the_owner(app: TestApp) {
        let (owner, other) = (app.user("student1").await, app.user("instructor1").await);
        let feed = PrivateFeed::of_biology(&owner).await;
        let expected = told(&owner, &format!("/direct{BIOLOGY}.atom")).await;
        assert_eq!(told(&other, &feed.path("atom")).await, expected);
    }

    async fn what_is_new_or_changed_is_there_at_once(app: TestApp) {
        let (owner, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let feed = PrivateFeed::of_biology(&owner).await;
        let path = feed.path("atom");
        let stranger = app.anonymous();
        let before = told(&stranger, &path).await.len();
        let news = json!({"siteId": "biology-101", "title": "New", "draft": true});
        let made = teacher.post("/direct/announcement", &news).await;
        assert_eq!(told(&stranger, &path).await.len(), before, "a draft");
        let id = made.header("EntityId").expect("an id");
        let announcement = format!("/direct/announcement/{id}");
        let out = teacher.put(&announcement, &json!({"draft": false})).await;
        out.expect(StatusCode::NO_CONTENT);
        assert_eq!(told(&stranger, &path).await.len(), before + 1, "no draft any more");
        teacher.delete(&announcement).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(told(&stranger, &path).await.len(), before, "deleted");
    }

    async fn who_leaves_the_site_reads_nothing_of_it_any_more(app: TestApp) {
        let (owner, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let site = PrivateFeed::of_biology(&owner).await.path("atom");
        let all = PrivateFeed::new(&owner, &json!({"path": "/announcement/user"})).await.path("atom");
        let stranger = app.anonymous();
        let of_biology = |entries: Vec<Value>| {
            let is_there = |it: &Value| it["links"][0].as_str().is_some_and(|it| it.contains("biology-101"));
            entries.iter().filter(|it| is_there(it)).count()
        };
        assert!(of_biology(told(&stranger, &all).await) > 0);
        remove(&teacher, &id_of(&owner).await).await;
        assert_eq!(essence(&stranger.get(&site).await), nothing(&stranger).await);
        assert_eq!(of_biology(told(&stranger, &all).await), 0);
    }

    async fn a_feed_that_was_revoked_is_gone(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        fetch(&stranger, &feed.path("atom")).await;
        owner.delete(&feed.entity).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(essence(&stranger.get(&feed.path("atom")).await), nothing(&stranger).await);
    }

    async fn an_administrator_finds_and_revokes_the_feeds_of_others(app: TestApp) {
        let (owner, admin) = (app.user("student1").await, app.user("admin").await);
        let feed = PrivateFeed::of_biology(&owner).await;
        let user = id_of(&owner).await;
        let found = admin.get(&format!("/direct/feed.json?userId={user}")).await.json();
        assert_eq!(found["feed_collection"][0]["id"], feed.made["id"]);
        assert!(!admin.get("/direct/feed.json").await.text().contains(&user), "only when asked for");
        admin.delete(&feed.entity).await.expect(StatusCode::NO_CONTENT);
        app.anonymous().get(&feed.path("atom")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_rotated_feed_has_a_new_address_only(app: TestApp) {
        let owner = app.user("student1").await;
        let feed = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        let rotated = owner.post(&format!("{}/rotate", feed.entity), &json!({})).await;
        rotated.expect(StatusCode::OK);
        let new = path_of(&rotated.json(), "atom");
        assert_ne!(new, feed.path("atom"));
        assert_eq!(essence(&stranger.get(&feed.path("atom")).await), nothing(&stranger).await);
        fetch(&stranger, &new).await;
    }

    async fn a_feed_ends_when_it_expires(app: TestApp) {
        let owner = app.user("student1").await;
        let now = app.service().now();
        let fields = json!({"path": BIOLOGY, "expires": now + TimeDelta::days(1)});
        let feed = PrivateFeed::new(&owner, &fields).await;
        let stranger = app.anonymous();
        app.advance(TimeDelta::days(1) - TimeDelta::seconds(1));
        fetch(&stranger, &feed.path("atom")).await;
        app.advance(TimeDelta::seconds(1));
        assert_eq!(essence(&stranger.get(&feed.path("atom")).await), nothing(&stranger).await);
    }

    async fn the_feeds_of_an_account_that_is_shut_are_shut(app: TestApp) {
        let (owner, admin) = (app.user("student1").await, app.user("admin").await);
        let feed = PrivateFeed::of_biology(&owner).await;
        let (stranger, user) = (app.anonymous(), format!("/direct/user/{}", id_of(&owner).await));
        let shut = async |is_shut: bool| {
            let answer = admin.put(&user, &json!({"disabled": is_shut})).await;
            answer.expect(StatusCode::NO_CONTENT);
        };
        shut(true).await;
        assert_eq!(essence(&stranger.get(&feed.path("atom")).await), nothing(&stranger).await);
        shut(false).await;
        fetch(&stranger, &feed.path("atom")).await;
    }

    async fn a_feed_that_did_not_change_is_not_sent_again(app: TestApp) {
        let (owner, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let feed = PrivateFeed::of_biology(&owner).await;
        let stranger = app.anonymous();
        for format in ["atom", "rss"] {
            let path = feed.path(format);
            let first = stranger.get(&path).await;
            assert_eq!(first.header(CACHE_CONTROL), Some("private, max-age=300, must-revalidate"));
            assert_eq!(first.header(REFERRER_POLICY), Some("no-referrer"));
            let tag = first.header(ETAG).expect("a version");
            let again = stranger.clone().with_header(IF_NONE_MATCH, tag).get(&path).await;
            again.expect(StatusCode::NOT_MODIFIED);
            assert!(again.body.is_empty(), "{path}");
        }
        let tag = stranger.get(&feed.path("atom")).await.header(ETAG).expect("a version").to_owned();
        let news = json!({"siteId": "biology-101", "title": "New"});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        let again = stranger.clone().with_header(IF_NONE_MATCH, &tag).get(&feed.path("atom")).await;
        again.expect(StatusCode::OK);
    }

    async fn a_feed_shows_the_list_as_it_was_narrowed(app: TestApp) {
        let owner = app.user("instructor1").await;
        let stranger = app.anonymous();
        let all = told(&owner, "/direct/announcement.atom?siteId=biology-101").await;
        let asked = "siteId=biology-101&_search=quiz";
        let expected = told(&owner, &format!("/direct/announcement.atom?{asked}")).await;
        assert!(!expected.is_empty() && expected.len() < all.len());
        for fields in [
            json!({"path": "/announcement", "query": asked}),
            json!({"path": format!("http://127.0.0.1:8080/direct/announcement.html?{asked}")}),
        ] {
            let feed = PrivateFeed::new(&owner, &fields).await;
            assert_eq!(told(&stranger, &feed.path("atom")).await, expected);
            // A reader can't widen it.
            let wider = format!("{}?siteId=history-210", feed.path("atom"));
            assert_eq!(told(&stranger, &wider).await, expected);
        }
    }

    async fn a_reader_turns_the_pages_at_the_private_address(app: TestApp) {
        let owner = app.user("instructor1").await;
        let stranger = app.anonymous();
        let feed = PrivateFeed::new(&owner, &json!({"path": "/announcement?siteId=biology-101"})).await;
        let all = told(&stranger, &feed.path("atom")).await;
        let own = format!("http://127.0.0.1:8080{}", feed.path("atom"));
        let mut next = Some(format!("{own}?_limit=2"));
        let mut found = Vec::new();
        while let Some(url) = next {
            let path = url.strip_prefix("http://127.0.0.1:8080").expect("our own").to_owned();
            found.extend(told(&stranger, &path).await);
            let page = fetch(&stranger, &path).await;
            let link = |relation: &str| {
                let link = page.links.iter().find(|it| it.rel.as_deref() == Some(relation));
                link.map(|it| it.href.clone())
            };
            assert_eq!(link("self"), Some(url));
            next = link("next");
            assert!(next.iter().all(|it| it.starts_with(&own)), "{next:?}");
        }
        assert_eq!(found, all);
    }
}
