//! Announcements in sites, the same at each run, written straight into the tables.

use std::fmt::Write;

use entity_core::search::fold;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement, TransactionTrait,
};

/// The password of the demo's accounts.
pub(super) const PASSWORD: &str = "lectern-demo";

/// The size of the benchmark's database: 100,000 announcements.
pub(super) const SIZE: Size = Size {
    sites: 1_000,
    in_site: 100,
};
const ROWS_IN_STATEMENT: u32 = 500;
/// The number of different announcements and sites that are asked for.
const ASKED: u32 = 1_000;
/// The time of the first announcement: 2026-01-01T00:00:00Z.
pub(super) const EPOCH: i64 = 1_767_225_600_000;
/// The share of a seven-day week that passes between two announcements, in milliseconds.
const PACE: i64 = 100_000;
/// About as long as announcements are.
const PARAGRAPH: &str = "<p>The reading for the coming week is the third chapter. Please bring your notes \
    to the seminar on Thursday, and hand in the exercises before the lecture begins.</p>";

/// The size of a database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The number of sites.
    pub(crate) sites: u32,
    /// The number of announcements in each.
    pub(crate) in_site: u32,
}

/// Paths of what was written.
pub(crate) struct Sample {
    /// Single announcements.
    pub(crate) ones: Vec<String>,
    /// The newest 50 of a site.
    pub(crate) lists: Vec<String>,
    /// The same as feeds.
    pub(super) feeds: Vec<String>,
    /// 50 single announcements at once.
    pub(super) batches: Vec<String>,
}

/// Fills the database at `url`, which holds the demo's people.
pub(crate) async fn fill(url: &str, size: Size) -> Sample {
    let connection = connect(url).await;
    let reader = user_id(&connection, "student1").await;
    let author = user_id(&connection, "instructor1").await;
    let transaction = connection.begin().await.expect("a transaction");
    let statements = sites(size)
        .into_iter()
        .chain([memberships(&reader)])
        .chain(announcements(&author, size));
    for sql in statements {
        transaction
            .execute_unprepared(&sql)
            .await
            .expect("the tables are as they are here");
    }
    transaction.commit().await.expect("it fits");
    finish(connection).await;
    Sample::of(size)
}

/// A connection to the database at `url`.
pub(super) async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let connected = Database::connect(options).await;
    connected.expect("the database is there")
}

/// Lets the database look at what it has now, and closes the connection.
pub(super) async fn finish(connection: DatabaseConnection) {
    let analyzed = connection.execute_unprepared("ANALYZE").await;
    analyzed.expect("statistics");
    connection.close().await.expect("it closes");
}

async fn user_id(connection: &DatabaseConnection, eid: &str) -> String {
    let query = Statement::from_string(
        connection.get_database_backend(),
        format!("SELECT id FROM user_account WHERE eid = '{eid}'"),
    );
    let row = connection
        .query_one_raw(query)
        .await
        .expect("the table is there");
    let row = row.expect("the demo has this account");
    row.try_get("", "id").expect("an id is text")
}

fn sites(size: Size) -> Vec<String> {
    statements(
        "site (id, title, type, is_published, is_pub_view, is_joinable, created, modified, version)",
        size.sites,
        |row, number| {
            write!(
                row,
                "('bench-{number}', 'Course {number}', 'course', TRUE, FALSE, FALSE, {EPOCH}, {EPOCH}, 1)"
            )
        },
    )
}

fn memberships(user: &str) -> String {
    format!(
        "INSERT INTO membership (user_id, site_id, role, is_active, is_provided, is_pinned, created) \
         SELECT '{user}', id, 'Student', TRUE, FALSE, FALSE, {EPOCH} FROM site WHERE id LIKE 'bench-%'"
    )
}

fn announcements(author: &str, amount: Size) -> Vec<String> {
    statements(
        "announcement (id, site_id, channel, title, body, title_folded, body_folded, created_by, created, published, modified, \
         is_draft, is_restricted, position, attachments, version)",
        amount.rows(),
        |row, number| {
            let (site, place) = (number % amount.sites, number / amount.sites);
            let time = EPOCH + i64::from(number) * PACE;
            let body = PARAGRAPH.repeat(3);
            let text = fold(&entity_core::primitives::plain_text(&body));
            let title = format!("Week {place} of course {site}");
            let folded = fold(&title);
            write!(
                row,
                "('{}', 'bench-{site}', 'main', '{title}', '{body}', '{folded}', '{text}', '{author}', \
                 {time}, {time}, {time}, FALSE, FALSE, {place}, '[]', 1)",
                announcement_id(number)
            )
        },
    )
}

fn announcement_id(number: u32) -> String {
    format!("019b7000-0000-7000-8000-{number:012}")
}

/// Statements that insert the rows `0..rows` of `write_row`.
fn statements(
    into: &str,
    rows: u32,
    write_row: impl Fn(&mut String, u32) -> std::fmt::Result,
) -> Vec<String> {
    let first_rows = (0..rows).step_by(usize::try_from(ROWS_IN_STATEMENT).expect("a small number"));
    first_rows
        .map(|first| {
            let mut sql = format!("INSERT INTO {into} VALUES ");
            for number in first..rows.min(first + ROWS_IN_STATEMENT) {
                if number > first {
                    sql.push(',');
                }
                write_row(&mut sql, number).expect("text takes everything");
            }
            sql
        })
        .collect()
}

impl Size {
    fn rows(self) -> u32 {
        self.sites * self.in_site
    }
}

impl Sample {
    /// The paths of so much.
    pub(crate) fn of(amount: Size) -> Self {
        // A step without a common divisor with the number of rows spreads what is asked for over all of them.
        let ones = (0..ASKED).map(|it| it * 7_919 % amount.rows());
        let ids: Vec<String> = ones
            .map(|it| format!("bench-{}:main:{}", it % amount.sites, announcement_id(it)))
            .collect();
        let list = |it: u32, format: &str| {
            let site = it * 7 % amount.sites;
            format!("/direct/announcement/site/bench-{site}.{format}?n=50")
        };
        let batch = |ids: &[String]| {
            let references = ids.iter().map(|it| format!("announcement/{it}"));
            let references: Vec<_> = references.collect();
            format!("/direct/batch.json?_refs={}", references.join(","))
        };
        Self {
            batches: ids.chunks(50).map(batch).collect(),
            ones: ids
                .iter()
                .map(|it| format!("/direct/announcement/{it}.json"))
                .collect(),
            lists: (0..ASKED).map(|it| list(it, "json")).collect(),
            feeds: (0..ASKED).map(|it| list(it, "atom")).collect(),
        }
    }
}
