//! Collecting the attempts at quizzes that have ended by themselves, so that their scores reach the gradebook although
//! nobody asked.

use chrono::{DateTime, Utc};
use entity_core::Result;
use entity_providers::courses::quiz::Quiz;

use crate::base::telemetry;
use crate::operate::background::{PAUSE, origin, write};
use crate::operate::node::Node;

/// The maximum number of quizzes that are collected in one sweep: the rest of the housekeeping waits for them.
const QUIZZES: usize = 200;

/// Collects at some of the quizzes what has ended by `now`. A quiz that fails is told in the log, and tried again.
pub(super) async fn collect(node: &Node, now: DateTime<Utc>) -> Result<()> {
    // So quizzes that fail again and again keep none from its turn.
    let after = node.collected.get();
    let most = i64::try_from(QUIZZES).unwrap_or(i64::MAX);
    let origin = origin();
    let ended = node.dispatcher.read(&origin, |cx| {
        Box::pin(async move { Quiz::with_ended_attempts(cx, now, &after, most).await })
    });
    let ended = ended.await?;
    for id in &ended {
        let done = write(node, &origin, |cx| {
            let id = id.clone();
            Box::pin(async move { Quiz::collect(cx, &id).await })
        });
        if let Err(error) = done.await {
            tracing::warn!(
                quiz = id,
                error = telemetry::cause(&error),
                "can't collect what ended at a quiz: its scores are not in the gradebook yet"
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
    // After the end, it begins anew.
    let last = ended.into_iter().nth(QUIZZES.saturating_sub(1));
    node.collected.set(last.unwrap_or_default());
    Ok(())
}
