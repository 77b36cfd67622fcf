//! Previews of entities of any type, found by references to them, such as those in notifications.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::context::Context;
use crate::contract::notice::Notice;
use crate::contract::registry::Registry;
use crate::contract::reply::Item;
use crate::model::wire;
use crate::primitives::error::{Error, Result};
use crate::primitives::reference::Reference;

/// The number of entities that are loaded at once: no more of them are held than that.
const STEP: usize = 25;

/// The preview of an entity that the reader may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencePreview {
    /// The title, if the type has one.
    pub title: Option<String>,
    /// The path of the entity below `/direct`, percent-encoded.
    pub path: String,
    /// The sentences of notices about it, each with the kind of the notice.
    pub sentences: Vec<(&'static str, String)>,
}

/// Returns those of the entities with these references that the caller may read now, by their references. Each type is
/// queried once for 25 of its entities. A reference to a type that is not registered, or whose entities can't be read by
/// id, leads to nothing.
///
/// # Errors
/// Returns an error if the data of a type can't be read, or if a permission could not be decided.
pub async fn read_references(
    cx: &Context,
    references: &[Reference],
) -> Result<BTreeMap<String, ReferencePreview>> {
    let registry = cx.service::<Registry>()?;
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Reference { prefix, id } in references {
        if let Some(id) = id {
            wanted.entry(prefix).or_default().insert(id);
        }
    }
    let mut found = BTreeMap::new();
    for (prefix, ids) in wanted {
        let Some(load) = registry.route(prefix).and_then(|it| it.load) else {
            continue;
        };
        let ids: Vec<String> = ids.into_iter().map(ToOwned::to_owned).collect();
        for ids in ids.chunks(STEP) {
            for item in load(cx, ids).await? {
                cx.origin()
                    .read_budget
                    .take(wire::size_in_json(&item.data())?)
                    .await?;
                let reference = Reference::entity(prefix, item.id());
                let preview = ReferencePreview {
                    title: item.title(),
                    path: reference.path(),
                    sentences: sentences(&item)?,
                };
                found.insert(reference.to_string(), preview);
            }
        }
    }
    Ok(found)
}

fn sentences(item: &Item) -> Result<Vec<(&'static str, String)>> {
    if !Notice::has_sentences() {
        return Ok(Vec::new());
    }
    let data = serde_json::to_value(item.data()).map_err(Error::internal)?;
    Ok(data.as_object().map_or_else(Vec::new, Notice::sentences))
}
