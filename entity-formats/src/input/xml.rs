//! A body in XML: elements and text, and nothing that makes a parser fetch, expand or run something.

mod element;
mod space;

use entity_core::format::Parser;
use entity_core::{Error, Input, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesDecl, BytesRef, BytesStart, Event};

use self::element::Element;
use self::space::Spaces;
use super::MAX_DEPTH;
use crate::primitives::text::{is_allowed, is_name};

/// The most elements in a body.
const MAX_ELEMENTS: usize = 10_000;
/// The most attributes of an element.
const MAX_ATTRIBUTES: usize = 64;
/// Attributes that say something of the value, or that clients repeat from what they read. Only `type` matters.
const ATTRIBUTES: [&str; 6] = ["type", "size", "length", "date", "class", "component"];

/// Reads `application/xml`.
#[derive(Clone, Copy, Debug, Default)]
pub struct XmlParser;

impl Parser for XmlParser {
    fn media_type(&self) -> &'static str {
        "application/xml"
    }

    fn name(&self) -> &'static str {
        "xml"
    }

    /// The root names what is told of, its children are the fields. No bytes at all are no fields.
    fn parse(&self, body: &[u8]) -> Result<Input> {
        let root = match body {
            [] => None,
            _ => Some(Document::read(text(body)?)?),
        };
        Ok(Input {
            is_textual: true,
            root: root.as_ref().map(|it| it.name().to_owned()),
            fields: root
                .map(Element::into_fields)
                .transpose()?
                .unwrap_or_default(),
            ..Input::default()
        })
    }
}

fn text(body: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Error::bad_request("the XML must be UTF-8").with_source(error))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.chars().all(is_allowed) {
        true => Ok(text),
        false => Err(forbidden_character()),
    }
}

/// A document while it is read: the elements that are open, outermost first.
#[derive(Default)]
struct Document {
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
    spaces: Spaces,
}

impl Document {
    fn read(text: &str) -> Result<Element> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_comments = true;
        reader.config_mut().expand_empty_elements = true;
        let mut document = Self::default();
        let mut is_first = true;
        loop {
            let event = reader.read_event().map_err(malformed)?;
            match event {
                Event::Decl(it) if is_first => check_declaration(&it)?,
                Event::Eof => return document.finish(),
                other => document.take(&other)?,
            }
            is_first = false;
        }
    }

    fn take(&mut self, event: &Event<'_>) -> Result<()> {
        match event {
            Event::Start(start) => self.start(start),
            Event::End(_) => self.end(),
            Event::Text(it) => {
                let text = it.xml10_content().map_err(malformed)?;
                match text.contains("]]>") {
                    true => Err(refuse("has `]]>` outside of a CDATA section")),
                    false => self.text(&text),
                }
            }
            Event::CData(it) if !self.open.is_empty() => {
                self.text(&it.xml10_content().map_err(malformed)?)
            }
            Event::GeneralRef(it) if !self.open.is_empty() => self.text(&resolve(it)?),
            Event::CData(_) | Event::GeneralRef(_) => Err(refuse("has text outside of its root")),
            Event::Comment(_) => Ok(()),
            Event::DocType(_) => Err(refuse("must not have a document type")),
            Event::PI(_) => Err(refuse("must not have processing instructions")),
            Event::Decl(_) | Event::Empty(_) | Event::Eof => {
                Err(refuse("has a declaration that is not at its beginning"))
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<()> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(refuse("has too many elements"));
        }
        // The root counts, but its children are the first level of the data.
        if self.open.len() > MAX_DEPTH {
            return Err(refuse("is nested too deeply"));
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err(refuse("must have one root"));
        }
        self.spaces.open();
        let said = Attributes::read(start, &mut self.spaces)?;
        let (prefix, name) = name(start.name().into_inner())?;
        self.spaces.require(prefix)?;
        let element = Element::new(name.to_owned(), said.kind.as_deref(), said.is_nil)?;
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let Some(element) = self.open.pop() else {
            return Err(refuse("ends an element that was not begun"));
        };
        self.spaces.close();
        match self.open.last_mut() {
            None => self.root = Some(element),
            Some(parent) => parent.push_child(element)?,
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        match self.open.last_mut() {
            Some(element) => element.push_text(text),
            None if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() => {}
            None => return Err(refuse("has text outside of its root")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Element> {
        match self.root {
            Some(root) if self.open.is_empty() => Ok(root),
            _ => Err(refuse("ends before its root does")),
        }
    }
}

fn check_declaration(declaration: &BytesDecl<'_>) -> Result<()> {
    let version = declaration.version().map_err(malformed)?;
    let is_utf8 = match declaration.encoding() {
        None => true,
        Some(encoding) => encoding.map_err(malformed)?.eq_ignore_ascii_case(b"utf-8"),
    };
    match &*version == b"1.0" && is_utf8 {
        true => Ok(()),
        false => Err(refuse("must be XML 1.0 in UTF-8")),
    }
}

/// The attributes of an element that describe its value.
#[derive(Default)]
struct Attributes {
    kind: Option<String>,
    is_nil: bool,
}

impl Attributes {
    /// Checks all attributes, whose namespaces are added to `spaces`.
    fn read(start: &BytesStart<'_>, spaces: &mut Spaces) -> Result<Self> {
        // Counting first: telling whether a name occurs twice compares it with all before it.
        if start.attributes().with_checks(false).count() > MAX_ATTRIBUTES {
            return Err(refuse("has an element with too many attributes"));
        }
        let mut pairs = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(malformed)?;
            let key = std::str::from_utf8(attribute.key.into_inner()).map_err(malformed)?;
            let value = attribute_value(&attribute.value)?;
            let (prefix, local) = name(key.as_bytes())?;
            match (prefix, local) {
                (None, "xmlns") => {}
                (Some("xmlns"), declared) => spaces.declare(declared, &value),
                _ => pairs.push((key.to_owned(), value)),
            }
        }
        let mut said = Self::default();
        for (key, value) in pairs {
            said.take(&key, value, spaces)?;
        }
        Ok(said)
    }

    fn take(&mut self, key: &str, value: String, spaces: &Spaces) -> Result<()> {
        let (prefix, local) = name(key.as_bytes())?;
        spaces.require(prefix)?;
        match (prefix, local) {
            (None, "type") => self.kind = Some(value),
            (None, local) if ATTRIBUTES.contains(&local) => {}
            (Some("xml"), _) => {}
            (Some(prefix), local) if spaces.is_of_instances(prefix) => {
                self.is_nil |= local == "nil" && is_true(&value)?;
            }
            _ => {
                return Err(refuse(&format!(
                    "has the attribute `{key}`, which says nothing here: send fields as elements"
                )));
            }
        }
        Ok(())
    }
}

fn attribute_value(raw: &[u8]) -> Result<String> {
    let raw = std::str::from_utf8(raw).map_err(malformed)?;
    if raw.contains('<') {
        return Err(refuse("has a `<` in an attribute"));
    }
    let value = quick_xml::escape::unescape(raw).map_err(malformed)?;
    match value.chars().all(is_allowed) {
        true => Ok(value.into_owned()),
        false => Err(forbidden_character()),
    }
}

/// The value of `xsi:nil`.
fn is_true(value: &str) -> Result<bool> {
    match value.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(refuse("has a `nil` that is neither true nor false")),
    }
}

/// A name and, before it, its namespace prefix.
fn name(raw: &[u8]) -> Result<(Option<&str>, &str)> {
    let name = std::str::from_utf8(raw).map_err(malformed)?;
    let (prefix, local) = match name.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, name),
    };
    match prefix.is_none_or(is_name) && is_name(local) {
        true => Ok((prefix, local)),
        false => Err(refuse("has a name that is none")),
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<String> {
    let name = reference.decode().map_err(malformed)?;
    match reference.resolve_char_ref().map_err(malformed)? {
        Some(c) if is_allowed(c) => Ok(c.to_string()),
        Some(_) => Err(forbidden_character()),
        None => quick_xml::escape::resolve_xml_entity(&name)
            .map(str::to_owned)
            .ok_or_else(|| refuse("must not refer to entities")),
    }
}

fn refuse(what: &str) -> Error {
    Error::bad_request(format!("the XML {what}"))
}

fn forbidden_character() -> Error {
    refuse("has a character that XML does not allow")
}

fn malformed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::bad_request("the XML is not well-formed").with_source(error)
}
