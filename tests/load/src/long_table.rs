//! Announcements that take long to search, written straight into their table.

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend};

/// Adds `rows` announcements to `site`, with the ids `{site}-row-1`, `{site}-row-2` … The text of each is `letter`, many
/// times over. Answers the connection by which they came in.
pub async fn fill(url: &str, site: &str, letter: &str, rows: u32) -> DatabaseConnection {
    let connection = Database::connect(url).await;
    let connection = connection.expect("the database is there");
    let (numbers, text) = match connection.get_database_backend() {
        DbBackend::Postgres => (
            format!("generate_series(1, {rows}) AS numbers (number)"),
            format!("repeat('{letter}', 1500)"),
        ),
        _ => (
            format!(
                "(WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted \
                    WHERE number < {rows}) SELECT number FROM counted) AS numbers"
            ),
            format!("replace(hex(zeroblob(750)), '0', '{letter}')"),
        ),
    };
    let sql = format!(
        "INSERT INTO announcement (id, site_id, channel, title, body, title_folded, body_folded, created_by, created, \
            published, modified, is_draft, is_restricted, position, attachments, version) \
         SELECT '{site}-row-' || number, '{site}', 'main', 'x', 'x', 'x', {text}, 'nobody', 0, 0, 0, FALSE, \
            FALSE, number, '[]', 1 FROM {numbers}"
    );
    connection.execute_unprepared(&sql).await.expect("rows");
    connection
}

/// Returns the query of a search that compares two hundred letters at each letter of a text of `a`s.
pub fn hard_search() -> String {
    format!("body[like]={}b", "a".repeat(198))
}
