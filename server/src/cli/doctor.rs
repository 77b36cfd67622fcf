//! `lectern doctor`: every setting with its source, and what is wrong.

use std::path::Path;
use std::process::ExitCode;

use entity_core::Registry;

use super::{Failure, USAGE, explain, fail, say};
use crate::config::{Config, Loaded, Profile};
use crate::production::{self, Findings};
use crate::storage::Storage;

/// Shows the settings, which come from `file` among others, checks them, then opens the database.
pub(super) fn run(loaded: &Loaded, file: Option<&Path>) -> ExitCode {
    for (key, value, source) in &loaded.effective {
        say(&format!("{key:32} {value:40} ({source})"));
    }
    let config = match &loaded.config {
        Err(problems) => return fail(problems, USAGE),
        Ok(config) => config,
    };
    match check(config, file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&*failure, 1),
    }
}

fn check(config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    let registry = Registry::from_inventory()?;
    let types: Vec<_> = registry.routes().map(|it| it.prefix).collect();
    say(&format!("entity types: {}", types.join(", ")));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let findings = runtime.block_on(async {
        let storage = Storage::open(config.database.expose(), &registry).await?;
        say("database: reached, up to date, and it keeps what it acknowledges");
        production::inspect(config, file, &storage).await
    });
    let findings = findings.map_err(|it| format!("database: {}", explain(&it)))?;
    judge(config.profile, findings)
}

/// Tells what was found. Only the profile `production` is against it.
fn judge(profile: Profile, findings: Findings) -> Result<(), Failure> {
    for problem in &findings.warned {
        say(&format!("better: {problem}"));
    }
    match (profile, findings.accept()) {
        (_, Ok(_)) => say("fit for production"),
        (Profile::Development, Err(refusal)) => say(&refusal.to_string()),
        (Profile::Production, Err(refusal)) => return Err(refusal.into()),
    }
    Ok(())
}
