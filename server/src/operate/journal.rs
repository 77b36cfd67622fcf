//! The journal of a write, stored in its own transaction: its events in the outbox and its audit row.

use std::sync::Arc;

use async_trait::async_trait;
use entity_core::db::Session;
use entity_core::engine::{Audit, Event, EventSink};
use entity_core::{Context, Error, Result};
use entity_providers::people::authorizer::RoleAuthorizer;
use futures::future::BoxFuture;
use http::StatusCode;
use sea_orm::ConnectionTrait as _;
use sea_orm::sea_query::{Alias, Expr, Query};
use tokio::sync::watch;

use crate::base::error;
use crate::guard::audit::{AuditRow, AuditStore};
use crate::guard::session::Sessions;

/// The outbox: events in the order in which they were committed, for followers.
pub(crate) const OUTBOX: &str = "outbox";

/// A further step in the transaction of a write, because of its events.
pub(crate) type Follow = for<'a> fn(&'a Context, &'a [Event]) -> BoxFuture<'a, Result<()>>;

/// Writes events and audit rows, and invalidates the caches of this process.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Writes audit rows into the transaction of the request.
    pub audit: AuditStore,
    /// Forgets permissions that changed.
    pub authorizer: Arc<RoleAuthorizer>,
    /// Ends sessions of users who may no longer have any.
    pub sessions: Arc<Sessions>,
    /// Ends private feeds whose owners may no longer have them.
    pub ends_feeds: Follow,
    /// Wakes the followers of the outbox.
    pub news: watch::Sender<()>,
}

#[async_trait]
impl EventSink for Outbox {
    async fn record(&self, cx: &Context, events: &[Event], audit: Audit) -> Result<()> {
        let db = cx.db()?;
        self.sessions.follow(cx, events).await?;
        (self.ends_feeds)(cx, events).await?;
        self.authorizer.record(cx, events).await?;
        if !events.is_empty() {
            insert_events(db, events).await?;
        }
        let status = match audit {
            Audit::Done(effect) => error::done(&effect, false),
            Audit::Answered(status) => StatusCode::from_u16(status).map_err(Error::internal)?,
            Audit::Later => return Ok(()),
        };
        let row = AuditRow::of(cx.origin().clone(), cx.now(), status);
        self.audit.insert_in(db, &row).await
    }

    fn published(&self, events: &[Event]) {
        self.news.send_replace(());
        if events.iter().any(RoleAuthorizer::concerns) {
            self.authorizer.forget();
        }
    }
}

async fn insert_events(db: &Session, events: &[Event]) -> Result<()> {
    let mut statement = Query::insert();
    statement
        .into_table(Alias::new(OUTBOX))
        .columns(["kind", "reference", "actor", "site", "time", "details"].map(Alias::new));
    for event in events {
        statement.values_panic([
            Expr::val(event.kind.as_str()),
            Expr::val(event.reference.as_str()),
            Expr::val(event.actor.clone()),
            Expr::val(event.site.clone()),
            Expr::val(event.time.timestamp_millis()),
            Expr::val(details(event)?),
        ]);
    }
    db.execute(&statement).await?;
    Ok(())
}

/// The details as the outbox has them: a JSON object, or nothing.
fn details(event: &Event) -> Result<Option<String>> {
    if event.details.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&event.details).map_err(Error::internal)?;
    Ok(Some(text))
}
