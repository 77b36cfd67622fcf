//! Gauges that are read from the parts of the service, for the monitoring system.

use entity_core::db::Quotas;
use entity_core::engine::Dispatcher;

use crate::base::health::{Counters, Health};
use crate::base::metrics::MetricsRegistry;
use crate::guard::audit::AuditLog;

pub(super) fn health(health: &Health, figures: &MetricsRegistry) {
    health.report_to(figures.metrics().clone());
    let ask = |name, help, read: fn(Counters) -> u64| {
        let health = health.clone();
        figures.register_gauge(name, help, move || {
            i64::try_from(read(health.counters())).unwrap_or(i64::MAX)
        });
    };
    ask("audit_lost", "Audit rows left out", |it| it.audit_lost);
    ask(
        "lines_repeated",
        "Log lines counted in place of written",
        |it| it.lines_repeated,
    );
    ask("lines_lost", "Log lines that could not be written", |it| {
        it.lines_lost
    });
}

pub(super) fn quotas(dispatcher: &Dispatcher, figures: &MetricsRegistry) {
    let Some(quotas) = dispatcher.shared().services.get::<Quotas>() else {
        return;
    };
    let help = "Requests that were refused because an account or a site has all that it may have";
    figures.register_gauge("quota_refusals", help, move || {
        i64::try_from(quotas.refused()).unwrap_or(i64::MAX)
    });
}

pub(super) fn audit(audit: &AuditLog, figures: &MetricsRegistry) {
    let audit = audit.clone();
    figures.register_gauge(
        "audit_queue_rows",
        "Audit rows that wait to be written",
        move || audit.waiting(),
    );
}
