//! The index of searches in a SQLite file.

use std::collections::BTreeSet;

use entity_core::Registry;
use entity_providers::storage::db::{Unindexed, finish_index};
use sea_orm::ConnectionTrait as _;
use server::operate::storage::Storage;
use tests::process::{run, text};
use tests::{Backend, Database, OnBackend as _, TestApp, database, rows::texts};

use super::{compare, found, lacking, write};
use crate::operator::change;

/// A table with more rows than are added to an index at once.
const MANY: &str = "INSERT INTO announcement (id, site_id, channel, title, body, created_by, created, published, \
    modified, is_draft, is_restricted, position, attachments, version, title_folded) \
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1200) \
    SELECT printf('row-%04d', number), 'biology-101', 'main', 'Number ' || number, '', 'nobody', 0, 0, 0, FALSE, FALSE, \
    number, '[]', 1, 'number ' || number FROM numbers";

#[tokio::test]
async fn sqlite_adds_the_rows_that_are_there_in_steps() {
    database::on(Backend::Sqlite, |app: TestApp| async move {
        let registry = Registry::from_inventory().expect("types");
        let content = &app.service().storage.content;
        let run = |sql: &'static str| async move {
            let done = content.writer.execute_unprepared(sql).await;
            done.unwrap_or_else(|error| panic!("{sql}: {error}"));
        };
        let admin = app.user("admin").await;
        write(&app).await;
        run(MANY).await;
        // As a version before left it, and as if somebody had dropped a part.
        run("DELETE FROM search_index WHERE table_name = 'announcement'").await;
        run("DROP TRIGGER search_of_user_account_delete").await;
        let lacks = |columns: &[&str]| Some(Unindexed::Columns(columns.iter().map(ToString::to_string).collect()));
        let large = ["announcement.body_folded", "announcement.title_folded"];
        let accounts = ["eid", "email", "first_name", "last_name"].map(|it| format!("user_account.{it}_folded"));
        let all: Vec<&str> = large.into_iter().chain(accounts.iter().map(|it| &**it)).collect();
        assert_eq!(lacking(&app).await, lacks(&all));
        let again = Storage::open(app.database().url(), &registry).await.expect("it opens");
        assert_eq!(lacking(&app).await, lacks(&large));
        drop(again);
        // What is written meanwhile is in the index, and nothing of it is used yet.
        for sql in [
            "UPDATE announcement SET title_folded = 'a zebrafish' WHERE id = 'row-1100'",
            "UPDATE announcement SET title_folded = 'another zebrafish' WHERE id = 'row-0001'",
            "DELETE FROM announcement WHERE id IN ('row-0002', 'row-1101')",
        ] {
            run(sql).await;
        }
        let rows = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let both = rows(&["row-0001", "row-1100"]);
        assert_eq!(found(&admin, "zebrafish").await, both);
        assert_eq!(found(&admin, "1199").await, rows(&["row-1199"]));
        // A process that is stopped in between leaves how far it has come.
        run("UPDATE search_index SET filled = 'row-0500' WHERE table_name = 'announcement'").await;
        finish_index(content, &registry).await.expect("the rest");
        assert_eq!(lacking(&app).await, None);
        run("UPDATE search_index SET filled = '', is_whole = FALSE WHERE table_name = 'announcement'").await;
        finish_index(content, &registry).await.expect("the first ones");
        assert_eq!(lacking(&app).await, None);
        assert_eq!(found(&admin, "zebrafish").await, both);
        assert_eq!(found(&admin, "1199").await, rows(&["row-1199"]));
        let counts = "SELECT (SELECT count(*) FROM search_key_of_announcement) || ' ' || count(*) AS line FROM announcement";
        let counts = texts(&content.reader, counts).await;
        let counts: Vec<&str> = counts[0].split(' ').collect();
        assert_eq!(counts[0], counts[1]);
        // As many as one list shows.
        run("DELETE FROM announcement WHERE id LIKE 'row-%' AND id > 'row-0100'").await;
        run("UPDATE announcement SET title_folded = lower(title) WHERE id LIKE 'row-%'").await;
        compare(&app, &admin).await;
    })
    .await;
}

#[tokio::test]
async fn sqlite_serves_beside_a_damaged_index_and_migrating_makes_it_anew() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    assert!(run(&database, &["migrate"]).await.status.success());
    let app = TestApp::start(database, &[]).await;
    app.fill().await;
    let admin = app.user("admin").await;
    let before = found(&admin, "biology").await;
    let writer = &app.service().storage.content.writer;
    for damage in [
        "DELETE FROM search_of_announcement_data WHERE id > 10",
        "DROP TABLE search_of_announcement",
    ] {
        writer.execute_unprepared(damage).await.expect("damage");
        assert_eq!(found(&admin, "biology").await, before, "{damage}");
    }
    let database = app.into_database();
    for damage in [
        "SELECT 1",
        "DELETE FROM search_of_announcement_data WHERE id > 10",
        "DROP TRIGGER search_of_announcement_insert",
    ] {
        change(&database, &[damage]).await;
        for (command, is_told) in [("doctor", true), ("migrate", false), ("doctor", false)] {
            let done = run(&database, &[command]).await;
            assert!(done.status.success(), "{damage}: {done:?}");
            let told = "`lectern migrate` makes it for announcement.body_folded, announcement.title_folded\n";
            assert_eq!(
                text(&done.stdout).contains(told),
                is_told,
                "{damage}: {done:?}"
            );
        }
    }
    let app = TestApp::start(database, &[]).await;
    assert_eq!(lacking(&app).await, None);
    let admin = app.user("admin").await;
    assert_eq!(found(&admin, "biology").await, before);
}
