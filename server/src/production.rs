//! What stands against serving people: the rules of the profile `production`.
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

use crate::config::{Config, Problem};
use crate::storage::{self, Storage};

/// What was found, each with what to do about it.
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

/// Looks at the settings, at the file they come from, and at the databases.
///
/// # Errors
/// The database can't be read.
pub async fn inspect(config: &Config, file: Option<&Path>, storage: &Storage) -> Result<Findings> {
    let mut findings = database::inspect(&storage.content).await?;
    let mut refused = settings::inspect(config);
    refused.extend(file.and_then(|it| files::inspect("--config", it)));
    let databases = storage::files(config.database.expose())?;
    refused.extend(
        databases
            .iter()
            .filter_map(|it| files::inspect("database", it)),
    );
    refused.append(&mut findings.refused);
    findings.refused = refused;
    Ok(findings)
}

impl Findings {
    /// Answers what is only logged, if nothing is refused.
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
