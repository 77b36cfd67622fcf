//! Files that are attached to other entities: they have no place in the tree, and are for those who see the entity.

use async_trait::async_trait;
use entity_core::db;
use entity_core::db::attached::{AttachedFile, AttachedFiles};
use entity_core::file::ATTACHED_FILES;
use entity_core::{Context, Result, View};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::{ContentItem, content_item, path, tree};

/// The depth of files that are in no folder.
const NOWHERE: i64 = -1;
/// The condition that a row is such a file.
const IS_ATTACHED: &str =
    "this.depth = -1 AND this.resource_id >= '/attachment/' AND this.resource_id < '/attachment0'";

/// A file as it is sent to be an attachment of another entity.
#[derive(Debug, Serialize, JsonSchema, View)]
#[schemars(rename = "UploadedFile")]
#[view(of = ContentItem, beside(cx: &Context), with(
    url = path::url(cx, &it.resource_id),
    r#ref = format!("/content{}", it.resource_id),
))]
pub(super) struct Uploaded {
    /// The path of the file within the service.
    #[view(of = resource_id)]
    id: String,
    /// The name.
    #[view(of = title)]
    name: String,
    /// The media type.
    #[view(of = media_type)]
    r#type: String,
    /// The absolute address.
    url: String,
    /// The reference.
    r#ref: String,
    /// The number of bytes.
    size: i64,
}

impl ContentItem {
    /// Creates a file that is attached to entities of `site`.
    pub(super) fn attached(cx: &Context, site: &str, author: &str, name: &str) -> Result<Self> {
        let id = cx.new_id();
        Ok(Self {
            title: name.to_owned(),
            author_id: author.to_owned(),
            resource_id: format!("{ATTACHED_FILES}{site}/{id}/{}", path::name_of(name)?),
            site_id: site.to_owned(),
            depth: NOWHERE,
            created_on: cx.now().into(),
            modified_on: cx.now().into(),
            version: 1,
            id,
            ..Self::default()
        })
    }
}

/// The files that are attached to entities of all types, as the framework asks for them.
#[derive(Debug)]
pub struct Attached;

#[async_trait]
impl AttachedFiles for Attached {
    async fn find(&self, cx: &Context, id: &str) -> Result<Option<AttachedFile>> {
        let nowhere = content_item::Column::Depth.eq(NOWHERE);
        let found = content_item::Entity::find_by_id(id).filter(nowhere);
        let found = db::load::<ContentItem>(cx, found);
        Ok(found.await?.first().map(ContentItem::to_attached))
    }

    fn table(&self) -> (&'static str, &'static str) {
        (<ContentItem as db::Record>::TABLE, IS_ATTACHED)
    }
}

impl ContentItem {
    fn to_attached(&self) -> AttachedFile {
        AttachedFile {
            id: self.id.clone(),
            site: self.site_id.clone(),
            author: self.author_id.clone(),
        }
    }
}

/// Returns the file at `path`, if it is an attached one that the caller may open.
pub(super) async fn read(cx: &Context, path: &str) -> Result<Option<ContentItem>> {
    let found = tree::at(cx, path).await?.filter(|it| it.depth == NOWHERE);
    let Some(file) = found else {
        return Ok(None);
    };
    let may_open = file.to_attached().may_be_opened(cx).await?;
    Ok(may_open.then_some(file))
}
