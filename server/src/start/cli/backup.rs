//! `lectern backup FILE` and `lectern restore FILE`.

use std::path::Path;

use entity_core::Registry;

use super::output::{Failure, say, tell_files};
use crate::base::config::Config;
use crate::operate::files::{self, copy};
use crate::operate::storage;

/// The percentage between two lines of progress.
const STEP: u64 = 10;

/// Writes a backup, while a service may be at work.
pub(super) async fn backup(config: &Config, file: &Path, is_forced: bool) -> Result<(), Failure> {
    let mut told = 0;
    storage::backup(config.database.expose(), file, is_forced, |percent| {
        if percent >= told + STEP || percent == 100 {
            told = percent;
            say(&format!("copied {percent} % of the database"));
        }
    })?;
    let store = files::connect(config).await?;
    let registry = Registry::from_inventory()?;
    let survey = copy::backup(&store, file, &registry, tell_files).await?;
    if let Some(damage) = survey.damage() {
        return Err(format!("the backup lacks files, and has all else: {damage}").into());
    }
    say(&format!("the backup is complete: {}", file.display()));
    Ok(())
}

/// Makes the database from a backup, while no service is at work.
pub(super) async fn restore(config: &Config, file: &Path, is_forced: bool) -> Result<(), Failure> {
    let registry = Registry::from_inventory()?;
    let url = config.database.expose();
    storage::may_restore(url, file, is_forced)?;
    let store = files::connect(config).await?;
    let replaced = storage::beside_content(url, "")?.filter(|it| it.is_file());
    let survey = copy::restore(file, &store, replaced.as_deref(), &registry, tell_files).await?;
    storage::restore(url, file, is_forced, &registry).await?;
    say("the database is restored and up to date");
    match survey.damage() {
        None => Ok(()),
        Some(damage) => Err(format!("the backup lacks files; the rest is there: {damage}").into()),
    }
}
