//! The places of streams of events: so many for each account, and so many for all.

use std::collections::HashMap;
use std::sync::Arc;

use entity_core::{Error, Result};
use parking_lot::Mutex;

/// The `Retry-After` of a client that finds all places taken, in seconds.
const RETRY_AFTER: u32 = 30;

/// The streams that are open. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    most_of_account: usize,
    most: usize,
    open: Arc<Mutex<HashMap<String, usize>>>,
}

/// The place of a stream, for as long as it is open.
#[derive(Debug)]
pub(super) struct Place {
    live: Live,
    user: String,
}

impl Live {
    /// At most `most` streams are open at once, and `most_of_account` of one account.
    pub(crate) fn new(most_of_account: usize, most: usize) -> Self {
        Self {
            most_of_account,
            most,
            open: Arc::default(),
        }
    }

    /// Takes a place for the account with the internal id `user`.
    pub(super) fn enter(&self, user: &str) -> Result<Place> {
        let mut open = self.open.lock();
        if open.get(user).is_some_and(|it| *it >= self.most_of_account) {
            let message = format!(
                "an account follows {} streams of events at most (`limits.eventStreams`): close one",
                self.most_of_account
            );
            return Err(Error::too_many_requests(message, RETRY_AFTER));
        }
        if open.values().sum::<usize>() >= self.most {
            let message = "too many streams of events are open: try again";
            return Err(Error::unavailable(message, RETRY_AFTER));
        }
        *open.entry(user.to_owned()).or_default() += 1;
        drop(open);
        Ok(Place {
            live: self.clone(),
            user: user.to_owned(),
        })
    }

    /// Returns the number of open streams.
    pub(crate) fn count(&self) -> usize {
        let open = self.open.lock();
        open.values().sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.live.open.lock();
        if let Some(count) = open.get_mut(&self.user) {
            *count = count.saturating_sub(1);
        }
        open.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let live = Live::new(2, 3);
        let mut ada = vec![live.enter("ada").unwrap(), live.enter("ada").unwrap()];
        assert_eq!(live.enter("ada").unwrap_err().retry_after(), Some(30));
        let ben = live.enter("ben").unwrap();
        live.enter("cleo").unwrap_err();
        assert_eq!(live.count(), 3);
        ada.pop();
        live.enter("cleo").unwrap();
        drop((ada, ben));
        assert_eq!(live.count(), 0);
        assert!(live.open.lock().is_empty());
    }
}
