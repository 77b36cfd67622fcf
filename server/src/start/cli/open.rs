//! The service and the database, as commands open them.

use std::sync::Arc;

use entity_core::Registry;

use super::output::Failure;
use crate::base::config::Config;
use crate::base::system::{SystemClock, UuidIds};
use crate::guard::auth::PasswordCost;
use crate::operate::storage::{self, Look};
use crate::start::build::Parts;
use crate::web::api::Endpoints;
use crate::web::app::App;

/// Puts the service together from what is linked into this binary.
pub(super) async fn start(config: Config) -> Result<App, Failure> {
    let registry = Registry::from_inventory()?;
    let parts = Parts {
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(UuidIds::default()),
        registry,
        endpoints: Arc::new(Endpoints::from_inventory()?),
        formats: Arc::new(entity_formats::standard()?),
        password_cost: PasswordCost::default(),
    };
    Ok(App::start(config, parts).await?)
}

/// The database as it is, for commands that only read. A service may be at work on it.
pub(super) async fn look(config: &Config) -> Result<Look, Failure> {
    let look = storage::glance(config.database.expose(), &Registry::from_inventory()?).await?;
    match look.lacks.is_empty() {
        true => Ok(look),
        false => Err(format!(
            "the database is not up to date: `lectern migrate` adds {}",
            look.lacks.join(", ")
        )
        .into()),
    }
}
