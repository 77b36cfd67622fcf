//! Files at their own addresses, below `/access/content`.

use entity_core::blob::StoredFile;
use entity_core::{
    Arguments, Context, Data, Error, ErrorKind, Operation, Provider as _, Result, Search, db, gate,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::{ContentItem, attachment, content_item, path, tree};

pub use super::path::MOUNT;

/// The thing at an address.
#[derive(Debug)]
pub enum Opened {
    /// A file.
    File(StoredFile),
    /// A folder.
    Folder(Folder),
    /// A link to this address elsewhere, of http or https.
    Link(String),
    /// The thing is at this address within the service.
    At(String),
}

/// A folder with what the caller sees in it.
#[derive(Debug)]
pub struct Folder {
    /// The id of the folder.
    pub id: String,
    /// The id of its site.
    pub site_id: String,
    /// The name that people see.
    pub title: String,
    /// True if it is in another folder.
    pub has_parent: bool,
    /// The items in it.
    pub items: Vec<ContentItem>,
    /// True if there is more in it.
    pub has_more: bool,
}

/// Opens what is at `path`, such as `/group/{site}/Week 1/`.
///
/// # Errors
/// Returns an error if nobody is logged in and the file is not public, if the caller may not read the files of the site,
/// or if there is nothing that the caller may know of.
pub async fn open(cx: &Context, path: &str) -> Result<Opened> {
    let path = path::normal(path);
    let refused = || match cx.caller().is_anonymous() {
        true => Error::unauthenticated(),
        false => Error::not_found(),
    };
    let (site, is_attached) = path::site(&path).ok_or_else(refused)?;
    if is_attached {
        let file = attachment::read(cx, &path).await?.ok_or_else(refused)?;
        return file.stored().map(Opened::File).ok_or_else(refused);
    }
    let may_read = gate::demand_in_site(cx, ContentItem::ACCESS.read, Some(site)).await;
    // Strangers are not told whether there is such a site.
    may_read.map_err(|error| match error.kind() {
        ErrorKind::NotFound => refused(),
        _ => error,
    })?;
    let Some(item) = named(cx, &path).await? else {
        return Err(refused());
    };
    gate::require::<ContentItem>(cx, &item, Operation::Read)
        .await
        .map_err(|error| refused().with_source(error))?;
    if item.resource_id != path {
        return Ok(Opened::At(path::address(&item.resource_id)));
    }
    if item.is_folder() {
        return folder(cx, item).await.map(Opened::Folder);
    }
    Ok(match &item.web_link_url {
        Some(url) => Opened::Link(url.clone()),
        None => Opened::File(item.stored().ok_or_else(refused)?),
    })
}

/// Returns the item at `path`, with or without the slash at its end.
async fn named(cx: &Context, path: &str) -> Result<Option<ContentItem>> {
    let own = path.trim_end_matches('/');
    let paths = [own.to_owned(), format!("{own}/")];
    let named = content_item::Column::ResourceId.is_in(paths);
    let found = db::find::<ContentItem>(cx, content_item::Entity::find().filter(named));
    Ok(found.await?.pop())
}

async fn folder(cx: &Context, item: ContentItem) -> Result<Folder> {
    let mut search = Search::all();
    search.narrow(ContentItem::FIELD.folder_id.eq(&item.id));
    search.narrow_to_site::<ContentItem>(&item.site_id)?;
    let page = gate::list::<ContentItem>(cx, search).await?;
    let page = page.within(cx.answer_bytes())?;
    Ok(Folder {
        id: item.id,
        site_id: item.site_id,
        title: item.title,
        has_parent: item.depth > 0,
        items: page.items,
        has_more: page.has_more,
    })
}

/// Answers a piece of HTML that shows the file that the query names, or leads to it.
pub(super) async fn html(cx: &Context, arguments: Arguments) -> Result<Data<String>> {
    let reference = arguments.parameter("ref").unwrap_or_default();
    let path = reference.strip_prefix("/content/").ok_or_else(|| {
        Error::field(
            "ref",
            "must be a reference such as `/content/group/{siteId}/a.png`",
        )
    })?;
    let found = tree::at(cx, &path::normal(&format!("/{path}"))).await?;
    let seen = match found {
        Some(it) => tree::seen(cx, &it.id).await?,
        None => None,
    };
    let item = seen.ok_or_else(Error::not_found)?;
    let (url, title) = (
        ammonia::clean_text(&item.url),
        ammonia::clean_text(&item.title),
    );
    let is_image = item.media_type.starts_with("image/");
    Ok(Data(if is_image {
        format!("<img src=\"{url}\" alt=\"{title}\">")
    } else {
        format!("<a href=\"{url}\">{title}</a>")
    }))
}
