//! Webhooks: events of a site are sent to addresses elsewhere, signed as the Standard Webhooks specification says.
//!
//! A follower of the outbox notes for each webhook the events that its owner may read: the deliveries. The sender takes
//! those that are due, a webhook at a time, and asks again what the owner may read when it sends one. A webhook is
//! served by one part of one node at a time, so that deliveries are sent in order and not twice; a delivery that a node
//! had begun when it stopped is sent again.

mod address;
mod attempt;
mod follow;
mod post;
mod queue;
mod sender;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entity_core::{Error, Result};
use entity_providers::face::webhook::WebhookRules;
use rand::TryRng as _;
use rand::rngs::SysRng;

use post::SECRET;

pub(crate) use follow::Deliveries;
pub(crate) use post::Post;
pub(crate) use sender::{Sender, deliver};

/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// The rules for addresses of webhooks, and their secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// True if addresses may be private, and without encryption.
    pub(crate) allows_private: bool,
}

impl WebhookRules for Rules {
    fn host(&self, url: &str) -> Result<String, String> {
        address::host(url, self.allows_private)
    }

    fn secret(&self) -> Result<String> {
        let mut bytes = [0; SECRET_BYTES];
        SysRng.try_fill_bytes(&mut bytes).map_err(Error::internal)?;
        Ok(format!("{SECRET}{}", STANDARD.encode(bytes)))
    }
}
