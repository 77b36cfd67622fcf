//! Lines that repeat: each place in the code writes so many in a minute, the further ones are counted.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const MINUTE: Duration = Duration::from_mins(1);

/// What the process has logged of late.
pub(super) static LIMITER: LazyLock<Limiter> = LazyLock::new(Limiter::default);

/// Lets so many lines of each place in the code through in a minute. What is logged for debugging is not limited:
/// whoever asks for it wants all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) usize);

impl<S: Subscriber> Layer<S> for Limit {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        *metadata.level() > Level::INFO || LIMITER.allows(metadata, self.0, Instant::now())
    }
}

/// Counts lines by the place in the code that they come from.
#[derive(Default)]
pub(super) struct Limiter(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// As many as there are places that log.
    places: HashMap<Identifier, Place>,
    repeated: u64,
}

/// What one place has logged in the present minute.
struct Place {
    source: String,
    since: Instant,
    written: usize,
    /// Not written, and not yet told.
    repeated: u64,
}

impl Limiter {
    fn allows(&self, metadata: &'static Metadata<'static>, limit: usize, now: Instant) -> bool {
        let mut seen = self.lock();
        let place = seen
            .places
            .entry(metadata.callsite())
            .or_insert_with(|| Place {
                source: format!(
                    "{}:{}",
                    metadata.file().unwrap_or_else(|| metadata.target()),
                    metadata.line().unwrap_or_default()
                ),
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

    /// How many lines were not written so far.
    pub(super) fn repeated(&self) -> u64 {
        self.lock().repeated
    }

    /// Which places have not written lines since this was last asked, and how many.
    pub(super) fn take(&self) -> Vec<(String, u64)> {
        let mut seen = self.lock();
        let places = seen.places.values_mut().filter(|it| it.repeated > 0);
        places
            .map(|it| (it.source.clone(), std::mem::take(&mut it.repeated)))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("repeated", &self.repeated())
            .finish_non_exhaustive()
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
            for number in 0..152_000 {
                tracing::warn!(number, "refused");
            }
            tracing::error!("something else");
        });
        assert_eq!(WRITTEN.load(Ordering::Relaxed), 11);
        let told = LIMITER.take();
        let [(source, count)] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert!(source.contains("limit.rs:"), "{source}");
        assert_eq!(*count, 151_990);
        assert_eq!(LIMITER.repeated(), 151_990);
        assert!(LIMITER.take().is_empty());
    }
}
