//! One attempt to deliver an event, and when the next one is.

use chrono::TimeDelta;
use entity_core::engine::Origin;
use entity_core::{Caller, DateTimeUtc, Error, Result, wire};
use rand::RngExt as _;
use serde_json::json;

use super::post::DeliveryRequest;
use super::queue::{Due, Next, Outcome};
use crate::operate::follower;
use crate::operate::node::Node;
use crate::operate::told;

/// After how many seconds a delivery is sent again, by the number of attempts: the schedule of the specification.
const AGAIN: [i64; 9] = [
    5,
    5 * 60,
    30 * 60,
    2 * 3600,
    5 * 3600,
    10 * 3600,
    14 * 3600,
    20 * 3600,
    24 * 3600,
];
/// The part of these times by which they are longer at most is one divided by this, so that not everything comes at once
/// again.
const LONGER: i64 = 10;

/// Sends a delivery, if its owner may read what it is about now, and returns what becomes of it.
///
/// # Errors
/// Returns an error if the database can't be read, or if this service can't send anything to anybody.
pub(super) async fn attempt(node: &Node, due: &Due) -> Result<Outcome> {
    let unsent = |error| Outcome {
        status: None,
        error: Some(error),
        next: Next::Dead,
    };
    let Some((id, eid)) = due.owner.clone() else {
        return Ok(unsent("the account of the owner is shut"));
    };
    let origin = Origin {
        caller: Caller::user(id, eid),
        ..follower::origin()
    };
    let event = due.event.clone();
    let told = node.dispatcher.read(&origin, |cx| {
        Box::pin(async move { told::to_caller(cx, &[event]).await })
    });
    let Some((_, told)) = told.await?.pop() else {
        return Ok(unsent("the owner may not read it any more"));
    };
    let event = &due.event.1;
    let body = json!({
        "type": event.kind,
        "timestamp": wire::iso(event.time),
        "data": serde_json::to_value(&told).map_err(Error::internal)?,
    });
    let letter = DeliveryRequest {
        id: &due.id,
        url: &due.url,
        key: due.key.as_deref().unwrap_or_default(),
        body: body.to_string(),
        time: node.now(),
    };
    let answer = node.post.send(&letter).await?;
    Ok(outcome(answer, due.attempts, node.now()))
}

/// Returns what becomes of a delivery that was sent `attempts` times before.
fn outcome(answer: Result<u16, &'static str>, attempts: i64, now: DateTimeUtc) -> Outcome {
    let (status, error) = match answer {
        Ok(status) => (Some(status), error_of(status)),
        Err(error) => (None, Some(error)),
    };
    let seconds = usize::try_from(attempts).ok();
    let seconds = seconds.and_then(|it| AGAIN.get(it)).copied();
    let again = || {
        let seconds = TimeDelta::seconds(seconds?);
        let tenth = seconds.num_milliseconds().checked_div(LONGER)?;
        let longer = TimeDelta::milliseconds(rand::rng().random_range(0..=tenth));
        Some(Next::Again(now + seconds + longer))
    };
    let next = match (status, error) {
        (Some(_), None) => Next::Delivered,
        (Some(410), _) => Next::Gone,
        _ => again().unwrap_or(Next::Dead),
    };
    Outcome {
        status,
        error,
        next,
    }
}

/// Returns what is wrong with an answer of this status, if it is no success.
fn error_of(status: u16) -> Option<&'static str> {
    match status {
        200..=299 => None,
        300..=399 => Some("the host forwards: write the address where it leads"),
        410 => Some("the host wants no more"),
        _ => Some("the host did not take it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_sent_again_for_three_days_and_then_given_up() {
        let now = DateTimeUtc::default();
        let mut whole = TimeDelta::zero();
        for (attempts, seconds) in AGAIN.iter().enumerate() {
            let attempts = i64::try_from(attempts).unwrap();
            let Next::Again(at) = outcome(Ok(500), attempts, now).next else {
                panic!("it is given up after {attempts}");
            };
            let wait = at - now;
            assert!(wait >= TimeDelta::seconds(*seconds), "{wait}");
            assert!(wait <= TimeDelta::milliseconds(seconds * 1100), "{wait}");
            whole += wait;
        }
        assert!(whole >= TimeDelta::hours(75), "{whole}");
        assert_eq!(outcome(Err("x"), 9, now).next, Next::Dead);
        assert_eq!(outcome(Ok(204), 9, now).next, Next::Delivered);
        assert_eq!(outcome(Ok(410), 0, now).next, Next::Gone);
        assert!(matches!(outcome(Ok(302), 0, now).next, Next::Again(_)));
    }
}
