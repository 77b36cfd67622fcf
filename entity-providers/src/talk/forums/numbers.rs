//! Counts of messages: those that the caller sees, and those that the caller has read.

use std::collections::HashMap;

use entity_core::db::{Row, Variables};
use entity_core::{Context, Result, Scope};

use super::MODERATE;
use super::rules::{IS_MESSAGE_OPEN, IS_READ};

/// By forum.
pub(super) const FORUM: &str = "parent.forum_id";
/// By topic.
pub(super) const TOPIC: &str = "this.topic_id";
/// By thread: the id of its first message.
pub(super) const THREAD: &str = "this.thread";
/// By site.
pub(super) const SITE: &str = "this.site_id";

/// The messages `this`, each with its topic `parent`, its forum `f` and the caller's mark `d`.
const FROM: &str = " FROM forum_message this JOIN forum_topic parent ON parent.topic_id = this.topic_id \
    JOIN forum f ON f.forum_id = parent.forum_id \
    LEFT JOIN forum_read d ON d.read_id = this.message_id || ':' || {caller}";

/// The number of messages that the caller sees. Drafts and deleted messages don't count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) total: i64,
    /// The number of those that the caller has read or written.
    pub(super) read: i64,
}

/// Counts the messages whose `column` is one of `keys`, by that column, with one statement. A key without messages is
/// left out.
pub(super) async fn by(
    cx: &Context,
    column: &str,
    keys: &[String],
) -> Result<HashMap<String, Numbers>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let (db, variables) = (cx.db()?, Variables::of(cx));
    let mut sql = db.sql("SELECT ");
    sql.push(column).push(", count(*), count(CASE WHEN ");
    sql.expression(IS_READ, variables);
    sql.push(" THEN 1 END)").expression(FROM, variables);
    sql.push(" WHERE ").push(column).bind_list(keys)?;
    sql.push(" AND NOT this.is_draft AND NOT this.is_deleted AND (");
    match cx.authorizer().scope(cx, MODERATE).await? {
        Scope::Everything => drop(sql.push("TRUE")),
        Scope::Sites(sites) => drop(sql.push("this.site_id").bind_list(&sites)?),
    }
    sql.push(" OR (").expression(IS_MESSAGE_OPEN, variables);
    sql.push(")) GROUP BY ").push(column);
    let read = |row: &mut Row<'_>| {
        let key: String = row.take()?;
        let (total, read) = (row.take()?, row.take()?);
        Ok((key, Numbers { total, read }))
    };
    let found = db.scan(sql.into_statement(), read).await?;
    Ok(found.into_iter().collect())
}
