//! The gate: loads entities, checks permissions and acts. It is the only place where a request reaches a provider.
//!
//! Invariant: no entity leaves a provider, and none is written, without a check of [`Provider::ACCESS`] and
//! [`Provider::permits`] for it. Everything that returns entities (single entity, list, action, `/api` view) goes
//! through this module. One exception: what a public action returns counts as public for [`Provider::ACCESS`], so that
//! only [`Provider::permits`] is checked.

mod needs;

use serde_json::Value;

use crate::contract::access::{Need, Operation, Permit, Scope};
use crate::contract::context::Context;
use crate::contract::input::{Fields, Input};
use crate::contract::preconditions::{Preconditions, State};
use crate::contract::provider::{Create, Delete, List, Provider, Read, Update};
use crate::contract::repetition;
use crate::contract::search::{Grammar, Page, Search};
use crate::contract::visits::note_visit;
use crate::model::entity::Entity;
use crate::words::error::{Error, Result};
use crate::words::reference::Reference;

pub(crate) use needs::admit;
use needs::{demand_for, demand_of_account, may_meet, refusal, scope};
pub use needs::{demand_in_site, holds};

/// The maximum number of entities that are examined to find the next visible one, or to count them.
const MOST_LOOKED_AT: usize = 10_000;

/// Returns the entity with this id, if the caller may read it.
///
/// # Errors
/// Returns an error if nobody is logged in, if there is no such entity or the caller may not know of it, or if the
/// caller may not read it.
pub async fn read<P: Read>(cx: &Context, id: &str) -> Result<P::Entity> {
    admit(cx.caller(), P::ACCESS.read)?;
    let entity = P::read(cx, id).await?.ok_or_else(Error::not_found)?;
    check::<P>(cx, &entity, Operation::Read).await?;
    Ok(entity)
}

/// Returns the entities with these ids, without those that the caller may not read.
///
/// # Errors
/// Returns an error if the data can't be read, or if a permission could not be decided.
pub async fn read_many<P: Read>(cx: &Context, ids: &[String]) -> Result<Vec<P::Entity>> {
    if admit(cx.caller(), P::ACCESS.read).is_err() {
        return Ok(Vec::new());
    }
    let found = P::read_many(cx, ids).await?;
    Ok(retain::<P>(cx, Page::whole(found)).await?.items)
}

/// Lists the entities that match `search` and that the caller may read.
///
/// A walk by a cursor continues until it finds such an entity or the end of the list, because the next cursor is made
/// from the last entity that the caller has seen.
///
/// # Errors
/// Returns an error if nobody is logged in, if the caller may not list this type or the site that the search names, or
/// if too many entities are hidden from the caller to walk past them.
pub async fn list<P: List>(cx: &Context, mut search: Search) -> Result<Page<P::Entity>> {
    Grammar::of::<P>()?.complete(&mut search);
    search.scope = scope(cx, P::ACCESS.read, search.site()).await?;
    let mut hidden = 0;
    loop {
        let page = P::list(cx, &search).await?;
        let goes_on = page.has_more && search.cursor.is_some();
        if goes_on {
            search.move_behind(&page.items)?;
        }
        hidden += page.items.len();
        let page = visible::<P>(cx, &search.scope, page).await?;
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

/// Counts the entities that match `search` and that the caller may read, regardless of the part that the search wants.
/// Returns `None` if that takes examining too many.
///
/// # Errors
/// Fails as [`list`] does.
pub async fn count<P: List>(cx: &Context, mut search: Search) -> Result<Option<u64>> {
    Grammar::of::<P>()?.complete(&mut search);
    search.scope = scope(cx, P::ACCESS.read, search.site()).await?;
    if let Some(count) = P::count(cx, &search).await? {
        return Ok(Some(count));
    }
    search.cursor = None;
    (search.start, search.limit) = (0, P::MAX);
    let (mut looked_at, mut count) = (0, 0);
    loop {
        let page = P::list(cx, &search).await?;
        looked_at += page.items.len();
        let passed = page.places.end().unwrap_or(search.limit);
        search.start = search.start.saturating_add(passed);
        let page = visible::<P>(cx, &search.scope, page).await?;
        count += page.items.len();
        match page.has_more {
            false => return Ok(u64::try_from(count).ok()),
            true if looked_at >= MOST_LOOKED_AT || page.items.is_empty() => return Ok(None),
            true => {}
        }
    }
}

/// Removes from `page`, which was listed for `scope`, the entities that the caller may not read.
async fn visible<P: Provider>(
    cx: &Context,
    scope: &Scope,
    page: Page<P::Entity>,
) -> Result<Page<P::Entity>> {
    let mut is_shown = Vec::with_capacity(page.items.len());
    for entity in &page.items {
        let is_in_scope = entity.site().is_none_or(|it| scope.contains(it));
        let is_allowed =
            is_in_scope && P::permits(cx, entity, Operation::Read).await? == Permit::Allowed;
        is_shown.push(is_allowed);
    }
    Ok(page.keep(&is_shown))
}

/// Creates an entity from `input`.
///
/// # Errors
/// Returns an error if nobody is logged in, if the input is invalid, or if the caller may not create the entity.
pub async fn create<P: Create>(cx: &Context, input: &Input) -> Result<P::Entity> {
    let draft: P::Draft = creation::<P>(cx, input).await?.decode()?;
    demand_in_site(cx, P::ACCESS.create, P::site(&draft)).await?;
    let entity = P::create(cx, draft).await?;
    let function = check::<P>(cx, &entity, Operation::Create).await?;
    tell::<P>(cx, function, "new", &entity);
    Ok(entity)
}

/// Returns the fields for a creation from `input`, checked and sanitised, to whoever may create something somewhere.
pub(crate) async fn creation<P: Create>(cx: &Context, input: &Input) -> Result<Fields> {
    admit(cx.caller(), P::ACCESS.create)?;
    if let need @ (Need::Superuser | Need::Account(_)) = P::ACCESS.create {
        demand_of_account(cx, need).await?;
    }
    if input.patch.is_some() {
        return Err(Error::bad_request(
            "there is nothing yet that a patch could change",
        ));
    }
    input.require_root(cx, P::PREFIX)?;
    let fields = P::adapt(input)?.check(P::Entity::schema(), true)?;
    cx.sanitize_fields::<P>(fields, None)
}

/// Updates the entity `id` from `input`. If the input only repeats the present values, nothing is written and no event
/// is emitted: the entity keeps its version and its dates.
///
/// # Errors
/// Returns an error if nobody is logged in, if there is no such entity, if the caller may not change it, if the input
/// is invalid, or if `preconditions` rule out the state of the entity.
pub async fn update<P: Update>(
    cx: &Context,
    id: &str,
    input: &Input,
    preconditions: &Preconditions,
) -> Result<P::Entity> {
    let (current, stored, fields) = revision::<P>(cx, id, input).await?;
    let fields = repetition::changed(P::Entity::schema(), input, fields, &stored)?;
    // A file is never a repetition: what it changes is up to the type.
    let is_repetition = cx.uploads().is_empty() && fields.0.is_empty();
    if is_repetition {
        preconditions.judge_write(state(cx, &current))?;
        return Ok(current);
    }
    let changes: P::Changes = fields.decode()?;
    preconditions.judge_write(state(cx, &current))?;
    let entity = P::update(cx, current, changes).await?;
    let function = check::<P>(cx, &entity, Operation::Update).await?;
    tell::<P>(cx, function, "revise", &entity);
    Ok(entity)
}

/// Returns the entity `id`, if the caller may change it, as it is and as data, and the fields for a change of it by `input`,
/// checked against the schema and with sanitised HTML.
pub(crate) async fn revision<P: Update>(
    cx: &Context,
    id: &str,
    input: &Input,
) -> Result<(P::Entity, Value, Fields)> {
    let current = load_to_write::<P>(cx, id, Operation::Update).await?;
    input.require_root(cx, P::PREFIX)?;
    let input = input.resolve(&current)?;
    let fields = input.check_change(&current)?;
    let stored = serde_json::to_value(&current).map_err(Error::internal)?;
    let fields = cx.sanitize_fields::<P>(fields, Some(&stored))?;
    Ok((current, stored, fields))
}

/// Returns the entity `id`, if the caller may run an action on it that requires `need`.
pub(crate) async fn read_to_act<P: Read>(cx: &Context, id: &str, need: Need) -> Result<P::Entity> {
    admit(cx.caller(), need)?;
    let entity = read::<P>(cx, id).await?;
    demand(cx, need, &entity).await?;
    Ok(entity)
}

/// Deletes the entity `id` and returns a reference to it.
///
/// # Errors
/// Returns an error if nobody is logged in, if there is no such entity, if the caller may not delete it, or if
/// `preconditions` rule out the state of the entity.
pub async fn delete<P: Delete>(
    cx: &Context,
    id: &str,
    preconditions: &Preconditions,
) -> Result<Reference> {
    let current = load_to_write::<P>(cx, id, Operation::Delete).await?;
    preconditions.judge_write(state(cx, &current))?;
    let function = demand(cx, P::ACCESS.delete, &current).await?;
    let reference = Reference::entity(P::PREFIX, current.id());
    tell::<P>(cx, function, "delete", &current);
    P::delete(cx, current).await?;
    Ok(reference)
}

/// Removes from `page` the entities that the caller may not read. For entities that an action found by means of its
/// own.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn retain<P: Provider>(cx: &Context, page: Page<P::Entity>) -> Result<Page<P::Entity>> {
    let mut is_shown = Vec::with_capacity(page.items.len());
    for entity in &page.items {
        is_shown.push(may::<P>(cx, entity, Operation::Read).await?);
    }
    Ok(page.keep(&is_shown))
}

/// Returns whether the caller may do `operation` with `entity`.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn may<P: Provider>(
    cx: &Context,
    entity: &P::Entity,
    operation: Operation,
) -> Result<bool> {
    is_granted(check::<P>(cx, entity, operation).await)
}

/// Returns whether the caller meets the need of an action on an entity of this site and owner or, without one, on the
/// collection.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub(crate) async fn may_run(
    cx: &Context,
    need: Need,
    entity: Option<(Option<&str>, Option<&str>)>,
) -> Result<bool> {
    is_granted(match entity {
        Some((site, owner)) => demand_for(cx, need, site, owner).await,
        None => demand_in_site(cx, need, None).await,
    })
}

/// Returns whether the caller meets `need`, in `site` if it is one in a site.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub(crate) async fn may_run_in_site(cx: &Context, need: Need, site: Option<&str>) -> Result<bool> {
    is_granted(demand_in_site(cx, need, site).await)
}

/// Converts the result of a check into a bool: a refusal is `false`. Other errors are returned.
fn is_granted<T>(checked: Result<T>) -> Result<bool> {
    use crate::ErrorKind::{BadRequest, Forbidden, NotFound, Unauthenticated};
    match checked {
        Ok(_function) => Ok(true),
        Err(error) => match error.kind() {
            // The last one is a need in a site where no site is named.
            Forbidden | NotFound | Unauthenticated | BadRequest => Ok(false),
            _ => Err(error),
        },
    }
}

/// Checks that the caller may do `operation` with `entity`.
///
/// # Errors
/// Returns an error if the caller may not do it, or may not know of the entity.
pub async fn require<P: Provider>(
    cx: &Context,
    entity: &P::Entity,
    operation: Operation,
) -> Result<()> {
    check::<P>(cx, entity, operation).await.map(|_function| ())
}

/// Checks that an action that requires `need` may return `entity` to the caller.
pub(crate) async fn require_answer<P: Provider>(
    cx: &Context,
    need: Need,
    entity: &P::Entity,
) -> Result<()> {
    if need != Need::Public {
        return require::<P>(cx, entity, Operation::Read).await;
    }
    match P::permits(cx, entity, Operation::Read).await? {
        Permit::Allowed => Ok(()),
        Permit::Hidden => Err(Error::not_found()),
        Permit::Forbidden => Err(refusal(cx.caller())),
    }
}

/// Returns whether the caller may create an entity of the type in `site` or, without a site, anywhere. Where the type
/// demands no more than a session, [`Provider::offers_creation`] decides.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn may_create<P: Provider>(cx: &Context, site: Option<&str>) -> Result<bool> {
    match may_meet(cx, P::ACCESS.create, site).await? {
        Some(may) => Ok(may),
        None => P::offers_creation(cx, site).await,
    }
}

async fn load_to_write<P: Read>(cx: &Context, id: &str, operation: Operation) -> Result<P::Entity> {
    admit(cx.caller(), P::ACCESS.need(operation))?;
    let current = P::read(cx, id).await?.ok_or_else(Error::not_found)?;
    if P::permits(cx, &current, Operation::Read).await? == Permit::Hidden {
        return Err(Error::not_found());
    }
    check::<P>(cx, &current, operation).await?;
    Ok(current)
}

/// Asks the authorizer, then the provider, and returns the function that was used. An entity that the provider hides is
/// not found, whatever the authorizer decides.
async fn check<P: Provider>(
    cx: &Context,
    entity: &P::Entity,
    operation: Operation,
) -> Result<Option<&'static str>> {
    let function = demand(cx, P::ACCESS.need(operation), entity).await;
    let checked = match P::permits(cx, entity, operation).await? {
        Permit::Hidden => Err(Error::not_found()),
        Permit::Forbidden => function.and(Err(refusal(cx.caller()))),
        Permit::Allowed => function,
    };
    if let (Ok(_), Some(site)) = (&checked, entity.site()) {
        note_visit(cx, site);
    }
    checked
}

fn demand<'a>(
    cx: &'a Context,
    need: Need,
    entity: &'a impl Entity,
) -> impl Future<Output = Result<Option<&'static str>>> + Send {
    demand_for(cx, need, entity.site(), entity.owner())
}

/// Returns the state of `entity` against which preconditions are evaluated.
pub(crate) fn state(cx: &Context, entity: &impl Entity) -> State {
    State::at(cx.now(), entity.version(), entity.updated())
}

fn tell<P: Provider>(cx: &Context, function: Option<&'static str>, verb: &str, entity: &P::Entity) {
    let kind = function.map_or_else(|| format!("{}.{verb}", P::PREFIX), ToOwned::to_owned);
    cx.emit(
        kind,
        Reference::entity(P::PREFIX, entity.id()).to_string(),
        entity.site(),
    );
}
