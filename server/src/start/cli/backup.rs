//! `lectern backup FILE` and `lectern restore FILE`.

use std::path::Path;

use entity_core::Registry;

use super::{Failure, say};
use crate::base::config::Config;
use crate::operate::files::{self, copy};
use crate::operate::storage;

/// How many percent lie between two lines of progress.
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
    let count = copy::backup(&store, file).await?;
    if count > 0 {
        let folder = copy::of_backup(file);
        let place = files::place(config)?;
        say(&format!(
            "copied {count} files of {place} to {}",
            folder.display()
        ));
    }
    say(&format!("the backup is complete: {}", file.display()));
    Ok(())
}

/// Makes the database from a backup, while no service is at work.
pub(super) async fn restore(config: &Config, file: &Path, is_forced: bool) -> Result<(), Failure> {
    let registry = Registry::from_inventory()?;
    let url = config.database.expose();
    storage::may_restore(url, file, is_forced)?;
    // The database is to name no file that is not there.
    let store = files::connect(config).await?;
    let replaced = storage::beside_content(url, "")?.filter(|it| it.is_file());
    let count = copy::restore(file, &store, replaced.as_deref()).await?;
    if count > 0 {
        say(&format!(
            "copied {count} files to {}",
            files::place(config)?
        ));
    }
    storage::restore(url, file, is_forced, &registry).await?;
    say("the database is restored and up to date");
    Ok(())
}
