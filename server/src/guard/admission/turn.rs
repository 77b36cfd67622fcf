//! The turn to write to a file of SQLite: the one place of [`Class::Turn`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use entity_core::Result;
use entity_core::engine::{Origin, WritePermit, WriteQueue};

use super::Admission;
use crate::base::class::Class;

/// The time that a batch is expected to hold the turn beyond that of a single operation.
const BATCH: Duration = Duration::from_millis(250);

/// The turns of the file to whose service `Admission` lets requests in.
pub(crate) struct WriteTurns(pub(crate) Arc<Admission>);

#[async_trait]
impl WriteQueue for WriteTurns {
    async fn wait(&self, origin: &Origin, is_batch: bool) -> Result<WritePermit> {
        let who = self.0.sender(origin);
        let expected = if is_batch { BATCH } else { Duration::ZERO };
        let permit = self.0.lane(Class::Turn).enter_for(who, expected).await?;
        Ok(WritePermit::of(permit))
    }
}
