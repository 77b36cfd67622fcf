//! The permit of a request: a place of its class or, once its answer turns out to be large, one of the few for those.
//!
//! A request that waits to read much gives its first place back, so that everyday requests run meanwhile.

use std::sync::{Arc, Weak};
use std::time::Instant;

use async_trait::async_trait;
use entity_core::Result;
use entity_core::engine::LargeResponsePermit;
use parking_lot::Mutex;

use super::known_large::KnownLarge;
use super::lane::{Lane, Permit};
use super::shares::ClientKey;

/// The permit of one request. Its place is given back when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct RequestPermit(Arc<Inner>);

/// The permit for the answer of a request, which exchanges its place when the answer turns out to be large. The place is
/// given back with the request, whoever still holds this; what is read for a request that is over needs none.
#[derive(Debug)]
pub(crate) struct AnswerPermit(Weak<Inner>);

#[derive(Debug)]
struct Inner {
    /// Where large answers are made.
    large: Large,
    /// The hash of the query, if that can be sent again.
    asked: Option<u64>,
    state: Mutex<State>,
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
}

impl RequestPermit {
    /// A permit without a place for `who`, who asks for what has the number `asked`, if it can be asked for again. The
    /// answer is made by a place of `large` if it is large.
    pub(super) fn new(who: ClientKey, asked: Option<u64>, large: Large) -> Self {
        Self(Arc::new(Inner {
            large,
            asked,
            state: Mutex::new(State { who, place: None }),
        }))
    }

    /// Returns the permit for the answer of the request.
    pub(crate) fn of_answer(&self) -> AnswerPermit {
        AnswerPermit(Arc::downgrade(&self.0))
    }

    /// Returns whether it is worth while to look for the answer: not if that is known to be large and there is no room.
    pub(super) fn check(&self) -> Result<()> {
        let Inner { large, asked, .. } = &*self.0;
        let question = asked.map(|it| (self.who().group, it));
        match question.is_some_and(|it| large.known.is_large(it, Instant::now())) {
            true => large.lane.check(self.who()),
            false => Ok(()),
        }
    }

    pub(super) fn who(&self) -> ClientKey {
        self.0.state.lock().who
    }

    /// It is `who` whose permit this is, unless it has a place already.
    pub(super) fn settle(&self, who: ClientKey) {
        let mut state = self.0.state.lock();
        if state.place.is_none() {
            state.who = who;
        }
    }

    pub(super) fn sit(&self, place: Permit) {
        self.0.sit(place);
    }
}

impl Inner {
    fn sit(&self, place: Permit) {
        let given_back = self.state.lock().place.replace(place);
        // Outside of the lock: somebody else is given the place.
        drop(given_back);
    }

    /// Returns the result of asking for a place for large answers. A refusal is remembered.
    fn note<T>(&self, asked: Result<T>) -> Result<T> {
        if let (Err(_), Some(number)) = (&asked, self.asked) {
            let question = (self.state.lock().who.group, number);
            self.large.known.note(question, Instant::now());
        }
        asked
    }
}

#[async_trait]
impl LargeResponsePermit for AnswerPermit {
    async fn wait(&self) -> Result<()> {
        let Some(request) = self.0.upgrade() else {
            return Ok(());
        };
        let (who, place) = {
            let mut state = request.state.lock();
            (state.who, state.place.take())
        };
        drop(place);
        let place = request.note(request.large.lane.enter(who).await)?;
        request.sit(place);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let Some(request) = self.0.upgrade() else {
            return Ok(());
        };
        let who = request.state.lock().who;
        request.note(request.large.lane.check(who))
    }

    fn try_now(&self) -> Result<()> {
        let Some(request) = self.0.upgrade() else {
            return Ok(());
        };
        let who = request.state.lock().who;
        request.sit(request.large.lane.try_enter(who)?);
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
        let permit = RequestPermit::new(who, Some(7), lanes);
        permit.check().unwrap();
        permit.sit(reads.enter(who).await.unwrap());
        let other = large.enter(ClientKey::group(2)).await.unwrap();
        let answer = permit.of_answer();
        assert!(answer.try_now().is_err());
        assert_eq!((reads.running(), large.running()), (1, 1));
        // It waits in vain, and keeps nobody else waiting meanwhile.
        assert!(answer.wait().await.is_err());
        assert_eq!((reads.running(), large.waiting()), (0, 0));
        // The same is not looked for again as long as there is no room.
        assert!(known.is_large((who.group, 7), Instant::now()));
        permit.check().unwrap();
        let next = tokio::spawn({
            let large = large.clone();
            async move { large.enter(ClientKey::group(3)).await.map(drop) }
        });
        while large.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(next.await.unwrap().is_err());
        drop(other);
        answer.wait().await.unwrap();
        assert_eq!(large.running(), 1);
        drop(permit);
        assert_eq!(large.running(), 0);
        answer.try_now().unwrap();
        assert_eq!(large.running(), 0);
    }
}
