//! The description of types as XML, in the elements that clients of `describe.xml` know.
//!
//! It tells less than the description in other formats: what these clients read, and nothing else.

use std::io;

use entity_core::catalog::{ActionEntry, FieldEntry, TypeEntry};
use entity_core::{Error, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

/// The subject of a description.
#[derive(Clone, Copy, Debug)]
pub enum Described<'a> {
    /// All types.
    All(&'a [TypeEntry]),
    /// One type.
    One(&'a TypeEntry),
}

type Out = Writer<Vec<u8>>;

/// The operations of a type: the element with the address, and the rest of the path.
const OPERATIONS: [(&str, &str, &str); 5] = [
    ("list", "collectionURL", ""),
    ("create", "createURL", "/new"),
    ("read", "showURL", "/:ID:"),
    ("update", "updateURL", "/:ID:/edit"),
    ("delete", "deleteURL", "/:ID:/delete"),
];

/// The names of capabilities that clients know.
const CAPABILITIES: [(&str, &str); 6] = [
    ("read", "Resolvable"),
    ("list", "CollectionResolvable"),
    ("create", "Createable"),
    ("update", "Updateable"),
    ("delete", "Deleteable"),
    ("actions", "ActionsExecutable"),
];

/// Writes the description of types. `base_url` is the address of the service without a trailing slash.
///
/// # Errors
/// Returns an error if the document can't be written: a defect.
pub fn write_description(described: Described<'_>, base_url: &str) -> Result<Vec<u8>> {
    let mut out = Writer::new(Vec::new());
    let declaration = Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None));
    let written = out
        .write_event(declaration)
        .and_then(|()| out.write_event(Event::Text(BytesText::from_escaped("\n"))))
        .and_then(|()| match described {
            Described::All(types) => all(&mut out, types, base_url),
            Described::One(entry) => one(&mut out, entry, base_url),
        });
    written.map_err(Error::internal)?;
    Ok(out.into_inner())
}

fn all(out: &mut Out, types: &[TypeEntry], base_url: &str) -> io::Result<()> {
    within(out, "describe", |out| {
        text(out, "describeURL", &format!("{base_url}/direct/describe"))?;
        text(out, "version", env!("CARGO_PKG_VERSION"))?;
        within(out, "prefixes", |out| {
            types.iter().try_for_each(|entry| {
                within(out, "prefix", |out| {
                    summary(out, entry, base_url)?;
                    capabilities(out, entry)
                })
            })
        })
    })
}

fn one(out: &mut Out, entry: &TypeEntry, base_url: &str) -> io::Result<()> {
    within(out, "prefix", |out| {
        summary(out, entry, base_url)?;
        for (operation, element, rest) in OPERATIONS {
            if entry.addresses.iter().any(|it| it.operation == operation) {
                text(out, element, &format!("/{}{rest}", entry.prefix))?;
            }
        }
        within(out, "customActions", |out| {
            let mut actions = entry.actions.iter();
            actions.try_for_each(|it| action(out, entry.prefix, it, base_url))
        })?;
        let output = match entry.formats.list.is_empty() {
            true => &entry.formats.entity,
            false => &entry.formats.list,
        };
        formats(out, "outputFormats", output)?;
        formats(out, "inputFormats", &entry.formats.input)?;
        within(out, "entityClass", |out| {
            text(out, "class", entry.prefix)?;
            text(out, "type", "bean")?;
            let mut fields: Vec<_> = entry.fields.iter().collect();
            fields.sort_by_key(|it| it.name);
            within(out, "fields", |out| {
                fields.into_iter().try_for_each(|it| field(out, it))
            })
        })?;
        capabilities(out, entry)
    })
}

fn summary(out: &mut Out, entry: &TypeEntry, base_url: &str) -> io::Result<()> {
    text(out, "prefix", entry.prefix)?;
    let address = format!("{base_url}/direct/{}/describe", entry.prefix);
    text(out, "describeURL", &address)?;
    text(out, "summary", &entry.title)?;
    text(out, "description", entry.description)
}

fn action(out: &mut Out, prefix: &str, action: &ActionEntry, base_url: &str) -> io::Result<()> {
    let is_on_entity = action.target == "entity";
    let id = if is_on_entity { "/:ID:" } else { "" };
    let view = match action.method {
        "GET" if is_on_entity => "show",
        "GET" => "list",
        "POST" => "new",
        "DELETE" => "delete",
        _ => "edit",
    };
    within(out, "customAction", |out| {
        text(out, "action", action.name)?;
        let address = format!("{base_url}/direct/{prefix}{id}/{}", action.name);
        text(out, "url", &address)?;
        text(out, "method", action.method)?;
        text(out, "viewKey", view)?;
        text(out, "description", action.description)
    })
}

/// Forms are no format of their own to these clients.
fn formats(out: &mut Out, element: &str, formats: &[&str]) -> io::Result<()> {
    within(out, element, |out| {
        let mut named = formats.iter().filter(|it| **it != "form");
        named.try_for_each(|it| text(out, "format", it))
    })
}

fn field(out: &mut Out, field: &FieldEntry) -> io::Result<()> {
    within(out, "field", |out| {
        text(out, "name", field.name)?;
        text(out, "type", field.kind)?;
        text(out, "readable", "true")?;
        let is_writable = field.writable != "never";
        text(out, "writeable", &is_writable.to_string())?;
        text(out, "description", field.description)
    })
}

fn capabilities(out: &mut Out, entry: &TypeEntry) -> io::Result<()> {
    within(out, "capabilities", |out| {
        entry.capabilities.iter().try_for_each(|name| {
            let known = CAPABILITIES.iter().find(|(own, _)| own == name);
            let known = known.map_or(*name, |(_, known)| known);
            within(out, "capability", |out| {
                text(out, "name", known)?;
                text(out, "type", name)
            })
        })
    })
}

fn text(out: &mut Out, name: &str, text: &str) -> io::Result<()> {
    let element = out.create_element(name);
    element.write_text_content(BytesText::new(text)).map(|_| ())
}

fn within(
    out: &mut Out,
    name: &str,
    content: impl FnOnce(&mut Out) -> io::Result<()>,
) -> io::Result<()> {
    out.create_element(name)
        .write_inner_content(content)
        .map(|_| ())
}
