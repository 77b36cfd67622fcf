//! By when a request must be answered, which an upload puts off while its bytes come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How often the deadline of an upload is looked at, which may be put off and back.
const LOOK: Duration = Duration::from_secs(1);

/// The deadline of one request. All clones are the same deadline.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    /// The present deadline of an upload; `None` while its bytes come, which have deadlines of their own.
    moved: Option<Arc<Mutex<Option<Instant>>>>,
}

impl Deadline {
    /// The deadline `at`, which an upload may move.
    pub(crate) fn new(at: Instant, is_of_upload: bool) -> Self {
        Self {
            at,
            moved: is_of_upload.then(|| Arc::new(Mutex::new(Some(at)))),
        }
    }

    /// Whether the request brings files.
    pub(crate) fn is_of_upload(&self) -> bool {
        self.moved.is_some()
    }

    /// Puts it off.
    pub(crate) fn suspend(&self) {
        self.set(None);
    }

    /// Lets it be so long from now.
    pub(crate) fn resume(&self, length: Duration) {
        self.set(Some(Instant::now() + length));
    }

    /// When to look at it first.
    pub(crate) fn first(&self) -> Instant {
        match self.moved {
            Some(_) => self.at.min(Instant::now() + LOOK),
            None => self.at,
        }
    }

    /// When to look at it again; `None` if it is over.
    pub(crate) fn again(&self) -> Option<Instant> {
        let moved = self.moved.as_ref()?;
        let at = *moved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match at {
            Some(at) if at <= now => None,
            Some(at) => Some(at.min(now + LOOK)),
            None => Some(now + LOOK),
        }
    }

    fn set(&self, at: Option<Instant>) {
        if let Some(moved) = &self.moved {
            *moved.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_an_upload_puts_its_deadline_off() {
        let soon = Duration::from_millis(10);
        let usual = Deadline::new(Instant::now() + soon, false);
        let upload = Deadline::new(Instant::now() + soon, true);
        for it in [&usual, &upload] {
            it.suspend();
        }
        tokio::time::sleep(2 * soon).await;
        assert!(usual.again().is_none());
        assert!(upload.again().is_some());
        upload.resume(soon);
        tokio::time::sleep(2 * soon).await;
        assert!(upload.clone().again().is_none());
    }
}
