//! The place to which an action brings a file, and the rights and events that go with it.

use entity_core::{
    Arguments, Context, Entity as _, Error, Operation, Provider as _, Reference, Result, gate,
};

use super::{ContentItem, READ, path, tree};

/// Returns whether the caller may read the files of `site`. A site that is not there has none.
pub(super) async fn may_read(cx: &Context, site: &str) -> Result<bool> {
    gate::holds(cx, READ, site).await
}

/// Emits an event of an action about `item`.
pub(super) fn emit_event(cx: &Context, kind: &str, item: &ContentItem) {
    let reference = Reference::entity(ContentItem::PREFIX, item.id());
    cx.emit(kind, reference.to_string(), item.site());
}

/// The place to which an action brings an item.
pub(super) struct Place {
    pub(super) folder: Option<String>,
    pub(super) name: Option<String>,
}

impl Place {
    pub(super) fn of(arguments: &Arguments) -> Result<Self> {
        let text = |name: &str| match arguments.input.fields.get(name) {
            None | Some(serde_json::Value::Null) => {
                Ok(arguments.parameter(name).map(ToOwned::to_owned))
            }
            Some(serde_json::Value::String(it)) => Ok(Some(it.clone())),
            Some(_) => Err(Error::field(name, "must be a text")),
        };
        let name = text("name")?.as_deref().map(path::checked).transpose()?;
        let folder = text("folderId")?;
        if name.is_none() && folder.is_none() {
            let message = "must be there, or a `folderId`";
            return Err(Error::field("name", message));
        }
        Ok(Self { folder, name })
    }
}

/// Returns the folder `id`, if the caller sees it.
///
/// # Errors
/// Returns an error about the field `folderId` if there is no such folder.
pub(super) async fn folder(cx: &Context, id: &str) -> Result<ContentItem> {
    let found = tree::seen(cx, id).await?;
    found
        .filter(ContentItem::is_folder)
        .ok_or_else(|| Error::field("folderId", "must be the id of a folder"))
}

/// Checks that the caller may put something into the site of `folder`.
pub(super) async fn demand_new(cx: &Context, folder: &ContentItem) -> Result<()> {
    gate::require::<ContentItem>(cx, folder, Operation::Read).await?;
    let need = ContentItem::ACCESS.create;
    gate::demand_in_site(cx, need, folder.site()).await?;
    Ok(())
}
