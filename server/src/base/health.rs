//! Health: the process lives, and it is ready for requests.
//!
//! Probes cost the database nothing: one task of the service tries it every other second, and every answer is its last
//! result, from memory.

mod counters;
mod listener;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::base::metrics::{self, Metrics, MetricsRegistry, RejectReason};

pub use counters::Counters;
use counters::Counts;
pub use listener::HealthListener;

/// Asks whether the process lives.
pub(crate) const LIVE: &str = "/livez";
/// Asks whether requests are wanted.
pub(crate) const READY: &str = "/readyz";

/// The path of the metrics. Only the listener for load balancers serves it.
const METRICS: &str = "/metrics";

/// The part that is degraded when no write gets through: then no requests are wanted.
pub(crate) const WRITES: &str = "writes";

/// The maximum age of the last answer of the database.
const FRESH: Duration = Duration::from_secs(5);
/// After how long without a turn for our own task a restart is the only way out: the threads that serve
/// requests are blocked.
const STUCK: Duration = Duration::from_mins(1);

/// The state that load balancers ask for. All clones are the same state.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    is_draining: AtomicBool,
    seen: Mutex<Seen>,
    /// The degraded parts, each with the reason.
    degraded: Mutex<BTreeMap<&'static str, &'static str>>,
    counts: Counts,
    metrics: OnceLock<Metrics>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The time of the last turn of our own task.
    turn: Option<Instant>,
    /// The time of the last answer of the database.
    answer: Option<Instant>,
}

impl Health {
    /// The state of a service whose database has just been brought up to date.
    pub(crate) fn of_migrated() -> Self {
        let health = Self::default();
        health.note_answer(Instant::now());
        health
    }

    /// From now on no new requests are wanted.
    pub fn drain(&self) {
        self.0.is_draining.store(true, Ordering::SeqCst);
    }

    /// Returns whether no new requests are wanted any more.
    pub fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::SeqCst)
    }

    /// Returns the state of the liveness probe: OK, unless the threads that serve requests are blocked. The database
    /// has no part in it, because a restart would not help.
    pub fn live(&self) -> StatusCode {
        self.live_at(Instant::now())
    }

    /// Returns whether requests are wanted: not while draining, without the database, or while no write gets through.
    pub fn ready(&self) -> StatusCode {
        self.ready_at(Instant::now())
    }

    /// Marks `part` as degraded in `/readyz`, with the reason. Requests are still wanted. Returns true if it was not
    /// degraded until now.
    pub fn degrade(&self, part: &'static str, reason: &'static str) -> bool {
        let before = self.parts().insert(part, reason);
        self.show(part, true);
        before.is_none()
    }

    /// `part` works again.
    pub fn restore(&self, part: &'static str) {
        if self.parts().remove(part).is_some() {
            self.show(part, false);
        }
    }

    /// Returns the degraded parts, one line for each; empty if all is well.
    pub fn degraded(&self) -> String {
        let parts = self.parts();
        let lines = parts
            .iter()
            .map(|(it, why)| format!("degraded: {it}: {why}\n"));
        lines.collect()
    }

    /// Returns the counters since the service started.
    pub fn counters(&self) -> Counters {
        self.0.counts.read()
    }

    /// Reports changes to `metrics` from now on.
    pub(crate) fn report_to(&self, metrics: Metrics) {
        // A service has one set of figures, and says so once.
        let _set_before = self.0.metrics.set(metrics);
    }

    /// The task of this name failed and is started again.
    pub(crate) fn note_restart(&self, task: &'static str) {
        self.0.counts.restarts.fetch_add(1, Ordering::Relaxed);
        if let Some(metrics) = self.0.metrics.get() {
            metrics.restarted(task);
        }
    }

    /// The audit log found no room for the row of a request, which is refused if `is_refused`.
    pub(crate) fn note_unaudited(&self, is_refused: bool) {
        let count = match is_refused {
            true => &self.0.counts.audit_refused,
            false => &self.0.counts.audit_lost,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(metrics) = self.0.metrics.get().filter(|_| is_refused) {
            metrics.refused(RejectReason::Audit);
        }
    }

    /// The answer to whether requests are wanted: the status, and a line for each thing that is not as it should be.
    pub(crate) fn readiness(&self) -> Response {
        let status = self.ready();
        let mut lines = self.degraded();
        if self.is_draining() {
            lines.insert_str(0, "not ready: the service is stopping\n");
        } else if !status.is_success() && !self.parts().contains_key(WRITES) {
            lines.insert_str(0, "not ready: the database does not answer\n");
        }
        match lines.is_empty() {
            true => status.into_response(),
            false => (status, lines).into_response(),
        }
    }

    fn show(&self, part: &'static str, is_degraded: bool) {
        if let Some(metrics) = self.0.metrics.get() {
            metrics.degraded(part, is_degraded);
        }
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<&'static str, &'static str>> {
        self.0.degraded.lock()
    }

    fn live_at(&self, now: Instant) -> StatusCode {
        let turn = self.0.seen.lock().turn;
        let is_stuck = turn.is_some_and(|it| now.saturating_duration_since(it) > STUCK);
        status(!is_stuck)
    }

    fn ready_at(&self, now: Instant) -> StatusCode {
        let answer = self.0.seen.lock().answer;
        let is_fresh = answer.is_some_and(|it| now.saturating_duration_since(it) <= FRESH);
        status(is_fresh && !self.is_draining() && !self.parts().contains_key(WRITES))
    }

    pub(crate) fn note_turn(&self, now: Instant) {
        self.0.seen.lock().turn = Some(now);
    }

    pub(crate) fn note_answer(&self, now: Instant) {
        self.0.seen.lock().answer = Some(now);
    }
}

fn status(is_fine: bool) -> StatusCode {
    match is_fine {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Serves both probes, the metrics of the service, and nothing else.
fn router(health: Health, figures: MetricsRegistry) -> Router {
    let figures = move || async move { ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], figures.to_text()) };
    Router::new()
        .route(METRICS, get(figures))
        .route(
            LIVE,
            get(|State(it): State<Health>| async move { it.live() }),
        )
        .route(
            READY,
            get(|State(it): State<Health>| async move { it.readiness() }),
        )
        .with_state(health)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: StatusCode = StatusCode::OK;
    const NOT: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

    #[test]
    fn rel_8_requests_are_wanted_while_the_last_answer_is_fresh() {
        let health = Health::default();
        let start = Instant::now();
        assert_eq!(health.ready_at(start), NOT, "the database never answered");
        health.note_answer(start);
        for (after, expected) in [(0, FINE), (5_000, FINE), (5_001, NOT), (60_000, NOT)] {
            let after = Duration::from_millis(after);
            assert_eq!(health.ready_at(start + after), expected, "{after:?}");
        }
        health.note_answer(start + FRESH * 2);
        assert_eq!(health.ready_at(start + FRESH * 2), FINE, "it is back");
        health.drain();
        assert_eq!(health.ready_at(start + FRESH * 2), NOT, "draining");
    }

    #[test]
    fn y12_nothing_is_wanted_while_no_write_gets_through() {
        let (health, now) = (Health::default(), Instant::now());
        health.note_answer(now);
        assert!(health.degrade("audit storage", "the disk is full"));
        assert_eq!(health.ready_at(now), FINE);
        assert!(health.degrade(WRITES, "one goes on") && !health.degrade(WRITES, "one goes on"));
        assert_eq!(health.ready_at(now), NOT);
        health.restore(WRITES);
        assert_eq!(health.ready_at(now), FINE);
    }

    #[test]
    fn rel_8_metrics_show_what_is_degraded_restarted_and_refused() {
        let (health, figures) = (Health::default(), MetricsRegistry::default());
        health.report_to(figures.metrics().clone());
        health.degrade("audit storage", "the disk is full");
        health.note_restart("janitor");
        health.note_unaudited(true);
        health.note_unaudited(false);
        for line in [
            "lectern_degraded{part=\"audit storage\"} 1",
            "lectern_task_restarts_total{task=\"janitor\"} 1",
            "lectern_refusals_total{cause=\"audit\"} 1",
        ] {
            let text = figures.to_text();
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        health.restore("audit storage");
        let text = figures.to_text();
        assert!(text.contains("lectern_degraded{part=\"audit storage\"} 0"));
    }

    #[test]
    fn rel_8_only_a_service_that_stands_still_does_not_live() {
        let health = Health::default();
        let start = Instant::now();
        health.drain();
        assert_eq!(health.live_at(start), FINE, "neither answer nor turn yet");
        health.note_turn(start);
        assert_eq!(health.live_at(start + STUCK), FINE);
        assert_eq!(health.live_at(start + STUCK * 2), NOT);
        health.note_turn(start + STUCK * 2);
        assert_eq!(health.live_at(start + STUCK * 2), FINE);
    }
}
