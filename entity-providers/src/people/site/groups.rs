//! The groups of a site, each at an address below that of the site.

use std::collections::BTreeMap;

use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Done, Error, Need, Result, Verb, View, db,
    encode_segment, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Owner, Site, Sites};
use crate::base::parameters;
use crate::people::group::{self, MANAGES_GROUPS};
use crate::people::membership::of_group;
use crate::storage::db::site_parts::SiteGroup;

/// The maximum number of characters of a title, and of a description.
const MOST_TITLE: usize = 99;
const MOST_DESCRIPTION: usize = 2_000;

type Parameters = &'static [(&'static str, &'static str)];

const FIELDS: Parameters = &[
    ("groupTitle", "what people call it"),
    ("groupDescription", "a plain line about it"),
];
const NEW: Parameters = &[
    ("groupTitle", "what people call it"),
    ("groupDescription", "a plain line about it"),
    (
        "userIds",
        "who is in it: internal or external ids of members of the site, with commas between them",
    ),
];

pub(super) fn actions() -> Vec<Action<Sites>> {
    let manages = Need::Site(MANAGES_GROUPS);
    let bean = Answers::Value(shape::of::<GroupView>);
    vec![
        Action::entity(Verb::Get, "group", manages, read)
        .doc("One group.")
        .argument("groupId", "The group.")
        .answers(bean),
        Action::entity(Verb::Put, "group", manages, create)
        .doc("Makes a group; needs a title.")
        .parameters(NEW)
        .answers(bean),
        Action::entity(Verb::Post, "group", manages, update)
        .doc("Gives a group another title and, if one is sent, another description.")
        .parameters(FIELDS)
        .argument("groupId", "The group.")
        .answers(bean),
        Action::entity(Verb::Delete, "group", manages, delete)
        .doc("Deletes a group. What was for its members only is then for nobody but those who wrote it.")
        .argument("groupId", "The group."),
    ]
}

/// A group, with what clients read of it.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = SiteGroup, beside(cx: &Context, site: Site), with(
    reference = group::reference(&site.id, &it.id),
    below = format!("{}/group/{}", encode_segment(&site.id), encode_segment(&it.id)),
    url = format!("{}/direct/site/{below}", cx.base_url()),
    joiner_role = None,
    maintain_role = site.maintain_role,
    provider_group_id = None,
    owner = site.owner,
    user_roles = site.user_roles,
    site_owner = site.site_owner,
    // Whoever makes a group here makes it by hand, which clients tell by this property.
    props = [("group_prop_wsetup_created".to_owned(), "true".to_owned())].into(),
))]
struct GroupView {
    id: String,
    site_id: String,
    title: String,
    description: Option<String>,
    joiner_role: Option<String>,
    maintain_role: String,
    provider_group_id: Option<String>,
    owner: Option<String>,
    /// When it last changed, in milliseconds since 1970.
    #[view(of = modified)]
    last_modified: i64,
    user_roles: Vec<String>,
    props: BTreeMap<String, String>,
    site_owner: Owner,
    reference: String,
    url: String,
}

async fn read(cx: &Context, site: Site, arguments: Arguments) -> Result<ActionResult<Sites>> {
    let group = find(cx, &site, &arguments).await?;
    Ok(ActionResult::value(GroupView::of(group, cx, site)))
}

async fn create(cx: &Context, site: Site, arguments: Arguments) -> Result<ActionResult<Sites>> {
    let group = SiteGroup {
        id: cx.new_id(),
        site_id: site.id.clone(),
        title: title(&arguments)?,
        description: description(&arguments)?,
        modified: cx.now().timestamp_millis(),
    };
    db::insert(cx, &group).await?;
    let names = parameters::texts(&arguments, "userIds")?;
    of_group::put_into(cx, &group, &names.unwrap_or_default()).await?;
    group::emit_event(cx, &group);
    Ok(ActionResult::value(GroupView::of(group, cx, site)))
}

async fn update(cx: &Context, site: Site, arguments: Arguments) -> Result<ActionResult<Sites>> {
    let current = find(cx, &site, &arguments).await?;
    let changed = SiteGroup {
        title: title(&arguments)?,
        description: description(&arguments)?.or_else(|| current.description.clone()),
        modified: cx.now().timestamp_millis(),
        ..current.clone()
    };
    let group = db::store(cx, current, changed).await?;
    group::emit_event(cx, &group);
    Ok(ActionResult::value(GroupView::of(group, cx, site)))
}

async fn delete(cx: &Context, site: Site, arguments: Arguments) -> Result<Done> {
    let group = find(cx, &site, &arguments).await?;
    group::emit_event(cx, &group);
    db::delete(cx, group).await?;
    Ok(Done)
}

async fn find(cx: &Context, site: &Site, arguments: &Arguments) -> Result<SiteGroup> {
    group::find(cx, Some(&site.id), arguments.argument("groupId")?).await
}

fn title(arguments: &Arguments) -> Result<String> {
    let title = parameters::required(arguments, "groupTitle")?;
    check_title("groupTitle", &title).map(|()| title)
}

/// Insists that `title`, which the field `field` has, may be that of a group.
pub(crate) fn check_title(field: &str, title: &str) -> Result<()> {
    let is_one_line = !title.is_empty() && !title.chars().any(char::is_control);
    match is_one_line && title.chars().count() <= MOST_TITLE {
        true => Ok(()),
        false => Err(Error::field(
            field,
            format!("must be one line of at most {MOST_TITLE} characters"),
        )),
    }
}

fn description(arguments: &Arguments) -> Result<Option<String>> {
    let text = parameters::text(arguments, "groupDescription")?;
    match text
        .as_ref()
        .is_some_and(|it| it.chars().count() > MOST_DESCRIPTION)
    {
        true => Err(Error::field(
            "groupDescription",
            format!("must have at most {MOST_DESCRIPTION} characters"),
        )),
        false => Ok(text),
    }
}
