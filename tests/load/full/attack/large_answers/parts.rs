//! Answers that had no limit of size besides plain lists: parts that are expanded in lists, the lists of the portal,
//! subscriptions.

use std::sync::atomic::{AtomicUsize, Ordering};

use entity_core::engine::Route;
use entity_core::{Access, Context, Entity, List, Need, Page, Provider, Read, Result, Search};
use http::StatusCode;
use http::header::LINK;
use load::{Answer, Backend, OnBackend, TestApp, both};
use serde::Serialize;
use serde_json::json;

use super::{COUNT, MOST, Small, announce, walk};

/// The path that the `Link` of an answer gives the relation `relation`.
fn link(answer: &Answer, relation: &str) -> Option<String> {
    let links = answer.header(LINK)?;
    let end = format!("rel=\"{relation}\"");
    let link = links.split(", ").find(|it| it.ends_with(&end))?;
    let url = link.split(['<', '>']).nth(1)?;
    url.strip_prefix("http://127.0.0.1:8080")
        .map(ToOwned::to_owned)
}

/// The maximum number of these that were loaded at once.
static LOADED: AtomicUsize = AtomicUsize::new(0);

/// A large entity that refers to another of its type. In lists it is small.
#[derive(Clone, Debug, Serialize, Entity)]
struct Hoard {
    #[entity(id)]
    id: String,
    #[entity(references = "hoard")]
    other: String,
    text: String,
}

impl Hoard {
    fn of(number: usize, bytes: usize) -> Self {
        Self {
            id: number.to_string(),
            other: (number + 1000).to_string(),
            text: "x".repeat(bytes),
        }
    }
}

#[derive(Debug)]
struct Hoards;

impl Provider for Hoards {
    type Entity = Hoard;
    const PREFIX: &'static str = "hoard";
    const ACCESS: Access = Access::new(Need::Session, Need::Session);
}

impl Read for Hoards {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Hoard>> {
        Ok(id.parse().ok().map(|it| Hoard::of(it, 20 << 10)))
    }

    async fn read_many(_cx: &Context, ids: &[String]) -> Result<Vec<Hoard>> {
        LOADED.fetch_max(ids.len(), Ordering::SeqCst);
        let numbers = ids.iter().filter_map(|it| it.parse().ok());
        Ok(numbers.map(|it| Hoard::of(it, 20 << 10)).collect())
    }
}

impl List for Hoards {
    async fn list(_cx: &Context, search: &Search) -> Result<Page<Hoard>> {
        let all = (0..100).map(|it| Hoard::of(it, 1));
        let start = usize::try_from(search.start).unwrap_or(usize::MAX);
        Ok(Page::cut(all.skip(start).collect(), search.limit))
    }
}

/// A service with these, whose answers are small.
struct Hoarding(TestApp);

impl OnBackend for Hoarding {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Hoards>(("tests", "0")).read().list().build();
        let settings = [("limits.answerBytes", "64KiB")];
        let app = TestApp::with_type_and_settings(backend, route, &settings);
        app.await.map(Self)
    }
}

both! {
    async fn a_list_is_shown_with_as_much_as_an_answer_holds(app: Hoarding) {
        let reader = app.0.user("student1").await;
        for format in ["json", "xml"] {
            let (mut parts, mut found) = (0, 0);
            let mut address = Some(format!("/direct/hoard.{format}?_expand=other"));
            while let Some(path) = address {
                let answer = reader.get(&path).await;
                answer.expect(StatusCode::OK);
                assert!(answer.body.len() <= MOST, "{path}: {} bytes", answer.body.len());
                // Each shows one more.
                found += answer.text().matches(&"x".repeat(20 << 10)).count();
                parts += 1;
                address = link(&answer, "next");
                assert!(parts <= 100, "{path}: it has no end");
            }
            assert_eq!(found, 100, "{format}");
        }
        let loaded = LOADED.load(Ordering::SeqCst);
        assert!(loaded <= 8, "{loaded} loaded at once");
    }

    async fn the_lists_of_the_portal_end_where_their_bytes_end(app: Small) {
        let (teacher, student) = (app.0.user("instructor1").await, app.0.user("student1").await);
        let titles = announce(&teacher).await;
        for query in ["", "?envelope=true", "?_limit=5"] {
            let path = format!("/api/users/me/announcements{query}");
            let (found, parts) = walk(&student, &path, &titles).await;
            assert_eq!(found, vec![1; COUNT], "{path}");
            assert!(parts > 2, "{path}: {parts} parts");
        }
        student.get("/api/users/me/announcements?_start=x").await.expect(StatusCode::BAD_REQUEST);
        let admin = app.0.user("admin").await;
        let titles: Vec<String> = (0..8).map(|it| format!("Wordy-{it:02}")).collect();
        for title in &titles {
            let site = json!({"title": title, "type": "project", "description": "word ".repeat(4 << 10)});
            admin.post("/direct/site.json", &site).await.expect(StatusCode::CREATED);
        }
        for query in ["", "?pinned=false", "?_perpage=3"] {
            let path = format!("/api/users/me/sites{query}");
            let (found, parts) = walk(&admin, &path, &titles).await;
            assert_eq!(found, vec![1; titles.len()], "{path}");
            assert!(parts > 2, "{path}: {parts} parts");
        }
    }

    async fn subscriptions_end_where_their_bytes_end(app: Small) {
        let reader = app.0.user("student1").await;
        let titles: Vec<String> = (0..50).map(|it| format!("F{it:02}-{}", "\"".repeat(190))).collect();
        for title in &titles {
            let feed = json!({"path": "/announcement/site/biology-101", "title": title});
            reader.post("/direct/feed.json", &feed).await.expect(StatusCode::CREATED);
        }
        let starts: Vec<String> = (0..50).map(|it| format!("F{it:02}-")).collect();
        let (found, parts) = walk(&reader, "/direct/feed.opml", &starts).await;
        assert_eq!(found, vec![1; titles.len()]);
        assert!(parts > 1, "{parts} parts");
    }

    /// One entity is larger than a list may be only as far as a request body may be: nothing makes it grow.
    async fn one_entity_is_as_large_as_what_was_sent(app: TestApp) {
        let teacher = app.user("instructor1").await;
        // The most characters of a text, each of which takes most bytes when it is written.
        let body = json!({"siteId": "biology-101", "title": "Large", "body": "\"".repeat(200_000)});
        let made = teacher.post("/direct/announcement.json", &body).await;
        made.expect(StatusCode::CREATED);
        let id = made.header("entityid").expect("an id").to_owned();
        let more = json!({"siteId": "biology-101", "title": "Larger", "body": "x".repeat(200_001)});
        teacher.post("/direct/announcement.json", &more).await.expect(StatusCode::BAD_REQUEST);
        let mut sizes = Vec::new();
        for format in ["json", "xml", "csv", "html", "atom", "rss"] {
            let answer = teacher.get(&format!("/direct/announcement/{id}.{format}")).await;
            answer.expect(StatusCode::OK);
            sizes.push((format, answer.body.len()));
        }
        assert!(sizes.iter().all(|it| it.1 < 2 << 20), "{sizes:?}");
    }
}
