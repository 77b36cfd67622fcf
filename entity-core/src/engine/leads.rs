//! The links of pages: what the entities of an answer refer to, and which of that its reader may open. A page links to
//! nothing that would refuse the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::contract::action::Argument;
use crate::contract::context::Context;
use crate::contract::gate;
use crate::contract::input::Input;
use crate::contract::look_up::look_up;
use crate::contract::preconditions::Preconditions;
use crate::contract::registry::{ActionRoute, Call, Registry, Route};
use crate::model::schema::{ACCOUNTS, Field, Layout, Role};
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;
use crate::{
    contract::reply::{AllowedActions, Body, Collection, Item, Offer, Related, Reply, Sheet},
    primitives::reference::Reference,
};

/// The maximum number of entities of one type that are looked up for the links of a page. Further ones are named
/// without a link.
const MOST: usize = 500;

/// The maximum number of entities that a page shows of each list of what belongs to its own.
const SHOWN: usize = 25;

/// Returns the entity that `value`, the value of `field`, refers to, if that is of a type whose entities can be read.
pub fn reference_of(field: &Field, value: &str, registry: &Registry) -> Option<Reference> {
    let found = match field.refers_to().filter(|it| can_be_read(registry, it)) {
        Some(prefix) => (prefix, value.strip_prefix("/user/").unwrap_or(value)),
        None => written_out(value, registry)?,
    };
    let (prefix, id) = found;
    (!id.is_empty()).then(|| Reference::entity(prefix, id))
}

/// Returns the type and the id in a text of the form `/prefix/id`, which names an entity wherever it stands.
fn written_out<'a>(value: &'a str, registry: &Registry) -> Option<(&'a str, &'a str)> {
    let (prefix, id) = value.strip_prefix('/')?.split_once('/')?;
    let is_one = !id.contains(['/', '\\', ';']) && can_be_read(registry, prefix);
    is_one.then_some((prefix, id))
}

fn can_be_read(registry: &Registry, prefix: &str) -> bool {
    registry.route(prefix).is_some_and(|it| it.read.is_some())
}

/// Returns the entities of the type `prefix` with these ids that the caller may read: none if no such type is served. For
/// types whose entities refer to entities of others, whichever these are.
pub async fn find(cx: &Context, prefix: &str, ids: &[String]) -> Result<Vec<Item>> {
    let registry = cx.service::<Registry>()?;
    match registry.route(prefix).and_then(|it| it.load) {
        Some(load) if !ids.is_empty() => load(cx, ids).await,
        _ => Ok(Vec::new()),
    }
}

/// Returns whether the caller has done what the entity asks for, if its type [knows](crate::Provider::is_done) that.
///
/// # Errors
/// Returns an error if the caller may not read the entity.
pub async fn is_done(cx: &Context, prefix: &str, id: &str) -> Result<Option<bool>> {
    let registry = cx.service::<Registry>()?;
    match registry.route(prefix).and_then(|it| it.done) {
        Some(is_done) => is_done(cx, id).await,
        None => Ok(None),
    }
}

/// Adds to `reply` what its reader may open of all that it refers to, and of the `site` to which it belongs.
pub(crate) async fn add(
    cx: &Context,
    registry: &Registry,
    (site, query): (Option<&str>, &[(String, String)]),
    reply: &mut Reply,
) -> Result<()> {
    let allowed_actions = &mut reply.allowed_actions;
    // The form in the place of a list has what the list has.
    let query = match &reply.body {
        Body::Collection(_) => query,
        _ => &[],
    };
    allowed_actions.sheet = sheet(cx, registry, &mut allowed_actions.actions, query).await?;
    allowed_actions.readable = match &reply.body {
        Body::Entity(item) => {
            allowed_actions.related = related(cx, registry, item).await?;
            let below = allowed_actions
                .related
                .iter()
                .filter_map(|it| it.first.as_ref());
            let below = below.flat_map(|it| &it.items);
            let items = std::iter::once(item).chain(below);
            readable(cx, registry, items, site).await?
        }
        Body::Collection(list) => {
            let is_of_people = list.schema.look.layout == Layout::People && site.is_some();
            let accounts = registry.route(ACCOUNTS).filter(|_| is_of_people);
            if let Some(access) = accounts.and_then(|it| it.access) {
                allowed_actions.creates_accounts = gate::may_run(cx, access.create, None).await?;
            }
            readable(cx, registry, &list.items, site).await?
        }
        _ => readable(cx, registry, [], site).await?,
    };
    Ok(())
}

/// Returns the form that the page shows in the place of something else, if one of the `offers` answers one, and takes these out
/// of them: nothing has to lead there.
async fn sheet(
    cx: &Context,
    registry: &Registry,
    offers: &mut Vec<Offer>,
    query: &[(String, String)],
) -> Result<Option<Arc<Sheet>>> {
    let sheets: Vec<Offer> = offers
        .extract_if(.., |it| it.in_place_of.is_some())
        .collect();
    for offer in sheets {
        let path = DirectPath::parse(&offer.path, |_| false)?;
        let form = match look_up(registry, cx, path, query.to_vec()).await {
            Ok(reply) => match reply.body {
                Body::Value(it) => it.questionnaire,
                _ => None,
            },
            Err(error) if error.is_refusal() => None,
            Err(error) => return Err(error),
        };
        if let Some((form, in_place_of)) = form.zip(offer.in_place_of) {
            return Ok(Some(Arc::new(Sheet { form, in_place_of })));
        }
    }
    Ok(None)
}

/// Returns the paths and titles of the entities that `items` refer to and that the caller may read, and of `site`, by one
/// query for each type.
pub(super) async fn readable<'a>(
    cx: &Context,
    registry: &Registry,
    items: impl IntoIterator<Item = &'a Item>,
    site: Option<&str>,
) -> Result<BTreeMap<String, String>> {
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    if let Some(site) = site {
        wanted.insert("site".to_owned(), [site.to_owned()].into());
    }
    for item in items {
        let data = serde_json::to_value(item.data()).map_err(Error::internal)?;
        for field in item.schema().fields {
            let value = data.get(field.name).and_then(Value::as_str);
            let found = value.and_then(|it| reference_of(field, it, registry));
            if let Some(Reference {
                prefix,
                id: Some(id),
            }) = found
            {
                wanted.entry(prefix).or_default().insert(id);
            }
        }
    }
    let mut readable = BTreeMap::new();
    for (prefix, ids) in wanted {
        let ids: Vec<String> = ids.into_iter().take(MOST).collect();
        if let Some(load) = registry.route(&prefix).and_then(|it| it.load) {
            let found = load(cx, &ids).await?;
            let named = |it: &Item| (it.reference().path(), it.title().unwrap_or_default());
            readable.extend(found.iter().map(named));
        }
    }
    Ok(readable)
}

/// Returns the lists of other types about `item` that the caller may open: those types have an action that is named
/// after the type of `item` and takes an id, `/announcement/site/{id}`, or a list whose argument is, `siteId`, or their
/// entities belong to `item`. Each of them is tried, because a list may refuse for reasons that no need declares.
async fn related(cx: &Context, registry: &Registry, item: &Item) -> Result<Vec<Related>> {
    let mut related = Vec::new();
    let site = item.site().map(ToOwned::to_owned);
    for route in registry.routes() {
        let parent = route.parent();
        if let Some(field) = parent.filter(|it| it.references == Some(item.prefix())) {
            // With the site, the form for a new one is filled in.
            let mut query = vec![(field.name, item.id())];
            let of_site = route.schema.role(Role::Site).zip(site.clone());
            query.extend(of_site.map(|(field, site)| (field.name, site)));
            let reply = list_reply(cx, registry, route, (&query, SHOWN), true).await?;
            if let Some((first, allowed_actions)) = reply {
                related.push(Related {
                    may_create: allowed_actions.create,
                    prefix: route.prefix,
                    segments: Vec::new(),
                    query,
                    first: Some(Arc::new(first)),
                });
                continue;
            }
        }
        let actions = route.actions.iter().filter(|it| {
            let is_argument = |own: &Argument| own.name.strip_suffix("Id") == Some(item.prefix());
            let is_about = it.name == item.prefix()
                || (it.is_searched() && it.arguments.iter().any(is_argument));
            let is_page = it.verb == Verb::Get && it.words.in_place_of.is_none();
            is_about && is_page && !it.is_on_entity && it.segments() == (1..=1)
        });
        for action in actions {
            if is_open(cx, registry, (route, action), &item.id()).await? {
                let id = item.id();
                related.push(Related {
                    prefix: route.prefix,
                    segments: vec![action.name.to_owned(), id],
                    query: Vec::new(),
                    first: None,
                    may_create: false,
                });
            }
        }
    }
    Ok(related)
}

/// Returns the beginning of the list of the entities of a type with these values, if the caller may list them.
pub(crate) async fn list(
    cx: &Context,
    registry: &Registry,
    route: &Route,
    values: &[(&'static str, String)],
    most: usize,
) -> Result<Option<Collection>> {
    let reply = list_reply(cx, registry, route, (values, most), false).await?;
    Ok(reply.map(|it| it.0))
}

/// Returns the same with what the caller may do there, if that is wanted.
async fn list_reply(
    cx: &Context,
    registry: &Registry,
    route: &Route,
    (values, most): (&[(&'static str, String)], usize),
    wants_allowed_actions: bool,
) -> Result<Option<(Collection, AllowedActions)>> {
    let values = values.iter().map(|it| (it.0.to_owned(), it.1.clone()));
    let mut query: Vec<_> = values.collect();
    query.push(("_limit".to_owned(), most.to_string()));
    found(cx, registry, route, &query, wants_allowed_actions).await
}

/// Returns the list of a type that `query` asks for, if the caller may open it.
pub(super) async fn found(
    cx: &Context,
    registry: &Registry,
    route: &Route,
    query: &[(String, String)],
    wants_allowed_actions: bool,
) -> Result<Option<(Collection, AllowedActions)>> {
    let Some(list) = route.list.as_ref() else {
        return Ok(None);
    };
    let place: (_, _, &Answering) = (registry, route, list);
    let answer = answer(cx, place, &[], query, wants_allowed_actions).await?;
    Ok(answer.and_then(|it| match it.body {
        Body::Collection(list) => Some((list, it.allowed_actions)),
        _ => None,
    }))
}

/// Returns whether `action` answers the caller about `id`.
pub(super) async fn is_open(
    cx: &Context,
    registry: &Registry,
    (route, action): (&Route, &ActionRoute),
    id: &str,
) -> Result<bool> {
    let query = match action.is_searched() {
        true => vec![("_limit".to_owned(), "1".to_owned())],
        false => Vec::new(),
    };
    let arguments = [id.to_owned()];
    let place = (registry, route, &*action.run);
    let answer = answer(cx, place, &arguments, &query, false).await?;
    Ok(answer.is_some())
}

/// A function that answers reading requests.
type Answering =
    dyn for<'a> Fn(&'a Context, Call<'a>) -> BoxFuture<'a, Result<Reply>> + Send + Sync;

/// Returns what `run` answers the caller, unless it refuses.
async fn answer(
    cx: &Context,
    (registry, route, run): (&Registry, &Route, &Answering),
    arguments: &[String],
    query: &[(String, String)],
    wants_allowed_actions: bool,
) -> Result<Option<Reply>> {
    let call = Call {
        registry,
        route,
        verb: Verb::Get,
        need: None,
        id: "",
        arguments,
        query,
        input: &Input::default(),
        preconditions: &Preconditions::default(),
        wants_allowed_actions,
    };
    match run(cx, call).await {
        Ok(reply) => Ok(Some(reply)),
        Err(error) if matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable) => {
            Err(error)
        }
        Err(_refusal) => Ok(None),
    }
}
