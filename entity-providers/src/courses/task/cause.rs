//! Tasks that follow another entity, such as an assignment: each student of its site has one.
//!
//! They are as hidden as the entity itself: [`Task::SIGHT`](entity_core::db::Record::SIGHT) asks its rule. So all students
//! of the site have the task of an assignment for some groups, and those who don't see the assignment see no task.

use std::collections::BTreeSet;

use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Result, db};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::hand_out::{MOST_PEOPLE, To, people};
use super::{Task, task};

/// The columns that are written again when the entity changes; the rest of a task is its user's.
const FOLLOWING: [&str; 4] = ["description", "description_folded", "starts", "due"];
/// The maximum number of characters of a description.
const MOST_LETTERS: usize = 255;

/// The work that an entity asks the students of its site to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duty {
    /// The site.
    pub site_id: String,
    /// The headline.
    pub title: String,
    /// When students begin to see it.
    pub starts: DateTimeUtc,
    /// When it is due.
    pub due: Option<DateTimeUtc>,
}

/// Gives each student of the site who has none a task of the entity with the reference `cause`, and makes those that are
/// there what `duty` says. It is written in the unit of work of `cx`, in which the entity itself is written. A site with
/// more students than tasks are handed out to at once has none.
pub async fn follow_cause(cx: &Context, cause: &str, duty: &Duty) -> Result<()> {
    let of_cause = task::Column::Cause.eq(cause);
    let mut tasks: Vec<Task> = db::load(cx, task::Entity::find().filter(of_cause)).await?;
    let number = match tasks.first() {
        Some(task) => task.task_id,
        None => i64::try_from(db::large_number(cx)).unwrap_or_default(),
    };
    let provided: BTreeSet<String> = tasks.iter().map(|it| it.user_id.clone()).collect();
    tasks.retain(|it| duty.differs_from(it));
    let students = people(cx, &duty.site_id, &To::Site).await?;
    let students = Some(students).filter(|it| it.len() <= MOST_PEOPLE);
    let lacking = students
        .into_iter()
        .flatten()
        .filter(|it| !provided.contains(it));
    tasks.extend(lacking.map(|user_id| Task {
        id: db::large_number(cx).to_string(),
        task_id: number,
        user_id,
        site_id: Some(duty.site_id.clone()),
        priority: 3,
        assignation_type: "site".to_owned(),
        task_assigned_to: "#SITE#".to_owned(),
        cause: Some(cause.to_owned()),
        created_on: Millis(cx.now()),
        version: 1,
        ..Task::default()
    }));
    for task in &mut tasks {
        task.description = duty.description();
        task.starts = Millis(duty.starts);
        task.due = duty.due.map(Millis);
    }
    db::put_many(cx, &tasks, &FOLLOWING).await
}

/// Notes that `user` has done what the entity with the reference `cause` asks for.
pub async fn complete_cause(cx: &Context, cause: &str, user: &str) -> Result<()> {
    let tasks = task::Entity::find()
        .filter(task::Column::Cause.eq(cause))
        .filter(task::Column::UserId.eq(user));
    let tasks: Vec<Task> = db::load(cx, tasks).await?;
    for task in tasks.into_iter().filter(|it| !it.complete) {
        let done = Task {
            complete: true,
            ..task.clone()
        };
        db::replace(cx, task, done).await?;
    }
    Ok(())
}

/// Removes the tasks of an entity that is deleted.
pub async fn forget_cause(cx: &Context, cause: &str) -> Result<()> {
    let tasks = task::Entity::delete_many().filter(task::Column::Cause.eq(cause));
    tasks.exec(cx.db()?).await?;
    Ok(())
}

impl Duty {
    fn description(&self) -> String {
        self.title.chars().take(MOST_LETTERS).collect()
    }

    fn differs_from(&self, task: &Task) -> bool {
        task.description != self.description()
            || task.starts != Millis(self.starts)
            || task.due != self.due.map(Millis)
    }
}
