//! The jobs of the linked crates: each runs once in its period, on one node.
//!
//! A row for each job has the instant from which it is due. The node that runs a job locks the row, and moves the instant in the
//! same transaction in which the job does its work; others pass a locked row over.

use std::sync::Weak;
use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::db::Db;
use entity_core::engine::{Job, Origin};
use entity_core::{Context, Result, wire};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{LockBehavior, LockType, OnConflict};
use sea_orm::{IntoActiveModel as _, QuerySelect as _, Set};

use crate::base::supervise::Task;
use crate::base::telemetry;
use crate::operate::background::{PAUSE, origin, write};
use crate::operate::node::{Inner, Node};

/// The interval at which a node looks what is due.
const LOOK: Duration = Duration::from_secs(10);
/// The pause behind the first failure of a job; it doubles up to the period.
const PATIENCE: Duration = Duration::from_mins(1);
/// The maximum number of transactions of a job behind which others have their turn.
const TURNS: usize = 100;
/// The name in `/readyz` and in the metrics of what fails.
const PART: &str = "jobs";

/// Runs what is due until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Jobs {
    node: Weak<Inner>,
}

impl Jobs {
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            node: node.downgrade(),
        }
    }
}

impl Task for Jobs {
    const NAME: &'static str = PART;

    async fn run(&mut self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let Some(node) = self.node.upgrade().map(Node::from) else {
                return;
            };
            if let Err(error) = run_due(&node).await {
                let error = telemetry::cause(&error);
                tracing::warn!(error, "can't look which jobs are due");
            }
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

/// Runs each job that is due now.
pub(crate) async fn run_due(node: &Node) -> Result<()> {
    let (jobs, origin) = (Job::all(), origin());
    let states = node.dispatcher.read(&origin, |cx| Box::pin(states(cx)));
    let states = states.await?;
    let now = node.now().timestamp_millis();
    let mut is_well = true;
    for job in jobs {
        let state = states.iter().find(|it| it.name == job.name);
        if state.is_none_or(|it| it.due <= now) {
            is_well &= run(node, &origin, job).await?;
        } else {
            is_well &= state.is_none_or(|it| it.failures == 0);
        }
    }
    match is_well {
        true => node.health.restore(PART),
        false => drop(
            node.health
                .degrade(PART, "one fails: `lectern doctor` says which"),
        ),
    }
    Ok(())
}

/// Runs `job` until it has no more to do or another node does it, and returns whether it did not fail.
async fn run(node: &Node, origin: &Origin, job: Job) -> Result<bool> {
    for _ in 0..TURNS {
        match write(node, origin, move |cx| Box::pin(turn(cx, job))).await {
            Ok(None) => return Ok(true),
            Ok(Some(has_more)) => {
                node.metrics.ran(job.name, true);
                if !has_more {
                    return Ok(true);
                }
            }
            Err(error) => {
                let error = telemetry::cause(&error).to_string();
                tracing::warn!(job = job.name, error, "a job failed; trying again later");
                node.metrics.ran(job.name, false);
                let noted = write(node, origin, move |cx| {
                    let error = error.clone();
                    Box::pin(async move { note_failure(cx, job, error).await })
                });
                return noted.await.map(|()| false);
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    // It goes on when the others have had their turn.
    Ok(true)
}

/// Does some work of `job` if it is due and no other node does it; true if there is more.
async fn turn(cx: &Context, job: Job) -> Result<Option<bool>> {
    let db = cx.db()?;
    let unknown = ActiveModel {
        name: Set(job.name.to_owned()),
        due: Set(0),
        done: Set(None),
        failures: Set(0),
        error: Set(None),
    };
    let known = OnConflict::column(Column::Name).do_nothing().to_owned();
    Entity::insert(unknown)
        .on_conflict(known)
        .exec_without_returning(db)
        .await?;
    let due = Entity::find_by_id(job.name)
        .filter(Column::Due.lte(cx.now().timestamp_millis()))
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    let Some(state) = due.one(db).await? else {
        return Ok(None);
    };
    let has_more = (job.hook)(cx).await?;
    let due = match has_more {
        true => cx.now(),
        false => cx.now() + job.every,
    };
    let mut state = state.into_active_model();
    state.due = Set(due.timestamp_millis());
    state.done = Set(Some(cx.now().timestamp_millis()));
    (state.failures, state.error) = (Set(0), Set(None));
    state.update(db).await?;
    Ok(Some(has_more))
}

/// Notes that `job` failed, and when it is tried again.
async fn note_failure(cx: &Context, job: Job, error: String) -> Result<()> {
    let db = cx.db()?;
    let state = Entity::find_by_id(job.name).one(db).await?;
    let failures = state.as_ref().map_or(0, |it| it.failures);
    let times = u32::try_from(failures).unwrap_or(u32::MAX);
    let pause = PATIENCE.saturating_mul(2_u32.saturating_pow(times));
    let failed = ActiveModel {
        name: Set(job.name.to_owned()),
        due: Set((cx.now() + pause.min(job.every)).timestamp_millis()),
        done: Set(state.and_then(|it| it.done)),
        failures: Set(failures.saturating_add(1)),
        error: Set(Some(error)),
    };
    let mut known = OnConflict::column(Column::Name);
    known.update_columns([Column::Due, Column::Failures, Column::Error]);
    Entity::insert(failed)
        .on_conflict(known)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

/// The state of a job that ran.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "job")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    name: String,
    /// The instant from which it is to run, in milliseconds since 1970.
    due: i64,
    /// The instant at which it ran last without a failure.
    done: Option<i64>,
    /// The number of failures since then.
    failures: i64,
    /// The last one of these.
    error: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

async fn states(cx: &Context) -> Result<Vec<Model>> {
    Ok(Entity::find().all(cx.db()?).await?)
}

/// Returns a line for each job of the linked crates, for operators.
pub(crate) async fn report(content: &Db) -> Result<Vec<String>> {
    let states = Entity::find().all(&content.reader).await?;
    let instant = |millis| DateTime::<Utc>::from_timestamp_millis(millis).unwrap_or_default();
    let lines = Job::all().into_iter().map(|job| {
        let mut line = format!("job {}: every {} s", job.name, job.every.as_secs());
        if let Some(state) = states.iter().find(|it| it.name == job.name) {
            if let Some(done) = state.done {
                line = format!("{line}, done at {}", wire::iso(instant(done)));
            }
            if let Some(error) = &state.error {
                line = format!(
                    "{line}, failed since then, {} times: {error}",
                    state.failures
                );
            }
        }
        line
    });
    Ok(lines.collect())
}
