//! Checks before serving people: the rules of the profile `production`, and those that hold on any address that
//! strangers can reach.
//!
//! Rules that hold for every profile are not here: a SQLite database that is not in the journal mode WAL with
//! `synchronous = FULL` is refused wherever it is opened, and protection against forged requests has no switch.

mod database;
mod files;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use entity_core::Result;
use entity_core::db::Db;

use crate::base::config::{Config, Problem};
use crate::operate::storage;

/// The problems that were found, each with the way to correct it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// With one of these the service does not start.
    pub refused: Vec<Problem>,
    /// These are logged.
    pub warned: Vec<Problem>,
}

/// Why a service with the profile `production` does not start.
#[derive(Clone, Debug)]
pub struct Refusal(Vec<Problem>);

/// Looks at the settings, at the file they come from, and at the databases, of which `content` is the one with the
/// content.
pub async fn inspect(config: &Config, file: Option<&Path>, content: &Db) -> Result<Findings> {
    let mut findings = inspect_outside(config, file)?;
    let mut found = database::inspect(content).await?;
    findings.refused.append(&mut found.refused);
    findings.warned.append(&mut found.warned);
    Ok(findings)
}

/// Refuses a store of files on this machine, where other nodes do not find them.
///
/// # Errors
/// It has no store of files that other nodes can share.
pub fn refuse_lone_store(config: &Config) -> std::result::Result<(), Refusal> {
    match settings::lacks_store(config) {
        Some(problem) => Err(Refusal(vec![problem])),
        None => Ok(()),
    }
}

/// Looks at all that can be seen without a database.
///
/// # Errors
/// The address of the database is none.
pub fn inspect_outside(config: &Config, file: Option<&Path>) -> Result<Findings> {
    let mut refused = settings::inspect(config);
    refused.extend(file.and_then(|it| files::inspect("--config", it)));
    let databases = storage::files(config.database.expose())?;
    refused.extend(
        databases
            .iter()
            .filter_map(|it| files::inspect("database", it)),
    );
    let stored = crate::operate::files::folder(config)?;
    refused.extend(stored.and_then(|it| files::inspect("files.folder", &it)));
    Ok(Findings {
        refused,
        warned: settings::warn(config),
    })
}

/// Returns the problem with listening on an address that strangers can reach, whatever the profile: a password in
/// `content` that they know.
pub async fn inspect_exposure(config: &Config, content: &Db) -> Result<Option<Problem>> {
    if !config.is_exposed() {
        return Ok(None);
    }
    let found = database::known_password(content).await?;
    Ok(found.map(|it| Problem {
        message: format!("{}; or listen on 127.0.0.1", it.message),
        ..it
    }))
}

impl Findings {
    /// Returns the warnings, if nothing is refused.
    ///
    /// # Errors
    /// Something is.
    pub fn accept(self) -> std::result::Result<Vec<Problem>, Refusal> {
        match self.refused.is_empty() {
            true => Ok(self.warned),
            false => Err(Refusal(self.refused)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the profile `production` does not allow this")?;
        self.0.iter().try_for_each(|it| write!(f, "\n  {it}"))
    }
}

impl std::error::Error for Refusal {}
