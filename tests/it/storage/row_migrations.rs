//! Migrations of rows that come with other changes of the same type.

use entity_core::db::{Db, Migration};
use entity_core::engine::Route;
use entity_core::{Entity, Read, Registry};
use entity_providers::storage::db::{connect, ensure_tables, run_again};
use sea_orm::ConnectionTrait;
use serde::Serialize;
use tests::rows::texts;
use tests::{Database, both};

/// A type as a first release has it.
mod first {
    use super::*;

    #[derive(Clone, Debug, Serialize, Entity)]
    #[serde(rename_all = "camelCase")]
    #[entity(prefix = "rental", table = "rental", access = Site("rental"), verbs(read))]
    pub(super) struct Rental {
        #[entity(id)]
        id: String,
        #[entity(site)]
        site_id: String,
        item: String,
    }
}

/// The same type as the next one has it: with a field and children more.
mod later {
    use super::*;

    #[derive(Clone, Debug, Serialize, Entity)]
    #[serde(rename_all = "camelCase")]
    #[entity(prefix = "rental", table = "rental", access = Site("rental"), verbs(read))]
    pub(super) struct Rental {
        #[entity(id)]
        id: String,
        #[entity(site)]
        site_id: String,
        item: String,
        due: i64,
        #[entity(children)]
        parts: Vec<Part>,
    }

    #[derive(Clone, Debug, Serialize, Entity)]
    #[serde(rename_all = "camelCase")]
    #[entity(table = "rental_part")]
    pub(super) struct Part {
        #[entity(id)]
        id: String,
        #[serde(skip)]
        #[entity(hidden, parent = Rental)]
        rental_id: String,
        #[serde(skip)]
        #[entity(position)]
        position: i64,
        name: String,
    }
}

/// Everything is due at 7, and has itself as a part. The second one reads a column that new tables of parts never had.
const MIGRATIONS: &[Migration] = &[
    Migration::of_rows(
        "due",
        &[
            "UPDATE rental SET due = due + 7",
            "INSERT INTO rental_part (id, rental_id, position, name) SELECT id, id, 1, item FROM rental",
        ],
    ),
    Migration::of_rows("named", &["UPDATE rental_part SET name = title"]).in_table("rental_part"),
];

fn registry<T: entity_core::db::Record + Read<Entity = T>>(
    migrations: &'static [Migration],
) -> Registry {
    let route = Route::of::<T>(("tests", "1.0.0")).read().table();
    Registry::new([route.migrations(migrations).build()]).expect("one type gets along with itself")
}

/// A database with what the types of this file belong to.
async fn prepared(database: &Database) -> Db {
    let db = connect(database.url()).await.expect("a database");
    for sql in [
        "CREATE TABLE site (id TEXT NOT NULL PRIMARY KEY)",
        "CREATE TABLE type_migration (origin TEXT, name TEXT, has_run BOOLEAN, PRIMARY KEY (origin, name))",
        "INSERT INTO site VALUES ('s')",
    ] {
        execute(&db, sql).await;
    }
    db
}

async fn execute(db: &Db, sql: &str) {
    let done = db.writer.execute_unprepared(sql).await;
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The table of the first release, with a row.
async fn with_a_rental(database: &Database) -> Db {
    let db = prepared(database).await;
    let made = ensure_tables(&db, &registry::<first::Rental>(&[])).await;
    made.expect("a table");
    let row = "INSERT INTO rental (id, site_id, item) VALUES ('r1', 's', 'Camera')";
    execute(&db, row).await;
    db
}

async fn dues_and_parts(db: &Db) -> (Vec<String>, Vec<String>) {
    let dues = texts(&db.writer, "SELECT CAST(due AS TEXT) AS line FROM rental").await;
    (
        dues,
        texts(&db.writer, "SELECT name AS line FROM rental_part").await,
    )
}

async fn notes(db: &Db) -> Vec<String> {
    let sql = "SELECT name || CASE WHEN has_run THEN ' run' ELSE ' passed over' END AS line
        FROM type_migration ORDER BY name";
    texts(&db.writer, sql).await
}

both! {
    async fn x4_rows_are_changed_in_the_version_that_adds_a_table_of_the_type(database: Database) {
        let db = with_a_rental(&database).await;
        let later = registry::<later::Rental>(MIGRATIONS);
        ensure_tables(&db, &later).await.expect("a field, tables and rows");
        assert_eq!(dues_and_parts(&db).await, (vec!["7".to_owned()], vec!["Camera".to_owned()]));
        assert_eq!(notes(&db).await, ["due run", "named passed over"]);
        ensure_tables(&db, &later).await.expect("nothing to do");
        assert_eq!(dues_and_parts(&db).await.0, ["7"]);
    }

    async fn x4_rows_of_a_table_that_was_just_made_are_passed_over(database: Database) {
        let db = prepared(&database).await;
        let later = registry::<later::Rental>(MIGRATIONS);
        ensure_tables(&db, &later).await.expect("tables");
        assert_eq!(notes(&db).await, ["due passed over", "named passed over"]);
    }

    async fn x4_a_migration_that_was_passed_over_can_be_run_again(database: Database) {
        let db = with_a_rental(&database).await;
        let later = registry::<later::Rental>(MIGRATIONS);
        // Somebody noted them, and changed no row.
        for name in ["due", "named"] {
            let note = format!("INSERT INTO type_migration (origin, name, has_run) VALUES ('tests', '{name}', FALSE)");
            execute(&db, &note).await;
        }
        ensure_tables(&db, &later).await.expect("tables");
        assert_eq!(dues_and_parts(&db).await, (vec!["0".to_owned()], vec![]));
        assert_eq!(notes(&db).await, ["due passed over", "named passed over"]);
        run_again(&db, &later, "tests", "due").await.expect("it runs");
        assert_eq!(dues_and_parts(&db).await, (vec!["7".to_owned()], vec!["Camera".to_owned()]));
        for (origin, name) in [("tests", "unknown"), ("others", "due"), ("tests", "named")] {
            let refused = run_again(&db, &later, origin, name).await;
            let text = refused.expect_err("there is none, or it fails").to_string();
            assert!(text.contains(name) && text.contains(origin), "{text}");
        }
    }
}
