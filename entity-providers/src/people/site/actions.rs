//! The actions on one site beyond the site itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use entity_core::engine::DirectPath;
use entity_core::{
    Action, Answers, Arguments, Context, Data, Done, Error, Need, Outcome, Result, Verb,
    encode_segment, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Site, Sites, address, parts};
use crate::people::{authorizer, membership};
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
            Box::pin(async { Ok(Outcome::Done) })
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
        Action::entity(Verb::Post, "join", Need::Session, join)
            .done("You have joined {}.")
            .offered_if(|site: &Site| site.joinable && site.published)
            .withheld_from("site.visit")
            .doc("Makes the caller a member of the site, which anybody may join."),
        Action::entity(get, "userPerms", Need::Session, user_perms)
            .doc("The caller's functions; only of those that begin so, if the path goes on.")
            .unlinked()
            .optional_argument(PREFIX, "How the functions begin."),
    ]
}

async fn join(cx: &Context, site: Site, _: Arguments) -> Result<Done> {
    membership::become_member(cx, &site.id).await?;
    Ok(Done)
}

async fn archive(_cx: &Context, site: Site, _: Arguments) -> Result<Outcome<Sites>> {
    match site.id.starts_with('!') {
        true => Err(Error::conflict(
            "the service itself needs this site: it has no archive",
        )),
        false => Ok(Outcome::Archive(site.id)),
    }
}

/// A page with its tools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolView {
    id: String,
    tool_id: String,
    placement_id: String,
    title: String,
    description: String,
    url: String,
    home: Option<String>,
    context: String,
    page_id: String,
    page_order: i64,
    site_id: String,
}

async fn pages(cx: &Context, site: Site) -> Result<Outcome<Sites>> {
    let standing = authorizer::of(cx)?.standing(cx, cx.user_id()?).await?;
    if standing.role_in(&site.id).is_none() && !standing.is_superuser {
        return Err(Error::forbidden());
    }
    let pages = pages_of(cx, &[&site.id]).await?;
    let mut tools = tools(cx, &site.id).await?;
    let views = pages.into_iter().map(|it| {
        let tools = tools.remove(&it.id).unwrap_or_default();
        PageView::new(it, tools, cx.base_url())
    });
    Ok(Outcome::value(views.collect::<Vec<_>>()))
}

/// The tools of the site `id`, by page.
async fn tools(cx: &Context, id: &str) -> Result<HashMap<String, Vec<ToolView>>> {
    let mut tools: HashMap<String, Vec<ToolView>> = HashMap::new();
    for row in tools_of(cx, &[id]).await? {
        let page = row.page_id.clone();
        let tool = ToolView::new(row, cx.base_url());
        tools.entry(page).or_default().push(tool);
    }
    Ok(tools)
}

impl PageView {
    fn new(row: SitePage, tools: Vec<ToolView>, base_url: &str) -> Self {
        Self {
            url: base_url.to_owned() + &address::of_page(&row.site_id, &row.id),
            id: row.id,
            site_id: row.site_id,
            title: row.title,
            skin: None,
            layout_title: match row.layout {
                1 => "Double Column",
                _ => "Single Column",
            },
            layout: row.layout,
            position: row.position,
            toolpopup: false,
            toolpopupurl: None,
            tools,
        }
    }
}

impl ToolView {
    fn new(row: SiteTool, base_url: &str) -> Self {
        Self {
            url: base_url.to_owned() + &address::of_tool(&row.site_id, &row.id),
            placement_id: row.id.clone(),
            id: row.id,
            tool_id: row.tool_id,
            description: row.title.clone(),
            title: row.title,
            home: None,
            context: row.site_id.clone(),
            page_id: row.page_id,
            page_order: row.position,
            site_id: row.site_id,
        }
    }
}

fn memberships(site: &Site) -> Outcome<Sites> {
    Outcome::Forward(DirectPath::new("membership", ["site", site.id.as_str()]))
}

/// A group, as briefly as clients read it.
#[derive(Debug, Serialize, JsonSchema)]
struct GroupName {
    reference: String,
    title: String,
}

async fn groups(cx: &Context, site: Site) -> Result<Outcome<Sites>> {
    let groups = parts::groups(cx, &site.id).await?.into_iter();
    let views = groups.map(|it| GroupName {
        reference: it.reference,
        title: it.title,
    });
    Ok(Outcome::value(views.collect::<Vec<_>>()))
}

/// Data that is no entity, said to be of one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Wrapper<T> {
    data: T,
    display_title: &'static str,
    entity_id: String,
    entity_properties: BTreeMap<String, String>,
    entity_reference: String,
    #[serde(rename = "entityURL")]
    entity_url: String,
}

impl<T> Wrapper<T> {
    fn new(cx: &Context, site: Site, display_title: &'static str, data: T) -> Self {
        let id = encode_segment(&site.id);
        Self {
            data,
            display_title,
            entity_url: format!("{}/direct/site/{id}", cx.base_url()),
            entity_id: site.id,
            entity_properties: BTreeMap::new(),
            entity_reference: site.reference,
        }
    }
}

async fn perms(cx: &Context, site: Site, arguments: Arguments) -> Result<Outcome<Sites>> {
    let prefix = prefix(&arguments);
    let mut roles = authorizer::of(cx)?.roles_of_realm(cx, &site.id).await?;
    for functions in roles.values_mut() {
        functions.retain(|it| it.starts_with(prefix));
    }
    Ok(Outcome::value(Wrapper::new(cx, site, "perms", roles)))
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
    Ok(Data(Wrapper::new(cx, site, "userPerms", functions)))
}

fn prefix(arguments: &Arguments) -> &str {
    arguments.optional(PREFIX).unwrap_or_default()
}
