//! The quota of the files of a site, in bytes.

use entity_core::blob::Blob;
use entity_core::db::attached::loose;
use entity_core::db::blobs::{self, Payer};
use entity_core::{Context, Error, Result};

use crate::base::limits;

/// Returns the number of bytes that the files of one site may have; 0 for any number.
pub(super) fn of_site(cx: &Context) -> Result<u64> {
    Ok(limits::of(cx)?.file_bytes_per_site)
}

/// Returns how many bytes may still be added to the files of `site`. Files that were refused or deleted take room until
/// they are off the disk.
pub(super) async fn room(cx: &Context, site: &str) -> Result<u64> {
    let most = of_site(cx)?;
    if most == 0 {
        return Ok(u64::MAX);
    }
    let used = loose::without(cx, site).await?;
    // The files of this request are on the disk already.
    let own: Vec<Blob> = cx.uploads().iter().map(|it| it.blob).collect();
    let others = blobs::taken(cx, Payer::Site(site), &own).await?;
    Ok(most.saturating_sub(used).saturating_sub(others))
}

/// Checks that `more` bytes may be added to the files of `site`.
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
