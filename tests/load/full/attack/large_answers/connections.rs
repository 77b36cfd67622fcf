//! A list that ended early left the rest of its rows on the way: its connection took all of them in before it served
//! again or, told to stop, was closed, so that few large lists kept a PostgreSQL server busy with new connections.

use std::collections::BTreeSet;

use http::StatusCode;
use load::{Backend, OnBackend as _};
use sea_orm::{ConnectionTrait as _, Database as Connection, DbBackend, Statement};

use super::{Small, news};

/// The number of announcements: all of them have much more than a socket holds.
const ROWS: usize = 24;
const ROW: usize = 180 << 10;
const LISTS: usize = 20;
const SITE: &str = "/direct/announcement/site/biology-101.json";

#[tokio::test]
async fn a_list_that_ends_early_leaves_its_connection_to_the_next_one() {
    let Some(app) = Small::on_backend(Backend::Postgres).await else {
        return;
    };
    let app = app.0;
    let teacher = app.user("instructor1").await;
    for row in 0..ROWS {
        let text = news(&format!("Row {row}"), ROW);
        let made = teacher.post("/direct/announcement.json", &text).await;
        made.expect(StatusCode::CREATED);
    }
    let mut before = BTreeSet::new();
    let mut opened = usize::MAX;
    // Those that there may be are opened when they are first used.
    for _ in 0..3 {
        for _ in 0..LISTS {
            teacher.get(SITE).await.expect(StatusCode::OK);
        }
        let after = connections(app.database().url()).await;
        opened = after.difference(&before).count();
        before = after;
    }
    assert!(opened <= 1, "{opened} connections for {LISTS} lists");
}

/// The processes of the server that work for this database, but those that were made to ask.
async fn connections(url: &str) -> BTreeSet<i32> {
    let connection = Connection::connect(url).await.expect("it connects");
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
        AND backend_type = 'client backend'";
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let rows = connection.query_all_raw(statement).await;
    let rows = rows.expect("an answer").into_iter();
    rows.map(|it| it.try_get("", "pid").expect("a number"))
        .collect()
}
