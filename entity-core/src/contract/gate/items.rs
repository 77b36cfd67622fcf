//! The checks of the gate, for entities of any type: compiled once for all types.

use serde_json::Value;

use super::needs::{
    admit, demand_for, demand_in_site, demand_of_account, may_meet, refusal, scope,
};
use crate::contract::access::{Need, Operation, Permit, Scope};
use crate::contract::changed_fields;
use crate::contract::context::Context;
use crate::contract::input::{COLLECTION, Fields, Input};
use crate::contract::kind::{Creates, Decoded, Deletes, Kind, Lists, Reads, Updates};
use crate::contract::preconditions::{Preconditions, State};
use crate::contract::presence::note_visit;
use crate::contract::registry::Registry;
use crate::contract::reply::Item;
use crate::contract::search::{Page, Search};
use crate::model::any_entity::AnyEntity;
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::reference::Reference;

/// The maximum number of entities that are examined to find the next visible one, or to count them.
const MOST_LOOKED_AT: usize = 10_000;

/// Returns the entity with this id, if the caller may read it.
pub(crate) async fn read(of: &dyn Reads, cx: &Context, id: &str) -> Result<Item> {
    admit(cx.caller(), of.access().read)?;
    let item = of.read(cx, id).await?.ok_or_else(Error::not_found)?;
    check(of, cx, item.entity(), Operation::Read).await?;
    Ok(item)
}

/// Returns the entities with these ids, without those that the caller may not read.
pub(crate) async fn read_many(of: &dyn Reads, cx: &Context, ids: &[String]) -> Result<Vec<Item>> {
    if admit(cx.caller(), of.access().read).is_err() {
        return Ok(Vec::new());
    }
    let found = of.read_many(cx, ids).await?;
    Ok(retain(of, cx, Page::whole(found)).await?.items)
}

/// Lists the entities that match `search` and that the caller may read: see [`super::list`].
pub(crate) async fn list(of: &dyn Lists, cx: &Context, mut search: Search) -> Result<Page<Item>> {
    of.grammar()?.complete(&mut search);
    search.scope = scope(cx, of.access().read, search.site()).await?;
    let mut hidden = 0;
    loop {
        let page = of.list(cx, &search).await?;
        let goes_on = page.has_more && search.cursor.is_some();
        if goes_on {
            search.move_behind(&page.items)?;
        }
        hidden += page.items.len();
        let page = visible(of, cx, &search.scope, page).await?;
        if !goes_on || !page.items.is_empty() {
            return Ok(page);
        }
        if hidden > MOST_LOOKED_AT {
            return Err(Error::bad_request(
                "the list can't be walked any further: narrow it by a filter",
            ));
        }
    }
}

/// Counts the entities that match `search` and that the caller may read: see [`super::count`].
pub(crate) async fn count(of: &dyn Lists, cx: &Context, mut search: Search) -> Result<Option<u64>> {
    of.grammar()?.complete(&mut search);
    search.scope = scope(cx, of.access().read, search.site()).await?;
    if let Some(count) = of.count(cx, &search).await? {
        return Ok(Some(count));
    }
    search.cursor = None;
    (search.start, search.limit) = (0, of.most());
    let (mut looked_at, mut count) = (0, 0);
    loop {
        let page = of.list(cx, &search).await?;
        looked_at += page.items.len();
        let passed = page.places.end().unwrap_or(search.limit);
        search.start = search.start.saturating_add(passed);
        let page = visible(of, cx, &search.scope, page).await?;
        count += page.items.len();
        match page.has_more {
            false => return Ok(u64::try_from(count).ok()),
            true if looked_at >= MOST_LOOKED_AT || page.items.is_empty() => return Ok(None),
            true => {}
        }
    }
}

/// Runs `search`, and counts all that it matches if it asks for that.
pub(crate) async fn run_search(
    of: &dyn Lists,
    cx: &Context,
    search: Search,
) -> Result<(Page<Item>, Option<u64>)> {
    let counted = search.is_counted.then(|| search.clone());
    let page = list(of, cx, search).await?;
    let total = match counted {
        Some(search) => count(of, cx, search).await?,
        None => None,
    };
    Ok((page, total))
}

/// Removes from `page`, which was listed for `scope`, the entities that the caller may not read.
async fn visible(
    of: &dyn Kind,
    cx: &Context,
    scope: &Scope,
    page: Page<Item>,
) -> Result<Page<Item>> {
    let mut is_shown = Vec::with_capacity(page.items.len());
    for item in &page.items {
        let is_in_scope = item.site().is_none_or(|it| scope.contains(it));
        let permits = || of.permits(cx, item.entity(), Operation::Read);
        is_shown.push(is_in_scope && permits().await? == Permit::Allowed);
    }
    Ok(page.keep(&is_shown))
}

/// Creates an entity from `input`.
pub(crate) async fn create(of: &dyn Creates, cx: &Context, input: &Input) -> Result<Item> {
    let fields = creation(of, cx, input).await?;
    let fields = cx.sanitize_fields((of.prefix(), of.schema()), fields, None)?;
    let draft = draft(of, cx, fields).await?;
    let item = of.create(cx, draft).await?;
    let function = check(of, cx, item.entity(), Operation::Create).await?;
    emit_event(of, cx, function, "new", item.entity());
    Ok(item)
}

/// Returns the fields for a creation from `input`, checked, to whoever may create something somewhere.
pub(crate) async fn creation(of: &dyn Creates, cx: &Context, input: &Input) -> Result<Fields> {
    let need = of.access().create;
    admit(cx.caller(), need)?;
    if let Need::Superuser | Need::Account(_) = need {
        demand_of_account(cx, need).await?;
    }
    if input.patch.is_some() {
        return Err(Error::bad_request(
            "there is nothing yet that a patch could change",
        ));
    }
    require_root(input, cx, of.prefix())?;
    of.adapt(input)?.check(of.schema(), true)
}

/// Decodes `fields`, which [`creation`] returned, if the caller may create an entity where they place it.
pub(crate) async fn draft(of: &dyn Creates, cx: &Context, fields: Fields) -> Result<Decoded> {
    let (draft, site) = of.decode(fields)?;
    demand_in_site(cx, of.access().create, site.as_deref()).await?;
    Ok(draft)
}

/// Updates the entity `id` from `input`: see [`super::update`].
pub(crate) async fn update(
    of: &dyn Updates,
    cx: &Context,
    id: &str,
    input: &Input,
    preconditions: &Preconditions,
) -> Result<Item> {
    let (current, stored, fields) = revision(of, cx, id, input).await?;
    let fields = cx.sanitize_fields((of.prefix(), of.schema()), fields, Some(&stored))?;
    let fields = changed_fields::changed_fields(of.schema(), input, fields, &stored)?;
    // A file is never a repetition: what it changes is up to the type.
    let is_repetition = cx.uploads().is_empty() && fields.0.is_empty();
    if is_repetition {
        preconditions.judge_write(state(cx, current.entity()))?;
        return Ok(current);
    }
    let changes = of.decode(fields)?;
    preconditions.judge_write(state(cx, current.entity()))?;
    let item = of.update(cx, current, changes).await?;
    let function = check(of, cx, item.entity(), Operation::Update).await?;
    emit_event(of, cx, function, "revise", item.entity());
    Ok(item)
}

/// Returns the entity `id`, if the caller may change it, as it is and as data, and the fields for a change of it by `input`,
/// checked against the schema.
pub(crate) async fn revision(
    of: &dyn Reads,
    cx: &Context,
    id: &str,
    input: &Input,
) -> Result<(Item, Value, Fields)> {
    let current = load_to_write(of, cx, id, Operation::Update).await?;
    require_root(input, cx, of.prefix())?;
    let stored = current.entity().to_value()?;
    let input = input.resolve(of.schema(), &stored)?;
    let fields = input.check_change(of.schema(), &stored)?;
    Ok((current, stored, fields))
}

/// Returns the entity `id`, if the caller may run an action on it that requires `need`.
pub(crate) async fn read_to_act(
    of: &dyn Reads,
    cx: &Context,
    id: &str,
    need: Need,
) -> Result<Item> {
    admit(cx.caller(), need)?;
    let item = read(of, cx, id).await?;
    demand(cx, need, item.entity()).await?;
    Ok(item)
}

/// Deletes the entity `id` and returns a reference to it.
pub(crate) async fn delete(
    of: &dyn Deletes,
    cx: &Context,
    id: &str,
    preconditions: &Preconditions,
) -> Result<Reference> {
    let current = load_to_write(of, cx, id, Operation::Delete).await?;
    preconditions.judge_write(state(cx, current.entity()))?;
    let function = demand(cx, of.access().delete, current.entity()).await?;
    let reference = Reference::entity(of.prefix(), current.id());
    emit_event(of, cx, function, "delete", current.entity());
    of.delete(cx, current).await?;
    Ok(reference)
}

/// Removes from `page` the entities that the caller may not read.
pub(crate) async fn retain(of: &dyn Kind, cx: &Context, page: Page<Item>) -> Result<Page<Item>> {
    let entities: Vec<_> = page.items.iter().map(Item::entity).collect();
    let is_shown = are_readable(of, cx, &entities).await?;
    Ok(page.keep(&is_shown))
}

/// Returns for each of `entities` whether the caller may read it.
pub(super) async fn are_readable(
    of: &dyn Kind,
    cx: &Context,
    entities: &[&dyn AnyEntity],
) -> Result<Vec<bool>> {
    let mut are_readable = Vec::with_capacity(entities.len());
    for entity in entities {
        are_readable.push(may(of, cx, *entity, Operation::Read).await?);
    }
    Ok(are_readable)
}

/// Returns whether the caller may do `operation` with `entity`.
pub(crate) async fn may(
    of: &dyn Kind,
    cx: &Context,
    entity: &dyn AnyEntity,
    operation: Operation,
) -> Result<bool> {
    is_granted(check(of, cx, entity, operation).await)
}

/// Converts the result of a check into a bool: a refusal is `false`. Other errors are returned.
pub(super) fn is_granted<T>(checked: Result<T>) -> Result<bool> {
    use ErrorKind::{BadRequest, Forbidden, NotFound, Unauthenticated};
    match checked {
        Ok(_function) => Ok(true),
        Err(error) => match error.kind() {
            // The last one is a need in a site where no site is named.
            Forbidden | NotFound | Unauthenticated | BadRequest => Ok(false),
            _ => Err(error),
        },
    }
}

/// Checks that an action that requires `need` may return `entity` to the caller.
pub(crate) async fn require_answer(
    of: &dyn Kind,
    cx: &Context,
    need: Need,
    entity: &dyn AnyEntity,
) -> Result<()> {
    if need != Need::Public {
        return check(of, cx, entity, Operation::Read)
            .await
            .map(|_function| ());
    }
    match of.permits(cx, entity, Operation::Read).await? {
        Permit::Allowed => Ok(()),
        Permit::Hidden => Err(Error::not_found()),
        Permit::Forbidden => Err(refusal(cx.caller())),
    }
}

/// Returns whether the caller may create an entity of the type: see [`super::may_create`].
pub(crate) async fn may_create(of: &dyn Kind, cx: &Context, site: Option<&str>) -> Result<bool> {
    match may_meet(cx, of.access().create, site).await? {
        Some(may) => Ok(may),
        None => of.offers_creation(cx, site).await,
    }
}

async fn load_to_write(
    of: &dyn Reads,
    cx: &Context,
    id: &str,
    operation: Operation,
) -> Result<Item> {
    admit(cx.caller(), of.access().need(operation))?;
    let current = of.read(cx, id).await?.ok_or_else(Error::not_found)?;
    if of.permits(cx, current.entity(), Operation::Read).await? == Permit::Hidden {
        return Err(Error::not_found());
    }
    check(of, cx, current.entity(), operation).await?;
    Ok(current)
}

/// Asks the authorizer, then the provider, and returns the function that was used. An entity that the provider hides is
/// not found, whatever the authorizer decides.
pub(super) async fn check(
    of: &dyn Kind,
    cx: &Context,
    entity: &dyn AnyEntity,
    operation: Operation,
) -> Result<Option<&'static str>> {
    let function = demand(cx, of.access().need(operation), entity).await;
    let checked = match of.permits(cx, entity, operation).await? {
        Permit::Hidden => Err(Error::not_found()),
        Permit::Forbidden => function.and(Err(refusal(cx.caller()))),
        Permit::Allowed => function,
    };
    if let (Ok(_), Some(site)) = (&checked, entity.site()) {
        note_visit(cx, site);
    }
    checked
}

async fn demand(cx: &Context, need: Need, entity: &dyn AnyEntity) -> Result<Option<&'static str>> {
    demand_for(cx, need, entity.site(), entity.owner()).await
}

/// Returns the state of `entity` against which preconditions are evaluated.
pub(crate) fn state(cx: &Context, entity: &dyn AnyEntity) -> State {
    State::at(cx.now(), entity.version(), entity.updated())
}

fn emit_event(
    of: &dyn Kind,
    cx: &Context,
    function: Option<&'static str>,
    verb: &str,
    entity: &dyn AnyEntity,
) {
    let reference = Reference::entity(of.prefix(), entity.id());
    let kind = function.map_or_else(|| format!("{}.{verb}", of.prefix()), ToOwned::to_owned);
    cx.emit(kind, reference.to_string(), entity.site());
}

/// Refuses an input whose root is named like entities of another type than `prefix`, or like a list of entities,
/// because it was meant for something else. Any other name is accepted.
///
/// # Errors
/// Returns an error if the root has such a name; the error has both names.
fn require_root(input: &Input, cx: &Context, prefix: &str) -> Result<()> {
    let Some(root) = input.root.as_deref().filter(|it| *it != prefix) else {
        return Ok(());
    };
    let named = root.strip_suffix(COLLECTION).unwrap_or(root);
    let registry = cx.service::<Registry>().ok();
    match registry.is_some_and(|it| it.route(named).is_some()) {
        true => Err(Error::bad_request(format!(
            "the root of the body is `{root}`, which is no entity of this type: name it `{prefix}`"
        ))),
        false => Ok(()),
    }
}
