//! Links to assignments, as announcements, dashboards and other programs show them.

use entity_core::{Arguments, Context, Data, Error, Result, encode_segment};
use schemars::JsonSchema;
use serde::Serialize;

use super::Assignment;
use crate::base::parameters;

/// The parameters by which a client says for whom a link is.
pub(super) const VIEWS: &[(&str, &str)] = &[
    (
        "allowReadAssignment",
        "has no effect: whoever follows the link must be allowed to read",
    ),
    (
        "allowAddAssignment",
        "whether the link leads to where the assignment is changed",
    ),
    (
        "allowSubmitAssignment",
        "has no effect: work is handed in where it is read",
    ),
    (
        "allowGradeAssignment",
        "has no effect: work is graded where it is read",
    ),
];

/// The data of a link to an assignment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "clients read these keys")]
pub(super) struct DeepLink {
    /// The assignment.
    assignment_id: String,
    /// The site.
    assignment_context: String,
    /// The headline.
    assignment_title: String,
    /// The address.
    assignment_url: String,
}

impl DeepLink {
    fn of(cx: &Context, assignment: Assignment, is_to_change: bool) -> Self {
        let (base, id) = (cx.base_url(), encode_segment(&assignment.id));
        let end = if is_to_change { "/edit" } else { "" };
        Self {
            assignment_url: format!("{base}/direct/assignment/{id}{end}"),
            assignment_id: assignment.id,
            assignment_context: assignment.site_id,
            assignment_title: assignment.title,
        }
    }
}

/// Answers what is needed for a link to the assignment that the path names with its site.
pub(super) async fn deep_link(cx: &Context, arguments: Arguments) -> Result<Data<DeepLink>> {
    let found = named(cx, &arguments).await?;
    Ok(Data(DeepLink::of(cx, found, false)))
}

/// Answers the same for a link that leads to where the parameters say. They give no permission: the page asks again.
pub(super) async fn deep_link_for(cx: &Context, arguments: Arguments) -> Result<Data<DeepLink>> {
    let is_to_change = parameters::truth(&arguments, "allowAddAssignment")?;
    let found = named(cx, &arguments).await?;
    Ok(Data(DeepLink::of(cx, found, is_to_change)))
}

async fn named(cx: &Context, arguments: &Arguments) -> Result<Assignment> {
    let id = arguments.argument("assignmentId")?;
    let found = Assignment::find(cx, id).await.map_err(Error::hide)?;
    match found.site_id == arguments.argument("siteId")? {
        true => Ok(found),
        false => Err(Error::not_found()),
    }
}
