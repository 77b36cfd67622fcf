//! A folder as one file: a zip archive with all files in it that the caller may open.

use entity_core::blob::Bundle;
use entity_core::{ActionResult, Arguments, Context, Result};

use super::path::MAX_DEPTH;
use super::{ContentItem, node};

/// Answers a folder with what the caller sees in it, or one file alone. Links are left out.
pub(super) async fn pack(
    cx: &Context,
    item: ContentItem,
    _: Arguments,
) -> Result<ActionResult<ContentItem>> {
    let mut bundle = Bundle::named(item.name());
    if !item.is_folder() {
        add(&mut bundle, &item, item.name());
        return Ok(ActionResult::Bundle(bundle));
    }
    for inner in node::below(cx, &item, MAX_DEPTH).await? {
        let path = inner.resource_id.strip_prefix(&item.resource_id);
        add(&mut bundle, &inner, path.unwrap_or_else(|| inner.name()));
    }
    Ok(ActionResult::Bundle(bundle))
}

fn add(bundle: &mut Bundle, item: &ContentItem, path: &str) {
    if item.is_folder() {
        bundle.add_folder(path);
    } else if let Some(blob) = item.blob {
        bundle.add_file(path, blob, Some(item.modified_on.0));
    }
}
