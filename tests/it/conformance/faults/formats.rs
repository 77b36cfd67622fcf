//! Formats that write other values than they are given.

use entity_core::Result;
use entity_core::format::{Format, Formats, Renderer, View};
use entity_core::reply::Body;
use entity_formats::{calendar, csv, feed, html, input, json, xml};

/// A format that writes another word, or says that it is another one.
struct Careless<R>(R, Option<&'static str>);

impl<R: Renderer> Renderer for Careless<R> {
    fn format(&self) -> Format {
        let format = self.0.format();
        Format {
            media_type: self.1.unwrap_or(format.media_type),
            ..format
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        self.0.accepts(body)
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let text = self.0.render(body, view)?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.replace("Conformance", "Coherence").into_bytes())
    }
}

fn formats(xml: Box<dyn Renderer>, csv: Box<dyn Renderer>) -> Formats {
    Formats::new(
        vec![
            Box::new(json::Json),
            xml,
            Box::new(html::Html),
            Box::new(feed::atom::Atom),
            Box::new(feed::rss::Rss),
            csv,
            Box::new(calendar::Ics),
        ],
        vec![
            Box::new(input::json::JsonParser),
            Box::new(input::xml::XmlParser),
            Box::new(input::form::FormParser),
        ],
    )
}

/// Returns the formats, of which XML writes other values.
pub(super) fn with_careless_xml() -> Formats {
    formats(Box::new(Careless(xml::Xml, None)), Box::new(csv::Csv))
}

/// Returns the formats, of which CSV writes other values.
pub(super) fn with_careless_csv() -> Formats {
    formats(Box::new(xml::Xml), Box::new(Careless(csv::Csv, None)))
}

/// Returns the formats, of which CSV says that it is plain text.
pub(super) fn with_plain_csv() -> Formats {
    let plain = Careless(csv::Csv, Some("text/plain; charset=utf-8"));
    formats(Box::new(xml::Xml), Box::new(plain))
}
