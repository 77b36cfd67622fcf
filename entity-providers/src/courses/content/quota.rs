//! The quota of the files of a site, in bytes.

use entity_core::{Context, Error, Result};
use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};

use super::content_item;
use crate::base::limits;

/// Returns the number of bytes that the files of one site may have; 0 for any number.
pub(super) fn of_site(cx: &Context) -> Result<u64> {
    Ok(limits::of(cx)?.file_bytes_per_site)
}

/// Returns how many bytes may still be added to the files of `site`.
pub(super) async fn room(cx: &Context, site: &str) -> Result<u64> {
    let most = of_site(cx)?;
    if most == 0 {
        return Ok(u64::MAX);
    }
    let used = content_item::Entity::find()
        .select_only()
        .expr(content_item::Column::Size.sum().cast_as("bigint"))
        .filter(content_item::Column::SiteId.eq(site));
    let used: Vec<Option<i64>> = cx.db()?.select(&used).await?;
    let used = used.into_iter().flatten().sum::<i64>();
    Ok(most.saturating_sub(u64::try_from(used).unwrap_or_default()))
}

/// Checks that `more` bytes may be added to the files of `site`.
///
/// # Errors
/// Returns an error if the site would have too much.
pub(super) async fn demand(cx: &Context, site: &str, more: i64) -> Result<()> {
    if more <= 0 {
        return Ok(());
    }
    limits::lock_site(cx, site).await?;
    let (room, more) = (
        room(cx, site).await?,
        u64::try_from(more).unwrap_or(u64::MAX),
    );
    match more <= room {
        true => Ok(()),
        false => Err(exceeded(cx, site, room)?),
    }
}

/// Returns the error for a site that has room for `room` more bytes only.
pub(super) fn exceeded(cx: &Context, site: &str, room: u64) -> Result<Error> {
    let most = of_site(cx)?;
    Ok(Error::limit_reached(format!(
        "the site `{site}` has room for {room} more bytes of files, of at most {most} (`files.siteBytes`): delete something first, or ask an administrator for more"
    )))
}
