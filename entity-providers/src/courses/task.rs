//! `/direct/task`: the tasks of a user: noted by the user, or handed out by somebody who teaches.
//!
//! Each user has a row of their own, so that each does, and forgets, a task for themselves.

mod cause;
mod hand_out;
mod view;

use entity_core::db::{self, Migration, RowPolicy, Telling};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Error, Need, Result, gate, standard};
use serde::Serialize;

pub use self::cause::{Duty, complete_cause, follow_cause, forget_cause};

/// A task is written by whoever sees it; what of it may change is decided by [`Task::settle`].
const ACCESS: Access = Access::new(Need::Session, Need::Session);

/// A task is for whoever has to do it, and as hidden as the entity that it follows.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Sql("this.user_id = {caller}"),
    RowPolicy::Follows(Telling::Entity, "cause"),
]);

/// The number of the lowest priority and that of the highest.
const PRIORITIES: std::ops::RangeInclusive<i64> = 1..=5;

/// Something that a user has to do.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(layout = work, icon = "tick")]
#[entity(prefix = "task", own = "", table = "task", access = ACCESS, sight = SIGHT, unarchived)]
#[entity(check = Self::check, settle = Self::settle)]
#[entity(left_join = "site s ON s.id = this.site_id")]
#[entity(
    verbs(read, list, create, update, delete),
    order = "starts,id",
    listed("due", "priority", "complete", "siteTitle")
)]
pub struct Task {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The id, as a number.
    #[entity(computed = |it, _| it.id.parse().unwrap_or_default(), for_programs)]
    pub user_task_id: i64,
    /// The number that the tasks of all have in common to whom it was handed out.
    #[entity(read_only, for_programs)]
    pub task_id: i64,
    /// The internal id of whoever has to do it.
    #[entity(read_only, person, references = "user", label = "For")]
    pub user_id: String,
    /// The site; null for none.
    #[entity(site, references = "site")]
    pub site_id: Option<String>,
    /// The title of the site.
    #[entity(sql = "coalesce(s.title, '')", category, fact)]
    pub site_title: String,
    /// The description of the task.
    #[entity(title, search, max = 255, label = "What is to be done")]
    pub description: String,
    /// The notes of whoever has to do it.
    #[entity(content, optional, html)]
    pub notes: String,
    /// The instant from which on it is shown; now, unless it is said.
    #[entity(optional, label = "Shown from")]
    pub starts: Millis,
    /// When it is due; null for no time.
    #[entity(due, hint = "Empty for no time.")]
    pub due: Option<Millis>,
    /// From 1, low, to 5, high.
    #[entity(optional, default = "3")]
    pub priority: i64,
    /// True if it is done.
    #[entity(label = "Done", badge = good)]
    pub complete: bool,
    /// True if whoever has to do it does not want to see it any more.
    #[entity(label = "Put away")]
    pub soft_deleted: bool,
    /// `user`, `site` or `group`: to whom it was handed out.
    #[entity(read_only, for_programs)]
    pub assignation_type: String,
    /// The assignees, for people: `#USER#`, `#SITE#`, or `#GROUP#` and the titles of groups.
    #[entity(read_only, for_programs)]
    pub task_assigned_to: String,
    /// The internal id of whoever handed it out.
    #[entity(owner, references = "user", label = "Handed out by")]
    pub owner: String,
    /// When it was noted.
    #[entity(created, column = "created", label = "Created")]
    pub created_on: Millis,
    /// The reference of the entity that the task follows, such as `/assignment/7`.
    #[serde(skip)]
    #[entity(hidden)]
    pub cause: Option<String>,
}

entity_core::register!(
    Task,
    migrations(BY_CAUSE),
    demo = include_str!("../../demo/task.json")
);

/// The tasks of an entity are found when it changes.
const BY_CAUSE: Migration = Migration::of_tables(
    "task_by_cause",
    &["CREATE INDEX task_by_cause ON task (cause, user_id)"],
);

impl Task {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self.priority == 0 {
            self.priority = 3;
        }
        if !PRIORITIES.contains(&self.priority) {
            return Err(Error::field("priority", "must be from 1 to 5"));
        }
        if self.starts == Millis::default() {
            self.starts = Millis(cx.now());
        }
        match self.due {
            Some(due) if due < self.starts => Err(Error::disordered("starts", "due")),
            _ => Ok(()),
        }
    }

    /// Whoever was handed a task says how far it is, and nothing else of it.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let Some(before) = before else {
            // An unknown site is not found, as at every other address that names one.
            if let Some(site) = &self.site_id {
                gate::demand_in_site(cx, Need::Site("site.visit"), Some(site)).await?;
            }
            self.id = db::large_number(cx).to_string();
            self.task_id = self.id.parse().unwrap_or_default();
            cx.user_id()?.clone_into(&mut self.user_id);
            "user".clone_into(&mut self.assignation_type);
            "#USER#".clone_into(&mut self.task_assigned_to);
            return Ok(());
        };
        let is_same = before.site_id == self.site_id
            && before.description == self.description
            && before.starts == self.starts
            && before.due == self.due;
        match is_same || before.owner == before.user_id {
            true => Ok(()),
            false => Err(Error::conflict(
                "this task was handed out: only `complete`, `priority`, `notes` and `softDeleted` can change",
            )),
        }
    }
}
