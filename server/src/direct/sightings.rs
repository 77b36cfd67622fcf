//! Since when a list is as it is: the `Last-Modified` of lists.
//!
//! The dates of its entries do not tell. A list changes when one of them is deleted, comes out, ends or goes out of
//! the caller's reach, and no entry is newer then. So this service remembers in which version it last saw a list,
//! and since which second.
//!
//! Invariant: no second is told for two versions of a list. A list that changed within a second that was told
//! already has no date until that second is over.
//!
//! What is remembered is lost when the service starts again or when too much else is remembered, and another
//! machine remembers other seconds. A reader that comes with a date of theirs is answered in full, once, because
//! only the very second that was told here counts. So what remains is a list that changes between two answers of
//! two machines within one second; a reader that sends the tag too is never deceived.

use std::hash::{BuildHasher as _, Hash, RandomState};

use chrono::{DateTime, Utc};
use entity_core::Version;
use quick_cache::sync::{Cache, EntryAction, EntryResult};

/// How many lists are remembered.
const REMEMBERED: usize = 100_000;

/// The lists that this service has seen.
pub(crate) struct Sightings {
    seen: Cache<u64, Sighting>,
    hasher: RandomState,
}

/// In which version a list was seen, and since which second of the clock.
#[derive(Clone, Copy)]
struct Sighting {
    version: Version,
    since: i64,
}

impl Default for Sightings {
    fn default() -> Self {
        Self {
            seen: Cache::new(REMEMBERED),
            hasher: RandomState::new(),
        }
    }
}

impl Sightings {
    /// The second since which `list` is in `version`, in which it is seen `now`. `None` while it is not over in
    /// which it was seen in another version.
    ///
    /// Two lists that share a hash are one that changes: their readers are sent more than they need.
    pub(crate) fn since(
        &self,
        list: &impl Hash,
        version: Version,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let now = now.timestamp();
        let key = self.hasher.hash_one(list);
        let seen = self.seen.entry(&key, None, |_key, seen: &mut Sighting| {
            if seen.version != version {
                *seen = Sighting {
                    version,
                    since: now.max(seen.since.saturating_add(1)),
                };
            }
            EntryAction::Retain(seen.since)
        });
        let since = match seen {
            EntryResult::Retained(since) => since,
            EntryResult::Vacant(place) => {
                let first = Sighting {
                    version,
                    since: now,
                };
                // Somebody else cleared the cache meanwhile: nothing is remembered, which is as good.
                let _kept = place.insert(first);
                now
            }
            EntryResult::Removed(..) | EntryResult::Replaced(..) | EntryResult::Timeout => {
                return None;
            }
        };
        match since <= now {
            true => DateTime::from_timestamp(since, 0),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn no_second_is_told_for_two_versions() {
        let sightings = Sightings::default();
        let start = DateTime::from_timestamp(1_796_436_929, 0).unwrap();
        // When it is seen in which version, in milliseconds, and since which second it is told to be so.
        for (millis, version, since) in [
            (100, 1, Some(0)),
            (900, 1, Some(0)),
            (950, 2, None),
            (1_000, 2, Some(1)),
            (1_100, 1, None),
            (1_200, 3, None),
            (2_500, 3, None),
            (3_000, 3, Some(3)),
            (9_000, 1, Some(9)),
            (4_000, 2, None),
            (10_000, 2, Some(10)),
        ] {
            let now = start + TimeDelta::milliseconds(millis);
            let told = sightings.since(&"list", Version(version), now);
            let expected = since.map(|it| start + TimeDelta::seconds(it));
            assert_eq!(told, expected, "{millis} {version}");
        }
        let other = sightings.since(&"other", Version(1), start);
        assert_eq!(other, Some(start), "another list has a date of its own");
    }
}
