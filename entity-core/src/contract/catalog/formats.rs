//! The formats of a type, as its writers and readers report them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::format::Formats;
use crate::contract::registry::Route;

/// The formats in which a type is read and written, by their extensions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FormatsEntry {
    /// The formats of the type's lists, those that its actions answer with included.
    pub list: Vec<&'static str>,
    /// The formats of one of the type's entities.
    pub entity: Vec<&'static str>,
    /// The formats of what is sent to create or change an entity.
    pub input: Vec<&'static str>,
}

impl FormatsEntry {
    pub(super) fn of(route: &Route, formats: &Formats) -> Self {
        let (list, entity) = (route.sample_list(), route.sample_entity());
        let has_lists = route.actions.iter().any(|it| it.answers.are_a_list());
        let is_list = route.list.is_some() || has_lists;
        let is_entity = route.read.is_some();
        let is_written = route.create.is_some() || route.update.is_some();
        let offered = |is_there: bool, body| match is_there {
            true => formats.offered(body),
            false => Vec::new(),
        };
        Self {
            list: offered(is_list, &list),
            entity: offered(is_entity, &entity),
            input: formats.inputs().filter(|_| is_written).collect(),
        }
    }
}
