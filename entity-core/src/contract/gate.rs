//! The gate: loads entities, checks permissions and acts. It is the only place where a request reaches a provider.
//!
//! Invariant: no entity leaves a provider, and none is written, without a check of [`Provider::ACCESS`] and
//! [`Provider::permits`] for it. Everything that returns entities (single entity, list, action, `/api` view) goes
//! through this module: those who know the type through the functions here, the others through `items`. One exception:
//! what a public action returns counts as public for [`Provider::ACCESS`], so that only [`Provider::permits`] is checked.

pub(crate) mod items;
mod needs;

use crate::contract::access::{Need, Operation};
use crate::contract::context::Context;
use crate::contract::input::Input;
use crate::contract::kind;
use crate::contract::preconditions::Preconditions;
use crate::contract::provider::{Create, Delete, List, Provider, Read, Update};
use crate::contract::reply::Item;
use crate::contract::search::{Page, Search};
use crate::model::any_entity::AnyEntity;
use crate::primitives::error::Result;
use crate::primitives::reference::Reference;

pub(crate) use needs::{admit, may_meet};
pub use needs::{demand_in_site, holds};

use items::is_granted;
use needs::demand_for;

/// Returns the entity with this id, if the caller may read it.
///
/// # Errors
/// Returns an error if nobody is logged in, if there is no such entity or the caller may not know of it, or if the
/// caller may not read it.
pub async fn read<P: Read>(cx: &Context, id: &str) -> Result<P::Entity> {
    items::read(kind::reads::<P>(), cx, id).await?.into_entity()
}

/// Returns the entities with these ids, without those that the caller may not read.
///
/// # Errors
/// Returns an error if the data can't be read, or if a permission could not be decided.
pub async fn read_many<P: Read>(cx: &Context, ids: &[String]) -> Result<Vec<P::Entity>> {
    let found = items::read_many(kind::reads::<P>(), cx, ids).await?;
    found.into_iter().map(Item::into_entity).collect()
}

/// Lists the entities that match `search` and that the caller may read.
///
/// A walk by a cursor continues until it finds such an entity or the end of the list, because the next cursor is made
/// from the last entity that the caller has seen.
///
/// # Errors
/// Returns an error if nobody is logged in, if the caller may not list this type or the site that the search names, or
/// if too many entities are hidden from the caller to walk past them.
pub async fn list<P: List>(cx: &Context, search: Search) -> Result<Page<P::Entity>> {
    let page = items::list(kind::lists::<P>(), cx, search).await?;
    let items = page.items.into_iter().map(Item::into_entity);
    Ok(Page {
        items: items.collect::<Result<_>>()?,
        has_more: page.has_more,
        places: page.places,
    })
}

/// Counts the entities that match `search` and that the caller may read, regardless of the part that the search wants.
/// Returns `None` if that takes examining too many.
///
/// # Errors
/// Fails as [`list`] does.
pub async fn count<P: List>(cx: &Context, search: Search) -> Result<Option<u64>> {
    items::count(kind::lists::<P>(), cx, search).await
}

/// Creates an entity from `input`.
///
/// # Errors
/// Returns an error if nobody is logged in, if the input is invalid, or if the caller may not create the entity.
pub async fn create<P: Create>(cx: &Context, input: &Input) -> Result<P::Entity> {
    let item = items::create(kind::creates::<P>(), cx, input).await?;
    item.into_entity()
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
    let item = items::update(kind::updates::<P>(), cx, id, input, preconditions).await?;
    item.into_entity()
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
    items::delete(kind::deletes::<P>(), cx, id, preconditions).await
}

/// Removes from `page` the entities that the caller may not read. For entities that an action found by means of its
/// own.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn retain<P: Provider>(cx: &Context, page: Page<P::Entity>) -> Result<Page<P::Entity>> {
    let entities = page.items.iter().map(|it| -> &dyn AnyEntity { it });
    let entities: Vec<_> = entities.collect();
    let is_shown = items::are_readable(kind::kind::<P>(), cx, &entities).await?;
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
    items::may(kind::kind::<P>(), cx, entity, operation).await
}

/// Returns whether the caller meets the need of an action on an entity of this site and owner or, without one, on the
/// collection.
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
pub(crate) async fn may_run_in_site(cx: &Context, need: Need, site: Option<&str>) -> Result<bool> {
    is_granted(demand_in_site(cx, need, site).await)
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
    let checked = items::check(kind::kind::<P>(), cx, entity, operation).await;
    checked.map(|_function| ())
}

/// Returns whether the caller may create an entity of the type in `site` or, without a site, anywhere. Where the type
/// demands no more than a session, [`Provider::offers_creation`] decides.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn may_create<P: Provider>(cx: &Context, site: Option<&str>) -> Result<bool> {
    items::may_create(kind::kind::<P>(), cx, site).await
}
