//! What is registered, as data. Start page and description read this; nobody writes it down again.

use serde::Serialize;

use crate::access::Need;
use crate::registry::{Registry, Route};
use crate::schema::{Kind, Writable};
use crate::search::Operator;

/// All registered types.
#[derive(Clone, Debug, Serialize)]
pub struct Catalog {
    /// The types, in the order of their prefixes.
    pub types: Vec<TypeEntry>,
}

/// One registered type.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeEntry {
    /// Its prefix.
    pub prefix: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The crate it comes from.
    pub crate_name: &'static str,
    /// That crate's version.
    pub crate_version: &'static str,
    /// What it can do.
    pub capabilities: Vec<&'static str>,
    /// The fields of its entities.
    pub fields: Vec<FieldEntry>,
    /// Query parameters of its list beyond the fields.
    pub parameters: Vec<ParameterEntry>,
    /// Its actions.
    pub actions: Vec<ActionEntry>,
    /// What it demands, by operation.
    pub permissions: Vec<PermissionEntry>,
}

/// One field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldEntry {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// What its values are.
    pub kind: &'static str,
    /// Whether an entity can't be created without it.
    pub required: bool,
    /// When it may be written: `never`, `create`, `always`.
    pub writable: &'static str,
    /// Whether lists can be filtered and ordered by it.
    pub searchable: bool,
    /// The operators by which lists can be asked for its values.
    pub operators: Vec<&'static str>,
    /// The prefix of the type of which it holds an id; `_expand` shows that entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<&'static str>,
}

/// One query parameter.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// One action.
#[derive(Clone, Debug, Serialize)]
pub struct ActionEntry {
    /// Its name in the URL.
    pub name: &'static str,
    /// The method it takes.
    pub method: &'static str,
    /// `entity` or `collection`.
    pub target: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What the caller must hold.
    pub permission: String,
    /// Query parameters it takes.
    pub parameters: Vec<ParameterEntry>,
}

/// What one operation demands.
#[derive(Clone, Debug, Serialize)]
pub struct PermissionEntry {
    /// The operation.
    pub operation: &'static str,
    /// What the caller must hold.
    pub permission: String,
}

impl Catalog {
    /// What `registry` holds.
    pub fn of(registry: &Registry) -> Self {
        Self {
            types: registry.routes().map(TypeEntry::of).collect(),
        }
    }
}

impl TypeEntry {
    /// What `route` leads to.
    pub fn of(route: &Route) -> Self {
        Self {
            prefix: route.prefix,
            description: route.schema.doc,
            crate_name: route.origin.0,
            crate_version: route.origin.1,
            capabilities: route.capabilities(),
            fields: route.schema.fields.iter().map(field).collect(),
            parameters: parameters(route.parameters),
            actions: route.actions.iter().map(action).collect(),
            permissions: permissions(route),
        }
    }
}

fn field(field: &crate::schema::Field) -> FieldEntry {
    FieldEntry {
        name: field.name,
        description: field.doc,
        kind: match field.kind {
            Kind::Text(_) => "text",
            Kind::Html(_) => "html",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Instant => "instant",
            Kind::Millis => "milliseconds",
            Kind::Moment => "moment",
            Kind::List => "list",
            Kind::Object => "object",
        },
        required: field.is_required,
        writable: match field.writable {
            Writable::Never => "never",
            Writable::OnCreate => "create",
            Writable::Always => "always",
        },
        searchable: field.column.is_some(),
        operators: Operator::of(field).map(Operator::name).collect(),
        references: field.references,
    }
}

fn parameters(parameters: &'static [(&'static str, &'static str)]) -> Vec<ParameterEntry> {
    parameters
        .iter()
        .map(|(name, description)| ParameterEntry { name, description })
        .collect()
}

fn action(action: &crate::registry::ActionRoute) -> ActionEntry {
    ActionEntry {
        name: action.name,
        method: action.verb.name(),
        target: if action.is_on_entity {
            "entity"
        } else {
            "collection"
        },
        description: action.doc,
        permission: action.need.map(describe).unwrap_or_default(),
        parameters: parameters(action.parameters),
    }
}

fn permissions(route: &Route) -> Vec<PermissionEntry> {
    let Some(access) = route.access else {
        return Vec::new();
    };
    [
        (
            "read",
            route.read.is_some() || route.list.is_some(),
            access.read,
        ),
        ("create", route.create.is_some(), access.create),
        ("update", route.update.is_some(), access.update),
        ("delete", route.delete.is_some(), access.delete),
    ]
    .into_iter()
    .filter(|(_, exists, _)| *exists)
    .map(|(operation, _, need)| PermissionEntry {
        operation,
        permission: describe(need),
    })
    .collect()
}

fn describe(need: Need) -> String {
    match need {
        Need::Public => "nothing".to_owned(),
        Need::Session => "a session".to_owned(),
        Need::Superuser => "super-user rights".to_owned(),
        Need::Site(function) => format!("{function} in the site"),
        Need::SiteOrOwn(function, own) => format!("{function} in the site, or {own} for one's own"),
        Need::Account(function) => format!("{function} for the account"),
    }
}
