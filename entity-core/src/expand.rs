//! Showing entities with what they refer to: one question to each type that is referred to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::projection::Projection;
use crate::registry::Registry;
use crate::reply::Item;

/// Lets `items` show what `projection` says. References are loaded at once for all of them, and only what
/// the caller may read.
///
/// # Errors
/// A type that is referred to is not registered or can't be read one by one; its data can't be read.
pub(crate) async fn project(
    cx: &Context,
    registry: &Registry,
    projection: &Projection,
    items: &mut [Item],
) -> Result<()> {
    if !projection.expand.is_empty() {
        expand(cx, registry, projection, items).await?;
    }
    if projection.is_said() {
        let projection = Arc::new(projection.clone());
        for item in items {
            item.show(Arc::clone(&projection));
        }
    }
    Ok(())
}

async fn expand(
    cx: &Context,
    registry: &Registry,
    projection: &Projection,
    items: &mut [Item],
) -> Result<()> {
    let named = items
        .iter()
        .map(|it| references(it, projection))
        .collect::<Result<Vec<_>>>()?;
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, prefix, id) in named.iter().flatten() {
        wanted.entry(prefix).or_default().insert(id);
    }
    let mut loaded: BTreeMap<(&str, String), Arc<Item>> = BTreeMap::new();
    for (prefix, ids) in wanted {
        let ids: Vec<String> = ids.into_iter().map(ToOwned::to_owned).collect();
        let load = registry.route(prefix).and_then(|it| it.load);
        let load = load.ok_or_else(|| {
            Error::field("_expand", format!("`{prefix}` can't be shown with others"))
        })?;
        let found = load(cx, &ids).await?.into_iter();
        loaded.extend(found.map(|it| ((prefix, it.id()), Arc::new(it))));
    }
    for (item, named) in items.iter_mut().zip(&named) {
        let found = named.iter().filter_map(|(field, prefix, id)| {
            let entity = loaded.get(&(*prefix, id.clone()))?;
            Some((*field, Arc::clone(entity)))
        });
        item.expand(found.collect());
    }
    Ok(())
}

/// A field's name, the prefix of the type that it refers to, and the id that it holds.
type Named = (&'static str, &'static str, String);

fn references(item: &Item, projection: &Projection) -> Result<Vec<Named>> {
    let data = serde_json::to_value(item.data()).map_err(Error::internal)?;
    let named = projection.expand.iter().filter_map(|field| {
        let id = data.get(field.name).and_then(Value::as_str)?;
        Some((field.name, field.references?, id.to_owned()))
    });
    Ok(named.filter(|it| !it.2.is_empty()).collect())
}
