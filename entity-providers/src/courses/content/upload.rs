//! The bytes of files: how they come in, and how much there may be of them.

use entity_core::blob::{Blob, Receive, Room, StoredFile, Target, Upload};
use entity_core::db;
use entity_core::db::attached::loose::{self, Loose};
use entity_core::{Arguments, Context, Created, Data, Error, Fields, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::{Map, Value};

use super::attachment::Uploaded;
use super::place::{emit_event, folder};
use super::{ContentItem, FOLDER, LINK, content_item, path, quota, tree};

impl Receive for ContentItem {
    async fn room(cx: &Context, target: Target<'_>) -> Result<Room> {
        let item = match target.id {
            "" => None,
            id => tree::seen(cx, id).await?,
        };
        let own = item.as_ref().map(|it| it.site_id.as_str());
        let named = target.arguments.first().map(String::as_str);
        let site = own.or(named).or_else(|| target.fields.text("siteId"));
        let site = site.ok_or_else(|| Error::field("siteId", "must come before the file"))?;
        room(cx, site).await
    }
}

impl ContentItem {
    /// Takes the file that came with the request, if there is one.
    pub(super) fn receive(&mut self, cx: &Context) -> Result<()> {
        let Some(upload) = cx.uploads().first() else {
            return Ok(());
        };
        if self.blob == Some(upload.blob) {
            return Ok(());
        }
        let is_other = |it: &str| it == FOLDER || it == LINK;
        if is_other(&self.media_type) {
            return Err(Error::bad_request("only a file can have bytes: send none"));
        }
        if self.title.is_empty() {
            self.title = upload.name.clone().unwrap_or_default();
        }
        if upload.name.is_some() || self.media_type.is_empty() {
            self.media_type.clone_from(&upload.media_type);
        }
        if is_other(&self.media_type) {
            entity_core::blob::OCTETS.clone_into(&mut self.media_type);
        }
        self.fill(upload);
        Ok(())
    }

    fn fill(&mut self, upload: &Upload) {
        self.size = i64::try_from(upload.blob.size()).unwrap_or(i64::MAX);
        self.blob = Some(upload.blob);
    }

    /// Returns the bytes, if it is a file.
    pub(super) fn stored(&self) -> Option<StoredFile> {
        let file = StoredFile {
            media_type: self.media_type.clone(),
            ..StoredFile::named(self.blob?, self.name())
        };
        Some(file.inline().modified(self.modified_on.0))
    }
}

/// Puts a file that came as the whole body, or in a form, into a folder of a site.
pub(super) async fn add(cx: &Context, arguments: Arguments) -> Result<Created<ContentItem>> {
    let site = arguments.argument("siteId")?;
    let upload = arguments.upload()?;
    let name = arguments.parameter("name").or(upload.name.as_deref());
    let title = name.ok_or_else(|| Error::field("name", "must be the name of the file"))?;
    let fields = [("siteId", site), ("title", title)];
    let fields = fields.map(|(name, text)| (name.to_owned(), text.into()));
    let mut fields = Fields(fields.into_iter().collect());
    if let Some(id) = arguments.parameter("folderId") {
        let folder = folder(cx, id).await?;
        fields.0.insert("folderId".to_owned(), folder.id.into());
    }
    let mut made = <ContentItem as db::Record>::make(cx, fields)?;
    made.media_type = entity_core::blob::media_type(title).to_owned();
    let made = db::add(cx, made).await?;
    emit_event(cx, "content.new", &made);
    Ok(Created(made))
}

/// Replaces the bytes of a file, whose id and address stay.
pub(super) async fn replace(
    cx: &Context,
    item: ContentItem,
    arguments: Arguments,
) -> Result<ContentItem> {
    arguments.upload()?;
    // The bytes are taken when the item is settled.
    let replaced = db::replace(cx, item.clone(), item).await?;
    emit_event(cx, "content.revise", &replaced);
    Ok(replaced)
}

/// Returns how many bytes of files may still come into `site`.
pub(crate) async fn room(cx: &Context, site: &str) -> Result<Room> {
    match quota::room(cx, site).await? {
        0 => Err(quota::exceeded(cx, site, 0)?),
        room => Ok(Room::in_site(site, room)),
    }
}

/// Stores files that came with a form and shall be attached to an entity of `site`, and returns them as a form names
/// attachments. That the caller may write that entity is decided where it is written.
///
/// # Errors
/// Returns an error if a file has no name, or if there is no room for all of them.
pub(crate) async fn attach_uploads(cx: &Context, site: &str, uploads: &[Upload]) -> Result<String> {
    let mut lines = Vec::with_capacity(uploads.len());
    for upload in uploads {
        let name = upload.name.as_deref();
        let name = name.ok_or_else(|| Error::field("file", "must have a name"))?;
        let file = keep(cx, site, name, upload).await?;
        let file = serde_json::to_value(Uploaded::of(file, cx)).map_err(Error::internal)?;
        lines.push(file.to_string());
    }
    Ok(lines.join("\n"))
}

/// Stores a file that has no place in the tree.
async fn keep(cx: &Context, site: &str, name: &str, upload: &Upload) -> Result<ContentItem> {
    let mut file = ContentItem::attached(cx, site, cx.user_id()?, name)?;
    file.media_type = entity_core::blob::media_type(name).to_owned();
    file.fill(upload);
    quota::demand(cx, site, file.size).await?;
    db::insert(cx, &file).await?;
    emit_event(cx, "content.new", &file);
    Ok(file)
}

/// Stores a file that shall be attached to other entities of a site.
pub(super) async fn attach(cx: &Context, arguments: Arguments) -> Result<Data<Uploaded>> {
    let site = arguments.argument("siteId")?;
    let upload = arguments.upload()?;
    let name = arguments.parameter("name").or(upload.name.as_deref());
    let name = name.ok_or_else(|| Error::field("name", "must be the name of the file"))?;
    let file = keep(cx, site, name, upload).await?;
    Ok(Data(Uploaded::of(file, cx)))
}

/// The number of files that are listed.
const MOST_LOOSE: u32 = 1_000;

async fn find_loose(cx: &Context, site: &str) -> Result<Vec<ContentItem>> {
    let ids = loose::find(cx, Loose::Of(site, cx.user_id()?), MOST_LOOSE).await?;
    let found = content_item::Entity::find().filter(content_item::Column::Id.is_in(ids));
    db::load::<ContentItem>(cx, found).await
}

/// Returns the files of the caller that are attached to nothing.
pub(super) async fn loose(cx: &Context, arguments: Arguments) -> Result<Data<Vec<Uploaded>>> {
    let found = find_loose(cx, arguments.argument("siteId")?).await?;
    let found = found.into_iter();
    Ok(Data(found.map(|it| Uploaded::of(it, cx)).collect()))
}

/// Removes one of them.
pub(super) async fn remove_loose(cx: &Context, arguments: Arguments) -> Result<()> {
    let id = arguments.argument("fileId")?;
    let found = find_loose(cx, arguments.argument("siteId")?).await?;
    let file = found
        .into_iter()
        .find(|it| it.id == id)
        .ok_or_else(Error::not_found)?;
    emit_event(cx, "content.delete", &file);
    db::delete(cx, file).await
}

/// Checks that a row of an archive has the size of its bytes and a path of its site.
pub(super) fn check_archived(row: &Map<String, Value>, site: &str) -> Result<(), String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let told = row.get("size").and_then(Value::as_i64).unwrap_or_default();
    let bytes = Blob::parse(text("blob")).map_or(0, |it| it.size());
    if u64::try_from(told) != Ok(bytes) {
        return Err("has another size than its file".to_owned());
    }
    let path = text("resource_id");
    let is_plain = path == path::normal(path) && !path.split('/').any(|it| it == "..");
    match path::site(path) {
        Some((own, _)) if own == site && is_plain => Ok(()),
        _ => Err("has a path that is none of the site".to_owned()),
    }
}
