//! The index of searches on a PostgreSQL server.

use std::collections::BTreeSet;

use entity_core::Registry;
use entity_providers::storage::db::{Unindexed, finish_index, unindexed};
use lectern_testing::counting::Counter;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement, TransactionTrait as _};
use server::operate::storage::Storage;
use tests::process::{run, text};
use tests::{Backend, Client, Database, TestApp, database};

use super::{found, lacking, needles, write};
use crate::operator::change;
use crate::statements::caller_of;

const BY_INDEX: [&str; 3] = [
    "SET LOCAL enable_seqscan = off",
    "SET LOCAL enable_indexscan = off",
    "SET LOCAL enable_indexonlyscan = off",
];
const NOT_BY_INDEX: [&str; 1] = ["SET LOCAL enable_bitmapscan = off"];

/// The plan and the rows of `statement` with these settings.
async fn planned(
    connection: &DatabaseConnection,
    settings: &[&str],
    statement: &Statement,
) -> (String, Vec<String>) {
    let transaction = connection.begin().await.expect("a transaction");
    for setting in settings {
        transaction
            .execute_unprepared(setting)
            .await
            .expect("a setting");
    }
    let mut asked = [statement.clone(), statement.clone()];
    asked[0].sql = format!("EXPLAIN {}", statement.sql);
    asked[1].sql = format!("SELECT x::text FROM ({}) AS x", statement.sql);
    let mut told = Vec::new();
    for statement in asked {
        let rows = transaction.query_all_raw(statement).await.expect("rows");
        let lines = rows
            .iter()
            .map(|it| it.try_get_by_index::<String>(0).expect("text"));
        told.push(lines.collect::<Vec<_>>());
    }
    (told[0].join("\n"), told.pop().expect("rows"))
}

/// The statement by which `client` searches for `needle`.
async fn statement(app: &TestApp, client: &Client, needle: &str) -> Statement {
    let counter = Counter::of(app.service());
    let query =
        [("_search", needle), ("_limit", "1000")].map(|it| (it.0.to_owned(), it.1.to_owned()));
    let statements = counter
        .statements(&caller_of(client).await, "/announcement", &query)
        .await;
    let mut statements = statements.expect("a list").into_iter();
    statements
        .find(|it| it.sql.contains("title_folded"))
        .expect("a search")
}

#[tokio::test]
async fn postgres_finds_the_same_by_its_index_and_without() {
    database::on(Backend::Postgres, |app: TestApp| async move {
        let admin = app.user("admin").await;
        write(&app).await;
        let connection = &app.service().storage.content.writer;
        let indexes = [
            "announcement_title_folded_idx",
            "announcement_body_folded_idx",
        ];
        for needle in needles(connection).await {
            let statement = statement(&app, &admin, &needle).await;
            let (plan, by_index) = planned(connection, &BY_INDEX, &statement).await;
            let (other, walked) = planned(connection, &NOT_BY_INDEX, &statement).await;
            assert_eq!(by_index, walked, "{needle}: {plan}\n{other}");
            assert!(
                indexes.iter().all(|it| plan.contains(it)),
                "{needle}: {plan}"
            );
            // A plan for all words alike is never taken.
            assert!(!plan.contains("generate_series"), "{needle}: {plan}");
        }
        // What a person may see is looked through: by the index, others' would be.
        let student = app.user("student1").await;
        let statement = statement(&app, &student, "zebrafish").await;
        let (plan, _) = planned(connection, &BY_INDEX, &statement).await;
        assert!(!plan.contains("_folded_idx"), "{plan}");
    })
    .await;
}

/// A table with more rows than an index is made of while writers wait.
const MANY: &str = "INSERT INTO announcement (id, site_id, channel, title, body, created_by, created, published, \
    modified, is_draft, is_restricted, position, attachments, version, title_folded) \
    SELECT 'row-' || number, 'biology-101', 'main', 'Number ' || number, 'x', 'nobody', 0, 0, 0, FALSE, FALSE, number, \
    '[]', 1, 'number ' || number FROM generate_series(1, 1100) AS numbers (number)";

#[tokio::test]
async fn postgres_makes_the_index_of_a_large_table_while_others_write() {
    database::on(Backend::Postgres, |app: TestApp| async move {
        let registry = Registry::from_inventory().expect("types");
        let content = &app.service().storage.content;
        let run = |sql: &'static str| async move {
            let done = content.writer.execute_unprepared(sql).await;
            done.unwrap_or_else(|error| panic!("{sql}: {error}"));
        };
        run(MANY).await;
        run("DROP INDEX announcement_title_folded_idx").await;
        // As a making that was stopped leaves it.
        run("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'announcement_body_folded_idx'::regclass").await;
        run("DROP INDEX user_account_eid_folded_idx").await;
        let lacks = |columns: &[&str]| Some(Unindexed::Columns(columns.iter().map(ToString::to_string).collect()));
        let large = ["announcement.body_folded", "announcement.title_folded"];
        assert_eq!(lacking(&app).await, lacks(&[large[0], large[1], "user_account.eid_folded"]));
        let again = Storage::open(app.database().url(), &registry).await.expect("it opens");
        assert_eq!(lacking(&app).await, lacks(&large));
        drop(again);
        // Whoever has written a row, and not committed, keeps nobody from beginning, and is kept from nothing. Only the
        // folded text is written: a title counts for its site, and two can't change that count at once.
        let writing = content.writer.begin().await.expect("a transaction");
        let touch = "UPDATE announcement SET title_folded = 'a zebrafish' WHERE id = 'row-1'";
        writing.execute_unprepared(touch).await.expect("a row");
        let (finished, others) = tokio::join!(
            async { tokio::join!(finish_index(content, &registry), finish_index(content, &registry)) },
            async {
                let other = "UPDATE announcement SET title_folded = 'another zebrafish' WHERE id = 'row-2'";
                content.writer.execute_unprepared(other).await.expect("nobody waits");
                writing.commit().await
            }
        );
        others.expect("a commit");
        finished.0.expect("an index");
        finished.1.expect("an index");
        assert_eq!(lacking(&app).await, None);
        let admin = app.user("admin").await;
        assert_eq!(found(&admin, "zebrafish").await, BTreeSet::from(["row-1", "row-2"].map(ToOwned::to_owned)));
    })
    .await;
}

#[tokio::test]
async fn postgres_serves_without_the_extension() {
    database::on(Backend::Postgres, |database: Database| async move {
        let name = database.name();
        let role = "without_extensions";
        change(
            &database,
            &[
                &format!("CREATE ROLE {role} LOGIN"),
                &format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"),
                &format!("GRANT CONNECT ON DATABASE {name} TO {role}"),
                &format!("GRANT ALL ON SCHEMA public TO {role}"),
            ],
        )
        .await;
        let registry = Registry::from_inventory().expect("types");
        let url = database
            .url()
            .replace("postgres://postgres@", &format!("postgres://{role}@"));
        let storage = Storage::open(&url, &registry).await.expect("it serves");
        let lack = unindexed(&storage.content, &registry)
            .await
            .expect("an answer");
        assert_eq!(lack, Some(Unindexed::Extension));
        finish_index(&storage.content, &registry)
            .await
            .expect("nothing to be done");
        let doctor = run(&database, &["doctor"]).await;
        assert!(doctor.status.success(), "{doctor:?}");
        assert!(
            text(&doctor.stdout).contains("`CREATE EXTENSION pg_trgm`"),
            "{doctor:?}"
        );
        change(&database, &["CREATE EXTENSION pg_trgm"]).await;
        let doctor = run(&database, &["doctor"]).await;
        assert!(
            text(&doctor.stdout).contains(
                "they have no index: `lectern migrate` makes it for announcement.body_folded, "
            ),
            "{doctor:?}"
        );
        finish_index(&storage.content, &registry)
            .await
            .expect("an index");
        assert_eq!(
            unindexed(&storage.content, &registry)
                .await
                .expect("an answer"),
            None
        );
    })
    .await;
}
