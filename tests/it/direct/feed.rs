//! Feeds as other programs read them: a parser in Rust that forgives, one that does not, and Python's feedparser.

use std::collections::HashSet;

use chrono::TimeDelta;
use feed_rs::model::Feed;
use http::StatusCode;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use serde_json::json;
use tests::{Client, TestApp, both};

use super::{list, text};
use crate::python::{Needs, run};
use crate::strict;

const LISTS: [&str; 2] = [
    "/direct/announcement/site/biology-101",
    "/direct/announcement/user",
];
const FORMATS: [(&str, &str); 2] = [
    ("atom", "application/atom+xml"),
    ("rss", "application/rss+xml"),
];

/// Prints the number of entries, or complains.
const FEEDPARSER: &str = "
import feedparser, sys
feed = feedparser.parse(sys.stdin.buffer.read())
assert not feed.bozo, feed.bozo_exception
assert feed.feed.title
assert len({entry.id for entry in feed.entries}) == len(feed.entries)
for entry in feed.entries:
    assert entry.id and entry.title and entry.author and entry.link.startswith('http'), entry
    assert entry.get('updated_parsed') or entry.get('published_parsed'), entry
print(len(feed.entries))
";

/// The addresses of all feeds of the lists.
fn feeds() -> impl Iterator<Item = String> {
    LISTS
        .iter()
        .flat_map(|path| FORMATS.map(|(extension, _)| format!("{path}.{extension}")))
}

async fn fetch(client: &Client, path: &str) -> Feed {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    feed_rs::parser::parse(&*answer.body).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Counts the entries that feedparser finds; `None` where it is not installed.
fn entries_by_feedparser(feed: &[u8]) -> Option<usize> {
    let found = run(FEEDPARSER, feed, Needs::Packages)?;
    let text = String::from_utf8_lossy(&found);
    Some(text.trim().parse().expect("a number"))
}

both! {
    async fn feed_readers_find_every_announcement(app: TestApp) {
        let student = app.user("student1").await;
        for path in LISTS {
            let expected = list(&student, &format!("{path}.json"), "announcement").await;
            let expected = expected.iter().map(|it| text(it, "title")).collect::<Vec<_>>();
            for (extension, media_type) in FORMATS {
                let path = format!("{path}.{extension}");
                let feed = fetch(&student, &path).await;
                let titles = feed.entries.iter().map(|it| &it.title.as_ref().expect("a title").content);
                assert_eq!(titles.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>(), "{path}");
                let answer = student.get(&path).await;
                let given = answer.header(CONTENT_TYPE).unwrap_or_default();
                assert!(given.starts_with(media_type), "{path} is {given}");
            }
        }
    }

    async fn feedparser_has_no_complaint(app: TestApp) {
        let student = app.user("student1").await;
        for path in LISTS {
            let expected = list(&student, &format!("{path}.json"), "announcement").await.len();
            for (extension, _) in FORMATS {
                let answer = student.get(&format!("{path}.{extension}")).await;
                let found = entries_by_feedparser(&answer.expect(StatusCode::OK).body);
                assert!(found.is_none_or(|it| it == expected), "{path}.{extension}: {found:?}");
            }
        }
    }

    async fn the_rules_of_both_formats_are_kept(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let parts = ["/direct/announcement", "/direct/announcement/motd", "/direct/site"];
        for path in LISTS.into_iter().chain(parts) {
            for query in ["", "?_limit=2", "?_limit=2&_start=2"] {
                let atom = teacher.get(&format!("{path}.atom{query}")).await;
                strict::check_atom(atom.expect(StatusCode::OK).text());
                let rss = teacher.get(&format!("{path}.rss{query}")).await;
                strict::check_rss(rss.expect(StatusCode::OK).text());
            }
        }
        let one = list(&teacher, &format!("{}.json", LISTS[0]), "announcement").await;
        let path = format!("/direct/announcement/{}", text(&one[0], "id"));
        strict::check_atom(teacher.get(&format!("{path}.atom")).await.expect(StatusCode::OK).text());
        strict::check_rss(teacher.get(&format!("{path}.rss")).await.expect(StatusCode::OK).text());
    }

    async fn every_page_of_a_list_names_its_feeds(app: TestApp) {
        let student = app.user("student1").await;
        for path in LISTS.into_iter().chain(["/direct/announcement", "/direct/announcement/motd"]) {
            let page = student.get(&format!("{path}.html")).await;
            for (extension, media_type) in FORMATS {
                let address = format!("http://127.0.0.1:8080{path}.{extension}");
                let is_link = |it: &&str| {
                    it.contains(r#"rel="alternate""#) && it.contains(media_type) && it.contains(&address)
                };
                let head = page.text().split("</head>").next().expect("a head");
                assert!(head.split('<').any(|it| is_link(&it)), "{path} {extension}: {head}");
            }
        }
    }

    async fn files_are_enclosures(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let all = list(&teacher, "/direct/announcement/site/biology-101.json", "announcement").await;
        let with_file = all.iter().find(|it| it["attachments"] != json!([])).expect("one with a file");
        let file = &with_file["attachments"][0];
        let url = text(file, "url");
        let feed = fetch(&teacher, "/direct/announcement/site/biology-101.atom").await;
        let found = feed.entries.iter().flat_map(|it| &it.links).find(|it| it.href == url);
        assert_eq!(found.and_then(|it| it.rel.as_deref()), Some("enclosure"));
        let rss = teacher.get("/direct/announcement/site/biology-101.rss").await;
        assert!(rss.text().contains(&format!(r#"<enclosure url="{url}""#)), "{url}");
    }

    async fn an_entry_has_the_same_id_in_every_feed_and_after_a_change(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let ids = async |path: &str| {
            let feed = fetch(&teacher, path).await;
            feed.entries.into_iter().map(|it| it.id).collect::<HashSet<_>>()
        };
        let before = ids("/direct/announcement/site/biology-101.atom").await;
        let first = list(&teacher, "/direct/announcement/site/biology-101.json", "announcement").await;
        let path = format!("/direct/announcement/{}", text(&first[0], "id"));
        teacher.put(&path, &json!({"title": "Changed"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(ids("/direct/announcement/site/biology-101.rss").await, before);
        assert!(ids("/direct/announcement/user.atom").await.is_superset(&before));
    }

    async fn a_feed_names_its_own_address(app: TestApp) {
        let student = app.user("student1").await;
        for path in feeds() {
            let feed = fetch(&student, &path).await;
            let own = format!("http://127.0.0.1:8080{path}");
            assert!(feed.links.iter().any(|it| it.href == own), "{path}: {:?}", feed.links);
        }
    }

    async fn a_feed_that_did_not_change_is_not_sent_again(app: TestApp) {
        let student = app.user("student1").await;
        for path in feeds() {
            let first = student.get(&path).await;
            let tag = first.header(ETAG).expect("a version");
            let answer = student.clone().with_header(IF_NONE_MATCH, tag).get(&path).await;
            answer.expect(StatusCode::NOT_MODIFIED);
            assert!(answer.body.is_empty(), "{path}");
        }
    }

    async fn a_feed_that_changed_is_sent_again(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let mut before = Vec::new();
        for path in feeds() {
            let answer = student.get(&path).await;
            before.push((path, answer));
        }
        app.advance(TimeDelta::minutes(1));
        let news = json!({"siteId": "biology-101", "title": "New"});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        for (path, first) in before {
            let tag = first.header(ETAG).expect("a version");
            let answer = student.clone().with_header(IF_NONE_MATCH, tag).get(&path).await;
            answer.expect(StatusCode::OK);
        }
    }
}
