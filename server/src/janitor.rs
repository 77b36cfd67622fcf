//! Removes now and then what is over, and tells which log lines were not written.

use std::sync::Weak;
use std::time::Duration;

use entity_core::db::{LaneCounts, Lanes};
use entity_providers::db::{LARGE_JOURNAL, shrink_journal};

use crate::app::{App, Inner};
use crate::supervise::Task;
use crate::telemetry;

/// How often it looks.
const PAUSE: Duration = Duration::from_mins(1);

/// Cleans up until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Janitor {
    app: Weak<Inner>,
    /// What was told last of statements that did not come to their end.
    reported: LaneCounts,
}

impl Janitor {
    /// The janitor of `app`.
    pub(crate) fn of(app: Weak<Inner>) -> Self {
        Self {
            app,
            reported: LaneCounts::default(),
        }
    }
}

impl Task for Janitor {
    const NAME: &'static str = "janitor";

    async fn run(&mut self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            let Some(app) = self.app.upgrade().map(App::from) else {
                return;
            };
            clean(&app).await;
            report_lanes(&app.storage.content.lanes, &mut self.reported);
        }
    }

    fn is_over(&self) -> bool {
        self.app.strong_count() == 0
    }
}

/// Cleans up once.
async fn clean(app: &App) {
    telemetry::tell_repeated();
    if let Err(error) = app.sweep().await {
        tracing::warn!(
            error = telemetry::cause(&error),
            "can't remove what is over"
        );
    }
    if let Err(error) = shrink_journal(&app.storage.content, LARGE_JOURNAL).await {
        tracing::warn!(
            error = telemetry::cause(&error),
            "can't shrink the journal of the database"
        );
    }
}

/// Tells how many statements did not come to their end since the last time, if any did not.
fn report_lanes(lanes: &Lanes, reported: &mut LaneCounts) {
    let mut now = LaneCounts::default();
    for lane in [&lanes.reads, &lanes.scans].into_iter().flatten() {
        let counts = lane.counts();
        now.stopped = now.stopped.saturating_add(counts.stopped);
        now.abandoned = now.abandoned.saturating_add(counts.abandoned);
        now.refused = now.refused.saturating_add(counts.refused);
    }
    if now != *reported {
        tracing::warn!(
            stopped = now.stopped.saturating_sub(reported.stopped),
            abandoned = now.abandoned.saturating_sub(reported.abandoned),
            refused = now.refused.saturating_sub(reported.refused),
            "statements that read did not come to their end: too slow, given up by their clients, or too many at once"
        );
        *reported = now;
    }
}
