//! Announcements, asked through the whole pipeline of a service with the demo university in it.

mod writing;

use std::collections::BTreeSet;

use entity_core::endpoint::Call;
use entity_core::search::Grammar;
use entity_core::{Entity, ErrorKind, Scope, Search, Verb, db};
use sea_orm::ConnectionTrait;
use serde_json::json;

use super::{Announcement, view};
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY};
use crate::testbed::{Testbed, texts};

const SITE: &str = "announcement/site/biology-101";

const WELCOME: &str = "Welcome to Biology 101";
const ROOM: &str = "Wednesday's lecture moves to Room 204";
const SHEETS: &str = "Lab A: bring your microscopy sheets";
const QUIZ: &str = "Quiz on cell membranes next week";

/// The id of the announcement with this title.
async fn id(bed: &Testbed, title: &str) -> String {
    let all = bed.get("admin", "announcement").await.unwrap();
    let found = all
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["title"] == title);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn numbers_cut_a_list_and_nonsense_does_not() {
    let bed = Testbed::demo().await;
    for (query, expected) in [
        ("", &[QUIZ, SHEETS, ROOM, WELCOME][..]),
        ("?n=2", &[QUIZ, SHEETS]),
        ("?n=0&d=0", &[QUIZ, SHEETS, ROOM, WELCOME]),
        ("?n=many&d=-3", &[QUIZ, SHEETS, ROOM, WELCOME]),
        ("?n=1000&d=10000", &[QUIZ, SHEETS, ROOM, WELCOME]),
        ("?d=2", &[QUIZ, SHEETS]),
        ("?d=99999999999999999999", &[QUIZ, SHEETS, ROOM, WELCOME]),
        ("?d=9223372036854775807", &[QUIZ, SHEETS, ROOM, WELCOME]),
        ("?a=1", &[WELCOME, ROOM, SHEETS, QUIZ]),
        ("?a=1&n=1", &[WELCOME]),
        ("?_start=1&_limit=2", &[SHEETS, ROOM]),
        ("?_start=4", &[]),
    ] {
        let list = bed
            .get("student1", &format!("{SITE}{query}"))
            .await
            .unwrap();
        assert_eq!(texts(&list, "title"), expected, "{query}");
    }
}

#[tokio::test]
async fn one_is_found_by_every_form_of_its_id() {
    let bed = Testbed::demo().await;
    let id = id(&bed, WELCOME).await;
    let own = id.rsplit_once(':').unwrap().1;
    for (path, is_found) in [
        (id.clone(), true),
        (own.to_owned(), true),
        (format!("message/{BIOLOGY}/{own}"), true),
        (format!("msg/{BIOLOGY}/main/{own}"), true),
        (format!("{FIELD_TRIP}:main:{own}"), false),
        (format!("{BIOLOGY}:other:{own}"), false),
        (format!("x:{id}"), false),
        (format!("message/{FIELD_TRIP}/{own}"), false),
        (format!("msg/{BIOLOGY}/other/{own}"), false),
        (format!("{BIOLOGY}:main:"), false),
    ] {
        let found = bed.get("student1", &format!("announcement/{path}")).await;
        match found {
            Ok(item) => assert!(is_found && item["id"] == *id, "{path}"),
            Err(error) => assert!(!is_found && error.kind() == ErrorKind::NotFound, "{path}"),
        }
    }
}

#[tokio::test]
async fn the_version_changes_with_everything_that_is_shown() {
    let bed = Testbed::demo().await;
    let id = id(&bed, WELCOME).await;
    let path = format!("announcement/{id}");
    let mut seen = BTreeSet::new();
    for sql in [
        "",
        "UPDATE site SET title = 'Renamed' WHERE id = 'biology-101'",
        "UPDATE user_account SET last_name = 'Renamed' WHERE eid = 'instructor1'",
    ] {
        bed.db.writer.execute_unprepared(sql).await.unwrap();
        let cx = bed.reader("student1").await;
        let found: Announcement = db::read(&cx, &id).await.unwrap().unwrap();
        assert!(seen.insert(found.version().unwrap().0), "{sql}");
    }
    bed.send("instructor1", Verb::Put, &path, &json!({"highlight": true}))
        .await
        .unwrap();
    let cx = bed.reader("student1").await;
    let found: Announcement = db::read(&cx, &id).await.unwrap().unwrap();
    assert!(seen.insert(found.version().unwrap().0));
    assert_eq!(found.created_by_display_name, "Maria Renamed");
}

#[tokio::test]
async fn a_dashboard_shows_the_pinned_sites_only() {
    let bed = Testbed::demo().await;
    let sql = "UPDATE membership SET is_pinned = FALSE WHERE site_id = 'field-trip'";
    bed.db.writer.execute_unprepared(sql).await.unwrap();
    let news = view::mine(&bed.reader("student1").await, Call::default())
        .await
        .unwrap();
    let news = news.data;
    let titles: Vec<_> = news
        .announcements
        .iter()
        .map(|it| it.title.as_str())
        .collect();
    assert_eq!(titles, [QUIZ, SHEETS, ROOM, WELCOME]);
    assert_eq!(news.sites.len(), 1);
    let first = serde_json::to_value(&news.announcements[0]).unwrap();
    assert_eq!(first["createdDate"], "2026-11-21T05:00:00Z");
    assert_eq!(first["date"], 1_795_255_200_000_i64 - 5 * 3_600_000);
    assert_eq!(first["highlighted"], true);
    assert_eq!(first["author"], "Maria Okafor");
    let url = first["url"].as_str().unwrap();
    assert!(
        url.starts_with("/portal/site/biology-101/tool/id-"),
        "{url}"
    );
    let error = view::mine(&bed.reader("").await, Call::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn the_list_of_a_site_is_read_off_its_index() {
    let bed = Testbed::demo().await;
    let mut statements = Vec::new();
    for (eid, site) in [("student1", BIOLOGY), ("instructor2", HISTORY)] {
        let cx = bed.reader(eid).await;
        let mut search = Search::all();
        search.narrow_to_site::<Announcement>(site).unwrap();
        search.scope = Scope::Sites(vec![site.to_owned()]);
        Grammar::of::<Announcement>().unwrap().complete(&mut search);
        statements.push(
            db::list_statement::<Announcement>(&cx, &search)
                .await
                .unwrap(),
        );
    }
    // Whoever sees all of them is asked nothing about them.
    for mut explained in statements {
        explained.sql = format!("EXPLAIN QUERY PLAN {}", explained.sql);
        let rows = bed.db.reader.query_all_raw(explained).await.unwrap();
        let plan: Vec<String> = rows
            .iter()
            .map(|it| it.try_get("", "detail").unwrap())
            .collect();
        let plan = plan.join("; ");
        assert!(
            plan.contains("INDEX announcement_by_site (site_id=?)"),
            "{plan}"
        );
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        assert!(!plan.contains("SCAN"), "{plan}");
    }
}

#[tokio::test]
async fn x51_the_list_of_several_sites_sorts_keys_and_reads_the_rows_it_shows() {
    let bed = Testbed::demo().await;
    let cx = bed.reader("student1").await;
    let mut search = Search::all();
    search.scope = Scope::Sites(vec![BIOLOGY.to_owned(), HISTORY.to_owned()]);
    Grammar::of::<Announcement>().unwrap().complete(&mut search);
    let statement = db::list_statement::<Announcement>(&cx, &search).await;
    let mut explained = statement.unwrap();
    let (_, chosen) = explained.sql.split_once(" FROM (SELECT ").unwrap();
    let (chosen, _) = chosen.split_once(" AS chosen ").unwrap();
    assert!(!chosen.contains("\"body\""), "{chosen}");
    explained.sql = format!("EXPLAIN QUERY PLAN {}", explained.sql);
    let rows = bed.db.reader.query_all_raw(explained).await.unwrap();
    let steps = rows.iter().map(|it| {
        let parent: i64 = it.try_get("", "parent").unwrap();
        let detail: String = it.try_get("", "detail").unwrap();
        (parent, detail)
    });
    let whole: Vec<String> = steps.filter(|it| it.0 == 0).map(|it| it.1).collect();
    let plan = whole.join("; ");
    assert!(plan.contains("SCAN chosen; SEARCH this USING"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    // The parts of it are the whole, in order.
    for order in ["", "&_order=title_desc", "&_order=createdOn"] {
        let path = format!("announcement?_limit=100{order}");
        let whole = bed.get("admin", &path).await.unwrap();
        let whole = texts(&whole, "title");
        let mut parts = Vec::new();
        for start in 0..whole.len() {
            let path = format!("announcement?_limit=1&_start={start}{order}");
            let part = bed.get("admin", &path).await.unwrap();
            parts.extend(texts(&part, "title").iter().map(ToString::to_string));
        }
        assert!(whole.len() > 3);
        assert_eq!(parts, whole, "{order}");
    }
}
