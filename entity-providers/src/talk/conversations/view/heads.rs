//! Which threads of a topic a page has: those that begin it are found, ordered and cut by the database.

use entity_core::db::{self, WrittenRowPolicy};
use entity_core::endpoint::Call;
use entity_core::{Context, Error, Result};

use super::super::post::IN_TOPIC;
use super::super::{AUTHOR, NOBODY, Topic, TopicPost};
use crate::base::search::all;

/// The number of threads of a page.
const PAGE: i64 = 10;

/// The posts that begin the threads of a page: those that answer the topic, or a post that the caller does not see.
pub(super) struct Heads {
    /// The id of each, and of the thread that it belongs to, in the order of the page.
    all: Vec<(String, String)>,
}

impl Heads {
    /// Returns those of the page `page`, or of the page that has the post `postId`. A topic with fewer threads than a page
    /// has one page, whatever its number.
    ///
    /// # Errors
    /// Returns an error that names the parameter `sort` if there is no such order.
    pub(super) async fn of(cx: &Context, topic: &Topic, call: &Call, page: u32) -> Result<Self> {
        let order = order(call.parameter("sort").unwrap_or_default())?;
        let is_seen = WrittenRowPolicy::in_site::<TopicPost>(cx, IN_TOPIC, &topic.site_id).await?;
        let is_named = WrittenRowPolicy::in_site::<TopicPost>(cx, AUTHOR, &topic.site_id).await?;
        let mut sql = cx
            .db()?
            .sql("WITH seen AS (SELECT this.id, this.parent_post, this.created, ");
        sql.push("coalesce(this.parent_thread, this.id) AS thread, CASE WHEN ");
        is_named.write(&mut sql, "this")?;
        sql.push(" THEN lower(u.first_name || ' ' || u.last_name) ELSE lower(");
        sql.bind(NOBODY)
            .push(") END AS name FROM conversation_post this ");
        sql.push("LEFT JOIN user_account u ON u.id = this.creator WHERE this.topic_id = ");
        sql.bind(topic.id.as_str()).push(" AND ");
        is_seen.write(&mut sql, "this")?;
        sql.push(")");
        let from = match order.starts_with("h.number") {
            true => {
                sql.push(ACTIVITY);
                "active"
            }
            false => "seen",
        };
        sql.push(", heads AS (SELECT h.id, h.thread, row_number() OVER (ORDER BY ");
        sql.push(&order).push(") - 1 AS place FROM ").push(from);
        sql.push(" h WHERE h.parent_post IS NULL ");
        sql.push("OR h.parent_post NOT IN (SELECT id FROM seen)) ");
        sql.push("SELECT id, thread FROM heads WHERE (SELECT count(*) FROM heads) < ");
        sql.bind(PAGE).push(" OR place / ").bind(PAGE);
        sql.push(" = coalesce((SELECT min(place) / ").bind(PAGE);
        sql.push(" FROM heads WHERE thread = (SELECT thread FROM seen WHERE id = ");
        sql.bind(call.parameter("postId").unwrap_or_default());
        sql.push(")), ")
            .bind(i64::from(page))
            .push(") ORDER BY place");
        let all = cx.db()?.rows(sql.into_statement(), db::columns).await?;
        Ok(Self { all })
    }

    /// Returns the place of the thread that the post `id` begins.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.all.iter().position(|it| it.0 == id)
    }

    /// Returns the posts of the threads that the caller sees, the oldest first.
    pub(super) async fn posts(&self, cx: &Context) -> Result<Vec<TopicPost>> {
        let is_head = TopicPost::FIELD.id.is_in(self.all.iter().map(|it| &it.0));
        let threads = self.all.iter().map(|it| &it.1);
        let is_below = TopicPost::FIELD.parent_thread.is_in(threads);
        let mut posts = all::<TopicPost>(cx, &is_head).await?;
        let below = all::<TopicPost>(cx, &is_below).await?;
        posts.extend(below.into_iter().filter(|it| self.place(&it.id).is_none()));
        Ok(posts)
    }
}

/// The number of posts and comments of each thread, in SQL: counted once for all threads, so that a topic of many is not
/// gone through for each.
const ACTIVITY: &str = ", active AS (SELECT s.*, sum(1 + (SELECT count(*) FROM conversation_comment c \
    WHERE c.post_id = s.id)) OVER (PARTITION BY s.thread) AS number FROM seen s)";

/// Returns the order of threads, in SQL, that clients call `name`.
fn order(name: &str) -> Result<String> {
    let (first, direction) = match name {
        "" | "NEWEST" => return Ok("h.created DESC, h.id DESC".to_owned()),
        "OLDEST" => ("h.created", ""),
        "MOST_ACTIVE" => ("h.number", " DESC"),
        "LEAST_ACTIVE" => ("h.number", ""),
        "ASC_CREATOR" => ("h.name", ""),
        "DESC_CREATOR" => ("h.name", " DESC"),
        _ => return Err(Error::field("sort", "must be one of the orders")),
    };
    Ok(format!("{first}{direction}, h.created, h.id"))
}
