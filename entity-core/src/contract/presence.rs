//! Presence: the users who asked for something of a site lately, as one node of a service remembers them.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use crate::contract::context::Context;

/// The time for which a visit counts.
const COUNTS: TimeDelta = TimeDelta::minutes(5);
/// The time for which a visit that goes on is not told anew.
const TOLD: TimeDelta = TimeDelta::minutes(1);
/// The maximum number of visits that are remembered. Further ones are not noted until earlier ones are over.
const MOST: usize = 100_000;

/// The tracker of visits to sites: a visitor is a user with a session who was allowed to read something of a site, or
/// to list it. They are noted in memory, so that reading writes nothing, and told now and then to whoever keeps them
/// for other nodes.
#[derive(Debug, Default)]
pub struct PresenceTracker(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// The visits by site and user.
    sites: HashMap<String, HashMap<String, Times>>,
    count: usize,
}

/// When a visitor was there last, and when that was told last.
#[derive(Clone, Copy, Debug)]
struct Times {
    seen: DateTime<Utc>,
    told: Option<DateTime<Utc>>,
}

/// A user's last visit to a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The id of the site.
    pub site: String,
    /// The internal id of the user.
    pub user: String,
    /// The instant at which the user asked last.
    pub seen: DateTime<Utc>,
}

impl PresenceTracker {
    /// Returns the instant after which visits count at `now`.
    pub fn since(now: DateTime<Utc>) -> DateTime<Utc> {
        now - COUNTS
    }

    /// Notes that `user` visits `site` at `now`.
    pub fn note(&self, site: &str, user: &str, now: DateTime<Utc>) {
        let mut noted = self.0.lock();
        let known = noted.sites.get_mut(site).and_then(|it| it.get_mut(user));
        if let Some(times) = known {
            times.seen = times.seen.max(now);
            return;
        }
        if noted.count >= MOST {
            return;
        }
        noted.count += 1;
        let times = Times {
            seen: now,
            told: None,
        };
        let users = noted.sites.entry(site.to_owned()).or_default();
        users.insert(user.to_owned(), times);
    }

    /// Returns those who visit `site` at `now`, with when they asked last.
    pub fn of_site(&self, site: &str, now: DateTime<Utc>) -> Vec<(String, DateTime<Utc>)> {
        let noted = self.0.lock();
        let users = noted.sites.get(site).into_iter().flatten();
        let present = users.filter(|(_, times)| times.seen > Self::since(now));
        present.map(|(user, it)| (user.clone(), it.seen)).collect()
    }

    /// Returns the visits that were not told yet, or not for a minute, by site and user, and forgets those that are over at
    /// `now`.
    pub fn untold(&self, now: DateTime<Utc>) -> Vec<Visit> {
        let mut noted = self.0.lock();
        let mut untold = Vec::new();
        for (site, users) in &mut noted.sites {
            users.retain(|_, it| it.seen > Self::since(now));
            for (user, times) in users.iter_mut().filter(|(_, it)| it.is_news()) {
                times.told = Some(times.seen);
                untold.push(Visit {
                    site: site.clone(),
                    user: user.clone(),
                    seen: times.seen,
                });
            }
        }
        noted.sites.retain(|_, it| !it.is_empty());
        noted.count = noted.sites.values().map(HashMap::len).sum();
        drop(noted);
        untold
            .sort_unstable_by(|one, other| (&one.site, &one.user).cmp(&(&other.site, &other.user)));
        untold
    }

    /// Notes that these visits were not kept, so that they are told once more.
    pub fn tell_again(&self, visits: &[Visit]) {
        let mut noted = self.0.lock();
        for Visit { site, user, .. } in visits {
            if let Some(times) = noted.sites.get_mut(site).and_then(|it| it.get_mut(user)) {
                times.told = None;
            }
        }
    }
}

/// Notes that the session of the caller asks for something of `site` that the caller may see. The gate does so for what
/// it decides itself; an action that decides otherwise calls this.
pub fn note_visit(cx: &Context, site: &str) {
    let caller = cx.caller();
    if let (Some(_), Some(user)) = (&caller.session, caller.user_id())
        && let Some(visits) = cx.shared.services.get::<PresenceTracker>()
    {
        visits.note(site, user, cx.now());
    }
}

impl Times {
    fn is_news(&self) -> bool {
        self.told.is_none_or(|told| self.seen - told >= TOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).expect("an instant")
    }

    #[test]
    fn a_visit_counts_for_five_minutes() {
        let visits = PresenceTracker::default();
        visits.note("biology", "ann", at(0));
        visits.note("history", "bob", at(0));
        visits.note("biology", "ann", at(100));
        visits.note("biology", "ann", at(50));
        assert_eq!(
            visits.of_site("biology", at(399)),
            [("ann".into(), at(100))]
        );
        assert_eq!(visits.of_site("biology", at(400)), []);
        assert_eq!(visits.of_site("physics", at(0)), []);
    }

    #[test]
    fn a_visit_that_goes_on_is_told_every_minute() {
        let visits = PresenceTracker::default();
        let told = |now| -> Vec<DateTime<Utc>> {
            let untold = visits.untold(at(now));
            untold.into_iter().map(|it| it.seen).collect()
        };
        visits.note("biology", "ann", at(0));
        assert_eq!(told(1), [at(0)]);
        visits.note("biology", "ann", at(59));
        assert!(told(59).is_empty());
        visits.note("biology", "ann", at(60));
        assert_eq!(told(60), [at(60)]);
        let lost = Visit {
            site: "biology".into(),
            user: "ann".into(),
            seen: at(60),
        };
        visits.tell_again(&[lost]);
        assert_eq!(told(61), [at(60)]);
    }

    #[test]
    fn what_is_over_leaves_room() {
        let visits = PresenceTracker::default();
        for number in 0..=MOST {
            visits.note("biology", &number.to_string(), at(0));
        }
        assert_eq!(visits.of_site("biology", at(1)).len(), MOST, "no more");
        let untold = visits.untold(at(1));
        assert_eq!(untold.len(), MOST);
        assert!(untold.is_sorted_by_key(|it| it.user.clone()), "in order");
        assert_eq!(visits.untold(at(300)), []);
        visits.note("biology", "late", at(300));
        assert_eq!(visits.of_site("biology", at(301)).len(), 1);
    }
}
