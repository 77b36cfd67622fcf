//! Answers as feeds: the common part of Atom and RSS.

pub mod atom;
mod relative;
pub mod rss;

use chrono::{DateTime, Utc};
use entity_core::format::View;
use entity_core::primitives::{is_web_address, to_uri};
use entity_core::reply::{Body, Collection, Item};
use entity_core::schema::Schema;
use entity_core::{Enclosure, Error, FeedEntry, Reference, Result};
use uuid::Uuid;

use crate::primitives::buffer::Buffer;
use crate::primitives::text::replace_forbidden;
use crate::primitives::title;
use crate::render::json::entity_url;
use crate::render::paging::{filters, page_url, paging_links, view_url_with_query};

/// The namespace of the ids of feeds and entries. Another one would make every entry new to every reader.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1b_2c0e_7a54_5d1b_9b0e_3a52_c1f4_87d3);

/// The generator of the feed.
const GENERATOR: &str = "Lectern";

/// A feed, ready to be written: text that XML allows, absolute addresses.
struct Feed {
    id: String,
    title: String,
    description: String,
    updated: DateTime<Utc>,
    /// The page that shows the same.
    page_url: String,
    self_url: String,
    /// The other parts of the list, with the names that feeds have for the relations.
    paging: Vec<(&'static str, String)>,
    /// For how many minutes a reader may keep it, if that is known.
    minutes: Option<u32>,
    entries: Vec<Entry>,
}

/// One entry of a feed.
pub(crate) struct Entry {
    id: String,
    pub(crate) page_url: String,
    /// The id and the address of what it answers.
    answered: Option<(String, String)>,
    /// The entry, but for its text.
    pub(crate) content: FeedEntry,
    /// The text.
    pub(crate) html: Option<String>,
}

/// Returns whether `body` can be a feed.
fn is_feed(body: &Body) -> bool {
    match body {
        Body::Entity(item) => item.schema().has_feed,
        Body::Collection(collection) => collection.schema.has_feed,
        _ => false,
    }
}

/// Returns the output of `write` for `body`. If not all entities fit, half of them are tried, as the right number is
/// unknown.
fn written(
    body: &Body,
    view: &View<'_>,
    write: impl FnOnce(&mut Buffer) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut buffer = Buffer::of(body, view);
    let done = write(&mut buffer);
    buffer.check(done, body.count().div_ceil(2))?;
    Ok(buffer.into_bytes())
}

impl Feed {
    fn of(body: &Body, view: &View<'_>, extension: &str) -> Result<Self> {
        match body {
            Body::Entity(item) => Ok(Self::of_entity(item, view, extension)),
            Body::Collection(it) => Self::of_collection(it, view, extension),
            _ => Err(Error::not_acceptable(&["json", "xml", "html"])),
        }
    }

    fn of_entity(item: &Item, view: &View<'_>, extension: &str) -> Self {
        let title = title::of_entity(item, view).unwrap_or_else(|| item.reference().to_string());
        let entries = Entry::of(item, view).into_iter().collect();
        Self::new(&title, item.schema(), entries, Vec::new(), view, extension)
    }

    /// Creates the feed of a list, which ends where an answer has no more room.
    fn of_collection(collection: &Collection, view: &View<'_>, extension: &str) -> Result<Self> {
        let (mut entries, mut bytes) = (Vec::new(), 0_usize);
        for (index, item) in collection.items.iter().enumerate() {
            let Some(entry) = Entry::of(item, view) else {
                continue;
            };
            let content = entry.html.as_ref().map_or(0, String::len);
            bytes = bytes.saturating_add(content);
            view.check_list(bytes, index)?;
            entries.push(entry);
        }
        let paging = paging_links(collection, view, Some(extension))
            .into_iter()
            .map(|(relation, url)| match relation {
                "prev" => ("previous", clean(&url)),
                other => (other, clean(&url)),
            })
            .collect();
        let title = title::of_list(collection, view);
        let schema = collection.schema;
        Ok(Self::new(&title, schema, entries, paging, view, extension))
    }

    fn new(
        title: &str,
        schema: &Schema,
        entries: Vec<Entry>,
        paging: Vec<(&'static str, String)>,
        view: &View<'_>,
        extension: &str,
    ) -> Self {
        let newest = entries.iter().map(|it| it.content.updated).max();
        Self {
            id: urn(&name(view)),
            title: clean(title),
            description: clean(schema.doc),
            updated: newest.unwrap_or(DateTime::UNIX_EPOCH),
            page_url: page_url(view),
            self_url: clean(&view_url_with_query(view, extension)),
            paging,
            minutes: view.own_address.map(|it| it.minutes),
            entries,
        }
    }
}

impl Entry {
    pub(crate) fn of(item: &Item, view: &View<'_>) -> Option<Self> {
        let page_url = page_url_of(item, view);
        let mut content = clean_entry(item.feed_entry()?);
        let html = content.content.take().map(|it| clean(&it.into_html()));
        let html = html.map(|it| match relative::occurs_in(&it) {
            true => (view.absolute)(&it, &page_url),
            false => it,
        });
        let answered = content.in_reply_to.as_ref();
        Some(Self {
            id: urn(&item.reference().to_string()),
            page_url,
            answered: answered.map(|it| (urn(&it.to_string()), page_url_at(it, view))),
            content,
            html,
        })
    }
}

/// The absolute address of the page of an entity.
pub(crate) fn page_url_of(item: &Item, view: &View<'_>) -> String {
    page_url_at(&item.reference(), view)
}

fn page_url_at(reference: &Reference, view: &View<'_>) -> String {
    format!("{}.html", entity_url(view.base_url, reference))
}

/// Returns the identifier of a list, the same for each part of it and at each address.
fn name(view: &View<'_>) -> String {
    match filters(view.query).collect::<Vec<_>>().join("&") {
        none if none.is_empty() => view.path.to_owned(),
        filters => format!("{}?{filters}", view.path),
    }
}

fn clean_entry(mut entry: FeedEntry) -> FeedEntry {
    entry.title = clean(&entry.title);
    entry.author = entry.author.as_deref().map(clean);
    entry.categories = entry.categories.iter().map(|it| clean(it)).collect();
    entry.enclosures.retain(|it| is_web_address(&it.url));
    entry.enclosures = entry.enclosures.iter().map(clean_enclosure).collect();
    entry
}

fn clean_enclosure(enclosure: &Enclosure) -> Enclosure {
    Enclosure {
        url: to_uri(&enclosure.url),
        name: clean(&enclosure.name),
        media_type: clean(&enclosure.media_type),
        length: enclosure.length,
    }
}

pub(crate) fn clean(text: &str) -> String {
    replace_forbidden(text).into_owned()
}

/// An id that stays the same for as long as `name` names the same thing.
pub(crate) fn urn(name: &str) -> String {
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).urn().to_string()
}
