//! The bytes of uploads that are under way on this node: all those of an account, and all those for a site, share the
//! room that it has. When a file is noted in the database, it counts there.

use std::collections::HashMap;
use std::sync::Arc;

use entity_core::blob::Room;
use entity_core::{Error, Result};
use parking_lot::Mutex;

/// An account or a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Payer {
    Account(String),
    Site(String),
}

/// The bytes that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Underway(Arc<Mutex<HashMap<Payer, u64>>>);

/// The bytes of one request. They are taken off when this is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    all: Underway,
    rooms: Vec<(Payer, u64)>,
    bytes: u64,
}

impl Underway {
    /// Begins to count a request that has `room`.
    pub(super) fn begin(&self, room: &Room) -> Counted {
        let account = room.account.clone();
        let account = account.map(|(id, bytes)| (Payer::Account(id), bytes));
        let site = room.site.clone().map(|id| (Payer::Site(id), room.bytes));
        Counted {
            all: self.clone(),
            rooms: account.into_iter().chain(site).collect(),
            bytes: 0,
        }
    }
}

impl Counted {
    /// Counts bytes that came.
    ///
    /// # Errors
    /// Returns an error if all that is under way is more than an account or a site has room for.
    pub(super) fn add(&mut self, bytes: usize) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        let mut all = self.all.0.lock();
        let mut full = None;
        for (payer, room) in &self.rooms {
            let sum = all.entry(payer.clone()).or_default();
            *sum = sum.saturating_add(bytes);
            if *sum > *room {
                full = Some((payer, room));
            }
        }
        let Some((payer, room)) = full else {
            return Ok(());
        };
        let (whose, setting) = match payer {
            Payer::Account(_) => ("your account has".to_owned(), "files.accountBytes"),
            Payer::Site(id) => (format!("the site `{id}` has"), "files.siteBytes"),
        };
        Err(Error::limit_reached(format!(
            "{whose} room for {room} more bytes of files (`{setting}`), and more are under way: wait until they have come"
        )))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut all = self.all.0.lock();
        for (payer, _) in &self.rooms {
            if let Some(sum) = all.get_mut(payer) {
                *sum = sum.saturating_sub(self.bytes);
                if *sum == 0 {
                    all.remove(payer);
                }
            }
        }
    }
}
