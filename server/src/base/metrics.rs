//! Metrics, for the program that watches the service: `/metrics` on the listener for load balancers.
//!
//! Counting is cheap: each figure that a request touches is one atomic number that was found beforehand. Gauges that
//! are kept elsewhere, such as the length of a queue, are read only when the metrics are: see [`MetricsRegistry::register_gauge`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use http::StatusCode;
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use crate::base::class::{Class, PerClass};

/// The media type of [`MetricsRegistry::to_text`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The classes of statuses, in the order of their first digit.
const STATUSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The reason for which a request was refused without being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RejectReason {
    /// The queue of its class is full, or its turn would come too late.
    Full,
    /// Its account or network has all the places that one may have.
    Share,
    /// It waited too long for its turn.
    Age,
    /// Its account sends too much in a second.
    AccountRate,
    /// Its network sends too much in a second.
    NetworkRate,
    /// The time that a request may take was over.
    Deadline,
    /// The audit log had no room for its row.
    Audit,
}

impl RejectReason {
    /// Returns the name of the reason, a label of the metric.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Share => "share",
            Self::Age => "age",
            Self::AccountRate => "account_rate",
            Self::NetworkRate => "network_rate",
            Self::Deadline => "deadline",
            Self::Audit => "audit",
        }
    }
}

type Label = [(&'static str, &'static str); 1];
type Labels = [(&'static str, &'static str); 2];

/// The counters of a service. Clones share them.
///
/// Every part of the service keeps a clone. Gauges that read the state of the parts are in [`MetricsRegistry`], which none of
/// the parts keeps, so that they are dropped with the service.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("Metrics")]
pub struct Metrics(Arc<Counters>);

struct Counters {
    requests: Family<Labels, Counter>,
    answers: PerClass<[Counter; 5]>,
    refusals: Family<Label, Counter>,
    queue: Family<Label, Counter<f64, AtomicU64>>,
    waited: PerClass<Counter<f64, AtomicU64>>,
    restarts: Family<Label, Counter>,
    jobs: Family<Labels, Counter>,
    degraded: Family<Label, Gauge>,
}

impl Default for Counters {
    fn default() -> Self {
        let requests = Family::<Labels, Counter>::default();
        let queue = Family::<Label, Counter<f64, AtomicU64>>::default();
        let of_class = |class: Class| {
            STATUSES.map(|status| {
                requests.get_or_create_owned(&[("class", class.name()), ("status", status)])
            })
        };
        Self {
            answers: PerClass::of(of_class),
            waited: PerClass::of(|it| queue.get_or_create_owned(&[("class", it.name())])),
            requests,
            refusals: Family::default(),
            queue,
            restarts: Family::default(),
            jobs: Family::default(),
            degraded: Family::default(),
        }
    }
}

/// The metrics registry of one service: its counters, and the gauges of its parts. Clones are the same registry.
#[derive(derive_more::Debug, Clone)]
#[debug("MetricsRegistry")]
pub struct MetricsRegistry {
    metrics: Metrics,
    registry: Arc<Mutex<Registry>>,
}

impl Default for MetricsRegistry {
    fn default() -> Self {
        let metrics = Metrics::default();
        let counters = &metrics.0;
        let mut registry = Registry::with_prefix("lectern");
        registry.register(
            "requests",
            "Requests by class and by class of the answer's status",
            counters.requests.clone(),
        );
        registry.register(
            "refusals",
            "Requests that were refused for want of room, rate or time, by cause",
            counters.refusals.clone(),
        );
        registry.register(
            "queue_seconds",
            "Time that requests waited for their turn, by class",
            counters.queue.clone(),
        );
        registry.register(
            "task_restarts",
            "Background tasks that failed and were started again, by task",
            counters.restarts.clone(),
        );
        registry.register(
            "job_runs",
            "Transactions of jobs, by job and by whether they are done or failed",
            counters.jobs.clone(),
        );
        registry.register(
            "degraded",
            "1 for each part of the service that does not work as it should",
            counters.degraded.clone(),
        );
        Self {
            registry: Arc::new(Mutex::new(registry)),
            metrics,
        }
    }
}

impl Metrics {
    /// Counts one answer.
    pub fn answered(&self, class: Class, status: StatusCode) {
        let digit = usize::from(status.as_u16() / 100);
        let counters = self.0.answers.get(class);
        if let Some(counter) = digit.checked_sub(1).and_then(|it| counters.get(it)) {
            counter.inc();
        }
    }

    /// Counts one refusal.
    pub fn refused(&self, reason: RejectReason) {
        let label = [("cause", reason.name())];
        self.0.refusals.get_or_create(&label).inc();
    }

    /// Adds the time that a request waited for its turn.
    pub fn waited(&self, class: Class, time: Duration) {
        self.0.waited.get(class).inc_by(time.as_secs_f64());
    }

    /// Counts that the background task of this name failed and was started again.
    pub fn restarted(&self, task: &'static str) {
        self.0.restarts.get_or_create(&[("task", task)]).inc();
    }

    /// Counts that a transaction of the job of this name is done or failed.
    pub fn ran(&self, job: &'static str, is_done: bool) {
        let outcome = if is_done { "done" } else { "failed" };
        let labels = [("job", job), ("outcome", outcome)];
        self.0.jobs.get_or_create(&labels).inc();
    }

    /// Says whether the part of this name does not work as it should.
    pub fn degraded(&self, part: &'static str, is_degraded: bool) {
        let gauge = self.0.degraded.get_or_create(&[("part", part)]);
        gauge.set(i64::from(is_degraded));
    }
}

impl MetricsRegistry {
    /// Returns the counters of the service.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Registers a gauge, which `read` returns whenever the metrics are read.
    pub fn register_gauge(
        &self,
        name: &'static str,
        help: &'static str,
        read: impl Fn() -> i64 + Send + Sync + 'static,
    ) {
        let asked = Asked {
            name,
            help,
            read: Box::new(read),
        };
        self.registry.lock().register_collector(Box::new(asked));
    }

    /// All figures in the text format of Prometheus and `OpenMetrics`.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        match text::encode(&mut text, &self.registry.lock()) {
            Ok(()) => text,
            // Writing to a string can't fail.
            Err(fmt::Error) => String::new(),
        }
    }
}

/// A figure that is known elsewhere.
#[derive(derive_more::Debug)]
#[debug("Asked({})", self.name)]
struct Asked {
    name: &'static str,
    help: &'static str,
    read: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl Collector for Asked {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let gauge = ConstGauge::new((self.read)());
        let kind = prometheus_client::encoding::EncodeMetric::metric_type(&gauge);
        let metric = encoder.encode_descriptor(self.name, self.help, None, kind)?;
        gauge.encode(metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_in_the_text_format() {
        let figures = MetricsRegistry::default();
        let metrics = figures.metrics();
        metrics.answered(Class::Read, StatusCode::OK);
        metrics.answered(Class::Read, StatusCode::NO_CONTENT);
        metrics.answered(Class::Login, StatusCode::SERVICE_UNAVAILABLE);
        metrics.refused(RejectReason::Full);
        metrics.waited(Class::Write, Duration::from_millis(1500));
        metrics.restarted("janitor");
        metrics.degraded("audit", true);
        figures.register_gauge("queue_length", "Requests that wait", || 7);
        let text = figures.to_text();
        for line in [
            "# TYPE lectern_requests counter",
            "lectern_requests_total{class=\"read\",status=\"2xx\"} 2",
            "lectern_requests_total{class=\"login\",status=\"5xx\"} 1",
            "lectern_requests_total{class=\"scan\",status=\"2xx\"} 0",
            "lectern_refusals_total{cause=\"full\"} 1",
            "lectern_queue_seconds_total{class=\"write\"} 1.5",
            "lectern_task_restarts_total{task=\"janitor\"} 1",
            "lectern_degraded{part=\"audit\"} 1",
            "lectern_queue_length 7",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
