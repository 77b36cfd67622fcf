//! `lectern doctor`: every setting with its source, and what is wrong.

use std::process::ExitCode;

use entity_core::Registry;

use super::{USAGE, explain, fail, say};
use crate::config::{Config, Loaded};
use crate::storage::Storage;

/// Shows the settings, checks them, then opens the database.
pub(super) fn run(loaded: &Loaded) -> ExitCode {
    for (key, value, source) in &loaded.effective {
        say(&format!("{key:32} {value:40} ({source})"));
    }
    match &loaded.config {
        Err(problems) => fail(problems, USAGE),
        Ok(config) => check_database(config),
    }
}

fn check_database(config: &Config) -> ExitCode {
    let registry = match Registry::from_inventory() {
        Ok(registry) => registry,
        Err(error) => return fail(&error, 1),
    };
    let types: Vec<_> = registry.routes().map(|it| it.prefix).collect();
    say(&format!("entity types: {}", types.join(", ")));
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error, 1),
    };
    match runtime.block_on(Storage::open(config.database.expose(), &registry)) {
        Ok(_storage) => {
            say("database: reached, up to date, and it keeps what it acknowledges");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("database: {}", explain(&error)), 1),
    }
}
