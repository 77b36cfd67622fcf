//! The places of rows among others.

use entity_core::{Context, Result};
use sea_orm::{ColumnTrait as _, EntityTrait, QueryFilter as _, QuerySelect as _, sea_query::Expr};

/// Returns the number of rows for which `beside` holds, and the last `place` that one of them has; 0 if there are none.
pub(crate) async fn last<E: EntityTrait>(
    cx: &Context,
    place: E::Column,
    beside: Expr,
) -> Result<(i64, i64)> {
    let others = E::find()
        .select_only()
        .expr(place.count())
        .expr(place.max())
        .filter(beside);
    let found: Vec<(i64, Option<i64>)> = cx.db()?.select(&others).await?;
    let (count, last) = found.into_iter().next().unwrap_or_default();
    Ok((count, last.unwrap_or_default()))
}
