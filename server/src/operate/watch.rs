//! The task that tries the database, and looks whether writes end and disks have room.

use std::fmt;
use std::sync::Weak;
use std::time::Duration;

use entity_core::db::Db;
use futures::future::BoxFuture;
use sea_orm::ConnectionTrait as _;
use tokio::time::{Instant, sleep, timeout};

use crate::base::health::WRITES;
use crate::base::supervise::Task;
use crate::operate::node::{Inner, Node};
use crate::operate::{files, storage};

/// The time for which the database is left alone between two tries.
const PAUSE: Duration = Duration::from_secs(2);
/// The time that the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time that a question may take before it is given up, and asked anew over another connection.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// The time without the end of a write, while one is under way, after which none are wanted any more.
const STALLED: Duration = Duration::from_secs(30);
/// Reads what every database that was brought up to date has, so that an empty one is not taken for it.
const QUESTION: &str = "SELECT version FROM seaql_migrations LIMIT 1";

/// Tries the database until the service is gone. While it waits it holds no part of it but the question that is under way.
#[derive(Debug)]
pub(crate) struct Watch {
    node: Weak<Inner>,
    did_answer: bool,
    question: Question,
}

impl Watch {
    /// Watches the database of `node`.
    pub(crate) fn of(node: Weak<Inner>) -> Self {
        Self {
            node,
            did_answer: true,
            question: Question::default(),
        }
    }
}

impl Task for Watch {
    const NAME: &'static str = "watch";

    async fn run(&mut self) {
        while let Some(node) = self.node.upgrade().map(Node::from) {
            self.look(&node).await;
            drop(node);
            sleep(PAUSE).await;
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

impl Watch {
    async fn look(&mut self, node: &Node) {
        node.health.note_turn(Instant::now());
        let asked = self.question.put(|| ask(&node.storage.content)).await;
        if let Some(asked) = asked {
            node.health.note_answer(asked);
        }
        let does_answer = asked.is_some();
        match (self.did_answer, does_answer) {
            (true, false) => tracing::warn!("the database does not answer"),
            (false, true) => tracing::info!("the database answers again"),
            _ => {}
        }
        self.did_answer = does_answer;
        let now = Instant::now().into_std();
        match node.dispatcher.holders().stalled(now, STALLED) {
            Some(work)
                if node
                    .health
                    .degrade(WRITES, "none got through for 30 seconds: see the log") =>
            {
                tracing::error!(
                    work,
                    "a write does not end, and others wait: a hook loops in {work}; mend it, and restart the service"
                );
            }
            Some(_) => {}
            None => node.health.restore(WRITES),
        }
        let database = storage::beside_content(node.config.database.expose(), "");
        let places = [
            ("database", database),
            ("files.folder", files::folder(&node.config)),
        ];
        for (setting, place) in places {
            let full = place.ok().flatten().filter(|it| storage::is_full(it));
            match full.as_ref().map(|it| it.display()) {
                Some(place)
                    if node
                        .health
                        .degrade(setting, "the disk is full: writes are refused") =>
                {
                    tracing::error!(%place, setting, "the disk of {place} is full: make room; writes are refused until then");
                }
                Some(_) => {}
                None => node.health.restore(setting),
            }
        }
    }
}

/// Asks the database, and returns true if it answers.
fn ask(db: &Db) -> BoxFuture<'static, bool> {
    // Statements that fill the other connections say nothing about the database.
    let probe = db.query_pools.probe.as_ref().unwrap_or(&db.reader).clone();
    Box::pin(async move { probe.execute_unprepared(QUESTION).await.is_ok() })
}

/// The question that is under way. It goes on where it takes longer than an answer may: the first one opens a connection,
/// which on a slow machine would never end if it were begun anew each time.
struct Question {
    under_way: Option<(Instant, BoxFuture<'static, bool>)>,
    patience: Duration,
    given_up: Duration,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            under_way: None,
            patience: PATIENCE,
            given_up: GIVEN_UP,
        }
    }
}

impl Question {
    /// Waits for the answer to the question that is under way, or to a new one. Returns when it was asked, if it is
    /// answered in time: the answer is as old as the question, and tells nothing of what came later.
    async fn put(&mut self, ask: impl FnOnce() -> BoxFuture<'static, bool>) -> Option<Instant> {
        let now = Instant::now();
        let given_up = self.given_up;
        self.under_way
            .take_if(|(asked, _)| now.saturating_duration_since(*asked) >= given_up);
        let (asked, question) = self.under_way.get_or_insert_with(|| (now, ask()));
        let asked = *asked;
        let does_answer = timeout(self.patience, question).await.ok()?;
        self.under_way = None;
        does_answer.then_some(asked)
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = self.under_way.as_ref().map(|(asked, _)| asked);
        f.debug_struct("Question")
            .field("under_way", &asked)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{self, ready};

    use futures::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    fn impatient() -> Question {
        Question {
            under_way: None,
            patience: Duration::from_millis(1),
            given_up: Duration::from_millis(20),
        }
    }

    #[tokio::test]
    async fn rel_8_a_database_that_takes_long_to_open_answers_in_the_end() {
        let mut question = Question {
            given_up: GIVEN_UP,
            ..impatient()
        };
        let (opened, opens) = oneshot::channel();
        let before = Instant::now();
        let first = question.put(|| opens.map(|it| it.is_ok()).boxed());
        assert_eq!(first.await, None);
        let after = Instant::now();
        let again = || panic!("the question that is under way goes on");
        assert_eq!(question.put(again).await, None);
        opened.send(()).expect("it is still waited for");
        let asked = question.put(again).await.expect("an answer");
        assert!((before..=after).contains(&asked), "as old as the question");
        assert!(question.put(|| ready(true).boxed()).await >= Some(after));
    }

    #[tokio::test]
    async fn rel_8_a_question_that_is_lost_is_asked_anew() {
        let mut question = impatient();
        let mut asked = 0;
        while asked < 3 {
            let lost = question.put(|| {
                asked += 1;
                future::pending().boxed()
            });
            assert_eq!(lost.await, None);
        }
    }
}
