//! The followers of the outbox: each takes the events in the order in which they were committed, each once, and keeps its
//! place in the database, in the same transaction as what it made. One that fails holds up no other. Those here make
//! notifications, and count events.
//!
//! On PostgreSQL, transactions that come later in the outbox can be committed earlier. So a follower reads up to an
//! offset behind which nothing can be committed any more: all writers of the outbox share a lock until they are
//! committed, and the follower holds that lock alone for the moment in which it reads the end.

use std::marker::PhantomData;
use std::sync::Weak;
use std::time::Duration;

use chrono::DateTime;
use entity_core::db;
use entity_core::engine::{Event, Origin};
use entity_core::{Context, Error, Notice, Result};
use entity_providers::people::site::activity;
use entity_providers::talk::notification;
use sea_orm::{ConnectionTrait as _, DbBackend};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::base::supervise::Task;
use crate::base::telemetry;
use crate::operate::background;
use crate::operate::migration::LOCK;
use crate::operate::node::{Inner, Node};

/// The interval at which a follower looks when nobody wakes it: other machines write too.
const LOOK: Duration = Duration::from_secs(5);
/// The time for which it rests at least: events come to people soon, and a write of many is hardly more than one of few.
const REST: Duration = Duration::from_secs(1);
/// The maximum number of people who are notified in one transaction.
const PEOPLE: usize = 500;
/// The maximum number of events that are read at once.
pub(crate) const EVENTS: usize = 100;

/// A consumer of the events in the outbox.
pub(crate) trait Follow: Send + Sync + 'static {
    /// The name of the follower: in its table, in the log, and among what is degraded.
    const NAME: &'static str;

    /// Follows some of the events up to `end`, and returns whether there may be more.
    fn step(node: &Node, end: i64) -> impl Future<Output = Result<bool>> + Send;

    /// Called when all events up to `last` are followed.
    fn caught_up(_app: &Node, _last: i64) {}
}

/// Follows the outbox until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Follower<F> {
    node: Weak<Inner>,
    news: watch::Receiver<()>,
    of: PhantomData<F>,
}

/// Makes notifications.
#[derive(Debug)]
pub(crate) struct Notifications;

impl Follow for Notifications {
    const NAME: &'static str = "notifications";

    async fn step(node: &Node, end: i64) -> Result<bool> {
        background::write(node, &origin(), move |cx| Box::pin(step(cx, end))).await
    }

    fn caught_up(node: &Node, last: i64) {
        node.followed.send_if_modified(|it| {
            let is_further = *it < last;
            *it = last.max(*it);
            is_further
        });
    }
}

/// Counts events by site and day.
#[derive(Debug)]
pub(crate) struct Activity;

impl Follow for Activity {
    const NAME: &'static str = "activity";

    async fn step(node: &Node, end: i64) -> Result<bool> {
        background::write(node, &origin(), move |cx| Box::pin(count(cx, end))).await
    }
}

/// Counts some of the events up to `end`, and returns whether there may be more.
async fn count(cx: &Context, end: i64) -> Result<bool> {
    let place = place(cx, Activity::NAME).await?.ok_or_else(no_place)?;
    let events = events(cx, place.position, end, None).await?;
    let Some((position, _)) = events.last() else {
        return Ok(false);
    };
    activity::count(cx, events.iter().map(|(_, it)| it)).await?;
    let place = Offset {
        position: *position,
        ..place
    };
    store(cx, Activity::NAME, &place).await?;
    Ok(true)
}

/// The place of a follower in the outbox.
#[derive(db::Row)]
pub(crate) struct Offset {
    /// The number of the last event that is done.
    pub(crate) position: i64,
    /// The last person who was notified of the event behind it; empty if nobody was.
    pub(crate) person: String,
}

impl<F: Follow> Follower<F> {
    /// The follower of `node`, which is woken by `news`.
    pub(crate) fn of(node: &Node, news: watch::Receiver<()>) -> Self {
        Self {
            node: node.downgrade(),
            news,
            of: PhantomData,
        }
    }
}

impl<F: Follow> Task for Follower<F> {
    const NAME: &'static str = F::NAME;

    async fn run(&mut self) {
        loop {
            // Events are followed together. What comes in meanwhile is not forgotten.
            sleep(REST).await;
            let _elapsed = timeout(LOOK, self.news.changed()).await;
            let Some(node) = self.node.upgrade().map(Node::from) else {
                return;
            };
            if let Err(error) = catch_up::<F>(&node).await {
                node.health.degrade(F::NAME, "events can't be followed");
                tracing::warn!(
                    follower = F::NAME,
                    error = telemetry::cause(&error),
                    "can't follow the events; trying again"
                );
                self.news.mark_changed();
            } else {
                node.health.restore(F::NAME);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

/// Checks that there is at most one notice for each kind of events.
pub(crate) fn check() -> Result<()> {
    match Notice::claimed_twice() {
        None => Ok(()),
        Some(event) => Err(Error::internal(format!(
            "two notices are registered for the event `{event}`"
        ))),
    }
}

/// Follows all events that are committed.
pub(crate) async fn catch_up<F: Follow>(node: &Node) -> Result<()> {
    let origin = origin();
    let read = || {
        node.dispatcher
            .read(&origin, |cx| Box::pin(bounds_of(cx, F::NAME)))
    };
    let mut bounds = read().await?;
    if bounds.last < bounds.newest {
        let end = background::write(node, &origin, |cx| Box::pin(end(cx))).await?;
        while F::step(node, end).await? {}
        bounds = read().await?;
    }
    F::caught_up(node, bounds.last);
    Ok(())
}

/// The numbers of some events.
#[derive(Clone, Copy, Debug, db::Row)]
pub(crate) struct Bounds {
    /// The oldest one that is kept; behind the last one if none is.
    pub(crate) first: i64,
    /// The last one that is followed: every one up to it is committed, or never will be.
    pub(crate) last: i64,
    /// The newest one that can be seen.
    newest: i64,
}

/// Returns the bounds of the outbox, of which everything is told that has led to notifications.
pub(crate) async fn bounds(cx: &Context) -> Result<Bounds> {
    bounds_of(cx, Notifications::NAME).await
}

async fn bounds_of(cx: &Context, name: &str) -> Result<Bounds> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT coalesce((SELECT min(sequence) FROM outbox), f.position + 1), f.position, \
         coalesce((SELECT max(sequence) FROM outbox), 0) FROM follower f WHERE f.name = ",
    );
    sql.bind(name);
    let found = db.rows(sql.into_statement(), db::columns).await?.pop();
    found.ok_or_else(no_place)
}

pub(crate) fn no_place() -> Error {
    Error::internal("the follower has no place in the outbox")
}

/// Returns the number of the last event: every one before it is committed, or never will be.
async fn end(cx: &Context) -> Result<i64> {
    let db = cx.db()?;
    if db.get_database_backend() == DbBackend::Postgres {
        let sql = format!("SELECT pg_advisory_xact_lock({LOCK})");
        db.execute_unprepared(&sql).await?;
    }
    number(cx, "SELECT coalesce(max(sequence), 0) FROM outbox").await
}

async fn number(cx: &Context, sql: &str) -> Result<i64> {
    let db = cx.db()?;
    let found: Vec<i64> = db.rows(db.sql(sql).into_statement(), db::columns).await?;
    let found = found.first().copied();
    found.ok_or_else(|| Error::internal("the database does not answer a count"))
}

/// Follows some of the events up to `end`, and returns whether there may be more.
async fn step(cx: &Context, end: i64) -> Result<bool> {
    let Some(mut place) = place(cx, Notifications::NAME).await? else {
        return Err(no_place());
    };
    let events = events(cx, place.position, end, None).await?;
    let is_end = events.is_empty();
    for (sequence, event) in events {
        let rest = notification::follow(cx, &event, &place.person, PEOPLE).await?;
        let is_told = rest.is_some();
        match rest {
            Some(person) => place.person = person,
            None => {
                place = Offset {
                    position: sequence,
                    person: String::new(),
                }
            }
        }
        if is_told {
            break;
        }
    }
    if !is_end {
        store(cx, Notifications::NAME, &place).await?;
    }
    Ok(!is_end)
}

/// Returns the offset of the follower `name`, which is locked until the unit of work ends.
pub(crate) async fn place(cx: &Context, name: &str) -> Result<Option<Offset>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT position, person FROM follower WHERE name = ");
    sql.bind(name);
    if db.get_database_backend() == DbBackend::Postgres {
        sql.push(" FOR UPDATE");
    }
    Ok(db.rows(sql.into_statement(), db::columns).await?.pop())
}

/// Moves the follower `name` to `place`.
pub(crate) async fn store(cx: &Context, name: &str, place: &Offset) -> Result<()> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE follower SET position = ");
    sql.bind(place.position).push(", person = ");
    sql.bind(place.person.as_str()).push(" WHERE name = ");
    sql.bind(name);
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Returns the events behind `position` up to `end`, in order, each with its number: all, or those of sites that this
/// condition holds for. There are at most [`EVENTS`].
pub(crate) async fn events(
    cx: &Context,
    position: i64,
    end: i64,
    of_sites: Option<&str>,
) -> Result<Vec<(i64, Event)>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT sequence, kind, reference, actor, site, time, details FROM outbox WHERE sequence > ",
    );
    sql.bind(position).push(" AND sequence <= ").bind(end);
    if let Some(condition) = of_sites {
        sql.push(" AND ").push(condition);
    }
    sql.push(" ORDER BY sequence LIMIT ")
        .bind(i64::try_from(EVENTS).unwrap_or(i64::MAX));
    let read = |row: &mut entity_core::db::Row<'_>| {
        let sequence: i64 = row.take()?;
        let event = Event {
            kind: row.take()?,
            reference: row.take()?,
            actor: row.take()?,
            site: row.take()?,
            time: DateTime::from_timestamp_millis(row.take()?).unwrap_or_default(),
            details: details(row.take::<Option<String>>()?),
        };
        Ok((sequence, event))
    };
    db.rows(sql.into_statement(), read).await
}

/// The details as they were written; none, if they are no object.
fn details(text: Option<String>) -> serde_json::Map<String, serde_json::Value> {
    let parsed = text.and_then(|it| serde_json::from_str(&it).ok());
    parsed.unwrap_or_default()
}

/// Returns the origin of the requests of followers.
pub(crate) fn origin() -> Origin {
    Origin {
        method: "FOLLOW".into(),
        ..background::origin()
    }
}

/// Returns the number of the first event that a follower still needs; `None` if none needs any.
pub(crate) async fn first_needed(node: &Node) -> Result<i64> {
    let origin = origin();
    let sql = "SELECT coalesce(min(position) + 1, 9223372036854775807) FROM follower";
    node.dispatcher
        .read(&origin, |cx| Box::pin(number(cx, sql)))
        .await
}
