//! The start page, which lists all types, and the page of one type.

use askama::Template;
use entity_core::format::View;
use entity_core::{Error, Result, encode_segment};
use serde::Deserialize;
use serde_json::Value;

use super::frame::Frame;

/// What a description is called: the catalog of all types, or the entry of one.
pub(super) const NAME: &str = "describe";

/// All types.
#[derive(Template)]
#[template(path = "catalog.html")]
struct CatalogPage<'a> {
    frame: Frame<'a>,
    types: Vec<TypeEntry>,
}

/// One type.
#[derive(Template)]
#[template(path = "type.html")]
struct TypePage<'a> {
    frame: Frame<'a>,
    entry: TypeEntry,
}

/// The catalog, as it is serialised.
#[derive(Deserialize)]
struct Catalog {
    types: Vec<TypeEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeEntry {
    prefix: String,
    description: String,
    crate_name: String,
    crate_version: String,
    capabilities: Vec<String>,
    fields: Vec<FieldEntry>,
    parameters: Vec<ParameterEntry>,
    actions: Vec<ActionEntry>,
    permissions: Vec<PermissionEntry>,
}

#[derive(Deserialize)]
struct FieldEntry {
    name: String,
    description: String,
    kind: String,
    required: bool,
    writable: String,
    searchable: bool,
}

#[derive(Deserialize)]
struct ParameterEntry {
    name: String,
    description: String,
}

#[derive(Deserialize)]
struct ActionEntry {
    name: String,
    method: String,
    target: String,
    description: String,
    permission: String,
    parameters: Vec<ParameterEntry>,
}

#[derive(Deserialize)]
struct PermissionEntry {
    operation: String,
    permission: String,
}

/// Writes the page of a description.
pub(super) fn write(data: Value, view: &View<'_>) -> Result<Vec<u8>> {
    if data.get("prefix").is_some() {
        let entry: TypeEntry = serde_json::from_value(data).map_err(Error::internal)?;
        let title = entry.prefix.clone();
        let frame = Frame::new(title, view).with_data(view);
        return super::write(&TypePage { frame, entry });
    }
    let Catalog { types } = serde_json::from_value(data).map_err(Error::internal)?;
    let mut frame = Frame::new("What is here", view).with_data(view);
    frame.crumbs.clear();
    super::write(&CatalogPage { frame, types })
}

impl TypeEntry {
    fn path(&self) -> String {
        format!("/direct/{}", encode_segment(&self.prefix))
    }

    fn describe_href(&self) -> String {
        format!("{}/describe.html", self.path())
    }

    fn list_href(&self, format: &str) -> String {
        format!("{}.{format}", self.path())
    }

    fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|it| it == capability)
    }

    fn list_formats(&self) -> &'static [&'static str] {
        match self.can("feed") {
            true => &["html", "json", "xml", "atom", "rss"],
            false => &["html", "json", "xml"],
        }
    }
}

impl FieldEntry {
    fn required(&self) -> &'static str {
        yes(self.required)
    }

    fn searchable(&self) -> &'static str {
        yes(self.searchable)
    }
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
