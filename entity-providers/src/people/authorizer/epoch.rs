//! The epoch of permissions: a number in the database that goes up with every change to what decisions are
//! made of, whichever machine makes it.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::TimeDelta;
use entity_core::{Context, Result};
use futures::lock::Mutex;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{EntityTrait, QuerySelect};

use crate::storage::db::authorization_epoch::{Column, Entity};

/// The time for which the number is believed: what another machine changes goes unnoticed no longer than this.
const BELIEVED: TimeDelta = TimeDelta::milliseconds(500);

/// The epoch, as far as this process knows it.
#[derive(Debug)]
pub(super) struct Epoch {
    /// When it was looked up, in milliseconds since 1970.
    asked: AtomicI64,
    /// The number that was found then. Held while one request looks it up and the others wait for it.
    number: Mutex<Option<i64>>,
}

impl Default for Epoch {
    fn default() -> Self {
        Self {
            asked: AtomicI64::new(i64::MIN),
            number: Mutex::new(None),
        }
    }
}

impl Epoch {
    /// Looks up the number, unless somebody did that meanwhile, and calls `forget` if it is another one than before.
    pub(super) async fn follow(&self, cx: &Context, forget: impl FnOnce()) -> Result<()> {
        let mut number = self.number.lock().await;
        if self.is_fresh(cx) {
            return Ok(());
        }
        let found = read(cx).await?;
        if number.replace(found) != Some(found) {
            forget();
        }
        self.asked
            .store(cx.now().timestamp_millis(), Ordering::Release);
        Ok(())
    }

    /// Returns whether the number was looked up just now.
    pub(super) fn is_fresh(&self, cx: &Context) -> bool {
        let asked = self.asked.load(Ordering::Acquire);
        let age = cx.now().timestamp_millis().saturating_sub(asked);
        age.saturating_abs() < BELIEVED.num_milliseconds()
    }
}

/// The number as the unit of work of `cx` sees it.
pub(super) async fn read(cx: &Context) -> Result<i64> {
    let statement = Entity::find().select_only().column(Column::Number);
    let found: Option<i64> = cx.db()?.first(statement).await?;
    Ok(found.unwrap_or_default())
}

/// Counts on, in the unit of work of a change. The row's lock lets such changes commit one after the other,
/// so that the number never goes back.
pub(super) async fn advance(cx: &Context) -> Result<()> {
    Entity::update_many()
        .col_expr(Column::Number, Expr::col(Column::Number).add(1))
        .exec(cx.db()?)
        .await?;
    Ok(())
}
