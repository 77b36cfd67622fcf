//! `lectern export SITE FILE` and `lectern import FILE`.

use std::path::Path;

use super::open::start;
use super::output::{Failure, note, say};
use crate::base::config::Config;
use crate::operate::archive;

/// Writes the archive of a site, while a service may be at work.
pub(super) async fn export(config: Config, site: &str, file: &Path) -> Result<(), Failure> {
    let app = start(config).await?;
    archive::export(&app, site, file, note).await?;
    app.finish().await;
    say(&format!("the archive is complete: {}", file.display()));
    Ok(())
}

/// Takes an archive in, while a service may be at work.
pub(super) async fn import(config: Config, file: &Path) -> Result<(), Failure> {
    let app = start(config).await?;
    let done = archive::import(&app, file, note).await?;
    app.finish().await;
    let site = &done.site;
    say(&match done.was_complete {
        true => format!(
            "the site `{site}` was imported from this archive before: nothing is to be done"
        ),
        false => format!(
            "the site `{site}` is imported: {} rows now, and {} new accounts, which are shut",
            done.rows, done.accounts
        ),
    });
    Ok(())
}
