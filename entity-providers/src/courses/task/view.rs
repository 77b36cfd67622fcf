//! `/api/users/me/tasks`, `/api/sites/{siteId}/tasks` and `/api/tasks`.

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::view::millis;
use entity_core::{
    Context, Error, ErrorKind, Input, Need, Page, Preconditions, Result, Scope, Search, View,
    Window, gate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Task;
use super::hand_out::{CREATE, To, hand_out};
use crate::people::group;

const MINE: Endpoint = Endpoint::get("/api/users/me/tasks", "listMyTasks")
    .doc("The tasks of the caller that have started, in the order of their start.")
    .tag("task")
    .answers::<Paged<Tasks>>(&mine);

const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/tasks", "listMyTasksInSite")
    .doc("The tasks of the caller in a site, in the order of their start.")
    .tag("task")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<Paged<Tasks>>(&of_site);

const ADD: Endpoint = Endpoint::post("/api/tasks", "noteTask")
    .doc("Notes a task of the caller, and hands it out to the students of a site or of groups if it says so.")
    .tag("task")
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .takes::<TaskFields>()
    .answers::<TaskView>(&add);

const CHANGE: Endpoint = Endpoint::put("/api/tasks/{userTaskId}", "changeTask")
    .doc("Changes a task of the caller. The body says which one, if it has a `userTaskId`.")
    .tag("task")
    .variable("userTaskId", "The id of the task.")
    .refuses(&[ErrorKind::NotFound, ErrorKind::Conflict])
    .takes::<TaskFields>()
    .answers::<TaskView>(&change);

const REMOVE: Endpoint = Endpoint::delete("/api/tasks/{userTaskId}", "removeTask")
    .doc("Deletes a task of the caller. Others to whom it was handed out keep theirs.")
    .tag("task")
    .variable("userTaskId", "The id of the task.")
    .refuses(&[ErrorKind::NotFound])
    .answers::<Option<TaskView>>(&remove);
entity_core::register_endpoint!(MINE, OF_SITE, ADD, CHANGE, REMOVE);

/// Tasks, and what the caller may do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "clients read these names")]
struct Tasks {
    /// The tasks.
    tasks: Vec<TaskView>,
    /// True if the caller may hand out tasks: in the site, or in one of the caller's sites.
    can_add_task: bool,
    /// There, and true, if the caller may change the site.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    can_update_site: bool,
    /// The groups of the site, if it has any and the caller may hand out tasks there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupName>,
}

/// A group.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TaskGroup")]
struct GroupName {
    /// The id, by which tasks name it.
    reference: String,
    /// The title.
    title: String,
}

/// A task of the caller.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Task, with(
    starts = millis(it.starts),
    due = it.due.map(millis),
    system = it.cause.is_some(),
    url = it.cause.as_ref().map(|it| format!("/direct{it}")),
    reference = it.cause.clone().unwrap_or_else(|| format!("/task/{}", it.id)),
))]
struct TaskView {
    /// The id.
    user_task_id: i64,
    /// The number that the tasks of all have in common to whom it was handed out.
    task_id: i64,
    /// The internal id of the caller.
    user_id: String,
    /// The site; null for none.
    site_id: Option<String>,
    /// The title of the site.
    site_title: String,
    /// The description of the task.
    description: String,
    /// The reference: that of the entity which it follows, if it follows one.
    reference: String,
    /// The path of the entity that it follows; null if it follows none.
    url: Option<String>,
    /// True if it follows an entity, such as an assignment.
    system: bool,
    /// True if it is done.
    complete: bool,
    /// The internal id of whoever handed it out.
    owner: String,
    /// The instant from which on it is shown, in milliseconds.
    starts: i64,
    /// When it is due, in milliseconds; null for no time.
    due: Option<i64>,
    /// From 1, low, to 5, high.
    priority: i64,
    /// The notes of the caller, sanitised HTML.
    notes: String,
    /// True if the caller does not want to see it any more.
    soft_deleted: bool,
    /// `user`, `site` or `group`.
    assignation_type: String,
    /// The assignees: `#USER#`, `#SITE#`, or `#GROUP#` and the titles of groups.
    task_assigned_to: String,
}

/// A task as clients send it. What they read and send back besides has no effect.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct TaskFields {
    /// The id, where a task is changed.
    user_task_id: Option<i64>,
    /// The site.
    site_id: Option<String>,
    /// The description of the task, at most 255 characters.
    description: Option<String>,
    /// The notes of the caller, HTML.
    notes: Option<String>,
    /// The instant from which on it is shown, in milliseconds.
    starts: Option<i64>,
    /// When it is due, in milliseconds.
    due: Option<i64>,
    /// From 1, low, to 5, high.
    priority: Option<i64>,
    /// True if it is done.
    complete: Option<bool>,
    /// True if the caller does not want to see it any more.
    soft_deleted: Option<bool>,
    /// `user`, `site` or `group`: to whom a new task is handed out.
    assignation_type: Option<String>,
    /// The ids of the groups to which a new task is handed out.
    selected_groups: Option<Vec<String>>,
}

impl TaskFields {
    /// Returns the fields of the entity that were sent.
    fn to_input(&self) -> Input {
        let site = self.site_id.as_ref().filter(|it| !it.is_empty());
        let fields: [(&str, Option<Value>); 8] = [
            ("siteId", site.cloned().map(Value::from)),
            ("description", self.description.clone().map(Value::from)),
            ("notes", self.notes.clone().map(Value::from)),
            ("starts", self.starts.map(Value::from)),
            ("due", self.due.map(Value::from)),
            ("priority", self.priority.map(Value::from)),
            ("complete", self.complete.map(Value::from)),
            ("softDeleted", self.soft_deleted.map(Value::from)),
        ];
        let fields = fields.into_iter();
        fields.filter_map(|(name, it)| Some((name, it?))).collect()
    }

    /// Returns the people to whom a new task is handed out; `None` for the caller alone.
    fn audience(&self) -> Result<Option<To>> {
        match self.assignation_type.as_deref() {
            None | Some("" | "user") => Ok(None),
            Some("site") => Ok(Some(To::Site)),
            Some("group") => {
                let groups = self.selected_groups.clone().unwrap_or_default();
                Ok(Some(To::Groups(groups)))
            }
            Some(_) => Err(Error::field(
                "assignationType",
                "must be `user`, `site` or `group`",
            )),
        }
    }
}

async fn mine(cx: &Context, call: Call) -> Result<Paged<Tasks>> {
    let window = call.window()?;
    let mut search = Search::part(window);
    search.narrow(Task::FIELD.starts.lte(cx.now()));
    let page = gate::list::<Task>(cx, search).await?;
    let can_add_task = match cx.authorizer().scope(cx, CREATE).await? {
        Scope::Everything => true,
        Scope::Sites(sites) => !sites.is_empty(),
    };
    part(cx, page, window, |tasks| Tasks {
        tasks,
        can_add_task,
        can_update_site: false,
        groups: Vec::new(),
    })
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<Tasks>> {
    let (window, site) = (call.window()?, call.variable("siteId")?);
    gate::demand_in_site(cx, Need::Site("site.visit"), Some(site)).await?;
    let mut search = Search::part(window);
    search.narrow_to_site::<Task>(site)?;
    let page = gate::list::<Task>(cx, search).await?;
    let can_add_task = gate::holds(cx, CREATE, site).await?;
    let can_update_site = gate::holds(cx, "site.upd", site).await?;
    let groups = match can_add_task {
        true => group::titles(cx, site).await?,
        false => Vec::new(),
    };
    let groups = groups.into_iter();
    let groups = groups.map(|(reference, title)| GroupName { reference, title });
    let groups = groups.collect();
    part(cx, page, window, |tasks| Tasks {
        tasks,
        can_add_task,
        can_update_site,
        groups,
    })
}

fn part(
    cx: &Context,
    page: Page<Task>,
    window: Window,
    make: impl FnOnce(Vec<TaskView>) -> Tasks,
) -> Result<Paged<Tasks>> {
    Paged::of(cx, page.map(TaskView::of), window, make)
}

async fn add(cx: &Context, call: Call) -> Result<TaskView> {
    let fields: TaskFields = call.body()?;
    let audience = fields.audience()?;
    let task = gate::create::<Task>(cx, &fields.to_input()).await?;
    match audience {
        None => Ok(TaskView::of(task)),
        Some(to) => hand_out(cx, task, to).await.map(TaskView::of),
    }
}

async fn change(cx: &Context, call: Call) -> Result<TaskView> {
    let fields: TaskFields = call.body()?;
    let id = match fields.user_task_id {
        Some(id) => id.to_string(),
        None => call.variable("userTaskId")?.to_owned(),
    };
    let any = Preconditions::default();
    let changed = gate::update::<Task>(cx, &id, &fields.to_input(), &any).await?;
    Ok(TaskView::of(changed))
}

async fn remove(cx: &Context, call: Call) -> Result<Option<TaskView>> {
    let id = call.variable("userTaskId")?;
    gate::delete::<Task>(cx, id, &Preconditions::default()).await?;
    Ok(None)
}
