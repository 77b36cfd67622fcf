//! Where the operations of a type are, asked of the dispatcher that would run them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::verbs;
use crate::path::DirectPath;
use crate::registry::Route;
use crate::request::Verb;

/// An operation of a type that is no action, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Address {
    /// What it does: `list`, `create`, `read`, `update`, `patch`, `delete`, or shows the `form` for one of them.
    pub operation: &'static str,
    /// The method.
    pub method: &'static str,
    /// The path behind the type's; `{id}` stands for an id.
    pub path: &'static str,
    /// Which of the type's places that is.
    #[serde(skip)]
    #[schemars(skip)]
    pub place: Place,
    /// The method, as the dispatcher knows it.
    #[serde(skip)]
    #[schemars(skip)]
    pub verb: Verb,
}

/// A place of a type at which something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its list.
    List,
    /// One entity.
    Entity,
    /// A form.
    Form,
}

/// An id that no action is called.
const ANY: &str = "{id}";

/// Where the form for a new entity is.
const NEW: &str = "/new";

/// Every place of a type: its path, as text and as segments.
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

/// What `verb` does at `place`. What a form sends may be sent to its own address too.
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
