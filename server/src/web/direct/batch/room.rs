//! The limit of the results of a batch, in bytes.

use entity_core::engine::Origin;
use entity_core::{Error, Result};

use super::Part;
use super::result::Outcome;
use crate::web::app::App;
use crate::web::request_context::RequestContext;

/// The approximate size of a result besides its body: its address, its status and its headers.
pub(super) const FRAME: usize = 512;

/// The number of bytes the results of a batch may still take. When none are left, further parts are refused.
#[derive(Debug)]
pub(super) struct SizeBudget {
    left: Option<usize>,
    is_xml: bool,
}

impl SizeBudget {
    /// The room of a whole batch, which is answered in XML or in JSON.
    pub(super) fn of(app: &App, is_xml: bool) -> Self {
        Self {
            left: Some(app.config.limits.answer_bytes.0),
            is_xml,
        }
    }

    /// Returns the number of bytes that are left.
    pub(super) fn left(&self) -> Result<usize> {
        self.left.ok_or_else(full)
    }

    /// Takes the room of `outcome` in the answer to a batch of `origin`, which may have been too much.
    pub(super) async fn take(&mut self, origin: &Origin, outcome: &Outcome) -> Result<()> {
        let bytes = outcome.size(self.is_xml)?.saturating_add(FRAME);
        self.left = self.left.and_then(|it| it.checked_sub(bytes));
        match self.left {
            Some(_) => origin.read_budget.take(bytes).await,
            None => Err(full()),
        }
    }
}

/// Sends `part` on its own by `send` if there is room for its answer. The answer of a read that is too large is left
/// out; that of a write is told, because the write is done.
pub(super) async fn fill(
    room: &mut SizeBudget,
    outer: &RequestContext,
    part: Result<Part>,
    send: impl AsyncFnOnce(Part) -> axum::response::Response,
) -> Result<Outcome> {
    let prepared = part.and_then(|it| Ok((room.left()?, it)));
    let (left, part) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Outcome::of(outer.fail(&error)).await,
    };
    let is_safe = part.method.is_safe();
    let outcome = Outcome::of(send(part.within(left)).await).await?;
    match room.take(&outer.origin, &outcome).await {
        Err(error) if is_safe => Outcome::of(outer.fail(&error)).await,
        _ => Ok(outcome),
    }
}

fn full() -> Error {
    Error::insufficient_storage(
        "the results of the batch take more bytes than an answer may have: send the rest in another batch",
    )
}
