//! A batch's results as XML, with the parts' own documents inside.

use entity_core::{Error, Result};
use quick_xml::Writer;
use quick_xml::escape::partial_escape;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::result::Outcome;

/// One result, and the element that it stands in.
pub(super) struct Element<'a> {
    pub(super) name: String,
    /// What the request called the part.
    pub(super) given: (&'static str, &'a str),
    pub(super) url: &'a str,
    pub(super) outcome: &'a Outcome,
}

/// Writes the results inside an element `root`.
///
/// # Errors
/// Writing failed.
pub(super) fn write(root: &str, elements: &[Element<'_>]) -> Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new());
    write_all(&mut writer, root, elements).map_err(Error::internal)?;
    Ok(writer.into_inner())
}

fn write_all(
    writer: &mut Writer<Vec<u8>>,
    root: &str,
    elements: &[Element<'_>],
) -> std::io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let size = elements.len().to_string();
    let start = BytesStart::new(root).with_attributes([("type", "map"), ("size", size.as_str())]);
    writer.write_event(Event::Start(start))?;
    for element in elements {
        write_element(writer, element)?;
    }
    writer.write_event(Event::End(BytesEnd::new(root)))
}

fn write_element(writer: &mut Writer<Vec<u8>>, element: &Element<'_>) -> std::io::Result<()> {
    let outcome = element.outcome;
    let start = BytesStart::new(&element.name).with_attributes([("type", "bean")]);
    writer.write_event(Event::Start(start))?;
    write_text(writer, element.given.0, element.given.1)?;
    write_text(writer, "entityURL", element.url)?;
    let status = BytesStart::new("status").with_attributes([("type", "number")]);
    writer.write_event(Event::Start(status))?;
    writer.write_event(Event::Text(BytesText::new(outcome.status.as_str())))?;
    writer.write_event(Event::End(BytesEnd::new("status")))?;
    let headers = BytesStart::new("headers").with_attributes([("type", "map")]);
    writer.write_event(Event::Start(headers))?;
    for (name, values) in outcome.header_lists() {
        for value in values {
            write_text(writer, name, value)?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("headers")))?;
    if let Some(error) = outcome.error() {
        write_text(writer, "error", &error)?;
    }
    match document(&outcome.body) {
        Some(document) => {
            writer.write_event(Event::Start(BytesStart::new("data")))?;
            // The part's own answer, written by our own renderer: well-formed as it is.
            writer.get_mut().extend_from_slice(document.as_bytes());
            writer.write_event(Event::End(BytesEnd::new("data")))?;
        }
        None if outcome.body.is_empty() => {}
        None => write_text(writer, "content", &outcome.body)?,
    }
    writer.write_event(Event::End(BytesEnd::new(&element.name)))
}

/// The body without its declaration, if it is a document.
fn document(body: &str) -> Option<&str> {
    let text = body.trim();
    let text = match text.strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>")?.1.trim_start(),
        None => text,
    };
    text.starts_with('<').then_some(text)
}

fn write_text(writer: &mut Writer<Vec<u8>>, name: &str, text: &str) -> std::io::Result<()> {
    let text: String = text.chars().filter(|it| is_legal(*it)).collect();
    writer.write_event(Event::Start(BytesStart::new(name)))?;
    writer.write_event(Event::Text(BytesText::from_escaped(partial_escape(&text))))?;
    writer.write_event(Event::End(BytesEnd::new(name)))
}

/// What XML 1.0 can hold at all.
fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}
