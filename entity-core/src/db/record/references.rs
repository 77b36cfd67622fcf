//! The check that the entities are there which a record names.

use std::collections::BTreeMap;

use sea_orm::Value;

use super::any::AnyRecord;
use super::constants::Constants;
use crate::contract::context::Context;
use crate::contract::registry::{Registry, Route};
use crate::model::schema::{ACCOUNTS, Field, Role, Writable};
use crate::primitives::error::{Error, Result};

/// Checks what `record` names in the fields that clients write, declared as `references`, and that `former`, the state
/// before a change, did not name already: an account is a member of the record's site, if it has one; anything else is an
/// entity that the caller may read. The parent of a record is in the same site.
///
/// # Errors
/// Returns an error that names the field if it does not hold, or if the data can't be read.
pub(super) async fn check(
    cx: &Context,
    record: &dyn AnyRecord,
    former: Option<&dyn AnyRecord>,
) -> Result<()> {
    let of = record.constants();
    if checked(of).next().is_none() {
        return Ok(());
    }
    let before = former.map(AnyRecord::values).unwrap_or_default();
    let named = named(of, &record.values(), &before);
    demand(of, cx, record.site(), named).await
}

async fn demand(
    of: &Constants,
    cx: &Context,
    site: Option<&str>,
    named: BTreeMap<&'static str, Vec<Named>>,
) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    // A test of a type alone has none.
    let Ok(registry) = cx.service::<Registry>() else {
        return Ok(());
    };
    for (prefix, named) in named {
        if let (ACCOUNTS, Some(site)) = (prefix, site) {
            demand_members(cx, site, &named).await?;
        } else if let Some(route) = registry.route(prefix) {
            demand_seen((of, site), cx, route, &named).await?;
        }
    }
    Ok(())
}

/// A field, and the id that it holds.
type Named = (&'static Field, String);

/// Returns the fields that clients write and that name entities, with the prefix of their type.
fn checked(of: &Constants) -> impl Iterator<Item = (&'static Field, &'static str)> + use<> {
    let is_checked = |it: &&Field| {
        it.writable != Writable::Never && it.role != Some(Role::Site) && it.column.is_some()
    };
    let fields = of.schema().fields.iter().filter(is_checked);
    fields.filter_map(|it| Some((it, it.refers_to()?)))
}

/// Returns the ids that a record with these `values` names and that it did not name `before`, by the prefix of their type.
fn named(of: &Constants, values: &[Value], before: &[Value]) -> BTreeMap<&'static str, Vec<Named>> {
    let mut named: BTreeMap<_, Vec<Named>> = BTreeMap::new();
    for (field, prefix) in checked(of) {
        let index = of.columns.iter().position(|it| Some(it.0) == field.column);
        let value = index.and_then(|it| values.get(it));
        let is_new = value != index.and_then(|it| before.get(it));
        if let (Some(id), true) = (value.and_then(id), is_new) {
            named.entry(prefix).or_default().push((field, id));
        }
    }
    named
}

/// Returns the id that is stored as `value`, if there is one.
fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(Some(id)) if !id.is_empty() => Some(id.clone()),
        Value::BigInt(Some(id)) => Some(id.to_string()),
        _ => None,
    }
}

async fn demand_members(cx: &Context, site: &str, named: &[Named]) -> Result<()> {
    let users: Vec<&str> = named.iter().map(|it| it.1.as_str()).collect();
    let stranger = cx.authorizer().stranger(cx, site, &users).await?;
    let field = named.iter().find(|it| Some(&it.1) == stranger.as_ref());
    field.map_or(Ok(()), |(field, _)| {
        Err(Error::field(field.name, "must be a member of the site"))
    })
}

async fn demand_seen(
    (of, own): (&Constants, Option<&str>),
    cx: &Context,
    route: &Route,
    named: &[Named],
) -> Result<()> {
    let Some(load) = route.load else {
        return Ok(());
    };
    let ids: Vec<String> = named.iter().map(|it| it.1.clone()).collect();
    let found = load(cx, &ids).await?;
    for (field, id) in named {
        let Some(item) = found.iter().find(|it| it.id() == *id) else {
            let message = format!("names no {} that you see", name_of(route));
            return Err(Error::field(field.name, message));
        };
        let is_parent = of.parent.is_some_and(|it| Some(it.column) == field.column);
        if is_parent && item.site().is_some_and(|it| own != Some(it)) {
            let site = of
                .schema()
                .role(Role::Site)
                .map_or(field.name, |it| it.name);
            let message = format!("must be the site of the {}", name_of(route));
            return Err(Error::field(site, message));
        }
    }
    Ok(())
}

/// Returns the name of one entity of the type, as it stands in a sentence.
fn name_of(route: &Route) -> String {
    route.singular().to_lowercase()
}
