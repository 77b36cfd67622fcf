//! The deadline of a request, which is put off while its body comes: that has a time limit of its own, and the work on
//! it has no more time than that of a request without one.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The interval at which a deadline that may be moved is checked.
const LOOK: Duration = Duration::from_secs(1);

/// The deadline of one request. All clones are the same deadline.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    /// The present deadline of a request with a body; `None` while its bytes come, which have deadlines of their own.
    moved: Option<Arc<Mutex<Option<Instant>>>>,
    is_of_upload: bool,
}

/// The kind of body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// Its head alone.
    Nothing,
    /// A body, which is read as a whole.
    Body,
    /// Files.
    Files,
}

impl Deadline {
    /// The deadline `at` of a request that brings this. Nothing but reading it moves the deadline.
    pub(crate) fn new(at: Instant, brings: BodyKind) -> Self {
        let has_body = brings != BodyKind::Nothing;
        Self {
            at,
            moved: has_body.then(|| Arc::new(Mutex::new(Some(at)))),
            is_of_upload: brings == BodyKind::Files,
        }
    }

    /// Returns whether the request brings files.
    pub(crate) fn is_of_upload(&self) -> bool {
        self.is_of_upload
    }

    /// Puts it off, and returns how much time was left.
    pub(crate) fn suspend(&self) -> Duration {
        let left = self.at.saturating_duration_since(Instant::now());
        self.set(None);
        left
    }

    /// Lets it be so long from now.
    pub(crate) fn resume(&self, length: Duration) {
        self.set(Some(Instant::now() + length));
    }

    /// Returns the time of the first check.
    pub(crate) fn first(&self) -> Instant {
        match self.moved {
            Some(_) => self.at.min(Instant::now() + LOOK),
            None => self.at,
        }
    }

    /// Returns the time of the next check; `None` if it is over.
    pub(crate) fn again(&self) -> Option<Instant> {
        let moved = self.moved.as_ref()?;
        let at = *moved.lock();
        let now = Instant::now();
        match at {
            Some(at) if at <= now => None,
            Some(at) => Some(at.min(now + LOOK)),
            None => Some(now + LOOK),
        }
    }

    fn set(&self, at: Option<Instant>) {
        if let Some(moved) = &self.moved {
            *moved.lock() = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_has_a_body_puts_its_deadline_off() {
        let soon = Duration::from_millis(10);
        let at = Instant::now() + soon;
        let usual = Deadline::new(at, BodyKind::Nothing);
        let body = Deadline::new(at, BodyKind::Body);
        let upload = Deadline::new(at, BodyKind::Files);
        for it in [&usual, &body, &upload] {
            assert!(it.suspend() <= soon);
        }
        tokio::time::sleep(2 * soon).await;
        assert!(usual.again().is_none());
        for it in [&body, &upload] {
            assert!(it.again().is_some());
            it.resume(soon);
        }
        tokio::time::sleep(2 * soon).await;
        assert!(body.again().is_none());
        assert!(upload.clone().again().is_none());
        assert!(upload.is_of_upload() && !body.is_of_upload());
    }

    #[tokio::test]
    async fn x53_what_has_a_body_has_no_more_time_for_its_work() {
        let length = Duration::from_mins(1);
        let deadline = Deadline::new(Instant::now() + length, BodyKind::Body);
        assert!(deadline.first() <= Instant::now() + LOOK);
        let left = deadline.suspend();
        assert!(left <= length);
        deadline.resume(left);
        let until = deadline.moved.as_ref().unwrap().lock().unwrap();
        assert!(until <= Instant::now() + length);
    }
}
