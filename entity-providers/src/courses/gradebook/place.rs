//! The limits of the categories and items of a site.

use entity_core::db::{self, Record};
use entity_core::{Context, Error, Provider, Result};

use crate::base::limits;

/// Checks that the site may have one more entity of this type. Returns the largest position in use, for a type that has
/// positions, and 0 for others.
///
/// # Errors
/// Returns an error if the site has `most` already.
pub(super) async fn next<T: Record + Provider>(cx: &Context, site: &str, most: i64) -> Result<i64> {
    limits::lock_site(cx, site).await?;
    let has_position = T::COLUMNS.iter().any(|it| it.0 == "position");
    let last = match has_position {
        true => "coalesce(max(position), 0)",
        false => "CAST(0 AS bigint)",
    };
    let db = cx.db()?;
    let mut sql = db.sql("SELECT count(*), ");
    sql.push(last).push(" FROM ").push(T::TABLE);
    sql.push(" WHERE site_id = ").bind(site);
    let found: Vec<(i64, i64)> = db.rows(sql.into_statement(), db::columns).await?;
    let (count, last) = found.into_iter().next().unwrap_or_default();
    if count >= most {
        let message = format!("a site has at most {most} of the type {}", T::PREFIX);
        return Err(Error::limit_reached(message));
    }
    Ok(last)
}
