//! The catalog of the registered types, as data: the single source of the start page and the description.

mod address;
mod formats;
mod list;

use schemars::JsonSchema;
use serde::Serialize;

use crate::View;
use crate::contract::access::Need;
use crate::contract::action::{Answers, Argument};
use crate::contract::format::Formats;
use crate::contract::registry::{ActionRoute, Registry, Route};
use crate::contract::search::Operator;
use crate::model::schema::{Field, Kind, Writable};

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
    /// The prefix of the type.
    pub prefix: &'static str,
    /// The plural name of the type, as people read it.
    pub title: String,
    /// The description of the type.
    pub description: &'static str,
    /// The name of the crate that defines the type.
    pub crate_name: &'static str,
    /// The version of that crate.
    pub crate_version: &'static str,
    /// The names of the capabilities of the type, such as `read` or `list`.
    pub capabilities: Vec<&'static str>,
    /// The operations of the type and their addresses; actions are listed apart.
    pub addresses: Vec<Address>,
    /// The formats in which the type is read and written.
    pub formats: FormatsEntry,
    /// The fields of the type's entities.
    pub fields: Vec<FieldEntry>,
    /// The maximum number of entities in one answer of the type's list; null if the type has no list.
    pub max: Option<u64>,
    /// The query parameters that the type's list has in common with all lists.
    pub search: Vec<ParameterEntry>,
    /// The query parameters of the type's list beyond these and the fields.
    pub parameters: Vec<ParameterEntry>,
    /// The actions of the type.
    pub actions: Vec<ActionEntry>,
    /// The permissions that the type demands, one for each operation.
    pub permissions: Vec<PermissionEntry>,
}

/// One field of a type.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = &Field, with(
    kind = it.kind.name(),
    limit = it.kind.limit(),
    writable = match it.writable {
        Writable::Never => "never",
        Writable::OnCreate => "create",
        Writable::Always => "always",
    },
    searchable = it.column.is_some(),
    operators = Operator::of(it).map(Operator::name).collect(),
))]
pub struct FieldEntry {
    /// The name of the field in requests and answers.
    pub name: &'static str,
    /// The description of the field.
    #[view(of = doc)]
    pub description: &'static str,
    /// The kind of the field's values, such as `text`.
    pub kind: &'static str,
    /// The maximum number of characters, if the field is text or HTML.
    pub limit: Option<usize>,
    /// True if the field is required to create an entity.
    #[view(of = is_required)]
    pub required: bool,
    /// True if an entity may have null in the field, or leave the field out.
    #[view(of = is_nullable)]
    pub nullable: bool,
    /// The times at which clients may write the field: `never`, `create` or `always`.
    pub writable: &'static str,
    /// True if lists can be filtered and ordered by the field.
    pub searchable: bool,
    /// The operators with which lists can be filtered by the field.
    pub operators: Vec<&'static str>,
    /// The prefix of the type whose ids the field holds; `_expand` shows the entity that an id refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<&'static str>,
    /// The only texts that clients may write into the field, if it is limited to some.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub choices: &'static [&'static str],
    /// The value of the field in a new entity, as text, if the client sends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'static str>,
}

/// One query parameter.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[view(of = &ListParameter)]
pub struct ParameterEntry {
    /// The name of the parameter.
    pub name: &'static str,
    /// The effect of the parameter.
    #[view(of = doc)]
    pub description: &'static str,
}

/// One action.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[view(of = &ActionRoute, with(
    method = it.verb.name(),
    target = if it.is_on_entity { "entity" } else { "collection" },
    permission = it.need.map(describe).unwrap_or_default(),
    answers = match it.answers {
        Answers::Unsaid => "unsaid",
        Answers::Nothing | Answers::Done => "nothing",
        Answers::Entity | Answers::EntityOf(_) => "entity",
        Answers::Created => "created",
        Answers::Collection | Answers::CollectionOf(_) => "collection",
        Answers::Value(_) => "data",
        Answers::Bytes(_) => "bytes",
    },
    arguments = it.arguments.iter().map(ArgumentEntry::of).collect(),
    parameters = parameters(it.parameters),
    searched = it.is_searched(),
))]
pub struct ActionEntry {
    /// The name of the action in the URL.
    pub name: &'static str,
    /// The HTTP method of the action.
    pub method: &'static str,
    /// The target of the action: `entity` or `collection`.
    pub target: &'static str,
    /// The description of the action.
    #[view(of = doc)]
    pub description: &'static str,
    /// The permission that the caller must hold.
    pub permission: String,
    /// The kind of a successful answer: `nothing`, `entity`, `created`, `collection`, `data`, `bytes`, or `unsaid`.
    pub answers: &'static str,
    /// The path segments that the action takes after its name, in order.
    pub arguments: Vec<ArgumentEntry>,
    /// The query parameters that the action takes.
    pub parameters: Vec<ParameterEntry>,
    /// True if the action also takes the query parameters of the type's list.
    pub searched: bool,
}

/// A path segment that follows the name of an action.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, View)]
#[view(of = &Argument)]
pub struct ArgumentEntry {
    /// The name of the segment.
    pub name: &'static str,
    /// The description of the segment.
    #[view(of = doc)]
    pub description: &'static str,
    /// True if the segment is required.
    #[view(of = is_required)]
    pub required: bool,
}

/// The permission that one operation demands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PermissionEntry {
    /// The name of the operation.
    pub operation: &'static str,
    /// The permission that the caller must hold.
    pub permission: String,
}

impl Catalog {
    /// Creates the catalog of the types in `registry`, which are read and written in `formats`.
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
    /// Creates the entry of the type behind `route`, which is read and written in `formats`.
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
            fields: route.schema.fields.iter().map(FieldEntry::of).collect(),
            max: is_list.then_some(route.max),
            search: match is_list {
                true => LIST_PARAMETERS.iter().map(ParameterEntry::of).collect(),
                false => Vec::new(),
            },
            parameters: parameters(route.parameters),
            actions: route.actions.iter().map(ActionEntry::of).collect(),
            permissions: permissions(route),
        }
    }
}

impl Kind {
    /// Returns the name of the kind, such as `text`.
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

    /// Returns the maximum number of characters, if the kind is text or HTML.
    pub fn limit(self) -> Option<usize> {
        match self {
            Self::Text(limit) | Self::Html(limit) => Some(limit),
            _ => None,
        }
    }
}

fn parameters(parameters: &'static [(&'static str, &'static str)]) -> Vec<ParameterEntry> {
    parameters
        .iter()
        .map(|(name, description)| ParameterEntry { name, description })
        .collect()
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
