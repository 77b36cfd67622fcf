//! The permit of a request: a place of its class or, once its answer turns out to be large, one of the few for those.
//!
//! A request that waits to read much gives its first place back, so that everyday requests run meanwhile.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use entity_core::Result;
use entity_core::engine::LargeResponsePermit;
use parking_lot::Mutex;

use super::known_large::KnownLarge;
use super::lane::{Lane, Permit};
use super::shares::ClientKey;

/// The seat of one request. It is left when this is dropped, and nothing sits down again then.
#[derive(Debug)]
pub(crate) struct PermitGuard(RequestPermit);

/// The same seat, for what may have to change its place.
#[derive(Clone, Debug)]
pub(crate) struct RequestPermit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Where large answers are made.
    large: Large,
    /// The hash of the query, if that can be sent again.
    asked: Option<u64>,
    book: Mutex<State>,
}

/// Where large answers are made, and what is known to need one.
#[derive(Clone, Debug)]
pub(super) struct Large {
    pub(super) lane: Lane,
    pub(super) known: KnownLarge,
}

#[derive(Debug)]
struct State {
    who: ClientKey,
    place: Option<Permit>,
    is_left: bool,
}

impl PermitGuard {
    /// A seat without a place for `who`, who asks for what has the number `asked`, if it can be asked for again. The
    /// answer is made by a place of `large` if it is large.
    pub(super) fn new(who: ClientKey, asked: Option<u64>, large: Large) -> Self {
        let book = State {
            who,
            place: None,
            is_left: false,
        };
        Self(RequestPermit(Arc::new(Inner {
            large,
            asked,
            book: Mutex::new(book),
        })))
    }

    /// The permit, which the request exchanges when its answer turns out to be large.
    pub(crate) fn seat(&self) -> RequestPermit {
        self.0.clone()
    }

    /// Returns whether it is worth while to look for the answer.
    pub(super) fn check(&self) -> Result<()> {
        let Inner { large, asked, .. } = &*self.0.0;
        let question = asked.map(|it| (self.who().group, it));
        match question.is_some_and(|it| large.known.is_large(it, Instant::now())) {
            true => large.lane.check(self.who()),
            false => Ok(()),
        }
    }

    pub(super) fn who(&self) -> ClientKey {
        self.0.0.book.lock().who
    }

    /// It is `who` whose seat this is, unless they have a place already.
    pub(super) fn settle(&self, who: ClientKey) {
        let mut book = self.0.0.book.lock();
        if book.place.is_none() {
            book.who = who;
        }
    }

    pub(super) fn sit(&self, place: Permit) {
        self.0.sit(place);
    }
}

impl Drop for PermitGuard {
    fn drop(&mut self) {
        let place = {
            let mut book = self.0.0.book.lock();
            book.is_left = true;
            book.place.take()
        };
        // Outside of the lock: somebody else is given the place.
        drop(place);
    }
}

impl RequestPermit {
    /// The result of asking for a place for large answers. A refusal is remembered.
    fn tell<T>(&self, asked: Result<T>) -> Result<T> {
        if let (Err(_), Some(number)) = (&asked, self.0.asked) {
            let question = (self.0.book.lock().who.group, number);
            self.0.large.known.note(question, Instant::now());
        }
        asked
    }

    fn sit(&self, place: Permit) {
        let given_back = {
            let mut book = self.0.book.lock();
            match book.is_left {
                true => Some(place),
                false => book.place.replace(place),
            }
        };
        drop(given_back);
    }
}

#[async_trait]
impl LargeResponsePermit for RequestPermit {
    async fn wait(&self) -> Result<()> {
        let (who, place) = {
            let mut book = self.0.book.lock();
            (book.who, book.place.take())
        };
        drop(place);
        let place = self.tell(self.0.large.lane.enter(who).await)?;
        self.sit(place);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let who = self.0.book.lock().who;
        self.tell(self.0.large.lane.check(who))
    }

    fn try_now(&self) -> Result<()> {
        let who = self.0.book.lock().who;
        let place = self.0.large.lane.try_enter(who)?;
        self.sit(place);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use entity_core::ErrorKind;

    use super::*;
    use crate::base::class::Class;

    fn lane(class: Class) -> Lane {
        Lane::of_one_place(class, 1, Duration::from_millis(500))
    }

    #[tokio::test]
    async fn dos_7_who_reads_much_gives_the_first_place_back_and_keeps_the_other_until_the_end() {
        let (reads, large) = (lane(Class::Read), lane(Class::Large));
        let who = ClientKey::group(1);
        let known = KnownLarge::new();
        let lanes = Large {
            lane: large.clone(),
            known: known.clone(),
        };
        let seated = PermitGuard::new(who, Some(7), lanes);
        seated.check().unwrap();
        seated.sit(reads.enter(who).await.unwrap());
        let other = large.enter(ClientKey::group(2)).await.unwrap();
        let seat = seated.seat();
        assert!(seat.try_now().is_err());
        assert_eq!((reads.running(), large.running()), (1, 1));
        // It waits in vain, and keeps nobody else waiting meanwhile.
        assert!(seat.wait().await.is_err());
        assert_eq!((reads.running(), large.waiting()), (0, 0));
        // The same is not looked for again as long as there is no room.
        assert!(known.is_large((who.group, 7), Instant::now()));
        seated.check().unwrap();
        let next = tokio::spawn({
            let large = large.clone();
            async move { large.enter(ClientKey::group(3)).await.map(drop) }
        });
        while large.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(seated.check().unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(next.await.unwrap().is_err());
        drop(other);
        seat.wait().await.unwrap();
        assert_eq!(large.running(), 1);
        drop(seated);
        assert_eq!(large.running(), 0);
        seat.try_now().unwrap();
        assert_eq!(large.running(), 0);
    }
}
