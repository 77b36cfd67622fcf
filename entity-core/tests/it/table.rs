//! Ready-made verbs over a table, through dispatcher and gate, on a SQLite file.

use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::db::{Db, Parents, QueryPools, TableSpec};
use entity_core::engine::{DirectPath, Dispatcher, Request, Route};
use entity_core::reply::{Body, Item, Reply};
use entity_core::testing::{FixedClock, KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{
    Caller, DateTimeUtc, Entity, ErrorKind, IfMatch, Registry, Result, Search, Verb,
};
use sea_orm::sea_query::{Alias, Table};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::notes::input;

/// A question to the members of a site.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "poll", table = "poll", access = Site("poll"), verbs(read, list, create, update, delete))]
struct Poll {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    asked_by: String,
    #[entity(title, search, required)]
    question: String,
    #[entity(search)]
    hint: Option<String>,
    points: i64,
    is_open: bool,
    #[entity(created)]
    asked: DateTimeUtc,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}

/// The same table as a former release made it.
mod former {
    use entity_core::Entity;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Serialize, Deserialize, Entity)]
    #[entity(table = "poll")]
    pub(super) struct Poll {
        #[entity(id)]
        id: String,
        #[entity(site)]
        site_id: String,
        question: String,
    }
}

struct Service {
    _directory: TempDir,
    connection: DatabaseConnection,
    clock: Arc<FixedClock>,
    dispatcher: Dispatcher,
}

/// A service with polls in the file behind `connection`.
fn service(directory: TempDir, connection: DatabaseConnection) -> Service {
    let told = ["read", "new", "revise.own", "delete.any"]
        .iter()
        .fold(ToldAuthorizer::default(), |told, it| {
            told.grant(&format!("poll.{it}"), "s")
        });
    let clock = Arc::new(FixedClock::default());
    let mut shared = shared(told);
    shared.clock = clock.clone();
    let route = Route::of::<Poll>(("tests", "1.0.0"))
        .read()
        .list()
        .create()
        .update()
        .delete()
        .table()
        .build();
    let db = Db {
        reader: connection.clone(),
        writer: connection.clone(),
        file: None,
        query_pools: QueryPools::default(),
        faults: entity_core::db::Faults::default(),
        stops: None,
    };
    Service {
        _directory: directory,
        dispatcher: Dispatcher::new(
            Arc::new(Registry::new([route]).unwrap()),
            Arc::new(db),
            Arc::new(KeptEvents::default()),
            shared,
        ),
        connection,
        clock,
    }
}

impl Service {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("polls.db");
        let url = format!("sqlite://{}?mode=rwc", file.display());
        let connection = Database::connect(url).await.unwrap();
        let spec = TableSpec::of::<Poll>();
        let statement = spec.create_statement(DbBackend::Sqlite, Parents::default());
        connection.execute(&statement).await.unwrap();
        let index = spec.indexes().next().unwrap().1;
        connection.execute(&index).await.unwrap();
        service(directory, connection)
    }

    /// The poll with this id, whoever may see it.
    async fn read(&self, id: &'static str) -> Poll {
        let origin = origin(Caller::user("ada", "ada"));
        let found = self.dispatcher.read(&origin, |cx| {
            Box::pin(async move { entity_core::db::read(cx, id).await })
        });
        found.await.unwrap().unwrap()
    }

    async fn send(
        &self,
        verb: Verb,
        path: &str,
        query: &[(&str, &str)],
        body: Value,
        if_match: Option<IfMatch>,
    ) -> Result<Reply> {
        let request = Request {
            path: DirectPath::parse(path, |_| false).unwrap(),
            verb,
            query: query
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            input: input(body),
            preconditions: if_match.into(),
            is_dry_run: false,
            wants_allowed_actions: false,
            origin: origin(Caller::user("ada", "ada")),
        };
        self.dispatcher.dispatch(&request).await
    }

    async fn create(&self, body: Value) -> Value {
        data(
            &self
                .send(Verb::Post, "/poll", &[], body, None)
                .await
                .unwrap(),
        )
    }

    async fn questions(&self, query: &[(&str, &str)]) -> Vec<String> {
        let reply = self
            .send(Verb::Get, "/poll", query, json!({}), None)
            .await
            .unwrap();
        let Body::Collection(list) = &reply.body else {
            panic!("a collection")
        };
        list.items.iter().filter_map(Item::title).collect()
    }
}

fn data(reply: &Reply) -> Value {
    match &reply.body {
        Body::Entity(item) => serde_json::to_value(item.data()).unwrap(),
        _ => Value::Null,
    }
}

fn version(reply: &Reply) -> IfMatch {
    match &reply.body {
        Body::Entity(item) => IfMatch::Versions(vec![item.version().unwrap()]),
        _ => panic!("an entity"),
    }
}

#[tokio::test]
async fn a_creation_fills_in_what_the_service_knows() {
    let service = Service::start().await;
    let sent = json!({
        "siteId": "s", "question": "Why?", "points": 3,
        "id": "mine", "askedBy": "eve", "version": 9, "asked": 0,
    });
    let poll = service.create(sent).await;
    let expected = json!({
        "id": "id-1", "siteId": "s", "askedBy": "ada", "question": "Why?", "hint": null, "points": 3,
        "isOpen": false, "asked": "2026-11-21T10:00:00Z", "modified": "2026-11-21T10:00:00Z", "version": 1,
    });
    assert_eq!(poll, expected);
    let found = service
        .send(Verb::Get, "/poll/id-1", &[], json!({}), None)
        .await
        .unwrap();
    assert_eq!(data(&found), expected, "it was committed");
    let draft = json!({"siteId": "s"});
    let error = service
        .send(Verb::Post, "/poll", &[], draft, None)
        .await
        .unwrap_err();
    let missing: Vec<_> = error
        .field_errors()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(missing, ["question", "points"]);
}

#[tokio::test]
async fn an_update_counts_and_a_lost_one_is_refused() {
    let service = Service::start().await;
    service
        .create(json!({"siteId": "s", "question": "Why?", "points": 0}))
        .await;
    let path = "/poll/id-1";
    let read = service
        .send(Verb::Get, path, &[], json!({}), None)
        .await
        .unwrap();
    service.clock.advance(TimeDelta::seconds(5));
    let change = json!({"question": "Why not?", "siteId": "t"});
    let first = service
        .send(Verb::Put, path, &[], change, Some(version(&read)))
        .await
        .unwrap();
    let poll = data(&first);
    assert_eq!(
        (&poll["version"], &poll["question"]),
        (&json!(2), &json!("Why not?"))
    );
    assert_eq!(poll["siteId"], "s", "a poll stays where it is");
    assert_eq!(poll["asked"], "2026-11-21T10:00:00Z");
    assert_eq!(poll["modified"], "2026-11-21T10:00:05Z");
    let change = json!({"question": "When?"});
    let error = service
        .send(Verb::Put, path, &[], change, Some(version(&read)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    let found = service
        .send(Verb::Get, path, &[], json!({}), None)
        .await
        .unwrap();
    assert_eq!(data(&found), poll);
}

#[tokio::test]
async fn an_update_of_what_somebody_else_changed_meanwhile_is_refused() {
    let service = Service::start().await;
    service
        .create(json!({"siteId": "s", "question": "Why?", "points": 0}))
        .await;
    let lost = service
        .dispatcher
        .write(&origin(Caller::user("ada", "ada")), |cx| {
            Box::pin(async move {
                let current: Poll = entity_core::db::read(cx, "id-1").await?.unwrap();
                let stale = current.clone();
                let fields = |text: &str| {
                    let Value::Object(fields) = json!({"question": text}) else {
                        panic!("an object")
                    };
                    entity_core::Fields(fields)
                };
                entity_core::db::update(cx, current, fields("first")).await?;
                entity_core::db::update(cx, stale, fields("second")).await?;
                Ok(((), entity_core::reply::Effect::Read))
            })
        })
        .await;
    assert_eq!(lost.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    assert_eq!(
        service.questions(&[]).await,
        ["Why?"],
        "nothing of it was kept"
    );
}

#[tokio::test]
async fn a_search_that_passed_no_gate_finds_nothing() {
    let service = Service::start().await;
    service
        .create(json!({"siteId": "s", "question": "Why?", "points": 0}))
        .await;
    let origin = origin(Caller::user("ada", "ada"));
    let found = service.dispatcher.read(&origin, |cx| {
        Box::pin(async move {
            let mut search = Search::all();
            search.narrow_to_site::<Poll>("s")?;
            let list = entity_core::db::list::<Poll>(cx, &search).await?;
            let count = entity_core::db::count::<Poll>(cx, &search).await?;
            Ok((list.items.len(), count))
        })
    });
    assert_eq!(found.await.unwrap(), (0, 0));
}

#[tokio::test]
async fn a_deletion_leaves_nothing() {
    let service = Service::start().await;
    service
        .create(json!({"siteId": "s", "question": "Why?", "points": 0}))
        .await;
    for expected in [None, Some(ErrorKind::NotFound)] {
        let done = service
            .send(Verb::Delete, "/poll/id-1", &[], json!({}), None)
            .await;
        assert_eq!(done.err().map(|it| it.kind()), expected);
    }
    assert!(service.questions(&[]).await.is_empty());
}

#[tokio::test]
async fn words_are_searched_as_they_are_written() {
    let service = Service::start().await;
    for (question, hint) in [
        ("100% sure?", "x_y"),
        ("100 sure?", "xzy"),
        ("Back\\slash", "none"),
        ("It's \"quoted\"", "NONE"),
    ] {
        let body = json!({"siteId": "s", "question": question, "hint": hint, "points": 0});
        service.create(body).await;
    }
    for (words, expected) in [
        ("%", &["100% sure?"][..]),
        ("_", &["100% sure?"]),
        ("\\", &["Back\\slash"]),
        ("'", &["It's \"quoted\""]),
        ("100", &["100% sure?", "100 sure?"]),
        ("SURE 100%", &["100% sure?"]),
        ("none", &["Back\\slash", "It's \"quoted\""]),
        ("sure none", &[]),
    ] {
        assert_eq!(
            service.questions(&[("_search", words)]).await,
            expected,
            "{words}"
        );
    }
}

#[tokio::test]
async fn lists_have_one_order_and_whole_pages() {
    let service = Service::start().await;
    for (question, points) in [("a", 2), ("b", 1), ("c", 2), ("d", 1), ("e", 2)] {
        service
            .create(json!({"siteId": "s", "question": question, "points": points}))
            .await;
    }
    let order = ("_order", "points_desc");
    assert_eq!(
        service.questions(&[order]).await,
        ["a", "c", "e", "b", "d"],
        "ties by id"
    );
    assert_eq!(service.questions(&[("points", "1")]).await, ["b", "d"]);
    let mut pages = Vec::new();
    for start in ["0", "2", "4", "6"] {
        pages.extend(
            service
                .questions(&[order, ("_start", start), ("_limit", "2")])
                .await,
        );
    }
    assert_eq!(
        pages,
        ["a", "c", "e", "b", "d"],
        "nothing twice, nothing left out"
    );
}

#[tokio::test]
async fn a_table_gains_the_columns_that_the_struct_gained() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("polls.db");
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let connection = Database::connect(url).await.unwrap();
    let former = TableSpec::of::<former::Poll>();
    connection
        .execute(&former.create_statement(DbBackend::Sqlite, Parents::default()))
        .await
        .unwrap();
    let row = "INSERT INTO poll (id, site_id, question) VALUES ('p', 's', 'Why?')";
    connection.execute_unprepared(row).await.unwrap();
    let spec = TableSpec::of::<Poll>();
    for (name, ..) in spec.columns {
        if former.columns.iter().any(|it| it.0 == *name) {
            continue;
        }
        let mut statement = Table::alter();
        statement
            .table(Alias::new("poll"))
            .add_column(spec.added_column(name, DbBackend::Sqlite).unwrap());
        connection.execute(&statement).await.unwrap();
    }
    let poll = service(directory, connection).read("p").await;
    assert_eq!((poll.id.as_str(), poll.question.as_str()), ("p", "Why?"));
    assert_eq!((poll.hint, poll.points, poll.is_open), (None, 0, false));
    assert!(spec.added_column("nonsense", DbBackend::Sqlite).is_none());
}

#[tokio::test]
async fn the_index_for_lists_of_a_site_is_made() {
    let service = Service::start().await;
    let plan = service
        .connection
        .query_one_raw(sea_orm::Statement::from_string(
            DbBackend::Sqlite,
            "EXPLAIN QUERY PLAN SELECT * FROM poll WHERE site_id = 's' ORDER BY id",
        ))
        .await
        .unwrap()
        .unwrap();
    let detail: String = plan.try_get("", "detail").unwrap();
    assert!(detail.contains("poll_by_site"), "{detail}");
}
