//! Folders as trees.

use chrono::NaiveDateTime;
use entity_core::action::Paging;
use entity_core::wire::Millis;
use entity_core::{
    ActionResult, Arguments, Context, Error, Page, Provider as _, Result, Search, View, Window,
    gate,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::path::{self, MAX_DEPTH};
use super::place::may_read;
use super::{ContentItem, tree};

/// The maximum number of items in one tree: each has 20 values, and an answer no more than 100,000 in any format.
const MOST: u64 = 4_000;
/// The part that is read of what is not divided.
const WHOLE: Window = Window {
    start: 0,
    limit: 10_000,
};

pub(super) const PARAMETERS: &[(&str, &str)] = &[
    (
        "depth",
        "how many levels below the folder: a number, by default 1, or `all`",
    ),
    (
        "timestamp",
        "17 digits, from the year to the milliseconds in UTC: only what changed since then",
    ),
    (
        "_start",
        "how many files and folders to leave out at the beginning, in the order of their paths",
    ),
    (
        "_limit",
        "how many files and folders at most; as many as an answer holds if it is not there",
    ),
];

/// The answer: a list of one folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Trees {
    /// Always `content`.
    entity_prefix: &'static str,
    /// The folder.
    #[serde(rename = "content_collection")]
    collection: Vec<Node>,
}

/// A file, a folder or a link in a tree.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ContentNode")]
#[view(of = ContentItem, with(
    reference = format!("/content{}", it.resource_id),
    r#type = kind(it),
    created = path::digits(it.created_on),
    resource_children = Vec::new(),
    properties = Properties {},
))]
struct Node {
    /// The name that people see.
    #[view(of = title)]
    name: String,
    /// The id below `/direct/content`.
    id: String,
    /// The path within the service.
    resource_id: String,
    /// The reference.
    reference: String,
    /// The kind of the resource.
    r#type: &'static str,
    /// `collection`, `text/url` or the media type.
    #[view(of = media_type)]
    mime_type: String,
    /// The description.
    description: Option<String>,
    /// The name of the author.
    #[view(of = author)]
    creator: String,
    /// The name of the author.
    #[view(of = author)]
    modified_by: String,
    /// The number of bytes.
    size: i64,
    /// The absolute address.
    url: String,
    /// The place among the files of the site.
    #[view(of = position)]
    priority: i64,
    /// When it was created, as 17 digits.
    created: String,
    /// When it last changed, as 17 digits.
    #[view(of = modified_date)]
    modified: String,
    /// When it appears, as 17 digits.
    #[view(of = from_date)]
    release: Option<String>,
    /// When it disappears, as 17 digits.
    #[view(of = end_date)]
    retract: Option<String>,
    /// True if it is hidden.
    hidden: bool,
    /// The contents of the folder.
    resource_children: Vec<Self>,
    /// Always empty.
    properties: Properties,
}

/// Properties that nobody sets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Properties {}

/// Answers a folder with what is in it.
pub(super) async fn tree(cx: &Context, arguments: Arguments) -> Result<ActionResult<ContentItem>> {
    let unknown =
        || Error::bad_request("the path must be that of a folder, such as `group/{siteId}`");
    let asked = format!("/{}/", path::normal(arguments.argument("path")?));
    let (site, is_attached) = path::site(&asked).ok_or_else(unknown)?;
    match cx.authorizer().decide(cx, super::READ, site).await? {
        entity_core::Decision::UnknownSite => return Err(unknown()),
        _ if is_attached => return Err(unknown()),
        _ if !may_read(cx, site).await? => return Err(Error::forbidden()),
        _ => {}
    }
    let found = tree::at(cx, &asked).await?;
    let folder = match found {
        Some(it) => tree::seen(cx, &it.id).await?,
        // Nothing was put into the site yet.
        None if asked == path::root(site) => return Ok(answer(Vec::new())),
        None => None,
    };
    let folder = folder.ok_or_else(unknown)?;
    let most = folder.depth.saturating_add(depth(&arguments)?);
    let since = since(&arguments)?;
    let window = Window::parse(&arguments.query, MOST)?;
    let page = part(cx, &folder, most, window).await?;
    let next = page.next_start(window);
    let around = match (window.start, page.items.first()) {
        (0, _) | (_, None) => Vec::new(),
        (_, Some(first)) => around(cx, &folder, first).await?,
    };
    let mut nodes = vec![(folder.resource_id.clone(), Node::of(folder))];
    for item in around.into_iter().chain(page.items) {
        let is_new = since.is_none_or(|it| item.modified_on >= it);
        if item.is_folder() || is_new {
            nodes.push((item.resource_id.clone(), Node::of(item)));
        }
    }
    let since = since.map(path::digits);
    let outcome = answer(grow(nodes, since.as_deref()).into_iter().collect());
    Ok(outcome.part_of(Paging {
        window,
        next,
        total: None,
    }))
}

fn answer(collection: Vec<Node>) -> ActionResult<ContentItem> {
    ActionResult::value(Trees {
        entity_prefix: ContentItem::PREFIX,
        collection,
    })
}

/// Returns the folders between `folder` and `first`, the first item of a part: what is in them was told before.
async fn around(
    cx: &Context,
    folder: &ContentItem,
    first: &ContentItem,
) -> Result<Vec<ContentItem>> {
    let below = first.resource_id.strip_prefix(&folder.resource_id);
    let below = below.unwrap_or_default().trim_end_matches('/');
    let mut path = folder.resource_id.clone();
    let mut paths = Vec::new();
    for name in below.split('/') {
        path = format!("{path}{name}/");
        paths.push(path.clone());
    }
    paths.pop();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search::all();
    search.narrow(ContentItem::FIELD.resource_id.is_in(paths));
    search.narrow_to_site::<ContentItem>(&folder.site_id)?;
    Ok(gate::list::<ContentItem>(cx, search).await?.items)
}

/// Returns everything that the caller sees in `folder`, down to the depth `most`, each folder before what is in it.
pub(super) async fn below(
    cx: &Context,
    folder: &ContentItem,
    most: i64,
) -> Result<Vec<ContentItem>> {
    let page = part(cx, folder, most, WHOLE).await?;
    match page.has_more {
        false => Ok(page.items),
        true => Err(Error::insufficient_storage(
            "the folder has too much in it for one answer: take the folders in it one by one",
        )),
    }
}

/// Returns a part of what the caller sees in `folder`, down to the depth `most`, each folder before what is in it.
async fn part(
    cx: &Context,
    folder: &ContentItem,
    most: i64,
    window: Window,
) -> Result<Page<ContentItem>> {
    let mut search = Search::part(window);
    let end = path::end(&folder.resource_id);
    search.narrow(ContentItem::FIELD.depth.lte(most));
    search.narrow(ContentItem::FIELD.resource_id.lt(&end));
    search.narrow(ContentItem::FIELD.resource_id.gt(&folder.resource_id));
    search.narrow_to_site::<ContentItem>(&folder.site_id)?;
    let page = gate::list::<ContentItem>(cx, search).await?;
    page.within(cx.answer_bytes())
}

/// Puts each node into its folder, which stands before it, and returns the first one. With `since`, folders in which
/// nothing changed since then are left out.
fn grow(nodes: Vec<(String, Node)>, since: Option<&str>) -> Option<Node> {
    let mut open: Vec<(String, Node)> = Vec::new();
    for (path, node) in nodes {
        while open.last().is_some_and(|it| !path.starts_with(&it.0)) {
            close(&mut open, since);
        }
        open.push((path, node));
    }
    while open.len() > 1 {
        close(&mut open, since);
    }
    open.pop().map(|it| it.1)
}

fn close(open: &mut Vec<(String, Node)>, since: Option<&str>) {
    let Some((_, node)) = open.pop() else {
        return;
    };
    let is_old = since.is_some_and(|it| *node.modified < *it) && node.resource_children.is_empty();
    if let Some((_, folder)) = open.last_mut()
        && !is_old
    {
        folder.resource_children.push(node);
    }
}

fn depth(arguments: &Arguments) -> Result<i64> {
    match arguments.parameter("depth") {
        None | Some("") => Ok(1),
        Some("all") => Ok(MAX_DEPTH),
        Some(text) => {
            let depth = text.parse().ok().filter(|it: &i64| *it >= 0);
            let depth = depth.ok_or_else(|| Error::field("depth", "must be a number or `all`"))?;
            Ok(depth.min(MAX_DEPTH))
        }
    }
}

fn since(arguments: &Arguments) -> Result<Option<Millis>> {
    let text = arguments.parameter("timestamp").filter(|it| !it.is_empty());
    let parse = |it: &str| {
        let digits = it.len() == 17 && it.bytes().all(|it| it.is_ascii_digit());
        let instant = NaiveDateTime::parse_from_str(it, "%Y%m%d%H%M%S%3f").ok();
        instant
            .filter(|_| digits)
            .map(|it| Millis(it.and_utc()))
            .ok_or_else(|| {
                let message = "must be 17 digits, from the year to the milliseconds";
                Error::field("timestamp", message)
            })
    };
    text.map(parse).transpose()
}

/// Returns what clients call the kind of `item`.
fn kind(item: &ContentItem) -> &'static str {
    if item.is_folder() {
        "org.sakaiproject.content.types.folder"
    } else if item.is_link() {
        "org.sakaiproject.content.types.urlResource"
    } else {
        "org.sakaiproject.content.types.fileUpload"
    }
}
