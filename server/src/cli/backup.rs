//! `lectern backup FILE` and `lectern restore FILE`.

use std::path::Path;

use entity_core::Registry;

use super::{Failure, say};
use crate::config::Config;
use crate::storage;

/// How many percent lie between two lines of progress.
const STEP: u64 = 10;

/// Writes a backup, while a service may be at work.
pub(super) fn backup(config: &Config, file: &Path, is_forced: bool) -> Result<(), Failure> {
    let mut told = 0;
    storage::backup(config.database.expose(), file, is_forced, |percent| {
        if percent >= told + STEP || percent == 100 {
            told = percent;
            say(&format!("copied {percent} % of the database"));
        }
    })?;
    say(&format!("the backup is complete: {}", file.display()));
    Ok(())
}

/// Makes the database from a backup, while no service is at work.
pub(super) async fn restore(config: &Config, file: &Path, is_forced: bool) -> Result<(), Failure> {
    let registry = Registry::from_inventory()?;
    storage::restore(config.database.expose(), file, is_forced, &registry).await?;
    say("the database is restored and up to date");
    Ok(())
}
