//! Sanitises long HTML on threads that may block, few at a time, and fair between accounts.
//!
//! Each account has one text at a time in the queue for a thread, so that one that sends many waits for itself and not
//! others for it. A request that finds too many waiting is refused with a time after which to try again.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use entity_core::html::{Sanitized, Sanitizer};
use entity_core::{Caller, Error, Result};
use entity_providers::base::html::HtmlRules;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum length of a text that is sanitised in place, in bytes: that takes no longer than a millisecond or two.
const SHORT: usize = 2_048;
/// The maximum number of texts that wait or are sanitised: those of all accounts, and those of one.
const PLACES: (usize, usize) = (64, 16);
/// The number of seconds a client waits when there is no place.
const RETRY_AFTER: u32 = 1;

/// Sanitises HTML. One for a service.
#[derive(derive_more::Debug)]
#[debug("HtmlSanitizer {{ places: {:?} }}", self.places.available_permits())]
pub(crate) struct HtmlSanitizer {
    rules: Arc<HtmlRules>,
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    lanes: Mutex<HashMap<String, Weak<Lane>>>,
}

/// The queue of one account.
struct Lane {
    places: Semaphore,
    turn: Arc<Semaphore>,
}

impl HtmlSanitizer {
    /// Works on as many texts at a time as half of `cores`, and on one at least, to leave cores for other requests.
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            rules: Arc::default(),
            places: Arc::new(Semaphore::new(PLACES.0)),
            workers: Arc::new(Semaphore::new((cores / 2).max(1))),
            lanes: Mutex::default(),
        }
    }

    /// The lane of `account`, which is forgotten when nobody holds it.
    fn lane(&self, account: &str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.get(account).and_then(Weak::upgrade) {
            return lane;
        }
        lanes.retain(|_, it| it.strong_count() > 0);
        let lane = Arc::new(Lane {
            places: Semaphore::new(PLACES.1),
            turn: Arc::new(Semaphore::new(1)),
        });
        lanes.insert(account.to_owned(), Arc::downgrade(&lane));
        lane
    }
}

async fn take(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    let permit = Arc::clone(semaphore).acquire_owned().await;
    permit.map_err(Error::internal)
}

#[async_trait]
impl Sanitizer for HtmlSanitizer {
    fn takes_long(&self, text: &str) -> bool {
        text.len() > SHORT
    }

    fn sanitize(&self, html: &str) -> Sanitized {
        self.rules.sanitize(html).map_err(ToOwned::to_owned)
    }

    async fn sanitize_apart(&self, caller: &Caller, html: &str) -> Result<Sanitized> {
        let full = |error| {
            let told = "too much long HTML is sent right now: try again";
            Error::unavailable(told, RETRY_AFTER).with_source(error)
        };
        let lane = self.lane(caller.user_id().unwrap_or_default());
        let _own_place = lane.places.try_acquire().map_err(full)?;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(full)?;
        let turn = take(&lane.turn).await?;
        let worker = take(&self.workers).await?;
        let (rules, html) = (Arc::clone(&self.rules), html.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            // They are given back when the work is done, also when nobody waits for it any more.
            let _held = (place, turn, worker);
            rules.sanitize(&html).map_err(ToOwned::to_owned)
        });
        work.await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn account(id: &str) -> Caller {
        Caller::user(id, id)
    }

    #[tokio::test]
    async fn sec_one_account_takes_neither_all_places_nor_others_turns() {
        let sanitizer = HtmlSanitizer::new(2);
        let busy = take(&sanitizer.workers).await.unwrap();
        let long = "<p>x</p>".repeat(1_000);
        let (eve, ada) = (account("eve"), account("ada"));
        let mut waiting: Vec<_> = (0..PLACES.1)
            .map(|_| sanitizer.sanitize_apart(&eve, &long))
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        let refused = sanitizer.sanitize_apart(&eve, &long).await.unwrap_err();
        assert_eq!(refused.retry_after(), Some(RETRY_AFTER));
        let mut other = sanitizer.sanitize_apart(&ada, &long);
        assert!(other.as_mut().now_or_never().is_none());
        drop(busy);
        // Only the first of eve's stands before hers.
        waiting.truncate(1);
        let first = waiting.remove(0).await.unwrap();
        assert_eq!(first, other.await.unwrap());
        assert_eq!(sanitizer.places.available_permits(), PLACES.0);
    }
}
