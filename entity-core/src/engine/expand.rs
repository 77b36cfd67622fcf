//! Expansion of references: shows entities together with the entities that they refer to. Each referenced type is
//! queried few times, however many entities are shown, and no more is loaded than an answer has room for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::contract::reply::Item;
use crate::model::projection::Projection;
use crate::model::wire;
use crate::primitives::error::{Error, Result};

/// The number of referenced entities that are loaded before their size is known. Later steps load at least as many.
const FIRST: usize = 8;

/// Applies `projection` to `items` and returns how many of them can be shown: a list ends where the expanded entities
/// take more bytes than an answer has room for. References are loaded in bulk, and only entities that the caller may
/// read.
///
/// # Errors
/// Returns an error if a referenced type is not registered or can't be read by id, or if its data can't be read.
pub(crate) async fn project(
    cx: &Context,
    registry: &Registry,
    projection: &Projection,
    items: &mut [Item],
) -> Result<usize> {
    let shown = match projection.expand.is_empty() {
        true => items.len(),
        false => expand(cx, registry, projection, items).await?,
    };
    if projection.is_said() {
        let projection = Arc::new(projection.clone());
        for item in items {
            item.show(Arc::clone(&projection));
        }
    }
    Ok(shown)
}

async fn expand(
    cx: &Context,
    registry: &Registry,
    projection: &Projection,
    items: &mut [Item],
) -> Result<usize> {
    let mut loaded = Loaded::default();
    // What is read of the items themselves takes another part.
    let most = cx.answer_bytes().div_euclid(4);
    let (mut shown, mut step) = (0, FIRST);
    while shown < items.len() && loaded.bytes <= most {
        let mut batch = LoadBatch::default();
        let mut part = Vec::new();
        for item in items.iter().skip(shown) {
            let named = references(item, projection)?;
            if !batch.take(&named, &loaded, step) && !part.is_empty() {
                break;
            }
            part.push(named);
        }
        let before = loaded.bytes;
        loaded.load(cx, registry, batch).await?;
        let read = loaded.bytes.saturating_sub(before);
        cx.origin().read_budget.take(read).await?;
        let count = part.len();
        for (item, named) in items.iter_mut().skip(shown).zip(part) {
            item.expand(named.iter().filter_map(|it| loaded.find(it)).collect());
        }
        shown = shown.saturating_add(count);
        step = loaded.step(most);
    }
    Ok(shown)
}

/// The ids of the entities to load, by the prefix of their type.
#[derive(Default)]
struct LoadBatch {
    ids: BTreeMap<&'static str, BTreeSet<String>>,
    count: usize,
}

impl LoadBatch {
    /// Adds the references of `named` that are not `loaded`, unless that makes more than `most` in all. The first ones
    /// are added however many they are. Returns whether they were added.
    fn take(&mut self, named: &[Named], loaded: &Loaded, most: usize) -> bool {
        let is_new = |(_, prefix, id): &&Named| {
            let is_wanted = self.ids.get(prefix).is_some_and(|it| it.contains(id));
            !is_wanted && !loaded.has(prefix, id)
        };
        let new: Vec<&Named> = named.iter().filter(is_new).collect();
        let count = self.count.saturating_add(new.len());
        if count > most && self.count > 0 {
            return false;
        }
        self.count = count;
        for (_, prefix, id) in new {
            self.ids.entry(prefix).or_default().insert(id.clone());
        }
        true
    }
}

/// The entities loaded so far, and the ids that were looked up without a result.
#[derive(Default)]
struct Loaded {
    entities: BTreeMap<&'static str, BTreeMap<String, Option<Arc<Item>>>>,
    count: usize,
    bytes: usize,
}

impl Loaded {
    fn has(&self, prefix: &str, id: &str) -> bool {
        self.entities
            .get(prefix)
            .is_some_and(|it| it.contains_key(id))
    }

    fn find(&self, (field, prefix, id): &Named) -> Option<(&'static str, Arc<Item>)> {
        let entity = self.entities.get(prefix)?.get(id)?.as_ref()?;
        Some((*field, Arc::clone(entity)))
    }

    async fn load(&mut self, cx: &Context, registry: &Registry, batch: LoadBatch) -> Result<()> {
        for (prefix, ids) in batch.ids {
            let load = registry.route(prefix).and_then(|it| it.load);
            let load = load.ok_or_else(|| {
                Error::field("_expand", format!("`{prefix}` can't be shown with others"))
            })?;
            let ids: Vec<String> = ids.into_iter().collect();
            let found = load(cx, &ids).await?;
            let entities = self.entities.entry(prefix).or_default();
            entities.extend(ids.into_iter().map(|it| (it, None)));
            for item in found {
                self.count = self.count.saturating_add(1);
                self.bytes = self.bytes.saturating_add(wire::size_in_json(&item.data())?);
                entities.insert(item.id(), Some(Arc::new(item)));
            }
        }
        Ok(())
    }

    /// Returns how many more entities may be loaded before all take `most` bytes, if the next ones are as large as
    /// those so far; at least [`FIRST`].
    fn step(&self, most: usize) -> usize {
        let usual = self
            .bytes
            .checked_div(self.count)
            .unwrap_or_default()
            .max(1);
        let left = most.saturating_sub(self.bytes);
        left.checked_div(usual).unwrap_or_default().max(FIRST)
    }
}

/// The name of a field, the prefix of the type that it refers to, and the id that it holds.
type Named = (&'static str, &'static str, String);

fn references(item: &Item, projection: &Projection) -> Result<Vec<Named>> {
    let data = serde_json::to_value(item.data()).map_err(Error::internal)?;
    let named = projection.expand.iter().filter_map(|field| {
        let id = data.get(field.name).and_then(Value::as_str)?;
        Some((field.name, field.references?, id.to_owned()))
    });
    Ok(named.filter(|it| !it.2.is_empty()).collect())
}
