//! Links to assignments, as announcements, dashboards and other programs show them.

use entity_core::{Arguments, Context, Data, Error, Result, View, encode_segment};
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
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Assignment, beside(cx: &Context, is_to_change: bool), with(
    end = if is_to_change { "/edit" } else { "" },
    assignment_url = format!("{}/direct/assignment/{}{end}", cx.base_url(), encode_segment(&it.id)),
))]
#[expect(clippy::struct_field_names, reason = "clients read these keys")]
pub(super) struct DeepLink {
    /// The assignment.
    #[view(of = id)]
    assignment_id: String,
    /// The site.
    #[view(of = site_id)]
    assignment_context: String,
    /// The headline.
    #[view(of = title)]
    assignment_title: String,
    /// The address.
    assignment_url: String,
}

/// Answers what is needed for a link to the assignment that the path names with its site.
pub(super) async fn deep_link(cx: &Context, arguments: Arguments) -> Result<Data<DeepLink>> {
    let found = named(cx, &arguments).await?;
    Ok(Data(DeepLink::of(found, cx, false)))
}

/// Answers the same for a link that leads to where the parameters say. They give no permission: the page asks again.
pub(super) async fn deep_link_for(cx: &Context, arguments: Arguments) -> Result<Data<DeepLink>> {
    let is_to_change = parameters::truth(&arguments, "allowAddAssignment")?;
    let found = named(cx, &arguments).await?;
    Ok(Data(DeepLink::of(found, cx, is_to_change)))
}

async fn named(cx: &Context, arguments: &Arguments) -> Result<Assignment> {
    let id = arguments.argument("assignmentId")?;
    let found = Assignment::find(cx, id).await.map_err(Error::hide)?;
    match found.site_id == arguments.argument("siteId")? {
        true => Ok(found),
        false => Err(Error::not_found()),
    }
}
