//! A format of a third party: answers as lines of text, a title on each.

use entity_core::Result;
use entity_core::format::{Format, Renderer, View};
use entity_core::reply::{Body, Item};

/// Writes titles.
struct Outline;

entity_core::register_format!(Outline);

impl Renderer for Outline {
    fn format(&self) -> Format {
        Format {
            name: "txt",
            media_type: "text/plain; charset=utf-8",
            aliases: &[],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        matches!(body, Body::Entity(_) | Body::Collection(_))
    }

    fn render(&self, body: &Body, _view: &View<'_>) -> Result<Vec<u8>> {
        let line = |it: &Item| format!("{}\n", it.title().unwrap_or_else(|| it.id()));
        let lines: String = match body {
            Body::Entity(item) => line(item),
            Body::Collection(list) => list.items.iter().map(line).collect(),
            _ => String::new(),
        };
        Ok(lines.into_bytes())
    }
}
