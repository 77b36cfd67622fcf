//! The menu of a site: where its parts are, for each page that belongs to it. Which parts a site shows is told by what is
//! registered as options under [`TOOLS`]: the tools of the site, each with the name that it has there.

use std::sync::Arc;

use crate::contract::action::Answers;
use crate::contract::context::Context;
use crate::contract::gate;
use crate::contract::operation::candidates;
use crate::contract::registry::{ActionRoute, Registry, Route};
use crate::contract::reply::{AllowedActions, Body, Collection, Item, Related, Reply};
use crate::contract::request::Request;
use crate::engine::{leads, options, zone};
use crate::model::schema::{Emphasis, Layout, Role};
use crate::model::wire;
use crate::primitives::error::Result;
use crate::primitives::reference::Reference;
use crate::primitives::verb::Verb;

/// The name of the options that are the tools of a site.
pub const TOOLS: &str = "tool";
/// The argument by which actions are about a site.
const SITE: &str = "siteId";

/// The most entities of a part that the page of a site itself shows.
const MOST_SHOWN: usize = 3;

/// Adds the menu of `site` for a caller who may open it. If the page is that of the site, `is_home`, it shows the newest of
/// its texts and what is to be done next.
pub(super) async fn add(
    cx: &Context,
    registry: &Registry,
    site: Option<String>,
    is_home: bool,
    allowed_actions: &mut AllowedActions,
) -> Result<()> {
    if let Some(site) = &site
        && allowed_actions
            .readable
            .contains_key(&Reference::entity("site", site).path())
    {
        for (tool, title) in options::choices(cx, registry, TOOLS, Some(site)).await? {
            for route in registry.routes().filter(|it| it.tool == tool) {
                if let Some((mut part, action)) = found(route, site)
                    && is_open(cx, registry, (route, action), site).await?
                {
                    if is_home {
                        part.first = first(cx, registry, route, site).await?.map(Arc::new);
                    }
                    allowed_actions.menu.push((title.clone(), part));
                }
            }
        }
    }
    allowed_actions.site = site;
    Ok(())
}

/// Returns the beginning of the list of a type in `site`, if it has the newest texts first, or its entities are to be done:
/// of these, the next ones.
async fn first(
    cx: &Context,
    registry: &Registry,
    route: &Route,
    site: &str,
) -> Result<Option<Collection>> {
    let layout = route.schema.look.layout;
    let newest = route.schema.role(Role::Created);
    let is_newest = |key| newest.is_some_and(|it| key == format!("{}_desc", it.name));
    let is_text = layout.is_text() && route.order.split(',').any(is_newest);
    let Some(field) = route.schema.role(Role::Site) else {
        return Ok(None);
    };
    let mut fields = route.schema.fields.iter();
    let due = fields.find(|it| it.emphasis == Some(Emphasis::Due));
    let due = due.filter(|it| layout == Layout::Work && it.column.is_some());
    if !is_text && due.is_none() {
        return Ok(None);
    }
    let mut query = vec![
        (field.name.to_owned(), site.to_owned()),
        ("_limit".to_owned(), MOST_SHOWN.to_string()),
    ];
    if let Some(due) = due {
        query.push((format!("{}[ge]", due.name), wire::iso(cx.now())));
        query.push(("_order".to_owned(), due.name.to_owned()));
    }
    let found = leads::found(cx, registry, route, &query, false).await?;
    Ok(found.map(|it| it.0))
}

/// Returns what pages show around that which is no answer of a type: a file of `site`, or the start page.
///
/// # Errors
/// Returns an error if it can't be looked up.
pub async fn around(cx: &Context, site: Option<String>) -> Result<AllowedActions> {
    let registry = cx.service::<Registry>()?;
    let mut allowed_actions = AllowedActions {
        readable: leads::readable(cx, &registry, [], site.as_deref()).await?,
        zone: zone::of(cx).await?,
        ..AllowedActions::default()
    };
    add(cx, &registry, site, false, &mut allowed_actions).await?;
    Ok(allowed_actions)
}

/// Returns whether the caller may open the list of a type, or what an action of it answers, in `site`: by what these need
/// there or, where they need nothing but a session, by asking.
async fn is_open(
    cx: &Context,
    registry: &Registry,
    (route, action): (&Route, Option<&ActionRoute>),
    site: &str,
) -> Result<bool> {
    let needs = [
        route.access.map(|it| it.read),
        action.and_then(|it| it.need),
    ];
    let mut is_decided = false;
    for need in needs.into_iter().flatten() {
        match gate::may_meet(cx, need, Some(site)).await? {
            Some(false) => return Ok(false),
            Some(true) => is_decided = true,
            None => {}
        }
    }
    match action.filter(|_| !is_decided) {
        Some(action) => leads::is_open(cx, registry, (route, action), site).await,
        None => Ok(true),
    }
}

/// Returns where the entities of a type in `site` are: at an action about a site that answers a list of them, else in the
/// list of all, else at an action that answers something else about the site.
pub fn part(route: &Route, site: &str) -> Option<Related> {
    found(route, site).map(|it| it.0)
}

/// Returns the [`part`], and its action, if it is one.
fn found<'a>(route: &'a Route, site: &str) -> Option<(Related, Option<&'a ActionRoute>)> {
    let is_about = |it: &&ActionRoute| {
        let is_site = matches!(it.arguments.as_slice(), [only] if only.name == SITE);
        is_site && it.verb == Verb::Get && !it.is_on_entity && matches!(it.name, "site" | "context")
    };
    let mut actions = route.actions.iter().filter(is_about);
    let action = actions.next();
    let field = route.schema.role(Role::Site);
    let field = field.filter(|_| route.list.is_some());
    let is_list = |it: &ActionRoute| it.is_searched() || matches!(it.answers, Answers::Collection);
    let mut part = Related {
        prefix: route.prefix,
        segments: Vec::new(),
        query: Vec::new(),
        first: None,
        may_create: false,
    };
    match (action, field) {
        (Some(action), field) if field.is_none() || is_list(action) => {
            part.segments = vec![action.name.to_owned(), site.to_owned()];
            Some((part, Some(action)))
        }
        (_, Some(field)) => {
            part.query = vec![(field.name, site.to_owned())];
            Some((part, None))
        }
        (_, None) => None,
    }
}

/// Returns the site to which the page of `reply` belongs, if there is one.
pub(super) async fn site(
    cx: &Context,
    registry: &Registry,
    request: &Request,
    reply: &Reply,
) -> Result<Option<String>> {
    let of_item = |it: &Item| it.site().map(ToOwned::to_owned);
    Ok(match &reply.body {
        Body::Entity(item) => of_item(item),
        Body::Form(form) => match &form.item {
            Some(item) => of_item(item),
            None => form.schema.role(Role::Site).and_then(|field| {
                let mut pairs = request.query.iter();
                pairs.find(|it| it.0 == field.name).map(|it| it.1.clone())
            }),
        },
        Body::Collection(_) if reply.allowed_actions.site.is_some() => {
            reply.allowed_actions.site.clone()
        }
        Body::Empty | Body::Value(_) | Body::Collection(_) => {
            let Some(route) = registry.route(&request.path.prefix) else {
                return Ok(None);
            };
            let found = candidates(route, &request.path.segments).into_iter().next();
            match found {
                Some((_, id, _)) if !id.is_empty() => {
                    let found = leads::find(cx, route.prefix, &[id.to_owned()]).await?;
                    found.first().and_then(of_item)
                }
                Some((action, _, arguments)) => {
                    let place = action.arguments.iter().position(|it| it.name == SITE);
                    place.and_then(|it| arguments.get(it).cloned())
                }
                None => None,
            }
        }
        _ => None,
    })
}
