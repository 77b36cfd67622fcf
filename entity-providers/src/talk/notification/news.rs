//! Which tools of which sites have something new for the caller.

use std::collections::BTreeSet;

use entity_core::db;
use entity_core::{Context, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};

use super::view::walk;
use super::{Notification, notification};

/// The number of notifications that are looked at together: most often the first of them tell of every tool.
const STEP: u64 = 50;

/// A site and the id of one of its tools.
pub(crate) type Place = (String, String);

/// Returns those tools of `sites` of which the caller has a notification that is not viewed and that the list of
/// notifications shows.
///
/// # Errors
/// Returns an error if the database can't be read, or if a permission could not be decided.
pub(crate) async fn news(cx: &Context, sites: &[&str]) -> Result<BTreeSet<Place>> {
    let (mut awaited, mut found) = (unviewed(cx, sites).await?, BTreeSet::new());
    if awaited.is_empty() {
        return Ok(found);
    }
    let sites: BTreeSet<_> = awaited.iter().map(|it| it.0.clone()).collect();
    let filters = [
        Notification::FIELD.viewed.eq(false),
        Notification::FIELD.site_id.is_in(sites),
    ];
    walk(cx, &filters, STEP, |page| {
        for notification in page {
            let place = (notification.site_id, notification.tool);
            awaited.remove(&place);
            found.insert(place);
        }
        !awaited.is_empty()
    })
    .await?;
    Ok(found)
}

/// Returns the tools of `sites` of which there are such notifications, whether the list shows these or not.
async fn unviewed(cx: &Context, sites: &[&str]) -> Result<BTreeSet<Place>> {
    use notification::Column::{SiteId, ToUser, Tool, Viewed};
    let unviewed = notification::Entity::find()
        .select_only()
        .distinct()
        .columns([SiteId, Tool])
        .filter(ToUser.eq(cx.user_id()?))
        .filter(Viewed.eq(false))
        .filter(db::among(cx, SiteId.into_expr(), sites)?);
    let found: Vec<Place> = cx.db()?.select(&unviewed).await?;
    Ok(found.into_iter().collect())
}
