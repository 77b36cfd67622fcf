//! The caller's private feeds as OPML 2.0, the format in which feed readers exchange subscriptions.
//!
//! Tokens are not kept, so that no list can show private addresses: it names the addresses below `/direct`
//! that the feeds read, at which a reader that can log in finds the same.

use std::io;

use entity_core::format::{Format, Renderer, View};
use entity_core::{Body, Error, Item, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use serde_json::Value;

use super::Feeds;

/// Writes OPML.
#[derive(Clone, Copy, Debug, Default)]
struct Opml;

entity_core::register_format!(Opml);

impl Renderer for Opml {
    fn format(&self) -> Format {
        Format {
            name: "opml",
            media_type: "text/x-opml; charset=utf-8",
            aliases: &["application/xml+opml"],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        matches!(body, Body::Collection(it) if it.prefix == <Feeds as entity_core::Provider>::PREFIX)
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let Body::Collection(collection) = body else {
            return Err(Error::not_acceptable(&["json", "xml", "html"]));
        };
        let mut outlines = Vec::new();
        for item in &collection.items {
            outlines.extend(Outline::of(item, view.base_url)?);
        }
        let mut out = Writer::new(Vec::with_capacity(1024));
        write(&mut out, &outlines).map_err(Error::internal)?;
        Ok(out.into_inner())
    }
}

/// One subscription.
struct Outline {
    title: String,
    /// The page that shows the same.
    page_url: String,
    feed_url: String,
    format: &'static str,
}

impl Outline {
    /// One for each format of the feed that the format knows a word for.
    fn of(item: &Item, base_url: &str) -> Result<Vec<Self>> {
        let feed = serde_json::to_value(item.data()).map_err(Error::internal)?;
        let text = |name: &str| feed.get(name).and_then(Value::as_str).unwrap_or_default();
        let query = match text("query") {
            "" => String::new(),
            query => format!("?{query}"),
        };
        let path = text("path");
        let url = |format: &str| clean(&format!("{base_url}/direct{path}.{format}{query}"));
        let formats = feed.get("formats").and_then(Value::as_array);
        let known = formats
            .into_iter()
            .flatten()
            .filter_map(|it| match it.as_str() {
                Some("atom") => Some("atom"),
                Some("rss") => Some("rss"),
                _ => None,
            });
        Ok(known
            .map(|format| Self {
                title: clean(text("title")),
                page_url: url("html"),
                feed_url: url(format),
                format,
            })
            .collect())
    }
}

fn write(out: &mut Writer<Vec<u8>>, outlines: &[Outline]) -> io::Result<()> {
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = BytesStart::new("opml").with_attributes([("version", "2.0")]);
    out.write_event(Event::Start(root))?;
    open(out, "head")?;
    open(out, "title")?;
    out.write_event(Event::Text(BytesText::new("Private feeds")))?;
    close(out, "title")?;
    close(out, "head")?;
    open(out, "body")?;
    for outline in outlines {
        let attributes = [
            ("text", outline.title.as_str()),
            ("title", outline.title.as_str()),
            // The format calls Atom so, too: a reader finds out what it is.
            ("type", "rss"),
            (
                "version",
                if outline.format == "rss" {
                    "RSS2"
                } else {
                    "ATOM"
                },
            ),
            ("htmlUrl", outline.page_url.as_str()),
            ("xmlUrl", outline.feed_url.as_str()),
        ];
        let element = BytesStart::new("outline").with_attributes(attributes);
        out.write_event(Event::Empty(element))?;
    }
    close(out, "body")?;
    close(out, "opml")
}

fn open(out: &mut Writer<Vec<u8>>, name: &str) -> io::Result<()> {
    out.write_event(Event::Start(BytesStart::new(name)))
}

fn close(out: &mut Writer<Vec<u8>>, name: &str) -> io::Result<()> {
    out.write_event(Event::End(BytesEnd::new(name)))
}

/// `text` with the characters that XML does not allow replaced.
fn clean(text: &str) -> String {
    entity_formats::replace_forbidden(text).into_owned()
}
