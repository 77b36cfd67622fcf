//! The follower of the outbox that notes for each webhook the events that its owner may read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use entity_core::db::{self, Row};
use entity_core::engine::{Event, Origin};
use entity_core::{Caller, Context, Result};
use entity_providers::face::webhook::{DEAD, Kinds, PENDING, WebhookDelivery, take_turn};
use sea_orm::{ConnectionTrait as _, DbBackend};

use crate::operate::background;
use crate::operate::follower::{self, EVENTS, Follow, Offset, no_place, origin};
use crate::operate::node::Node;
use crate::operate::told;

/// The maximum number of deliveries of one webhook that wait.
const MOST_WAITING: i64 = 10_000;

/// The sites of which anybody is told.
const WITH_WEBHOOKS: &str = "site IN (SELECT w.site_id FROM webhook w WHERE w.active)";

/// Makes deliveries to webhooks.
#[derive(Debug)]
pub(crate) struct Deliveries;

/// An active webhook.
#[derive(Clone, Debug)]
struct Hook {
    id: String,
    site: String,
    kinds: Kinds,
    /// The internal and the external id of the owner.
    owner: (String, String),
}

/// Some events, and the webhooks that may be sent them.
struct Batch {
    /// The number of the last event that was done before.
    position: i64,
    /// The number of the last event that is done with these.
    last: i64,
    events: Vec<(i64, Event)>,
    hooks: Vec<Hook>,
}

/// An event that a webhook is sent: the numbers of both in their batch.
type Sent = (usize, usize);

impl Follow for Deliveries {
    const NAME: &'static str = "webhooks";

    async fn step(node: &Node, end: i64) -> Result<bool> {
        let origin = origin();
        let work = node.dispatcher.read(&origin, |cx| Box::pin(read(cx, end)));
        let batch = work.await?;
        let mut owners: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for (index, hook) in batch.hooks.iter().enumerate() {
            owners.entry(hook.owner.clone()).or_default().push(index);
        }
        let mut sent: Vec<Sent> = Vec::new();
        for (owner, hooks) in owners {
            sent.extend(of_owner(node, &batch, owner, &hooks).await?);
        }
        // In the order of the events.
        sent.sort_unstable();
        let may_be_more = batch.last < end;
        let batch = Arc::new((batch, sent));
        let done = background::write(node, &origin, move |cx| {
            let batch = Arc::clone(&batch);
            Box::pin(async move { store(cx, &batch.0, &batch.1).await })
        });
        // Where another node has followed them meanwhile, it is looked at what comes next.
        let is_stored = done.await?;
        node.post.wake();
        Ok(may_be_more || !is_stored)
    }
}

/// Reads the events behind the place of the follower, up to `end`, and the active webhooks of their sites.
async fn read(cx: &Context, end: i64) -> Result<Batch> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT position FROM follower WHERE name = ");
    sql.bind(Deliveries::NAME);
    let position = db::columns::<i64>;
    let found = db.rows(sql.into_statement(), position).await?;
    let position = found.first().copied().ok_or_else(no_place)?;
    let events = follower::events(cx, position, end, Some(WITH_WEBHOOKS)).await?;
    let last = match events.last() {
        Some((last, _)) if events.len() == EVENTS => *last,
        _ => end,
    };
    let sites: BTreeSet<&String> = events.iter().filter_map(|it| it.1.site.as_ref()).collect();
    let sites: Vec<String> = sites.into_iter().cloned().collect();
    let hooks = match sites.is_empty() {
        true => Vec::new(),
        false => hooks(cx, &sites).await?,
    };
    Ok(Batch {
        position,
        last,
        events,
        hooks,
    })
}

/// Returns the active webhooks of these sites whose owners may log in.
async fn hooks(cx: &Context, sites: &[String]) -> Result<Vec<Hook>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT w.id, w.site_id, w.kinds, u.id, u.eid FROM webhook w \
         JOIN user_account u ON u.id = w.owner WHERE w.active AND NOT u.is_disabled AND w.site_id",
    );
    sql.bind_list(sites)?.push(" ORDER BY w.id");
    let read = |row: &mut Row<'_>| {
        Ok(Hook {
            id: row.take()?,
            site: row.take()?,
            kinds: Kinds::parse(&row.take::<String>()?),
            owner: (row.take()?, row.take()?),
        })
    };
    db.rows(sql.into_statement(), read).await
}

/// Returns which events of the batch are sent to these webhooks, which have one owner.
async fn of_owner(
    node: &Node,
    batch: &Batch,
    (id, eid): (String, String),
    hooks: &[usize],
) -> Result<Vec<Sent>> {
    let hooks = hooks
        .iter()
        .filter_map(|it| Some((*it, batch.hooks.get(*it)?)));
    let hooks: Vec<(usize, &Hook)> = hooks.collect();
    let fits =
        |hook: &Hook, it: &Event| it.site.as_ref() == Some(&hook.site) && hook.kinds.have(&it.kind);
    let events = batch.events.iter();
    let events = events.filter(|it| hooks.iter().any(|hook| fits(hook.1, &it.1)));
    let events: Vec<_> = events.cloned().collect();
    let origin = Origin {
        caller: Caller::user(id, eid),
        ..origin()
    };
    let told = node
        .dispatcher
        .read(&origin, |cx| {
            Box::pin(async move { told::to_caller(cx, &events).await })
        })
        .await?;
    let told: BTreeSet<i64> = told.into_iter().map(|it| it.0).collect();
    let events = batch.events.iter().enumerate();
    let events = events.filter(|(_, it)| told.contains(&it.0));
    let sent = events.flat_map(|(event, it)| {
        let hooks = hooks.iter().filter(|hook| fits(hook.1, &it.1));
        hooks.map(move |hook| (event, hook.0))
    });
    Ok(sent.collect())
}

/// Stores the deliveries and moves the place of the follower; returns false if it has moved already.
async fn store(cx: &Context, batch: &Batch, sent: &[Sent]) -> Result<bool> {
    let Some(place) = follower::place(cx, Deliveries::NAME).await? else {
        return Err(no_place());
    };
    if place.position != batch.position {
        return Ok(false);
    }
    let there = there(cx, batch, sent).await?;
    let deliveries = sent.iter().filter_map(|(event, hook)| {
        let (event, hook) = (batch.events.get(*event)?, batch.hooks.get(*hook)?);
        there.contains(&hook.id).then(|| delivery(cx, hook, event))
    });
    let deliveries: Vec<_> = deliveries.collect();
    db::insert_many(cx, &deliveries).await?;
    let webhooks: BTreeSet<&str> = deliveries.iter().map(|it| &*it.webhook_id).collect();
    for webhook in webhooks {
        take_turn(cx, webhook).await?;
        bound(cx, webhook).await?;
    }
    let place = Offset {
        position: batch.last,
        person: String::new(),
    };
    follower::store(cx, Deliveries::NAME, &place).await?;
    Ok(true)
}

/// Returns which of the webhooks are still there, and stay until the unit of work ends.
async fn there(cx: &Context, batch: &Batch, sent: &[Sent]) -> Result<BTreeSet<String>> {
    let ids: BTreeSet<usize> = sent.iter().map(|it| it.1).collect();
    let ids = ids.into_iter().filter_map(|it| batch.hooks.get(it));
    let ids: Vec<String> = ids.map(|it| it.id.clone()).collect();
    if ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let db = cx.db()?;
    let mut sql = db.sql("SELECT id FROM webhook WHERE active AND id");
    sql.bind_list(&ids)?.push(" ORDER BY id");
    if db.get_database_backend() == DbBackend::Postgres {
        sql.push(" FOR KEY SHARE");
    }
    let found = db.rows(sql.into_statement(), db::columns::<String>).await?;
    Ok(found.into_iter().collect())
}

fn delivery(cx: &Context, hook: &Hook, (sequence, event): &(i64, Event)) -> WebhookDelivery {
    WebhookDelivery {
        id: cx.new_id(),
        site_id: hook.site.clone(),
        webhook_id: hook.id.clone(),
        kind: event.kind.clone(),
        time: event.time,
        state: PENDING.to_owned(),
        next_attempt: Some(cx.now()),
        created: cx.now(),
        sequence: *sequence,
        about: event.reference.clone(),
        ..WebhookDelivery::default()
    }
}

/// Gives up the oldest deliveries of the webhook if too many wait.
async fn bound(cx: &Context, webhook: &str) -> Result<()> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE webhook_delivery SET next_attempt = NULL, state = ");
    sql.bind(DEAD)
        .push(", last_error = 'too many deliveries wait' WHERE webhook_id = ");
    sql.bind(webhook).push(" AND state = ").bind(PENDING);
    sql.push(" AND sequence <= (SELECT sequence FROM webhook_delivery WHERE webhook_id = ");
    sql.bind(webhook).push(" AND state = ").bind(PENDING);
    sql.push(" ORDER BY sequence DESC LIMIT 1 OFFSET ")
        .bind(MOST_WAITING);
    sql.push(")");
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}
