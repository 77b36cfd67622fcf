//! The caller's private feeds as OPML, for feed readers to import.
//!
//! Tokens are not kept, so that no list can show private addresses: it names the addresses below `/direct`
//! that the feeds read, at which a reader that can log in finds the same.

use entity_core::format::{Format, Renderer, View};
use entity_core::reply::{Body, Item};
use entity_core::{Error, Provider as _, Result};
use entity_formats::opml::{Outline, write};
use serde_json::Value;

use super::Feed;

/// Writes OPML.
#[derive(Clone, Copy, Debug, Default)]
struct Opml;

entity_core::register_format!(Opml);

impl Renderer for Opml {
    fn format(&self) -> Format {
        Format {
            name: "opml",
            media_type: "text/x-opml; charset=utf-8",
            aliases: &[],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        matches!(body, Body::Collection(it) if it.prefix == Feed::PREFIX)
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let Body::Collection(collection) = body else {
            return Err(Error::not_acceptable(&["json", "xml", "html"]));
        };
        let mut outlines = Vec::new();
        for item in &collection.items {
            outlines.extend(of_feed(item, view.base_url)?);
        }
        write("Private feeds", &outlines, body, view)
    }
}

/// The subscription to the feed: one only, lest a reader shows all twice. `None` if it is in no format that OPML
/// knows a word for.
fn of_feed(item: &Item, base_url: &str) -> Result<Option<Outline>> {
    let feed = serde_json::to_value(item.data()).map_err(Error::internal)?;
    let text = |name: &str| feed.get(name).and_then(Value::as_str).unwrap_or_default();
    let query = match text("query") {
        "" => String::new(),
        query => format!("?{query}"),
    };
    let path = text("path");
    let url = |format: &str| format!("{base_url}/direct{path}.{format}{query}");
    let formats = feed.get("formats").and_then(Value::as_array);
    let is_in = |format: &str| formats.is_some_and(|it| it.iter().any(|it| it == format));
    let mut known = [("atom", "ATOM"), ("rss", "RSS2")].into_iter();
    let best = known.find(|(format, _)| is_in(format));
    Ok(best.map(|(format, version)| Outline {
        title: text("title").to_owned(),
        page_url: url("html"),
        feed_url: url(format),
        version,
    }))
}
