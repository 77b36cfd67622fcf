//! A batch's results as XML, with the parts' own documents inside.

use entity_core::{Error, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::primitives::text::{escape, escaped_length, repair_name};

/// One result, and the element that it stands in.
#[derive(Clone, Debug)]
pub struct PartElement<'a> {
    /// The element's name.
    pub name: String,
    /// The name that the request gave to the part, if it did: the element for that, and its text.
    pub given: Option<(&'static str, &'a str)>,
    /// Where the part was sent to, if it was.
    pub url: Option<&'a str>,
    /// Its status.
    pub status: u16,
    /// Its headers, each with its values.
    pub headers: Vec<(&'a str, Vec<&'a str>)>,
    /// The error message.
    pub error: Option<String>,
    /// Its body: an XML document of a renderer of this crate, or any other text.
    pub body: &'a str,
}

/// About what an element takes besides the body.
const FRAME: usize = 512;

/// Writes the results inside an element `root`.
///
/// # Errors
/// Writing failed.
pub fn write(root: &str, parts: &[PartElement<'_>]) -> Result<Vec<u8>> {
    let bodies = parts.iter().map(|it| size(it.body).saturating_add(FRAME));
    let mut writer = Writer::new(Vec::with_capacity(bodies.sum()));
    write_all(&mut writer, root, parts).map_err(Error::internal)?;
    Ok(writer.into_inner())
}

fn write_all(
    writer: &mut Writer<Vec<u8>>,
    root: &str,
    parts: &[PartElement<'_>],
) -> std::io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let size = parts.len().to_string();
    let start = BytesStart::new(root).with_attributes([("type", "map"), ("size", size.as_str())]);
    writer.write_event(Event::Start(start))?;
    for part in parts {
        write_element(writer, part)?;
    }
    writer.write_event(Event::End(BytesEnd::new(root)))
}

fn write_element(writer: &mut Writer<Vec<u8>>, part: &PartElement<'_>) -> std::io::Result<()> {
    let start = BytesStart::new(&part.name).with_attributes([("type", "bean")]);
    writer.write_event(Event::Start(start))?;
    if let Some((name, text)) = part.given {
        write_text(writer, name, text)?;
    }
    if let Some(url) = part.url {
        write_text(writer, "entityURL", url)?;
    }
    let status = BytesStart::new("status").with_attributes([("type", "number")]);
    writer.write_event(Event::Start(status))?;
    writer.write_event(Event::Text(BytesText::new(&part.status.to_string())))?;
    writer.write_event(Event::End(BytesEnd::new("status")))?;
    let headers = BytesStart::new("headers").with_attributes([("type", "map")]);
    writer.write_event(Event::Start(headers))?;
    for (name, values) in &part.headers {
        for value in values {
            write_text(writer, &repair_name(name), value)?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("headers")))?;
    if let Some(error) = &part.error {
        write_text(writer, "error", error)?;
    }
    match document(part.body) {
        Some(document) => {
            writer.write_event(Event::Start(BytesStart::new("data")))?;
            // The part's own answer, written by our own renderer: well-formed as it is.
            writer.get_mut().extend_from_slice(document.as_bytes());
            writer.write_event(Event::End(BytesEnd::new("data")))?;
        }
        None if part.body.is_empty() => {}
        None => write_text(writer, "content", part.body)?,
    }
    writer.write_event(Event::End(BytesEnd::new(&part.name)))
}

/// Returns the number of bytes a part's body takes among the others.
pub fn size(body: &str) -> usize {
    match document(body) {
        Some(document) => document.len(),
        None => body.chars().map(escaped_length).sum(),
    }
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
    writer.write_event(Event::Start(BytesStart::new(name)))?;
    writer.write_event(Event::Text(BytesText::from_escaped(escape(text))))?;
    writer.write_event(Event::End(BytesEnd::new(name)))
}
