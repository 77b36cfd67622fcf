//! Sanitises long HTML on threads that may block, few at a time, and fair between accounts: by the places of
//! [`Class::Text`].

use std::sync::Arc;

use async_trait::async_trait;
use entity_core::html::{Sanitized, Sanitizer};
use entity_core::{Caller, Error, Result};
use entity_providers::base::html::HtmlRules;

use crate::base::class::Class;
use crate::guard::admission::Admission;

/// The maximum length of a text that is sanitised in place, in bytes: that takes no longer than a millisecond or two.
const SHORT: usize = 2_048;

/// Sanitises HTML. One for a service.
#[derive(Debug)]
pub(crate) struct HtmlSanitizer {
    rules: Arc<HtmlRules>,
    admission: Arc<Admission>,
}

impl HtmlSanitizer {
    /// Works on the texts that `admission` lets in.
    pub(crate) fn new(admission: Arc<Admission>) -> Self {
        Self {
            rules: Arc::default(),
            admission,
        }
    }
}

#[async_trait]
impl Sanitizer for HtmlSanitizer {
    fn takes_long(&self, text: &str) -> bool {
        text.len() > SHORT
    }

    fn sanitize(&self, html: &str) -> Sanitized {
        self.rules.sanitize(html).map_err(ToOwned::to_owned)
    }

    async fn sanitize_apart(&self, caller: &Caller, html: &str) -> Result<Sanitized> {
        let who = self.admission.account(caller.user_id().unwrap_or_default());
        let place = self.admission.lane(Class::Text).enter(who).await?;
        let (rules, html) = (Arc::clone(&self.rules), html.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            // It is given back when the work is done, also when nobody waits for it any more.
            let _held = place;
            rules.sanitize(&html).map_err(ToOwned::to_owned)
        });
        work.await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn sec_one_account_takes_neither_all_places_nor_others_turns() {
        let admission = Admission::for_tests();
        let sanitizer = HtmlSanitizer::new(Arc::clone(&admission));
        let lane = admission.lane(Class::Text);
        let mut busy = Vec::new();
        while let Ok(place) = lane.try_enter(admission.account(&format!("other {}", busy.len()))) {
            busy.push(place);
        }
        let long = "<p>x</p>".repeat(1_000);
        let (eve, ada) = (Caller::user("eve", "eve"), Caller::user("ada", "ada"));
        let mut waiting = Vec::new();
        let refused = loop {
            let mut one = sanitizer.sanitize_apart(&eve, &long);
            match one.as_mut().now_or_never() {
                None => waiting.push(one),
                Some(done) => break done.unwrap_err(),
            }
        };
        assert_eq!(refused.retry_after(), Some(1));
        assert_eq!(lane.waiting(), 16);
        let mut other = sanitizer.sanitize_apart(&ada, &long);
        assert!(other.as_mut().now_or_never().is_none());
        drop(busy.pop());
        // Only the first of eve's stands before hers.
        let first = waiting.remove(0).await.unwrap();
        assert_eq!(first, other.await.unwrap());
        drop((waiting, busy));
        assert_eq!((lane.waiting(), lane.running()), (0, 0));
    }
}
