//! The work in the background: every task of the service is started here, and none ends unnoticed.
//!
//! A task that panics, or that returns although there is still something for it to do, is logged, counted and started
//! again after a pause that doubles up to half a minute. Its state stays what it was, so that nothing that waits in it
//! is lost. Until it has run for a while again, `/readyz` names it.

use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{sleep, timeout};

use crate::base::health::Health;
use crate::base::panic;

/// The time for which a task rests before it is started again for the first time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The time for which it rests at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The time for which it has to run until it is believed to work again.
const STEADY: Duration = Duration::from_secs(10);

/// Work in the background that goes on as long as the service does.
pub trait Task: Send + 'static {
    /// The name of the task in logs and in `/readyz`.
    const NAME: &'static str;

    /// Works until the service is gone. After a panic it is called again on the same state.
    fn run(&mut self) -> impl Future<Output = ()> + Send;

    /// Returns whether the service is gone, so that nothing is left to do.
    fn is_over(&self) -> bool;
}

/// Starts `task` and keeps it running. Restarts are reported to `health`.
pub fn spawn<T: Task>(task: T, health: Health) {
    tokio::spawn(keep(task, health, STEADY));
}

async fn keep<T: Task>(mut task: T, health: Health, steady: Duration) {
    let mut pause = FIRST_PAUSE;
    loop {
        let cause = match run_once(&mut task, &health, &mut pause, steady).await {
            Ok(()) if task.is_over() => return,
            Ok(()) => "it ended although the service goes on".to_owned(),
            Err(payload) => panic::text(&*payload).to_owned(),
        };
        health.note_restart(T::NAME);
        health.degrade(T::NAME, "the task failed and is started again");
        tracing::error!(task = T::NAME, cause, "a task failed; starting it again");
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Runs `task` until it ends or panics. When it has run for a while, it is believed to work.
async fn run_once<T: Task>(
    task: &mut T,
    health: &Health,
    pause: &mut Duration,
    steady: Duration,
) -> thread::Result<()> {
    let mut work = Box::pin(AssertUnwindSafe(task.run()).catch_unwind());
    if let Ok(ended) = timeout(steady, &mut work).await {
        return ended;
    }
    health.restore(T::NAME);
    *pause = FIRST_PAUSE;
    work.await
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;

    /// Passes numbers on; a 0 makes it panic, a 1 makes it end.
    struct Fragile {
        numbers: UnboundedReceiver<u32>,
        seen: UnboundedSender<u32>,
    }

    impl Task for Fragile {
        const NAME: &'static str = "fragile";

        async fn run(&mut self) {
            while let Some(number) = self.numbers.recv().await {
                assert!(number != 0, "a task that panics");
                if number == 1 {
                    return;
                }
                self.seen.send(number).unwrap();
            }
        }

        fn is_over(&self) -> bool {
            self.numbers.is_closed() && self.numbers.is_empty()
        }
    }

    #[tokio::test]
    async fn rel_6_a_task_that_panics_or_ends_is_started_again_and_told() {
        let health = Health::default();
        let (sender, numbers) = unbounded_channel();
        let (seen, mut passed) = unbounded_channel();
        tokio::spawn(keep(Fragile { numbers, seen }, health.clone(), STEADY * 60));
        for number in [5, 0, 6, 1, 7] {
            sender.send(number).unwrap();
        }
        for expected in [5, 6, 7] {
            assert_eq!(passed.recv().await, Some(expected));
        }
        assert_eq!(health.counters().restarts, 2);
        assert!(health.degraded().contains("fragile"), "{health:?}");
        drop(sender);
        assert_eq!(passed.recv().await, None, "it ends with the service");
        assert_eq!(health.counters().restarts, 2);
    }

    #[tokio::test]
    async fn a_task_that_runs_for_a_while_is_well_again() {
        let health = Health::default();
        let (sender, numbers) = unbounded_channel();
        let (seen, mut passed) = unbounded_channel();
        let steady = Duration::from_millis(20);
        tokio::spawn(keep(Fragile { numbers, seen }, health.clone(), steady));
        for number in [0, 5] {
            sender.send(number).unwrap();
        }
        assert_eq!(passed.recv().await, Some(5));
        while !health.degraded().is_empty() {
            sleep(steady).await;
        }
        assert_eq!(health.counters().restarts, 1);
    }
}
