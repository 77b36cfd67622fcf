//! Failures that repeat are counted, not repeated: one line for each cause in an interval.
//!
//! The first one of a cause is logged as it is. Those that follow within the interval are counted, and one more line
//! says at its end how many there were.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

/// How long further failures of one cause are only counted.
const INTERVAL: Duration = Duration::from_secs(10);
/// How many causes are told apart at a time; what is beyond them counts as one.
const CAUSES: usize = 64;
/// The key of all causes that are beyond those.
const OTHERS: u64 = 0;

/// What is counted at present. There is one for the process, as there is one log.
static COUNTED: LazyLock<Mutex<Counted>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Counted(HashMap<u64, Repeated>);

struct Repeated {
    since: Instant,
    more: u64,
    text: String,
}

/// Whether the failure that `error` tells, with all of its causes, is to be logged: not if it is counted instead.
pub(super) fn is_news(error: &(dyn std::error::Error + 'static)) -> bool {
    let Ok(runtime) = Handle::try_current() else {
        // Nobody would tell how many there were.
        return true;
    };
    let (verdict, ended) = counted().note(key(error), Instant::now(), || error.to_string());
    if let Some(ended) = ended {
        ended.tell();
    }
    let Verdict::First(key) = verdict else {
        return false;
    };
    runtime.spawn(async move {
        tokio::time::sleep(INTERVAL).await;
        let ended = counted().end(key, Instant::now());
        if let Some(ended) = ended {
            ended.tell();
        }
    });
    true
}

fn counted() -> MutexGuard<'static, Counted> {
    COUNTED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, PartialEq)]
enum Verdict {
    First(u64),
    Repeated,
}

impl Counted {
    /// Notes one failure. Answers too what ended with it, if nobody ended it in time.
    fn note(
        &mut self,
        key: u64,
        now: Instant,
        text: impl FnOnce() -> String,
    ) -> (Verdict, Option<Repeated>) {
        let is_known = self.0.contains_key(&key) || self.0.len() < CAUSES;
        let key = if is_known { key } else { OTHERS };
        let ended = self.end(key, now);
        if let Some(repeated) = self.0.get_mut(&key) {
            repeated.more = repeated.more.saturating_add(1);
            return (Verdict::Repeated, ended);
        }
        let repeated = Repeated {
            since: now,
            more: 0,
            text: text(),
        };
        self.0.insert(key, repeated);
        (Verdict::First(key), ended)
    }

    /// Forgets a cause whose interval is over.
    fn end(&mut self, key: u64, now: Instant) -> Option<Repeated> {
        let since = self.0.get(&key)?.since;
        let is_over = now.saturating_duration_since(since) >= INTERVAL;
        is_over.then(|| self.0.remove(&key)).flatten()
    }
}

impl Repeated {
    fn tell(&self) {
        if self.more > 0 {
            tracing::error!(
                repeated = self.more,
                seconds = INTERVAL.as_secs(),
                "further requests failed for the same reason: {}",
                self.text
            );
        }
    }
}

/// What tells causes apart: all that `error` and its sources say.
fn key(error: &(dyn std::error::Error + 'static)) -> u64 {
    let mut text = Hashed(DefaultHasher::new());
    let mut cause = Some(error);
    while let Some(it) = cause {
        // Hashing can't fail.
        let _ = write!(text, "{it}");
        text.0.write_u8(0);
        cause = it.source();
    }
    text.0.finish().max(1)
}

/// Hashes what is written to it.
struct Hashed(DefaultHasher);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.as_bytes().hash(&mut self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_6_a_cause_is_told_once_in_an_interval_and_then_how_often_it_was() {
        let mut counted = Counted::default();
        let start = Instant::now();
        let text = || "why".to_owned();
        assert_eq!(counted.note(7, start, text).0, Verdict::First(7));
        for _ in 0..1000 {
            assert_eq!(counted.note(7, start, text).0, Verdict::Repeated);
        }
        assert_eq!(counted.note(8, start, text).0, Verdict::First(8));
        assert!(counted.end(7, start).is_none(), "it goes on");
        let (verdict, ended) = counted.note(7, start + INTERVAL, text);
        assert_eq!(verdict, Verdict::First(7), "a new interval");
        assert_eq!(ended.map(|it| it.more), Some(1000));
        assert_eq!(
            counted.end(8, start + INTERVAL).map(|it| it.more),
            Some(0),
            "nothing more to say"
        );
    }

    #[test]
    fn log_6_causes_without_end_are_counted_together() {
        let mut counted = Counted::default();
        let start = Instant::now();
        let told = (1..10_000).filter(|key| {
            let verdict = counted.note(*key, start, String::new).0;
            matches!(verdict, Verdict::First(_))
        });
        assert_eq!(told.count(), CAUSES + 1);
        assert_eq!(counted.0.len(), CAUSES + 1);
    }

    #[test]
    fn what_is_told_of_a_cause_tells_it_apart() {
        let error = |text: &'static str| entity_core::Error::internal(text);
        assert_eq!(key(&error("a")), key(&error("a")));
        assert_ne!(key(&error("a")), key(&error("b")));
    }
}
