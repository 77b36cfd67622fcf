//! Whether the process lives, and whether it should get requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use entity_core::db::Db;
use sea_orm::ConnectionTrait as _;
use tokio::time::timeout;

/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The state that load balancers ask for.
#[derive(Clone, Debug, Default)]
pub struct Health {
    is_draining: Arc<AtomicBool>,
}

impl Health {
    /// From now on no new requests are wanted.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
    }

    /// Whether no new requests are wanted any more.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Whether the process lives: it does, or nobody would answer. It never asks the database.
    pub fn live() -> StatusCode {
        StatusCode::OK
    }

    /// Whether requests are wanted: not while draining, and not without the database.
    pub async fn ready(&self, db: &Db) -> StatusCode {
        if self.is_draining() {
            return StatusCode::SERVICE_UNAVAILABLE;
        }
        match timeout(PATIENCE, db.reader.execute_unprepared("SELECT 1")).await {
            Ok(Ok(_)) => StatusCode::OK,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
