//! The read budget of a request, and the permit for a large response. Only a few large responses are produced at a
//! time, so that they do not take up the memory and the processors of the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;

use crate::primitives::error::Result;

/// The number of bytes of stored entities that every request may read for its answer without a permit. A request that
/// reads more waits for a permit.
pub const SMALL: usize = 256 << 10;

/// The permit of one request to produce a large response.
#[async_trait]
pub trait LargeResponsePermit: Send + Sync {
    /// Waits for the permit.
    ///
    /// # Errors
    /// Returns an error if too many requests have large answers, or if the permit does not come in time.
    async fn wait(&self) -> Result<()>;

    /// Checks whether there is room for the request to wait, before more is read for it.
    ///
    /// # Errors
    /// Returns an error if too many requests have large answers.
    fn check(&self) -> Result<()>;

    /// Takes the permit at once or not at all. Used instead of [`wait`](Self::wait) for a request that keeps others
    /// waiting meanwhile.
    ///
    /// # Errors
    /// Returns an error if no permit is free now.
    fn try_now(&self) -> Result<()>;
}

/// The count of bytes that one request has read for its answer, and of the steps that it took to compute it. All clones
/// share the count of the same request.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("ReadBudget {{ bytes: {:?}, is_large: {:?} }}", self.0.bytes, self.0.is_large)]
pub struct ReadBudget(Arc<State>);

#[derive(Default)]
struct State {
    /// The permit of the request; `None` if large answers need none.
    large: Option<Box<dyn LargeResponsePermit>>,
    bytes: AtomicUsize,
    steps: AtomicU64,
    is_large: AtomicBool,
    must_not_wait: AtomicBool,
}

impl ReadBudget {
    /// Creates the count of a request that waits for `large` once its answer turns out to be large.
    pub fn new(large: impl LargeResponsePermit + 'static) -> Self {
        Self(Arc::new(State {
            large: Some(Box::new(large)),
            ..State::default()
        }))
    }

    /// Returns whether the answer of the request is large and it has its permit.
    pub fn is_large(&self) -> bool {
        self.0.is_large.load(Ordering::Relaxed)
    }

    /// Marks the request as one that keeps others waiting, and must not wait itself, until the returned guard is
    /// dropped.
    pub(crate) fn forbid_waiting(&self) -> NoWaitGuard {
        self.0.must_not_wait.store(true, Ordering::Relaxed);
        NoWaitGuard(self.clone())
    }

    /// Returns the number of bytes that the request may still read before it needs a permit.
    pub(crate) fn left(&self) -> usize {
        match self.0.large.is_none() || self.is_large() {
            true => usize::MAX,
            false => SMALL.saturating_sub(self.0.bytes.load(Ordering::Relaxed)),
        }
    }

    /// Checks whether `bytes` more may be read now. If not, they are counted nevertheless, so that the next operation
    /// of a batch does not read as much again in vain.
    ///
    /// # Errors
    /// Returns an error if the answer becomes large and too many requests have large answers.
    pub fn check(&self, bytes: usize) -> Result<()> {
        match (bytes > self.left(), &self.0.large) {
            (true, Some(large)) => large.check().inspect_err(|_full| {
                self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
            }),
            _ => Ok(()),
        }
    }

    /// Counts `bytes` as read, and waits for the permit of the request if that makes more than every request may
    /// read.
    ///
    /// # Errors
    /// Returns an error if the permit does not come.
    pub async fn take(&self, bytes: usize) -> Result<()> {
        let left = self.left();
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        match bytes > left {
            true => self.grow().await,
            false => Ok(()),
        }
    }

    /// Counts `steps` of computing, in all parts of a batch together, and returns whether all of them are no more than
    /// `most`.
    pub fn step(&self, steps: u64, most: u64) -> bool {
        let before = self.0.steps.fetch_add(steps, Ordering::Relaxed);
        before.saturating_add(steps) <= most
    }

    /// Returns the number of steps that the request took.
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }

    async fn grow(&self) -> Result<()> {
        let Some(large) = self.0.large.as_ref().filter(|_| !self.is_large()) else {
            return Ok(());
        };
        match self.0.must_not_wait.load(Ordering::Relaxed) {
            true => large.try_now()?,
            false => large.wait().await?,
        }
        self.0.is_large.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// A guard; as long as it is kept, the request does not wait for its permit.
pub(crate) struct NoWaitGuard(ReadBudget);

impl Drop for NoWaitGuard {
    fn drop(&mut self) {
        self.0.0.must_not_wait.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::primitives::error::Error;

    /// A fake permit that counts the waiting requests and admits no request that does not wait.
    struct Gate(Arc<AtomicUsize>);

    #[async_trait]
    impl LargeResponsePermit for Gate {
        async fn wait(&self) -> Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn check(&self) -> Result<()> {
            Err(Error::unavailable("full", 1))
        }

        fn try_now(&self) -> Result<()> {
            self.check()
        }
    }

    #[test]
    fn a_request_waits_once_when_it_reads_much() {
        let waited = Arc::new(AtomicUsize::new(0));
        let read_budget = ReadBudget::new(Gate(Arc::clone(&waited)));
        assert_eq!(read_budget.left(), SMALL);
        read_budget.take(SMALL / 2).now_or_never().unwrap().unwrap();
        read_budget.take(SMALL / 2).now_or_never().unwrap().unwrap();
        assert_eq!((read_budget.left(), waited.load(Ordering::Relaxed)), (0, 0));
        assert!(!read_budget.is_large());
        assert!(read_budget.check(0).is_ok() && read_budget.check(1).is_err());
        let refused = ReadBudget::new(Gate(Arc::clone(&waited)));
        assert!(refused.check(SMALL).is_ok() && refused.check(SMALL + 1).is_err());
        assert_eq!(refused.left(), 0);
        read_budget.clone().take(1).now_or_never().unwrap().unwrap();
        read_budget.take(SMALL).now_or_never().unwrap().unwrap();
        assert!(read_budget.is_large());
        assert_eq!(read_budget.left(), usize::MAX);
        assert_eq!(waited.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn whoever_keeps_others_waiting_does_not_wait() {
        let waited = Arc::new(AtomicUsize::new(0));
        let read_budget = ReadBudget::new(Gate(Arc::clone(&waited)));
        let no_wait = read_budget.forbid_waiting();
        read_budget.take(SMALL).now_or_never().unwrap().unwrap();
        assert_eq!(
            read_budget
                .take(1)
                .now_or_never()
                .unwrap()
                .unwrap_err()
                .retry_after(),
            Some(1)
        );
        assert!(!read_budget.is_large());
        assert_eq!(waited.load(Ordering::Relaxed), 0);
        drop(no_wait);
        read_budget.take(1).now_or_never().unwrap().unwrap();
        assert!(read_budget.is_large());
    }

    #[test]
    fn without_permits_everybody_reads_what_they_like() {
        let read_budget = ReadBudget::default();
        read_budget.take(SMALL * 9).now_or_never().unwrap().unwrap();
        assert_eq!(read_budget.left(), usize::MAX);
    }
}
