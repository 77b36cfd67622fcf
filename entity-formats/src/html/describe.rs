//! The start page, which lists all types, and the page of one type.

use askama::Template;
use entity_core::format::View;
use entity_core::primitives::label;
use entity_core::{Error, Result, encode_segment};
use serde::Deserialize;
use serde_json::Value;

use super::frame::{Frame, is_listed};

/// The name of a description: the catalog of all types, or the entry of one.
pub(super) const NAME: &str = "describe";

/// All types.
#[derive(Template)]
#[template(path = "catalog.html")]
struct CatalogPage<'a> {
    frame: Frame<'a>,
    types: Vec<Listed>,
}

/// A type in the catalog.
struct Listed {
    entry: TypeEntry,
    /// True if the reader may open its list.
    is_open: bool,
}

/// One type.
#[derive(Template)]
#[template(path = "type.html")]
struct TypePage<'a> {
    frame: Frame<'a>,
    base_url: &'a str,
    entry: TypeEntry,
    /// True if the reader may open its list.
    is_open: bool,
    /// The form that creates one, if everybody may fill it in.
    form_href: Option<String>,
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
    title: String,
    description: String,
    crate_name: String,
    crate_version: String,
    capabilities: Vec<String>,
    addresses: Vec<Address>,
    formats: Formats,
    fields: Vec<FieldEntry>,
    max: Option<u64>,
    search: Vec<ParameterEntry>,
    parameters: Vec<ParameterEntry>,
    actions: Vec<ActionEntry>,
    permissions: Vec<PermissionEntry>,
}

#[derive(Deserialize)]
struct Address {
    operation: String,
    method: String,
    path: String,
}

#[derive(Deserialize)]
struct Formats {
    list: Vec<String>,
    entity: Vec<String>,
    input: Vec<String>,
}

#[derive(Deserialize)]
struct FieldEntry {
    name: String,
    description: String,
    kind: String,
    limit: Option<usize>,
    required: bool,
    nullable: bool,
    writable: String,
    searchable: bool,
    #[serde(default)]
    choices: Vec<String>,
    default: Option<String>,
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
    answers: String,
    arguments: Vec<ArgumentEntry>,
    parameters: Vec<ParameterEntry>,
    searched: bool,
}

#[derive(Deserialize)]
struct ArgumentEntry {
    name: String,
    description: String,
    required: bool,
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
        let title = entry.title.clone();
        let frame = Frame::new(title, view).without_times().with_data(view);
        return super::write(&TypePage {
            frame,
            base_url: view.base_url,
            is_open: is_open(&entry, view),
            form_href: entry.form_href(view),
            entry,
        });
    }
    let Catalog { types } = serde_json::from_value(data).map_err(Error::internal)?;
    let mut frame = Frame::new("What is here", view)
        .without_times()
        .with_data(view);
    frame.crumbs.clear();
    let types = types.into_iter().map(|entry| Listed {
        is_open: is_open(&entry, view),
        entry,
    });
    let types = types.collect();
    super::write(&CatalogPage { frame, types })
}

fn is_open(entry: &TypeEntry, view: &View<'_>) -> bool {
    is_listed(view.registry, &entry.prefix, view.user.is_some())
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

    /// The form that creates one, if everybody may fill it in: a login. Lists offer their own forms to those who may.
    fn form_href(&self, view: &View<'_>) -> Option<String> {
        let route = view.registry.route(&self.prefix)?;
        if route.capabilities().contains(&"create") {
            return None;
        }
        let found = self
            .addresses
            .iter()
            .find(|it| (it.operation.as_str(), it.path.as_str()) == ("form", "/new"))?;
        Some(format!("{}{}.html", self.path(), found.path))
    }

    /// An entity as it may be sent: with the fields that must be there.
    fn sample(&self) -> String {
        let fields = self.fields.iter().filter(|it| it.required);
        let pairs = fields.map(|it| (it.name.clone(), it.sample()));
        Value::Object(pairs.collect()).to_string()
    }
}

impl Address {
    /// The name of the operation for people.
    fn label(&self) -> String {
        label(&self.operation)
    }
}

impl ActionEntry {
    /// The path behind that of the type; what may be left out stands in brackets.
    fn path(&self) -> String {
        let id = if self.target == "entity" { "/{id}" } else { "" };
        let mut path = format!("{id}/{}", self.name);
        for ArgumentEntry { name, required, .. } in &self.arguments {
            path = match required {
                true => format!("{path}/{{{name}}}"),
                false => format!("{path}[/{{{name}}}]"),
            };
        }
        path
    }
}

impl FieldEntry {
    /// A value that it takes.
    fn sample(&self) -> Value {
        if let Some(choice) = self.choices.first() {
            return choice.as_str().into();
        }
        match self.kind.as_str() {
            "integer" | "number" => 1.into(),
            "boolean" => true.into(),
            "instant" | "milliseconds" | "moment" => "2026-11-21T10:00:00Z".into(),
            "list" => Value::Array(Vec::new()),
            "object" => Value::Object(serde_json::Map::new()),
            _ => "Example".into(),
        }
    }

    fn nullable(&self) -> &'static str {
        yes(self.nullable)
    }

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
