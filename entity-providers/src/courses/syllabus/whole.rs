//! The syllabus of a site as one object, as existing clients read it.

use entity_core::file::Attachment;
use entity_core::view::millis;
use entity_core::{Arguments, Context, Data, Error, Result, Search, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::SyllabusItem;
use super::redirect::SyllabusRedirect;

/// The syllabus of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Syllabus {
    /// The site.
    site_id: String,
    /// The address of the syllabus, where that is kept elsewhere.
    redirect_url: Option<String>,
    /// The items, in order.
    items: Vec<Entry>,
}

/// An item of the syllabus.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SyllabusEntry")]
#[view(of = SyllabusItem, with(
    start_date = it.start_date.map(millis),
    end_date = it.end_date.map(millis),
    attachments = it.attachments.iter().cloned().map(FileEntry::of).collect(),
))]
struct Entry {
    /// The heading.
    title: String,
    /// The text, sanitised HTML.
    data: String,
    /// The place.
    order: i64,
    /// When that which it is about begins, in milliseconds.
    start_date: Option<i64>,
    /// When that which it is about ends, in milliseconds.
    end_date: Option<i64>,
    /// The files.
    attachments: Vec<FileEntry>,
}

/// A file of an item.
#[derive(Debug, Serialize, JsonSchema, View)]
#[schemars(rename = "SyllabusFile")]
#[view(of = Attachment)]
struct FileEntry {
    /// The name.
    #[view(of = name)]
    title: String,
    /// The absolute address.
    url: String,
    /// The media type.
    #[view(of = media_type)]
    r#type: String,
}

/// Answers the syllabus. Where there is none, or none for the caller, it does not exist.
pub(super) async fn of_site(cx: &Context, arguments: Arguments) -> Result<Data<Syllabus>> {
    let site = arguments.argument("siteId")?;
    let mut search = Search::all();
    search.narrow_to_site::<SyllabusItem>(site)?;
    // Clients of this address are told of no refusal: a syllabus that is closed to them does not exist.
    let page = gate::list::<SyllabusItem>(cx, search).await;
    let page = page.map_err(Error::hide)?;
    let page = page.map(Entry::of).within(cx.answer_bytes())?;
    let redirect_url = SyllabusRedirect::of_site(cx, site).await;
    let redirect_url = redirect_url.map_err(Error::hide)?;
    if page.items.is_empty() && redirect_url.is_none() {
        return Err(Error::not_found());
    }
    if page.has_more {
        return Err(Error::insufficient_storage(
            "the syllabus is too large for one answer: read its items in parts",
        ));
    }
    Ok(Data(Syllabus {
        site_id: site.to_owned(),
        redirect_url,
        items: page.items,
    }))
}
