//! Tables that the service makes for types by their fields: made once, and extended when a type gains fields.

use std::sync::Arc;

use entity_core::db::{Db, Migration, Record};
use entity_core::engine::{DirectPath, Dispatcher, Request, Route};
use entity_core::reply::Body;
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{Caller, Entity, Input, Preconditions, Registry, Verb};
use entity_providers::storage::db::{connect, ensure_tables};
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::{Database, both};

/// A type as a first release has it.
mod first {
    use super::*;

    #[derive(Clone, Debug, Serialize, Deserialize, Entity)]
    #[serde(rename_all = "camelCase")]
    #[entity(prefix = "poll", table = "poll", access = Site("poll"), verbs(read))]
    pub(super) struct Poll {
        #[entity(id)]
        id: String,
        #[entity(site)]
        site_id: String,
        #[entity(title)]
        question: String,
    }
}

/// The same type as a later one has it: with a field of each kind more, which may be absent or not.
mod later {
    use super::*;

    #[derive(Clone, Debug, Serialize, Deserialize, Entity)]
    #[serde(rename_all = "camelCase")]
    #[entity(prefix = "poll", table = "poll", access = Site("poll"), verbs(read))]
    pub(super) struct Poll {
        #[entity(id)]
        id: String,
        #[entity(site)]
        site_id: String,
        #[entity(title, html, search)]
        question: String,
        hint: String,
        remark: Option<String>,
        points: i64,
        limit: Option<i64>,
        weight: f64,
        is_open: bool,
        is_secret: Option<bool>,
    }
}

/// The same type with another name of a column, without one, or with another kind of one.
mod changed {
    use super::*;

    macro_rules! poll {
        ($name:ident, [$($on_type:meta)?], [$($on_field:meta)?], $field:ident: $kind:ty) => {
            #[derive(Clone, Debug, Serialize, Deserialize, Entity)]
            #[serde(rename_all = "camelCase")]
            #[entity(prefix = "poll", table = "poll", access = Site("poll"), verbs(read))]
            $(#[$on_type])?
            pub(super) struct $name {
                #[entity(id)]
                id: String,
                #[entity(site)]
                site_id: String,
                $(#[$on_field])?
                $field: $kind,
            }
        };
    }

    poll!(Guessed, [], [], wording: String);
    poll!(Renamed, [], [entity(was = "question", search)], wording: String);
    poll!(Without, [entity(dropped("question"))], [], wording: String);
    poll!(Counted, [entity(dropped("question"))], [], votes: i64);
    poll!(Single, [], [entity(unique)], question: String);
    poll!(OtherKind, [], [], question: i64);
    poll!(Nullable, [], [], question: Option<String>);
}

/// A type that claims a table of the service.
mod claiming {
    use super::*;

    #[derive(Clone, Debug, Serialize, Deserialize, Entity)]
    #[entity(prefix = "place", table = "membership", access = Session, verbs(read))]
    pub(super) struct Place {
        #[entity(id)]
        id: String,
    }
}

const MIGRATIONS: [Migration; 2] = [
    Migration::of_tables("first", &["CREATE TABLE ballot (poll TEXT NOT NULL)"]),
    Migration::of_tables("second", &["INSERT INTO ballot VALUES ('FREE TEXT')"]),
];

/// A text becomes a number: the new column is filled from the old one, which then goes.
const AS_NUMBER: &[Migration] = &[Migration::of_rows(
    "as_number",
    &["UPDATE poll SET votes = CAST(question AS bigint)"],
)];

fn registry<T: Record + entity_core::Read<Entity = T>>() -> Registry {
    let route = Route::of::<T>(("tests", "1.0.0")).read().table().build();
    Registry::new([route]).expect("one type gets along with itself")
}

/// Returns the answer of the service to a read of this poll.
async fn read<T: Record + entity_core::Read<Entity = T>>(db: &Db, id: &str) -> Value {
    let told = ToldAuthorizer::default().grant("poll.read", "s");
    let dispatcher = Dispatcher::new(
        Arc::new(registry::<T>()),
        Arc::new(db.clone()),
        Arc::new(KeptEvents::default()),
        shared(told),
    );
    let request = Request {
        path: DirectPath::parse(&format!("/poll/{id}"), |_| false).expect("a path"),
        verb: Verb::Get,
        query: Vec::new(),
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: false,
        origin: origin(Caller::user("ada", "ada")),
    };
    let reply = dispatcher.dispatch(&request).await.expect("a poll");
    match reply.body {
        Body::Entity(item) => serde_json::to_value(item.data()).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

/// The names of the table's columns and indexes, asked of the database itself.
async fn layout(db: &Db) -> Vec<String> {
    let backend = db.writer.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => {
            "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = 'poll'::regclass AND attnum > 0
                UNION ALL SELECT indexname::text FROM pg_indexes WHERE tablename = 'poll' AND indexname NOT LIKE '%_pkey'"
        }
        _ => {
            "SELECT name FROM pragma_table_info('poll')
                UNION ALL SELECT name FROM pragma_index_list('poll') WHERE origin = 'c'"
        }
    };
    let rows = db
        .writer
        .query_all_raw(Statement::from_string(backend, sql))
        .await;
    let rows = rows.expect("the database knows its tables");
    let mut names: Vec<String> = rows
        .iter()
        .map(|it| it.try_get("", "name").expect("a name"))
        .collect();
    names.sort();
    names
}

/// A database with the site `s`.
async fn with_a_site(database: &Database) -> Db {
    let db = connect(database.url()).await.expect("a database");
    for sql in [
        "CREATE TABLE site (id TEXT NOT NULL PRIMARY KEY)",
        "INSERT INTO site VALUES ('s')",
    ] {
        db.writer.execute_unprepared(sql).await.expect("a site");
    }
    db
}

async fn insert(db: &Db, columns: &str, values: &str) {
    let sql = format!("INSERT INTO poll ({columns}) VALUES ({values})");
    db.writer
        .execute_unprepared(&sql)
        .await
        .expect("a row that fits");
}

const OLD: [&str; 4] = ["id", "poll_by_site", "question", "site_id"];

both! {
    async fn a_type_that_gains_fields_keeps_its_rows(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        assert_eq!(layout(&db).await, OLD);
        insert(&db, "id, site_id, question", "'p1', 's', 'Why?'").await;
        let row = json!({"id": "p1", "siteId": "s", "question": "Why?"});
        assert_eq!(read::<first::Poll>(&db, "p1").await, row);

        ensure_tables(&db, &registry::<later::Poll>()).await.expect("more columns");
        let expected = json!({
            "id": "p1", "siteId": "s", "question": "Why?", "hint": "", "remark": null, "points": 0, "limit": null,
            "weight": 0.0, "isOpen": false, "isSecret": null,
        });
        assert_eq!(read::<later::Poll>(&db, "p1").await, expected);
        let new = layout(&db).await;
        assert_eq!(new.len(), OLD.len() + 8, "{new:?}");
        // Starting again changes nothing.
        ensure_tables(&db, &registry::<later::Poll>()).await.expect("nothing to do");
        assert_eq!(layout(&db).await, new);
        // Rows go with their site: whoever makes one with the same id later finds nothing of it.
        db.writer.execute_unprepared("DELETE FROM site").await.expect("it goes");
        let backend = db.writer.get_database_backend();
        let left = db.writer.query_all_raw(Statement::from_string(backend, "SELECT id FROM poll")).await;
        assert_eq!(left.expect("rows").len(), 0);
    }

    async fn what_html_says_is_written_beside_it_when_it_becomes_of_interest(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        // More than are filled at once.
        for number in 0..1_003 {
            let values = format!("'p{number}', 's', '<p>R&amp;D {number}</p><p><em>Z</em>ebra</p>'");
            insert(&db, "id, site_id, question", &values).await;
        }
        ensure_tables(&db, &registry::<later::Poll>()).await.expect("more columns");
        let backend = db.writer.get_database_backend();
        let sql = "SELECT id, question_folded FROM poll";
        let rows = db.writer.query_all_raw(Statement::from_string(backend, sql)).await.expect("rows");
        assert_eq!(rows.len(), 1_003);
        for row in rows {
            let id: String = row.try_get("", "id").expect("an id");
            let text: String = row.try_get("", "question_folded").expect("a text");
            assert_eq!(text, format!("r&d {} zebra", id.trim_start_matches('p')));
        }
    }

    async fn a_former_release_still_reads_the_longer_table(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<later::Poll>()).await.expect("a table");
        insert(
            &db,
            "id, site_id, question, hint, points, weight, is_open",
            "'p1', 's', 'Why?', 'because', 3, 0.5, true",
        )
        .await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("nothing to do");
        let row = json!({"id": "p1", "siteId": "s", "question": "Why?"});
        assert_eq!(read::<first::Poll>(&db, "p1").await, row);
        let kept = read::<later::Poll>(&db, "p1").await;
        assert_eq!((&kept["hint"], &kept["points"], &kept["isOpen"]), (&json!("because"), &json!(3), &json!(true)));
    }

    async fn processes_that_start_together_make_one_table(database: Database) {
        let db = with_a_site(&database).await;
        let (first, later) = (registry::<first::Poll>(), registry::<later::Poll>());
        let other = connect(database.url()).await.expect("a database");
        let made = tokio::join!(
            ensure_tables(&db, &first),
            ensure_tables(&other, &later),
            ensure_tables(&db, &later),
            ensure_tables(&other, &first),
        );
        assert!(matches!(made, (Ok(()), Ok(()), Ok(()), Ok(()))), "{made:?}");
        assert_eq!(layout(&db).await.len(), OLD.len() + 8);
    }

    async fn a_renamed_column_keeps_what_is_in_it(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        insert(&db, "id, site_id, question", "'p1', 's', 'Why?'").await;

        let refused = ensure_tables(&db, &registry::<changed::Guessed>()).await;
        let text = refused.expect_err("nobody knows where the question goes").to_string();
        assert!(text.contains("poll.question") && text.contains("was = \"question\""), "{text}");
        assert_eq!(layout(&db).await, OLD, "nothing has changed");

        ensure_tables(&db, &registry::<changed::Renamed>()).await.expect("another name");
        let row = json!({"id": "p1", "siteId": "s", "wording": "Why?"});
        assert_eq!(read::<changed::Renamed>(&db, "p1").await, row);
        assert!(layout(&db).await.contains(&"wording_folded".to_owned()));
        ensure_tables(&db, &registry::<changed::Renamed>()).await.expect("nothing to do");
    }

    async fn a_dropped_column_goes_with_what_is_in_it(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        insert(&db, "id, site_id, question", "'p1', 's', 'Why?'").await;
        ensure_tables(&db, &registry::<changed::Without>()).await.expect("another column");
        let row = json!({"id": "p1", "siteId": "s", "wording": ""});
        assert_eq!(read::<changed::Without>(&db, "p1").await, row);
        assert!(!layout(&db).await.contains(&"question".to_owned()));
    }

    async fn a_column_changes_its_type_by_way_of_a_new_one(database: Database) {
        let registry_with = |migrations| {
            let route = Route::of::<changed::Counted>(("tests", "1.0.0")).read().table().migrations(migrations).build();
            Registry::new([route]).expect("one type gets along with itself")
        };
        let db = with_a_site(&database).await;
        db.writer.execute_unprepared("CREATE TABLE type_migration (origin TEXT, name TEXT, has_run BOOLEAN, PRIMARY KEY (origin, name))").await.expect("a table");
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        insert(&db, "id, site_id, question", "'p1', 's', '42'").await;
        ensure_tables(&db, &registry_with(AS_NUMBER)).await.expect("a number");
        let row = json!({"id": "p1", "siteId": "s", "votes": 42});
        assert_eq!(read::<changed::Counted>(&db, "p1").await, row);
        // A database that is made anew never had the text.
        db.writer.execute_unprepared("DROP TABLE poll").await.expect("it goes");
        db.writer.execute_unprepared("DELETE FROM type_migration").await.expect("they go");
        ensure_tables(&db, &registry_with(AS_NUMBER)).await.expect("a new table");
        ensure_tables(&db, &registry_with(AS_NUMBER)).await.expect("nothing to do");
    }

    async fn a_counted_table_changes_and_is_counted_again(database: Database) {
        let (first, renamed) = (registry::<first::Poll>(), registry::<changed::Renamed>());
        let storage = server::operate::storage::Storage::open(database.url(), &first).await.expect("a database");
        let site = "INSERT INTO site (id, title, is_published, is_pub_view, is_joinable, created, modified, version) \
                    VALUES ('s', 's', true, false, false, 0, 0, 1)";
        storage.content.writer.execute_unprepared(site).await.expect("a site");
        insert(&storage.content, "id, site_id, question", "'p1', 's', 'Why?'").await;
        drop(storage);
        // The text is folded while nothing counts, and rows are written behind it.
        let storage = server::operate::storage::Storage::open(database.url(), &renamed).await.expect("it starts");
        insert(&storage.content, "id, site_id, wording", "'p2', 's', 'How?'").await;
        let wrong = entity_providers::storage::db::miscounted(&storage.content).await;
        assert_eq!(wrong.expect("a count"), 0);
        let without = registry::<changed::Without>();
        drop(storage);
        let refused = server::operate::storage::Storage::open(database.url(), &without).await;
        drop(refused.expect("the wording stays, and the question is gone already"));
    }

    async fn a_unique_column_has_an_index(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<changed::Single>()).await.expect("a table");
        insert(&db, "id, site_id, question", "'p1', 's', 'Why?'").await;
        let again = "INSERT INTO poll (id, site_id, question) VALUES ('p2', 's', 'Why?')";
        assert!(db.writer.execute_unprepared(again).await.is_err());
        ensure_tables(&db, &registry::<changed::Renamed>()).await.expect("another name");
    }

    async fn a_column_of_another_kind_is_refused_at_the_start(database: Database) {
        let db = with_a_site(&database).await;
        ensure_tables(&db, &registry::<first::Poll>()).await.expect("a table");
        let changes = [
            (ensure_tables(&db, &registry::<changed::OtherKind>()).await, "as another type"),
            (ensure_tables(&db, &registry::<changed::Nullable>()).await, "may write null"),
        ];
        for (refused, reason) in changes {
            let text = refused.expect_err("rows could not be read or written").to_string();
            assert!(text.contains("poll.question") && text.contains(reason), "{text}");
        }
    }

    async fn a_table_of_the_service_is_claimed_by_nobody(database: Database) {
        let storage = server::operate::storage::Storage::open(database.url(), &Registry::default()).await.expect("a database");
        let db = &storage.content;
        let backend = db.writer.get_database_backend();
        let sql = match backend {
            DbBackend::Postgres => "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()",
            _ => "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        };
        let rows = db.writer.query_all_raw(Statement::from_string(backend, sql)).await.expect("tables");
        for row in rows {
            let name: String = row.try_get("", "name").expect("a name");
            // The tables of these types are there before them, because others refer to them or they have indexes of their own.
            let is_listed = entity_providers::storage::migration::TABLES.contains(&name.as_str());
            assert!(is_listed || ["user_account", "site", "invitation"].contains(&&*name), "{name} is missing in the list");
        }
        let refused = ensure_tables(db, &registry::<claiming::Place>()).await;
        let text = refused.expect_err("the memberships are the service's").to_string();
        assert!(text.contains("`place`") && text.contains("`tests`") && text.contains("`membership`"), "{text}");
    }

    async fn migrations_of_types_run_once_and_in_order(database: Database) {
        let db = with_a_site(&database).await;
        db.writer.execute_unprepared("CREATE TABLE type_migration (origin TEXT, name TEXT, has_run BOOLEAN, PRIMARY KEY (origin, name))").await.expect("a table");
        let registry = |migrations| {
            let route = Route::of::<first::Poll>(("tests", "1.0.0")).read().table().migrations(migrations).build();
            Registry::new([route]).expect("one type gets along with itself")
        };
        ensure_tables(&db, &registry(&MIGRATIONS[..1])).await.expect("a table of its own");
        ensure_tables(&db, &registry(&MIGRATIONS)).await.expect("a row more");
        ensure_tables(&db, &registry(&MIGRATIONS)).await.expect("nothing to do");
        let backend = db.writer.get_database_backend();
        let rows = db.writer.query_all_raw(Statement::from_string(backend, "SELECT poll FROM ballot")).await;
        let rows = rows.expect("rows");
        assert_eq!(rows.len(), 1, "each ran once");
        let text: String = rows[0].try_get("", "poll").expect("a text");
        assert_eq!(text, "FREE TEXT");

        let refused = ensure_tables(&db, &registry(&MIGRATIONS[..1])).await;
        let text = refused.expect_err("a newer version was here").to_string();
        assert!(text.contains("`tests`") && text.contains("`second`"), "{text}");
        let broken = Migration::of_tables("broken", &["CREATE TABLE half (id TEXT)", "NONSENSE"]);
        let both = [MIGRATIONS[0], MIGRATIONS[1], broken];
        let refused = ensure_tables(&db, &registry(Box::leak(Box::new(both)))).await;
        let text = refused.expect_err("it is no SQL").to_string();
        assert!(text.contains("`broken`") && text.contains("`tests`"), "{text}");
        let half = db.writer.query_all_raw(Statement::from_string(backend, "SELECT id FROM half")).await;
        assert!(half.is_err(), "nothing is left of it");
    }
}
