//! The addresses of a type's operations, found by the lookup that also runs requests.

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::operation::verbs;
use crate::contract::registry::Route;
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;

/// An operation of a type other than an action, and its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Address {
    /// The name of the operation: `list`, `create`, `read`, `update`, `patch`, `delete`, or `form`, which shows the
    /// form for one of them.
    pub operation: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path after that of the type; `{id}` stands for an id.
    pub path: &'static str,
    /// The place of the type that the path leads to.
    #[serde(skip)]
    #[schemars(skip)]
    pub place: Place,
    /// The method as a verb of the dispatcher.
    #[serde(skip)]
    #[schemars(skip)]
    pub verb: Verb,
}

/// A place of a type at which operations are available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The list of the type.
    List,
    /// One entity.
    Entity,
    /// A form.
    Form,
}

/// The placeholder for an id. No action has this name.
const ANY: &str = "{id}";

/// The path of the form for a new entity.
const NEW: &str = "/new";

/// All places of a type, each with its path as text and as segments.
const PLACES: [(Place, &str, &[&str]); 5] = [
    (Place::List, "", &[]),
    (Place::Form, NEW, &["new"]),
    (Place::Entity, "/{id}", &[ANY]),
    (Place::Form, "/{id}/edit", &[ANY, "edit"]),
    (Place::Form, "/{id}/delete", &[ANY, "delete"]),
];

impl Address {
    pub(super) fn all_of(route: &Route) -> Vec<Self> {
        let at = |(place, path, segments): (Place, &'static str, &[&str])| {
            let asked = DirectPath::new(route.prefix, segments.iter().copied());
            verbs(route, &asked).into_iter().filter_map(move |verb| {
                Some(Self {
                    operation: operation(place, path, verb)?,
                    method: verb.name(),
                    path,
                    place,
                    verb,
                })
            })
        };
        PLACES.into_iter().flat_map(at).collect()
    }
}

/// Returns the name of the operation that `verb` runs at `place`. The data of a form may also be sent to the address of
/// the form.
fn operation(place: Place, path: &str, verb: Verb) -> Option<&'static str> {
    match (place, verb) {
        (Place::List, Verb::Get) => Some("list"),
        (Place::List, Verb::Post) => Some("create"),
        (Place::Form, Verb::Post) if path == NEW => Some("create"),
        (Place::Entity, Verb::Get) => Some("read"),
        (Place::Entity | Place::Form, Verb::Put | Verb::Post) => Some("update"),
        (Place::Entity, Verb::Patch) => Some("patch"),
        (Place::Entity | Place::Form, Verb::Delete) => Some("delete"),
        (Place::Form, Verb::Get) => Some("form"),
        _ => None,
    }
}
