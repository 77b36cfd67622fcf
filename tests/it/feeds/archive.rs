//! The history of a feed: the newest, and pages that don't change, which hold together all that there ever was.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH, LINK};
use roxmltree::Document;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{BASE, PrivateFeed, parsed};
use crate::python::{Needs, run};
use crate::strict;

const SITE: &str = "/direct/announcement/site/biology-101";
const LIST: &str = "/direct/announcement";
const PAGE: usize = 50;
const ATOM: &str = "http://www.w3.org/2005/Atom";
const HISTORY: &str = "http://purl.org/syndication/history/1.0";

/// Walks from the document at the first address to the end of its archive, and prints how often each entry is
/// in the archive, and all that are anywhere.
const FEEDPARSER: &str = "
import feedparser, json, sys
documents = json.load(sys.stdin)
seen, archived, address = set(), [], documents['start']
while address:
    feed = feedparser.parse(documents[address])
    assert not feed.bozo, feed.bozo_exception
    ids = [entry.id for entry in feed.entries]
    assert len(ids) == len(set(ids)), address
    seen.update(ids)
    if address != documents['start']:
        assert 'fh_archive' in feed.feed, address
        archived += ids
    links = {link.rel: link.href for link in feed.feed.links}
    assert links['self'] == address, (links, address)
    address = links.get('prev-archive')
assert len(archived) == len(set(archived))
json.dump({'seen': sorted(seen), 'archived': len(archived)}, sys.stdout)
";

/// Lets `count` announcements come out, one a second, as `fields` and a number say.
async fn announce(app: &TestApp, teacher: &Client, count: usize, fields: &Value) {
    for number in 0..count {
        app.advance(TimeDelta::seconds(1));
        let mut news = json!({"siteId": "biology-101", "title": format!("Number {number}")});
        for (name, value) in fields.as_object().expect("an object") {
            news[name] = value.clone();
        }
        let answer = teacher.post("/direct/announcement", &news).await;
        answer.expect(StatusCode::CREATED);
    }
}

/// How many announcements of the first course `client` sees.
async fn number_of(client: &Client) -> usize {
    let list = client.get(&format!("{SITE}.json")).await.json();
    list["announcement_collection"]
        .as_array()
        .expect("a list")
        .len()
}

/// Lets so many come out that `client` sees `total` of the first course.
async fn fill(app: &TestApp, teacher: &Client, client: &Client, total: usize) {
    let there = number_of(client).await;
    announce(app, teacher, total - there, &json!({})).await;
}

/// The addresses that a feed of either format links to, by relation.
fn links(answer: &Answer) -> BTreeMap<String, String> {
    let document = Document::parse(answer.expect(StatusCode::OK).text()).expect("well-formed XML");
    let root = document.root_element();
    let channel = root.children().find(|it| it.has_tag_name("channel"));
    let links = channel.unwrap_or(root).children();
    links
        .filter(|it| it.has_tag_name((ATOM, "link")))
        .filter_map(|it| {
            Some((
                it.attribute("rel")?.to_owned(),
                it.attribute("href")?.to_owned(),
            ))
        })
        .collect()
}

fn is_archive(answer: &Answer) -> bool {
    let document = Document::parse(answer.text()).expect("well-formed XML");
    document
        .descendants()
        .any(|it| it.has_tag_name((HISTORY, "archive")))
}

fn ids(answer: &Answer) -> Vec<String> {
    parsed(answer).entries.into_iter().map(|it| it.id).collect()
}

/// A path of ours, without the service's address.
fn path_of(url: &str) -> &str {
    url.strip_prefix(BASE).expect("our own")
}

/// The document at `path`, and all of its archive from the newest page to the oldest, with their addresses.
async fn walk(client: &Client, path: &str) -> Vec<(String, Answer)> {
    let mut documents = Vec::new();
    let mut next = Some(format!("{BASE}{path}"));
    while let Some(url) = next {
        let answer = client.get(path_of(&url)).await;
        next = links(&answer).remove("prev-archive");
        documents.push((url, answer));
        assert!(documents.len() < 20, "it leads round");
    }
    documents
}

/// Every entry of a walk once, if none is on two pages of the archive.
fn all_of(documents: &[(String, Answer)]) -> Vec<String> {
    let (current, archive) = documents.split_first().expect("a document");
    let mut all: Vec<_> = archive.iter().flat_map(|it| ids(&it.1)).collect();
    let archived = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), archived, "an entry is archived twice");
    all.extend(ids(&current.1));
    all.sort();
    all.dedup();
    all
}

/// How many entries feedparser finds on the same walk, and how many in the archive.
fn by_feedparser(documents: &[(String, Answer)]) -> Option<(usize, usize)> {
    let mut sent: BTreeMap<&str, &str> = documents
        .iter()
        .map(|(url, answer)| (url.as_str(), answer.text()))
        .collect();
    sent.insert("start", &documents[0].0);
    let input = serde_json::to_vec(&sent).expect("JSON");
    let output = run(FEEDPARSER, &input, Needs::Packages)?;
    let found: Value = serde_json::from_slice(&output).expect("JSON");
    let seen = found["seen"].as_array().expect("a list").len();
    let archived = found["archived"].as_u64().expect("a number");
    Some((seen, usize::try_from(archived).expect("a small number")))
}

both! {
    async fn the_newest_and_the_archive_are_the_whole_history(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, 2 * PAGE + 20).await;
        for path in [SITE, LIST, "/direct/announcement/user"] {
            for format in ["atom", "rss"] {
                let whole = student.get(&format!("{path}.{format}")).await;
                let mut expected = ids(&whole);
                expected.sort();
                let documents = walk(&student, &format!("{path}.{format}?_limit=50")).await;
                assert_eq!(documents.len(), 1 + expected.len() / PAGE, "{path}");
                assert_eq!(all_of(&documents), expected, "{path}.{format}");
                let archived = expected.len() / PAGE * PAGE;
                let found = by_feedparser(&documents);
                assert!(found.is_none_or(|it| it == (expected.len(), archived)), "{found:?}");
            }
        }
    }

    async fn a_page_of_the_archive_leads_to_its_neighbours_and_to_what_is_current(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, 3 * PAGE).await;
        for format in ["atom", "rss"] {
            let base = format!("{SITE}.{format}");
            let current = student.get(&base).await;
            let url = |page: usize| format!("{BASE}{base}?_archive={page}");
            assert_eq!(links(&current).get("prev-archive"), Some(&url(3)));
            assert!(!links(&current).contains_key("next-archive") && !is_archive(&current));
            for page in 1..=3 {
                let answer = student.get(path_of(&url(page))).await;
                let links = links(&answer);
                let neighbour = |page: usize| (1..=3).contains(&page).then(|| url(page));
                assert_eq!(links.get("self"), Some(&url(page)));
                assert_eq!(links.get("current"), Some(&format!("{BASE}{base}")));
                assert_eq!(links.get("prev-archive"), neighbour(page - 1).as_ref());
                assert_eq!(links.get("next-archive"), neighbour(page + 1).as_ref());
                assert!(!links.contains_key("next") && !links.contains_key("previous"));
                assert!(is_archive(&answer), "{page}");
                assert_eq!(ids(&answer).len(), PAGE);
                assert_eq!(parsed(&answer).id, parsed(&current).id, "one feed");
                assert_eq!(answer.header(LINK).map(|it| it.contains("archive")), Some(true));
                match format {
                    "atom" => strict::check_atom(answer.text()),
                    _ => strict::check_rss(answer.text()),
                }
            }
            let refused = student.get(path_of(&url(4))).await;
            refused.expect(StatusCode::NOT_FOUND);
            assert!(refused.text().contains("not full yet: the newest is 3"), "{}", refused.text());
        }
    }

    async fn a_page_of_the_archive_stays_as_it_is_when_there_are_news(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, 2 * PAGE + 10).await;
        let pages = ["atom", "rss"].map(|it| [1, 2].map(|page| format!("{SITE}.{it}?_archive={page}")));
        let pages = pages.as_flattened();
        let mut before = Vec::new();
        for page in pages {
            before.push(student.get(page).await);
        }
        announce(&app, &teacher, PAGE - 11, &json!({})).await;
        for (page, before) in pages.iter().zip(&before) {
            let tag = before.header(ETAG).expect("a version");
            let again = student.clone().with_header(IF_NONE_MATCH, tag).get(page).await;
            again.expect(StatusCode::NOT_MODIFIED);
            assert_eq!(student.get(page).await.body, before.body, "{page}");
        }
        // The next one fills the third page: the second now leads there, and is the same in all else.
        announce(&app, &teacher, 1, &json!({})).await;
        for (page, before) in pages.iter().zip(&before) {
            let now = student.get(page).await;
            let is_newest = page.ends_with('2');
            assert_eq!(now.header(ETAG) != before.header(ETAG), is_newest, "{page}");
            let next = links(&now).remove("next-archive").expect("a newer page");
            assert_eq!(ids(&now), ids(before));
            let of_feed = |it: &Answer| parsed(it).updated;
            assert_eq!(of_feed(&now), of_feed(before), "{page}");
            assert_eq!(next.ends_with('3'), is_newest, "{next}");
        }
    }

    async fn nobody_finds_in_an_archive_what_they_may_not_see(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let soon = app.service().now() + TimeDelta::days(30);
        for fields in [
            json!({"draft": true, "title": "secret draft"}),
            json!({}),
            json!({"releaseDate": soon.timestamp_millis(), "title": "secret plan"}),
            json!({}),
        ] {
            announce(&app, &teacher, 30, &fields).await;
        }
        let of_student = number_of(&student).await;
        assert!(of_student + 60 <= number_of(&teacher).await);
        for client in [&student, &teacher] {
            for format in ["atom", "rss"] {
                let mut expected = ids(&client.get(&format!("{SITE}.{format}")).await);
                expected.sort();
                let documents = walk(client, &format!("{SITE}.{format}?_limit=50")).await;
                assert_eq!(documents.len(), 1 + expected.len() / PAGE);
                assert_eq!(all_of(&documents), expected);
            }
        }
        for (url, answer) in walk(&student, &format!("{SITE}.atom")).await {
            assert!(!answer.text().contains("secret"), "{url}");
        }
        let page = format!("{SITE}.atom?_archive=1");
        let public = app.anonymous().get(&page).await;
        public.expect(StatusCode::OK);
        assert!(!public.text().contains("<entry>"), "{}", public.text());
        app.user("instructor2").await.get(&page).await.expect(StatusCode::FORBIDDEN);
    }

    async fn what_comes_out_later_comes_behind_what_is_archived(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let soon = app.service().now() + TimeDelta::hours(1);
        announce(&app, &teacher, 5, &json!({"releaseDate": soon.timestamp_millis()})).await;
        fill(&app, &teacher, &student, PAGE).await;
        let page = format!("{SITE}.atom?_archive=1");
        let before = student.get(&page).await;
        let seen = number_of(&student).await;
        app.advance(TimeDelta::hours(2));
        let student = app.user("student1").await;
        assert_eq!(number_of(&student).await, seen + 5);
        assert_eq!(student.get(&page).await.body, before.body);
    }

    async fn a_deletion_lets_the_pages_behind_it_move_up(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, 2 * PAGE + 1).await;
        let pages = [1, 2].map(|it| format!("{SITE}.atom?_archive={it}"));
        let first = student.get(&pages[0]).await;
        let list = student.get(&format!("{SITE}.json?_limit=1000&a=1")).await.json();
        let id = list["announcement_collection"][60]["id"].as_str().expect("an id");
        teacher.delete(&format!("/direct/announcement/{id}")).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(student.get(&pages[0]).await.body, first.body);
        let mut expected = ids(&student.get(&format!("{SITE}.atom")).await);
        expected.sort();
        assert_eq!(all_of(&walk(&student, &format!("{SITE}.atom?_limit=50")).await), expected);
    }

    async fn an_archive_keeps_the_filters_of_its_list(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        announce(&app, &teacher, PAGE + 3, &json!({"title": "Odd & even"})).await;
        announce(&app, &teacher, 7, &json!({})).await;
        let path = format!("{LIST}.atom?siteId=biology-101&_search=odd+%26");
        let documents = walk(&student, &format!("{path}&_limit=50")).await;
        assert_eq!(documents.len(), 2);
        assert_eq!(documents[1].0, format!("{BASE}{path}&_archive=1"));
        assert_eq!(all_of(&documents).len(), PAGE + 3);
    }

    async fn only_a_list_that_reaches_to_the_archive_leads_there(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, PAGE + 5).await;
        for (path, is_led) in [
            (format!("{SITE}.atom"), true),
            (format!("{SITE}.atom?a=0&n=&d="), true),
            (format!("{SITE}.atom?_limit=50"), true),
            (format!("{SITE}.atom?_limit=49"), false),
            (format!("{SITE}.atom?_start=1"), false),
            (format!("{SITE}.atom?n=10"), false),
            (format!("{SITE}.atom?d=10"), false),
            (format!("{SITE}.atom?a=1"), false),
            (format!("{SITE}.atom?_order=title"), false),
            (format!("{LIST}.atom?_order="), true),
            (format!("{LIST}.atom?_limit=10"), false),
            (format!("{LIST}.atom?_cursor="), false),
            (format!("{LIST}.atom?_order=title"), false),
        ] {
            let answer = student.get(&path).await;
            let led = links(&answer).remove("prev-archive");
            assert_eq!(led.is_some(), is_led, "{path}");
            if let Some(url) = led {
                student.get(path_of(&url)).await.expect(StatusCode::OK);
            }
        }
    }

    async fn what_is_no_page_of_an_archive_is_refused_by_name(app: TestApp) {
        let student = app.user("student1").await;
        for (path, named) in [
            (format!("{SITE}.atom?_archive=0"), "_archive"),
            (format!("{SITE}.rss?_archive=x"), "_archive"),
            (format!("{LIST}.atom?_archive=99999999999999999999"), "_archive"),
            (format!("{SITE}.atom?_archive=1&_archive=2"), "_archive"),
            (format!("{SITE}.atom?_archive=1&n=5"), "n"),
            (format!("{SITE}.atom?_archive=1&a=1"), "a"),
            (format!("{SITE}.atom?_archive=1&_start=5"), "_start"),
            (format!("{LIST}.atom?_archive=1&_limit=5"), "_limit"),
            (format!("{LIST}.atom?_archive=1&_order=title"), "_order"),
            ("/direct/site.atom?_archive=1".to_owned(), "_archive"),
        ] {
            let answer = student.get(&path).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], named, "{path}");
        }
        for path in [SITE, LIST, "/direct/announcement/user", "/direct/announcement/motd"] {
            for format in ["atom", "rss", "json", "html", "xml", "csv"] {
                let answer = student.get(&format!("{path}.{format}?_archive=1000")).await;
                answer.expect(StatusCode::NOT_FOUND);
            }
        }
    }

    async fn other_formats_show_the_same_pages(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &student, 2 * PAGE).await;
        for path in [SITE, LIST] {
            let page = student.get(&format!("{path}.json?_archive=1")).await;
            let shown = page.expect(StatusCode::OK).json();
            let titles = shown["announcement_collection"].as_array().expect("a list").iter();
            let titles: Vec<_> = titles.map(|it| it["title"].clone()).collect();
            let feed = parsed(&student.get(&format!("{path}.atom?_archive=1")).await);
            let told = feed.entries.into_iter().map(|it| Value::from(it.title.expect("a title").content));
            assert_eq!(titles, told.collect::<Vec<_>>());
            let html = student.get(&format!("{path}.html?_archive=1")).await;
            assert!(html.expect(StatusCode::OK).text().contains("_archive=2"), "{path}");
        }
    }

    async fn a_private_feed_has_its_archive_at_its_own_address(app: TestApp) {
        let (owner, teacher) = (app.user("student1").await, app.user("instructor1").await);
        fill(&app, &teacher, &owner, 2 * PAGE + 20).await;
        let stranger = app.anonymous();
        for path in ["/announcement/site/biology-101", "/announcement?siteId=biology-101&_limit=60"] {
            let feed = PrivateFeed::new(&owner, &json!({"path": path})).await;
            for format in ["atom", "rss"] {
                let own = feed.path(format);
                let documents = walk(&stranger, &own).await;
                assert_eq!(documents.len(), 3);
                assert_eq!(all_of(&documents).len(), 2 * PAGE + 20);
                let found = by_feedparser(&documents);
                assert!(found.is_none_or(|it| it == (2 * PAGE + 20, 100)), "{found:?}");
                for (url, answer) in &documents {
                    assert!(url.starts_with(&format!("{BASE}{own}")), "{url}");
                    let tag = answer.header(ETAG).expect("a version");
                    let again = stranger.clone().with_header(IF_NONE_MATCH, tag).get(path_of(url)).await;
                    again.expect(StatusCode::NOT_MODIFIED);
                }
                assert_eq!(links(&documents[1].1).get("current"), Some(&format!("{BASE}{own}")));
                stranger.get(&format!("{own}?_archive=9")).await.expect(StatusCode::NOT_FOUND);
                stranger.get(&format!("{own}?_archive=0")).await.expect(StatusCode::BAD_REQUEST);
            }
            owner.delete(&feed.entity).await.expect(StatusCode::NO_CONTENT);
            let gone = stranger.get(&format!("{}?_archive=1", feed.path("atom"))).await;
            gone.expect(StatusCode::NOT_FOUND);
        }
    }
}
