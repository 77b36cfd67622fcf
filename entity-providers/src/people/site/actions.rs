//! The actions on one site beyond the site itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use entity_core::engine::DirectPath;
use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Data, Done, Error, Need, Result, Verb, View,
    encode_segment, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Group, Site, Sites, address, copy, parts};
use crate::people::authorizer;
use crate::people::membership::join;
use crate::storage::db::site_parts::{SitePage, SiteTool, pages_of, tools_of};

/// The argument that narrows functions.
const PREFIX: &str = "prefix";

pub(super) fn all() -> Vec<Action<Sites>> {
    let get = Verb::Get;
    vec![
        Action::on_entity(get, "pages", Need::Session, |cx, site, _arguments| {
            Box::pin(pages(cx, site))
        })
        .doc("The pages with their tools, in order, for members.")
        .unlinked()
        .answers(Answers::Value(shape::of::<Vec<PageView>>)),
        Action::on_entity(get, "exists", Need::Session, |_cx, _site, _arguments| {
            Box::pin(async { Ok(ActionResult::Done) })
        })
        .doc("Whether there is such a site, whoever asks.")
        .unlinked()
        .telling_existence()
        .answers(Answers::Done),
        Action::on_entity(
            get,
            "memberships",
            Need::Session,
            |_cx, site, _arguments| Box::pin(async move { Ok(memberships(&site)) }),
        )
        .doc("The members, as `membership/site/{id}` answers them.")
        .unlinked()
        .answers(Answers::CollectionOf("membership")),
        Action::on_entity(
            get,
            "groups",
            Need::Site("site.visit"),
            |cx, site, _arguments| Box::pin(groups(cx, site)),
        )
        .doc("The groups, each with its reference and title.")
        .unlinked()
        .answers(Answers::Value(shape::of::<Vec<GroupName>>)),
        Action::on_entity(
            get,
            "perms",
            Need::Site("realm.upd"),
            |cx, site, arguments| Box::pin(perms(cx, site, arguments)),
        )
        .doc("The functions of each role; only of those that begin so, if the path goes on.")
        .unlinked()
        .optional_argument(PREFIX, "How the functions begin.")
        .answers(Answers::Value(
            shape::of::<Wrapper<BTreeMap<String, BTreeSet<String>>>>,
        )),
        Action::entity(Verb::Post, "archive", Need::Superuser, archive)
            .doc("The site with everything in it as one zip archive, which `lectern import` takes in: also what no member may see, such as drafts of others.")
            .answers(Answers::Bytes(&["application/zip"])),
        // Rows are read as archives do: whoever sets the functions of roles may give themselves those to read each.
        Action::entity(Verb::Post, "copy", Need::Site("realm.upd"), copy::copy)
            .label("Copy the course")
            .asks(copy::ASKS)
            .done("The course is copied into this one. Only you see it until you publish it.")
            .doc(
                "Makes a new site with what was prepared in this one: assignments, quizzes, events, files, lessons, the \
                 syllabus, forums without messages, the items of the gradebook, and groups without members. Dates move by \
                 `days`. Nobody else is in the new site, which is not published.",
            )
            .answers(Answers::Entity),
        Action::entity(Verb::Post, "join", Need::Session, join)
            .done("You have joined {}.")
            .offered_if(|site: &Site| site.joinable && site.published)
            .withheld_from("site.visit")
            .doc("Makes the caller a member of the site, which anybody may join."),
        Action::entity(Verb::Post, "leave", Need::Site("site.visit"), leave)
            .label("Leave the course")
            .done("You have left {}.")
            .offered_if(|site: &Site| site.joinable && site.published)
            .doc("Ends the caller's membership of the site, which anybody may join again."),
        Action::entity(get, "userPerms", Need::Session, user_perms)
            .doc("The caller's functions; only of those that begin so, if the path goes on.")
            .unlinked()
            .optional_argument(PREFIX, "How the functions begin."),
    ]
}

async fn join(cx: &Context, site: Site, _: Arguments) -> Result<Done> {
    join::become_member(cx, &site.id).await?;
    Ok(Done)
}

async fn leave(cx: &Context, site: Site, _: Arguments) -> Result<Done> {
    join::leave(cx, &site.id).await?;
    Ok(Done)
}

async fn archive(_cx: &Context, site: Site, _: Arguments) -> Result<ActionResult<Sites>> {
    match site.id.starts_with('!') {
        true => Err(Error::conflict(
            "the service itself needs this site: it has no archive",
        )),
        false => Ok(ActionResult::Archive(site.id)),
    }
}

/// A page with its tools.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = SitePage, beside(tools: Vec<ToolView>, base: &str), with(
    url = base.to_owned() + &address::of_page(&it.site_id, &it.id),
    layout_title = if it.layout == 1 { "Double Column" } else { "Single Column" },
    skin = None,
    toolpopup = false,
    toolpopupurl = None,
))]
struct PageView {
    id: String,
    site_id: String,
    title: String,
    skin: Option<String>,
    layout_title: &'static str,
    layout: i64,
    position: i64,
    url: String,
    toolpopup: bool,
    toolpopupurl: Option<String>,
    tools: Vec<ToolView>,
}

/// A tool on a page.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = SiteTool, beside(base: &str), with(
    url = base.to_owned() + &address::of_tool(&it.site_id, &it.id),
    home = None,
))]
struct ToolView {
    id: String,
    tool_id: String,
    #[view(of = id)]
    placement_id: String,
    title: String,
    #[view(of = title)]
    description: String,
    url: String,
    home: Option<String>,
    #[view(of = site_id)]
    context: String,
    page_id: String,
    #[view(of = position)]
    page_order: i64,
    site_id: String,
}

async fn pages(cx: &Context, site: Site) -> Result<ActionResult<Sites>> {
    let subject = authorizer::of(cx)?.subject(cx, cx.user_id()?).await?;
    if subject.role_in(&site.id).is_none() && !subject.is_superuser {
        return Err(Error::forbidden());
    }
    let pages = pages_of(cx, &[&site.id]).await?;
    let mut tools = tools(cx, &site.id).await?;
    let views = pages.into_iter().map(|it| {
        let tools = tools.remove(&it.id).unwrap_or_default();
        PageView::of(it, tools, cx.base_url())
    });
    Ok(ActionResult::value(views.collect::<Vec<_>>()))
}

/// The tools of the site `id`, by page.
async fn tools(cx: &Context, id: &str) -> Result<HashMap<String, Vec<ToolView>>> {
    let mut tools: HashMap<String, Vec<ToolView>> = HashMap::new();
    for row in tools_of(cx, &[id]).await? {
        let page = row.page_id.clone();
        let tool = ToolView::of(row, cx.base_url());
        tools.entry(page).or_default().push(tool);
    }
    Ok(tools)
}

fn memberships(site: &Site) -> ActionResult<Sites> {
    ActionResult::Forward(DirectPath::new("membership", ["site", site.id.as_str()]))
}

/// A group, as briefly as clients read it.
#[derive(Debug, Serialize, JsonSchema, View)]
#[view(of = Group)]
struct GroupName {
    reference: String,
    title: String,
}

async fn groups(cx: &Context, site: Site) -> Result<ActionResult<Sites>> {
    let groups = parts::groups(cx, &site.id).await?.into_iter();
    Ok(ActionResult::value(
        groups.map(GroupName::of).collect::<Vec<_>>(),
    ))
}

/// Data that is no entity, said to be of one.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Site, beside(cx: &Context, display_title: &'static str, data: T), with(
    entity_url = format!("{}/direct/site/{}", cx.base_url(), encode_segment(&it.id)),
    entity_properties = BTreeMap::new(),
))]
struct Wrapper<T> {
    data: T,
    display_title: &'static str,
    #[view(of = id)]
    entity_id: String,
    entity_properties: BTreeMap<String, String>,
    #[view(of = reference)]
    entity_reference: String,
    #[serde(rename = "entityURL")]
    entity_url: String,
}

async fn perms(cx: &Context, site: Site, arguments: Arguments) -> Result<ActionResult<Sites>> {
    let prefix = prefix(&arguments);
    let mut roles = authorizer::of(cx)?.roles_of_realm(cx, &site.id).await?;
    for functions in roles.values_mut() {
        functions.retain(|it| it.starts_with(prefix));
    }
    Ok(ActionResult::value(Wrapper::of(site, cx, "perms", roles)))
}

async fn user_perms(
    cx: &Context,
    site: Site,
    arguments: Arguments,
) -> Result<Data<Wrapper<BTreeSet<String>>>> {
    let prefix = prefix(&arguments);
    let authorizer = authorizer::of(cx)?;
    let mut functions = authorizer.functions_of_caller(cx, &site.id).await?;
    functions.retain(|it| it.starts_with(prefix));
    Ok(Data(Wrapper::of(site, cx, "userPerms", functions)))
}

fn prefix(arguments: &Arguments) -> &str {
    arguments.optional(PREFIX).unwrap_or_default()
}
