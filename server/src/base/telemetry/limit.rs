//! Lines that repeat: each place in the code writes so many in a minute, the further ones are counted.
//!
//! A line that tells why something failed names its cause by the field [`CAUSE`]. Of those, each cause has one line in a
//! minute for itself, however many others the place in the code writes.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const MINUTE: Duration = Duration::from_mins(1);
/// The field with the number of a cause, which is not 0.
const CAUSE: &str = "cause.id";
/// The number of causes that are told apart at a time; further ones count as one.
const CAUSES: usize = 64;
/// The number of all causes that are beyond those.
const OTHERS: u64 = u64::MAX;

/// The limiter of the log lines of this process.
pub(super) static LIMITER: LazyLock<Limiter> = LazyLock::new(Limiter::default);

/// Limits the log lines of each place in the code to so many in a minute. Lines for debugging are not limited: an
/// operator who switches them on wants all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) usize);

impl<S: Subscriber> Layer<S> for Limit {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO {
            return true;
        }
        let mut cause = Cause(0);
        event.record(&mut cause);
        LIMITER.allows(metadata, cause.0, self.0, Instant::now())
    }
}

/// The cause that a line names; 0 if it names none.
struct Cause(u64);

impl Visit for Cause {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == CAUSE {
            self.0 = value;
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}

/// Counts lines by the place in the code that they come from, and by the cause that they name.
#[derive(derive_more::Debug, Default)]
#[debug("Limiter {{ repeated: {:?} }}", self.repeated())]
pub(super) struct Limiter(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// The counts by the place that logs and by the recent cause.
    places: HashMap<(Identifier, u64), Place>,
    /// The number of entries that are causes.
    causes: usize,
    repeated: u64,
}

/// The count of lines that one place has logged in the present minute.
struct Place {
    source: String,
    since: Instant,
    written: usize,
    /// The number of lines that were left out and not yet reported.
    repeated: u64,
}

impl Limiter {
    fn allows(
        &self,
        metadata: &'static Metadata<'static>,
        cause: u64,
        limit: usize,
        now: Instant,
    ) -> bool {
        let mut seen = self.0.lock();
        let (key, limit) = match cause {
            0 => ((metadata.callsite(), 0), limit),
            cause => (seen.key_of((metadata.callsite(), cause)), limit.min(1)),
        };
        let place = seen.places.entry(key).or_insert_with(|| Place {
            source: source_of(metadata, cause),
            since: now,
            written: 0,
            repeated: 0,
        });
        if now.saturating_duration_since(place.since) >= MINUTE {
            place.since = now;
            place.written = 0;
        }
        if place.written < limit {
            place.written += 1;
            return true;
        }
        place.repeated = place.repeated.saturating_add(1);
        seen.repeated = seen.repeated.saturating_add(1);
        false
    }

    /// Returns the number of lines that were not written so far.
    pub(super) fn repeated(&self) -> u64 {
        self.0.lock().repeated
    }

    /// Returns the places that left out lines since the last call, with the numbers. Causes that did not occur
    /// meanwhile are forgotten.
    pub(super) fn take(&self) -> Vec<(String, u64)> {
        let mut seen = self.0.lock();
        let places = seen.places.values_mut().filter(|it| it.repeated > 0);
        let told = places
            .map(|it| (it.source.clone(), std::mem::take(&mut it.repeated)))
            .collect();
        seen.places
            .retain(|key, place| key.1 == 0 || place.since.elapsed() < MINUTE);
        seen.causes = seen.places.keys().filter(|it| it.1 != 0).count();
        told
    }
}

impl Seen {
    /// Under which key a cause is counted.
    fn key_of(&mut self, key: (Identifier, u64)) -> (Identifier, u64) {
        if self.places.contains_key(&key) {
            return key;
        }
        if self.causes < CAUSES {
            self.causes += 1;
            return key;
        }
        (key.0, OTHERS)
    }
}

/// Returns the place that a line comes from.
fn source_of(metadata: &Metadata<'_>, cause: u64) -> String {
    let file = metadata.file().unwrap_or_else(|| metadata.target());
    let line = metadata.line().unwrap_or_default();
    match cause {
        0 => format!("{file}:{line}"),
        cause => format!("{file}:{line}, cause {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    static WRITTEN: AtomicUsize = AtomicUsize::new(0);

    struct Count;

    impl<S: Subscriber> Layer<S> for Count {
        fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
            WRITTEN.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn log_6_lines_that_repeat_are_counted() {
        let subscriber = tracing_subscriber::registry().with(Count).with(Limit(10));
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..2_000 {
                tracing::warn!(number, "refused");
            }
            tracing::error!("something else");
            assert_eq!(WRITTEN.load(Ordering::Relaxed), 11);
        });
        let told = LIMITER.take();
        let [(source, count)] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert!(source.contains("limit.rs:"), "{source}");
        assert_eq!(*count, 1_990);
        assert_eq!(LIMITER.repeated(), 1_990);
        assert!(LIMITER.take().is_empty());

        // Each cause has a line for itself, unless there are causes without end.
        let subscriber = tracing_subscriber::registry().with(Count).with(Limit(10));
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..3 {
                for cause in 1..=1_000_u64 {
                    tracing::error!(cause.id = cause, "failed");
                }
            }
        });
        assert_eq!(WRITTEN.load(Ordering::Relaxed), 11 + CAUSES + 1);
        let told: u64 = LIMITER.take().iter().map(|it| it.1).sum();
        assert_eq!(told, 3_000 - 65);
    }
}
