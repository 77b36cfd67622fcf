//! Subscriptions as OPML 2.0, the format in which feed readers exchange them.

use std::io;

use entity_core::format::View;
use entity_core::reply::Body;
use entity_core::{Error, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::primitives::buffer::Buffer;
use crate::primitives::text::{escape, replace_forbidden};

/// One subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The title that the reader gave it.
    pub title: String,
    /// The page that shows the same.
    pub page_url: String,
    /// The feed.
    pub feed_url: String,
    /// The version of the feed, as the format calls it: `ATOM` or `RSS2`.
    pub version: &'static str,
}

/// A document with these subscriptions, which are what `body` has, for `view`.
///
/// # Errors
/// It takes more than an answer may have.
pub fn write(title: &str, outlines: &[Outline], body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
    let mut out = Writer::new(Buffer::of(body, view));
    let written = document(&mut out, title, outlines).map_err(Error::internal);
    let buffer = out.into_inner();
    buffer.check(written, body.count().div_ceil(2))?;
    Ok(buffer.into_bytes())
}

fn document(out: &mut Writer<Buffer>, title: &str, outlines: &[Outline]) -> io::Result<()> {
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = BytesStart::new("opml").with_attributes([("version", "2.0")]);
    out.write_event(Event::Start(root))?;
    open(out, "head")?;
    open(out, "title")?;
    out.write_event(Event::Text(BytesText::from_escaped(escape(title))))?;
    close(out, "title")?;
    close(out, "head")?;
    open(out, "body")?;
    for outline in outlines {
        out.write_event(Event::Empty(element(outline)))?;
    }
    close(out, "body")?;
    close(out, "opml")
}

/// The format calls Atom `rss`, too: a reader finds out what it is.
fn element(outline: &Outline) -> BytesStart<'static> {
    let clean = |text: &str| replace_forbidden(text).into_owned();
    let title = clean(&outline.title);
    BytesStart::new("outline").with_attributes([
        ("text", title.as_str()),
        ("title", title.as_str()),
        ("type", "rss"),
        ("version", outline.version),
        ("htmlUrl", clean(&outline.page_url).as_str()),
        ("xmlUrl", clean(&outline.feed_url).as_str()),
    ])
}

fn open(out: &mut Writer<Buffer>, name: &str) -> io::Result<()> {
    out.write_event(Event::Start(BytesStart::new(name)))
}

fn close(out: &mut Writer<Buffer>, name: &str) -> io::Result<()> {
    out.write_event(Event::End(BytesEnd::new(name)))
}
