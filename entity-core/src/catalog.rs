//! What is registered, as data. Start page and description read this; nobody writes it down again.

mod address;
mod formats;
mod list;

use schemars::JsonSchema;
use serde::Serialize;

use crate::access::Need;
use crate::action::{Answers, Argument};
use crate::format::Formats;
use crate::registry::{ActionRoute, Registry, Route};
use crate::schema::{Field, Kind, Writable};
use crate::search::Operator;

pub use address::{Address, Place};
pub use formats::FormatsEntry;
pub use list::{LIST_PARAMETERS, ListParameter};

/// All registered types.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Catalog {
    /// The types, in the order of their prefixes.
    pub types: Vec<TypeEntry>,
}

/// One registered type.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypeEntry {
    /// Its prefix.
    pub prefix: &'static str,
    /// What people call several of them.
    pub title: String,
    /// What it is.
    pub description: &'static str,
    /// The crate it comes from.
    pub crate_name: &'static str,
    /// That crate's version.
    pub crate_version: &'static str,
    /// What it can do.
    pub capabilities: Vec<&'static str>,
    /// What it answers at which address; its actions are listed apart.
    pub addresses: Vec<Address>,
    /// The formats it is read and written in.
    pub formats: FormatsEntry,
    /// The fields of its entities.
    pub fields: Vec<FieldEntry>,
    /// Most entities in one answer of its list; null if it has none.
    pub max: Option<u64>,
    /// Query parameters that its list has in common with all lists.
    pub search: Vec<ParameterEntry>,
    /// Query parameters of its list beyond these and the fields.
    pub parameters: Vec<ParameterEntry>,
    /// Its actions.
    pub actions: Vec<ActionEntry>,
    /// What it demands, by operation.
    pub permissions: Vec<PermissionEntry>,
}

/// One field.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldEntry {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// What its values are.
    pub kind: &'static str,
    /// Most characters, if it is text.
    pub limit: Option<usize>,
    /// Whether an entity can't be created without it.
    pub required: bool,
    /// Whether an entity may have null in its place, or leave it out.
    pub nullable: bool,
    /// When it may be written: `never`, `create`, `always`.
    pub writable: &'static str,
    /// Whether lists can be filtered and ordered by it.
    pub searchable: bool,
    /// The operators by which lists can be asked for its values.
    pub operators: Vec<&'static str>,
    /// The prefix of the type of which it holds an id; `_expand` shows that entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<&'static str>,
    /// The only texts that clients may write into it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub choices: &'static [&'static str],
    /// What a new entity has in it, as text, if the client says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'static str>,
}

/// One query parameter.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ParameterEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// One action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    /// What it answers: `nothing`, `entity`, `created`, `collection`, `data`, or `unsaid`.
    pub answers: &'static str,
    /// The further segments of its path, in order.
    pub arguments: Vec<ArgumentEntry>,
    /// Query parameters it takes.
    pub parameters: Vec<ParameterEntry>,
    /// Whether it takes the query parameters of the type's list too.
    pub searched: bool,
}

/// A further segment of the path of an action.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ArgumentEntry {
    /// What it is called.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether it must be there.
    pub required: bool,
}

/// What one operation demands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PermissionEntry {
    /// The operation.
    pub operation: &'static str,
    /// What the caller must hold.
    pub permission: String,
}

impl Catalog {
    /// What `registry` holds, read and written in `formats`.
    pub fn of(registry: &Registry, formats: &Formats) -> Self {
        Self {
            types: registry
                .routes()
                .map(|it| TypeEntry::of(it, formats))
                .collect(),
        }
    }
}

impl TypeEntry {
    /// What `route` leads to, read and written in `formats`.
    pub fn of(route: &Route, formats: &Formats) -> Self {
        let is_list = route.list.is_some();
        Self {
            prefix: route.prefix,
            title: route.plural(),
            description: route.schema.doc,
            crate_name: route.origin.0,
            crate_version: route.origin.1,
            capabilities: route.capabilities(),
            addresses: Address::all_of(route),
            formats: FormatsEntry::of(route, formats),
            fields: route.schema.fields.iter().map(field).collect(),
            max: is_list.then_some(route.max),
            search: match is_list {
                true => LIST_PARAMETERS.iter().map(parameter).collect(),
                false => Vec::new(),
            },
            parameters: parameters(route.parameters),
            actions: route.actions.iter().map(action).collect(),
            permissions: permissions(route),
        }
    }
}

impl Kind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Html(_) => "html",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Instant => "instant",
            Self::Millis => "milliseconds",
            Self::Moment => "moment",
            Self::List => "list",
            Self::Object => "object",
        }
    }

    /// Most characters, if it is text.
    pub fn limit(self) -> Option<usize> {
        match self {
            Self::Text(limit) | Self::Html(limit) => Some(limit),
            _ => None,
        }
    }
}

fn field(field: &Field) -> FieldEntry {
    FieldEntry {
        name: field.name,
        description: field.doc,
        kind: field.kind.name(),
        limit: field.kind.limit(),
        required: field.is_required,
        nullable: field.is_nullable,
        writable: match field.writable {
            Writable::Never => "never",
            Writable::OnCreate => "create",
            Writable::Always => "always",
        },
        searchable: field.column.is_some(),
        operators: Operator::of(field).map(Operator::name).collect(),
        references: field.references,
        choices: field.choices,
        default: field.default,
    }
}

fn parameter(parameter: &ListParameter) -> ParameterEntry {
    ParameterEntry {
        name: parameter.name,
        description: parameter.doc,
    }
}

fn parameters(parameters: &'static [(&'static str, &'static str)]) -> Vec<ParameterEntry> {
    parameters
        .iter()
        .map(|(name, description)| ParameterEntry { name, description })
        .collect()
}

fn action(action: &ActionRoute) -> ActionEntry {
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
        answers: match action.answers {
            Answers::Unsaid => "unsaid",
            Answers::Nothing => "nothing",
            Answers::Entity => "entity",
            Answers::Created => "created",
            Answers::Collection | Answers::CollectionOf(_) => "collection",
            Answers::Value(_) => "data",
            Answers::Bytes(_) => "bytes",
        },
        arguments: action.arguments.iter().map(argument).collect(),
        parameters: parameters(action.parameters),
        searched: action.is_searched(),
    }
}

fn argument(argument: &Argument) -> ArgumentEntry {
    ArgumentEntry {
        name: argument.name,
        description: argument.doc,
        required: argument.is_required,
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
        Need::PublicView(function, need) => format!(
            "{}; without a session, {function} of the public in the site",
            describe(*need)
        ),
    }
}
