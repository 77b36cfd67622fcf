//! What the categories and the items of a site have in common: names that are unique in the site, and how many there are.

use entity_core::db::{Record, Row};
use entity_core::{Context, Error, Provider, Result};

use crate::limits;

/// Checks that the site `site` may have one more entity of this type, and that none but the one with the key `key` has
/// this name. Returns the largest position in use, for a type that has positions, and 0 for others.
///
/// # Errors
/// Returns an error if the name is taken or the site has too many.
pub(super) async fn check<T: Record + Provider>(
    cx: &Context,
    site: &str,
    name: &str,
    key: &str,
    most: i64,
) -> Result<i64> {
    limits::lock_site(cx, site).await?;
    let db = cx.db()?;
    let has_position = T::COLUMNS.iter().any(|it| it.0 == "position");
    let mut sql = db.sql("SELECT count(*), CAST(coalesce(sum(CASE WHEN name = ");
    sql.bind(name).push(" THEN 1 ELSE 0 END), 0) AS bigint), ");
    sql.push(if has_position {
        "coalesce(max(position), 0)"
    } else {
        "CAST(0 AS bigint)"
    });
    sql.push(" FROM ")
        .push(T::TABLE)
        .push(" WHERE site_id = ")
        .bind(site);
    sql.push(" AND ").push(T::KEY).push(" <> ").bind(key);
    let read = |row: &mut Row<'_>| Ok((row.take()?, row.take()?, row.take()?));
    let found: Vec<(i64, i64, i64)> = db.rows(sql.into_statement(), read).await?;
    let (count, same, last) = found.into_iter().next().unwrap_or_default();
    if same > 0 {
        return Err(Error::taken("name", "is taken in this site"));
    }
    if count >= most {
        let message = format!("a site has at most {most} of the type {}", T::PREFIX);
        return Err(Error::limit_reached(message));
    }
    Ok(last)
}
