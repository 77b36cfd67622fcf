//! Copies of files and of folders with their content.

use std::collections::HashMap;

use entity_core::db;
use entity_core::{Arguments, Context, Created, Error, Result};

use super::path::MAX_DEPTH;
use super::place::{Place, demand_new, emit_event, folder};
use super::{ContentItem, node, quota, tree};

/// Copies `item` with what the caller sees in it. The copies belong to the caller.
pub(super) async fn copy(
    cx: &Context,
    item: ContentItem,
    arguments: Arguments,
) -> Result<Created<ContentItem>> {
    let place = Place::of(&arguments)?;
    let target = place.folder.or_else(|| item.folder_id.clone());
    let target = target.ok_or_else(|| Error::field("folderId", "must be the id of a folder"))?;
    let target = folder(cx, &target).await?;
    demand_new(cx, &target).await?;
    if item.is_folder() && target.resource_id.starts_with(&item.resource_id) {
        let message = "must not be the folder itself or one that is in it";
        return Err(Error::field("folderId", message));
    }
    let below = match item.is_folder() {
        true => node::below(cx, &item, MAX_DEPTH).await?,
        false => Vec::new(),
    };
    let size = below
        .iter()
        .fold(item.size, |sum, it| sum.saturating_add(it.size));
    quota::demand(cx, &target.site_id, size).await?;
    let former = item.id.clone();
    let mut copy = item.copied(cx, &target)?;
    if let Some(name) = place.name {
        copy.rename(&name);
        copy.title = name;
    }
    let made = db::add(cx, copy).await?;
    let mut folders = HashMap::from([(former, made.clone())]);
    for item in below {
        let folder = item.folder_id.as_ref().and_then(|it| folders.get(it));
        // The content of a folder that the caller does not see is not copied.
        let Some(folder) = folder else { continue };
        let former = item.id.clone();
        let copy = item.copied(cx, folder)?;
        let is_folder = copy.is_folder();
        let copy = db::add(cx, copy).await?;
        if is_folder {
            folders.insert(former, copy);
        }
    }
    emit_event(cx, "content.new", &made);
    let made = tree::seen(cx, &made.id)
        .await?
        .ok_or_else(Error::forbidden)?;
    Ok(Created(made))
}

impl ContentItem {
    /// Returns a copy that is new, is in `folder` and belongs to the caller.
    fn copied(self, cx: &Context, folder: &Self) -> Result<Self> {
        Ok(Self {
            id: cx.new_id(),
            resource_id: self.name().to_owned(),
            folder_id: Some(folder.id.clone()),
            site_id: folder.site_id.clone(),
            author_id: cx.user_id()?.to_owned(),
            created_on: cx.now().into(),
            modified_on: cx.now().into(),
            version: 1,
            ..self
        })
    }
}
