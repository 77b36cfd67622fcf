//! Feeds show what is new, however much there is, for every type that has feeds.

use std::collections::HashSet;
use std::ops::Range;

use entity_core::Registry;
use entity_core::db::ColumnType;
use entity_core::engine::Route;
use entity_core::schema::Role;
use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH};
use sea_orm::ConnectionTrait as _;
use serde_json::json;
use tests::rows::texts;
use tests::{Backend, Client, TestApp, both};

use super::{PrivateFeed, fetch};

/// The number of entities of each type before one more comes.
const MANY: usize = 1_010;

/// The columns of a table.
async fn columns(app: &TestApp, table: &str) -> Vec<String> {
    let writer = &app.service().storage.content.writer;
    let sql = match app.database().backend() {
        Backend::Sqlite => format!("SELECT name AS line FROM pragma_table_info('{table}')"),
        Backend::Postgres => format!(
            "SELECT CAST(column_name AS text) AS line FROM information_schema.columns \
             WHERE table_name = '{table}' AND table_schema = current_schema()"
        ),
    };
    texts(writer, &sql).await
}

/// Adds copies of a row of `route` whose numbers are in `numbers`. In the columns `times` they are later by so many minutes.
/// Returns how the id of the last one ends.
pub(super) async fn copy(
    app: &TestApp,
    route: &Route,
    id: &str,
    numbers: Range<usize>,
    (times, minutes): (&[&str], i64),
) -> String {
    let spec = route.table.map(|it| it());
    let table = spec.as_ref().map_or(route.prefix, |it| it.name);
    let key = spec.as_ref().map_or("id", |it| it.key);
    let column = |name: &str| {
        let mut columns = spec.iter().flat_map(|it| it.columns);
        columns.find(|it| it.0 == name).copied()
    };
    let is_whole = |name: &str| column(name).is_some_and(|it| it.1 == ColumnType::Integer);
    let is_unique = |name: &str| {
        let mut unique = spec.iter().flat_map(|it| it.unique);
        name == key || unique.any(|it| it.column == name)
    };
    let own = columns(app, table).await;
    let values = own.iter().map(|it| match it.as_str() {
        // What follows something else would be as hidden as that.
        it if is_unique(it) && column(it).is_some_and(|it| it.2) => "NULL".to_owned(),
        it if is_unique(it) && is_whole(it) => format!("\"{it}\" + n.i"),
        it if is_unique(it) => format!("\"{it}\" || n.i"),
        it if times.contains(&it) => format!("\"{it}\" + {}", minutes * 60_000),
        it => format!("\"{it}\""),
    });
    let (values, names) = (values.collect::<Vec<_>>().join(", "), own.join("\", \""));
    let id_column = route.schema.role(Role::Id).and_then(|it| it.column);
    let id_column = id_column.unwrap_or(key);
    // Announcements have the site and the channel in their ids.
    let last = id.rsplit(':').next().expect("an id");
    let (first, end) = (numbers.start + 100_000, numbers.end + 100_000);
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {end}) \
         INSERT INTO \"{table}\" (\"{names}\") SELECT {values} FROM \"{table}\", n \
         WHERE CAST(\"{id_column}\" AS text) IN ('{id}', '{last}')"
    );
    let writer = &app.service().storage.content.writer;
    let done = writer.execute_unprepared(&sql).await;
    let done = done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let added = usize::try_from(done.rows_affected()).expect("few");
    assert_eq!(added, end - first, "{sql}");
    match last.parse::<usize>() {
        Ok(number) if is_whole(key) => (number + end - 1).to_string(),
        _ => format!("{last}{}", end - 1),
    }
}

/// The columns that say when an entity was made and when it changed.
fn times(route: &Route) -> Vec<&'static str> {
    let roles = [Role::Created, Role::Updated].into_iter();
    let columns = roles.filter_map(|it| route.schema.role(it)?.column);
    columns.collect()
}

/// The links of the entries of a feed: the address of each entity.
async fn entries(client: &Client, path: &str) -> Vec<String> {
    let feed = fetch(client, path).await;
    feed.entries
        .into_iter()
        .map(|it| it.links[0].href.clone())
        .collect()
}

/// The parameters without which a list of all entities is refused.
const ASKED: [(&str, &str); 2] = [("sam_pub", "siteId=biology-101"), ("site", "select=any")];

fn asked(prefix: &str) -> &'static str {
    ASKED.iter().find(|it| it.0 == prefix).map_or("", |it| it.1)
}

/// Lets the student have some of what the demo has of nobody: a notification, a bookmark and a page that was read.
async fn prepare(app: &TestApp, teacher: &Client, student: &Client) {
    let news = json!({"siteId": "biology-101", "title": "News", "body": "<p>Room 7</p>"});
    teacher
        .post("/direct/announcement.json", &news)
        .await
        .expect(StatusCode::CREATED);
    app.service().catch_up().await.expect("it follows");
    let first = async |prefix: &str| {
        let list = student
            .get(&format!("/direct/{prefix}.json?siteId=biology-101"))
            .await
            .json();
        list[format!("{prefix}_collection")][0]["entityId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let items = student
        .get("/direct/lesson-item.json?siteId=biology-101&kind=text")
        .await
        .json();
    let mut done = Vec::new();
    for item in items["lesson-item_collection"].as_array().expect("a list") {
        let path = format!("/direct/lesson-item/{}/done", item["id"]);
        done.push(student.post(&path, &json!({})).await.status);
    }
    assert!(done.contains(&StatusCode::OK), "{done:?}");
    let topic = first("conversations").await;
    let bookmark = format!("/api/sites/biology-101/topics/{topic}/bookmarked");
    student
        .post(&bookmark, &json!(true))
        .await
        .expect(StatusCode::OK);
}

/// The newest entity that one of the readers sees, and that reader: some notifications are about what a reader does not see.
async fn newest<'a>(readers: &'a [Client], prefix: &str) -> (&'a Client, String) {
    let query = asked(prefix);
    for reader in readers {
        let list = reader
            .get(&format!(
                "/direct/{prefix}.json?{query}&_first=newest&_limit=20"
            ))
            .await;
        let first = &list.json()[format!("{prefix}_collection")][0];
        if let Some(id) = first["entityId"].as_str() {
            return (reader, id.to_owned());
        }
    }
    panic!("nobody reads any {prefix}");
}

both! {
    async fn y8_the_newest_of_more_than_a_thousand_is_in_every_feed(app: TestApp) {
        let mut readers = Vec::new();
        for eid in ["admin", "instructor1", "student3"] { readers.push(app.user(eid).await); }
        prepare(&app, &readers[1], &readers[2]).await;
        let registry = Registry::from_inventory().expect("types that go together");
        let mut wrong = Vec::new();
        for route in registry.routes().filter(|it| it.capabilities().contains(&"feed")) {
            let (prefix, times) = (route.prefix, times(route));
            let (reader, id) = newest(&readers, prefix).await;
            let paths = ["atom", "rss"].map(|it| format!("/direct/{prefix}.{it}?{}", asked(prefix)));
            copy(&app, route, &id, 0..MANY, (&times, -1)).await;
            let mut tags = Vec::new();
            for path in &paths {
                let answer = reader.get(path).await;
                tags.push(answer.expect(StatusCode::OK).header(ETAG).expect("a tag").to_owned());
            }
            let new = copy(&app, route, &id, MANY..MANY + 1, (&times, 1)).await;
            for (path, tag) in paths.iter().zip(&tags) {
                let again = reader.clone().with_header(IF_NONE_MATCH, tag).get(path).await;
                let found = entries(reader, path).await;
                let is_there = found.first().is_some_and(|it| it.contains(&new));
                if again.status != StatusCode::OK || !(40..=50).contains(&found.len()) || !is_there {
                    wrong.push(format!("{path}: {}, {} entries, {:?}", again.status, found.len(), found.first()));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn y8_a_private_feed_and_the_feed_of_an_action_go_on_from_the_newest(app: TestApp) {
        let (teacher, stranger) = (app.user("instructor1").await, app.anonymous());
        let registry = Registry::from_inventory().expect("types that go together");
        let assignments = registry.route("assignment").expect("assignments");
        let list = teacher.get("/direct/assignment/site/biology-101.json").await.json();
        let listed = list["assignment_collection"].as_array().expect("a list");
        let id = listed[0]["entityId"].as_str().expect("an id");
        copy(&app, assignments, id, 0..MANY, (&times(assignments), -1)).await;
        let of_site = PrivateFeed::new(&teacher, &json!({"path": "/assignment/site/biology-101"})).await;
        let direct = "/direct/assignment/site/biology-101".to_owned();
        for (reader, path) in [
            (&teacher, format!("{direct}.atom")),
            (&teacher, format!("{direct}.rss")),
            (&stranger, of_site.path("atom")),
        ] {
            let before = reader.get(&path).await;
            let tag = before.header(ETAG).expect("a tag").to_owned();
            let made = json!({"context": "biology-101", "title": format!("Sketch of {path}"),
                "openTime": "2026-11-20T10:00:00Z", "dueTime": "2026-12-20T10:00:00Z", "closeTime": "2026-12-20T10:00:00Z"});
            let made = teacher.post("/direct/assignment.json", &made).await;
            let made = made.expect(StatusCode::CREATED).json()["entityId"].as_str().expect("an id").to_owned();
            let again = reader.clone().with_header(IF_NONE_MATCH, &tag).get(&path).await;
            again.expect(StatusCode::OK);
            let first = entries(reader, &path).await;
            assert!(first.len() == 50 && first[0].contains(&made), "{path}: {first:?}");
            assert_eq!(entries(reader, &format!("{path}?_limit=7")).await, first[..7], "{path}");
            let second = entries(reader, &format!("{path}?_start=50")).await;
            let third = entries(reader, &format!("{path}?_perpage=100&_page=1")).await;
            assert_eq!([first, second].concat(), third, "{path}");
        }
        // The parts together are the list.
        let (mut next, mut seen) = (Some(format!("{direct}.atom")), Vec::new());
        while let Some(path) = next {
            let answer = teacher.get(&path).await;
            seen.extend(entries(&teacher, &path).await);
            let links = feed_rs::parser::parse(&*answer.body).expect("a feed").links;
            let link = links.into_iter().find(|it| it.rel.as_deref() == Some("next"));
            next = link.map(|it| it.href.replace("http://127.0.0.1:8080", ""));
        }
        let count = listed.len() + MANY + 3;
        assert_eq!((seen.len(), seen.iter().collect::<HashSet<_>>().len()), (count, count));
        // What the request orders is in that order.
        let unknown = teacher.get(&format!("{direct}.json?_first=oldest")).await;
        assert!(unknown.expect(StatusCode::BAD_REQUEST).text().contains("_first"));
        let query = "_order=timeCreated&_limit=5";
        let asked = entries(&teacher, &format!("{direct}.atom?{query}")).await;
        let listed = teacher.get(&format!("{direct}.json?{query}")).await.json();
        let listed = listed["assignment_collection"].as_array().expect("a list");
        let listed = listed.iter().map(|it| it["entityId"].as_str().expect("an id"));
        assert_eq!(asked.len(), 5);
        assert!(asked.iter().zip(listed).all(|(it, id)| it.contains(id)), "{asked:?}");
    }
}
