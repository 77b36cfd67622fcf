//! `/api/sites/{siteId}/conversations/stats`: how much each member takes part.

use chrono::{Datelike as _, NaiveTime, TimeDelta};
use entity_core::db::{self, Row, Sql};
use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, DateTimeUtc, Error, Need, Result, gate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{INSTRUCTOR, MODERATE, VIEW_GROUPS};
use super::topics::in_site;
use crate::people::user::NAME_OR_NOTHING;

/// The function of those who see the statistics of a site.
pub(super) const VIEW: &str = "conversations.statistics.view";

/// The number of members of a page.
const PAGE: i64 = 10;

const READ: Endpoint = in_site(Endpoint::post(
    "/api/sites/{siteId}/conversations/stats",
    "readStatisticsOfConversations",
))
.doc("How much each of the members of a site takes part: ten of them. What is anonymous counts for nobody.")
.takes::<Wanted>()
.answers::<Statistics>(&read);
entity_core::register_endpoint!(READ);

/// The query of the statistics.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "WantedConversationsStatistics")]
struct Wanted {
    /// `THIS_WEEK`, which begins on Monday, `WEEK`, the last seven days, or `ALL_TIME`.
    interval: String,
    /// The number of the page; 1 for the first, which is the default.
    page: Option<i64>,
    /// `name`, `topicsCreated`, `topicsViewed`, `topicReactions`, `topicUpvotes`, `postsCreated`, `postsViewed`,
    /// `postReactions` or `postUpvotes`, and behind it `Ascending`, which is the default, or `Descending`.
    sort: Option<String>,
}

/// A page of the statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConversationsStatistics")]
struct Statistics {
    /// The number of members.
    total: i64,
    page_size: i64,
    current_page: i64,
    stats: Vec<Member>,
}

/// The participation of one member.
#[derive(Debug, Serialize, JsonSchema, Row)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConversationsStatisticsOfMember")]
struct Member {
    name: String,
    topics_created: i64,
    topics_viewed: i64,
    topic_reactions: i64,
    topic_upvotes: i64,
    posts_created: i64,
    posts_viewed: i64,
    post_reactions: i64,
    post_upvotes: i64,
}

/// The columns of members in statements, as clients name them.
const COLUMNS: [&str; 9] = [
    "name",
    "topicsCreated",
    "topicsViewed",
    "topicReactions",
    "topicUpvotes",
    "postsCreated",
    "postsViewed",
    "postReactions",
    "postUpvotes",
];

/// The parts of the conversations that the caller sees, and since when.
struct Part<'a> {
    site: &'a str,
    since: Option<i64>,
    now: i64,
    moderates: bool,
    instructs: bool,
    sees_groups: bool,
}

/// Returns the first instant of an interval; none for all time.
fn begin(interval: &str, now: DateTimeUtc) -> Result<Option<i64>> {
    let today = now.date_naive().and_time(NaiveTime::MIN).and_utc();
    let days = i64::from(now.weekday().num_days_from_monday());
    let begin = match interval {
        "ALL_TIME" => return Ok(None),
        "WEEK" => now.checked_sub_signed(TimeDelta::days(7)),
        "THIS_WEEK" => today.checked_sub_signed(TimeDelta::days(days)),
        _ => {
            let message = "must be `THIS_WEEK`, `WEEK` or `ALL_TIME`";
            return Err(Error::field("interval", message));
        }
    };
    Ok(begin.map(|it| it.timestamp_millis()))
}

/// Returns the expression by which members are sorted.
fn order(sort: &str) -> Result<String> {
    let (name, direction) = match sort.strip_suffix("Descending") {
        Some(name) => (name, "DESC"),
        None => (sort.strip_suffix("Ascending").unwrap_or(sort), "ASC"),
    };
    let name = if name == "postsRead" {
        "postsViewed"
    } else {
        name
    };
    let Some(place) = COLUMNS.iter().position(|it| *it == name) else {
        let message = "must be `name`, `topicsCreated`, `topicsViewed`, `topicReactions`, `topicUpvotes`, `postsCreated`, \
                       `postsViewed`, `postReactions` or `postUpvotes`, and `Ascending` or `Descending`";
        return Err(Error::field("sort", message));
    };
    Ok(format!("{} {direction}, 1, u.id", place + 1))
}

impl Part<'_> {
    /// Appends that the topic `t` is one that the caller sees.
    fn write_topic(&self, sql: &mut Sql) {
        sql.push("t.site_id = ").bind(self.site);
        sql.push(" AND NOT t.is_draft");
        if !self.moderates {
            sql.push(" AND NOT t.is_hidden AND coalesce(t.show_date, 0) <= ");
            sql.bind(self.now)
                .push(" AND (t.hide_date IS NULL OR t.hide_date > ");
            sql.bind(self.now).push(")");
        }
        if !self.instructs {
            sql.push(" AND NOT t.for_instructors");
        }
        if !self.sees_groups {
            sql.push(" AND NOT t.is_restricted");
        }
    }

    /// Appends that the post `p` has a name to it and is one that the caller sees, if its topic is.
    fn write_post(&self, sql: &mut Sql) {
        sql.push("NOT (p.is_draft OR p.is_anonymous)");
        if !self.moderates {
            sql.push(" AND NOT p.is_hidden");
        }
        if !self.instructs {
            sql.push(" AND NOT p.is_private");
        }
    }

    /// Appends that the instant in `column` is part of the interval.
    fn write_since(&self, sql: &mut Sql, column: &str) {
        if let Some(since) = self.since {
            sql.push(" AND ").push(column).push(" >= ").bind(since);
        }
    }

    /// Appends a column with the number of marks for which `condition` holds since the instant in `column`.
    fn write_count(&self, sql: &mut Sql, condition: &str, column: &str) {
        sql.push(", count(CASE WHEN ").push(condition);
        self.write_since(sql, column);
        sql.push(" THEN 1 END)");
    }

    /// Appends a table with the numbers of the marks of each member, those of topics or those of posts.
    fn write_marks(&self, sql: &mut Sql, of_posts: bool) {
        sql.push(" LEFT JOIN (SELECT r.user_id AS user_id");
        self.write_count(sql, "r.viewed", "r.viewed_at");
        sql.push(" AS viewed");
        self.write_count(sql, "r.upvoted", "r.upvoted_at");
        sql.push(" AS votes");
        let mut before = ", ";
        for kind in ["r.thumbs_up", "r.love_it", "r.good_idea", "r.is_key"] {
            sql.push(before).push("count(CASE WHEN ").push(kind);
            self.write_since(sql, "r.reacted_at");
            sql.push(" THEN 1 END)");
            before = " + ";
        }
        sql.push(
            " AS reactions FROM conversation_mark r JOIN conversation_topic t ON t.id = r.topic_id",
        );
        if of_posts {
            sql.push(" JOIN conversation_post p ON p.id = r.post_id WHERE ");
            self.write_post(sql);
            sql.push(" AND ");
        } else {
            sql.push(" WHERE r.post_id IS NULL AND NOT t.is_anonymous AND ");
        }
        self.write_topic(sql);
        let name = if of_posts { "pm" } else { "tm" };
        sql.push(" GROUP BY r.user_id) ").push(name);
        sql.push(" ON ").push(name).push(".user_id = b.user_id");
    }

    /// Returns the members of the page `page`, in this order.
    async fn members(&self, cx: &Context, order: &str, page: i64) -> Result<Vec<Member>> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT ");
        sql.push(NAME_OR_NOTHING);
        sql.push(
            " AS name, coalesce(ts.number, 0), coalesce(tm.viewed, 0), coalesce(tm.reactions, 0), coalesce(tm.votes, 0), \
             coalesce(ps.number, 0), coalesce(pm.viewed, 0), coalesce(pm.reactions, 0), coalesce(pm.votes, 0) \
             FROM membership b JOIN user_account u ON u.id = b.user_id \
             LEFT JOIN (SELECT t.creator AS creator, count(*) AS number FROM conversation_topic t \
             WHERE NOT t.is_anonymous AND ",
        );
        self.write_topic(&mut sql);
        self.write_since(&mut sql, "t.created");
        sql.push(
            " GROUP BY t.creator) ts ON ts.creator = b.user_id \
             LEFT JOIN (SELECT p.creator AS creator, count(*) AS number FROM conversation_post p \
             JOIN conversation_topic t ON t.id = p.topic_id WHERE ",
        );
        self.write_post(&mut sql);
        sql.push(" AND ");
        self.write_topic(&mut sql);
        self.write_since(&mut sql, "p.created");
        sql.push(" GROUP BY p.creator) ps ON ps.creator = b.user_id");
        self.write_marks(&mut sql, false);
        self.write_marks(&mut sql, true);
        sql.push(" WHERE b.is_active AND b.site_id = ")
            .bind(self.site);
        sql.push(" ORDER BY ").push(order);
        sql.push(" LIMIT ").bind(PAGE).push(" OFFSET ");
        sql.bind(page.saturating_sub(1).saturating_mul(PAGE));
        db.rows(sql.into_statement(), db::columns).await
    }
}

async fn read(cx: &Context, call: Call) -> Result<Statistics> {
    let site = call.variable("siteId")?;
    gate::demand_in_site(cx, Need::Site(VIEW), Some(site)).await?;
    let wanted: Wanted = call.body()?;
    let current_page = wanted.page.unwrap_or(1);
    if current_page < 1 {
        return Err(Error::field("page", "must be 1 or more"));
    }
    let order = order(wanted.sort.as_deref().unwrap_or("name"))?;
    let part = Part {
        site,
        since: begin(&wanted.interval, cx.now())?,
        now: cx.now().timestamp_millis(),
        moderates: gate::holds(cx, MODERATE, site).await?,
        instructs: gate::holds(cx, INSTRUCTOR, site).await?,
        sees_groups: gate::holds(cx, VIEW_GROUPS, site).await?,
    };
    let db = cx.db()?;
    let mut sql = db.sql("SELECT count(*) FROM membership WHERE is_active AND site_id = ");
    sql.bind(site);
    let total = db.rows(sql.into_statement(), db::columns::<i64>).await?;
    Ok(Statistics {
        total: total.into_iter().sum(),
        page_size: PAGE,
        current_page,
        stats: part.members(cx, &order, current_page).await?,
    })
}

#[cfg(test)]
mod tests {
    use super::{begin, order};

    #[test]
    fn intervals_begin_where_they_say() {
        // A Wednesday.
        let now = "2026-11-25T12:00:00Z".parse().expect("an instant");
        let millis = |text: &str| {
            let at: entity_core::DateTimeUtc = text.parse().expect("an instant");
            Some(at.timestamp_millis())
        };
        let begins = |it| begin(it, now).expect("an interval");
        assert_eq!(begins("THIS_WEEK"), millis("2026-11-23T00:00:00Z"));
        assert_eq!(begins("WEEK"), millis("2026-11-18T12:00:00Z"));
        assert_eq!(begins("ALL_TIME"), None);
        assert!(begin("", now).is_err() && begin("YEAR", now).is_err());
    }

    #[test]
    fn every_order_that_clients_send_is_one() {
        for name in [
            "name",
            "topicsCreated",
            "topicsViewed",
            "topicReactions",
            "topicUpvotes",
            "postsCreated",
            "postsViewed",
            "postsRead",
            "postReactions",
            "postUpvotes",
        ] {
            assert!(
                order(&format!("{name}Ascending"))
                    .expect("an order")
                    .contains("ASC")
            );
            assert!(
                order(&format!("{name}Descending"))
                    .expect("an order")
                    .contains("DESC")
            );
        }
        assert!(order("nameUp").is_err() && order("1; DROP").is_err());
    }
}
