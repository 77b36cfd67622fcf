//! Two creations at once: what one after another refuses, it refuses at the same time too.

use futures::future::join;
use http::StatusCode;

use super::suite::Suite;
use super::{Held, Verdict};
use crate::role::SITE;

/// The number of pairs, because two of one pair need not meet.
const PAIRS: usize = 8;

/// Checks that of two creations of the same fields at once exactly one succeeds, if one after another does.
pub async fn of_two_creations_at_once_one_succeeds(suite: &Suite) -> Verdict {
    if !suite.can("create") {
        return Ok(Held::Skipped("nobody can create entities of the type"));
    }
    let first = suite.superuser();
    let others = suite.people.iter().map(|it| &it.client).skip(1);
    let mut refused = None;
    // Two of one account may be kept apart by something else.
    for other in others.chain([first]) {
        let own = suite.post(other, &suite.fresh(SITE).await?).await.status;
        if own != StatusCode::CREATED {
            continue;
        }
        let fields = suite.fresh(SITE).await?;
        let made = suite.post(first, &fields).await.status;
        let refusal = suite.post(other, &fields).await.status;
        let is_refused = [StatusCode::CONFLICT, StatusCode::BAD_REQUEST].contains(&refusal);
        if made == StatusCode::CREATED && is_refused {
            refused = Some((other, refusal));
            break;
        }
    }
    let Some((other, refusal)) = refused else {
        return Ok(Held::Skipped("two entities of the type may be the same"));
    };
    for _ in 0..PAIRS {
        let fields = suite.fresh(SITE).await?;
        let (one, two) = join(suite.post(first, &fields), suite.post(other, &fields)).await;
        let answers = [one.status, two.status];
        let is_right = [
            [StatusCode::CREATED, refusal],
            [refusal, StatusCode::CREATED],
        ];
        if !is_right.contains(&answers) {
            return Err(format!(
                "two creations of the same fields at once are answered with {} and {}, but one after another the second one gets \
                 {refusal}: declare what nobody may have twice as `unique` or `unique_in_site`, or lock what the rule looks at \
                 before it looks",
                one.status, two.status
            ));
        }
    }
    Ok(Held::Passed)
}
