//! The formats of a type, asked of those who write and read them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::format::Formats;
use crate::registry::Route;

/// The formats that a type is read and written in, by their extensions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FormatsEntry {
    /// Its lists.
    pub list: Vec<&'static str>,
    /// One of its entities.
    pub entity: Vec<&'static str>,
    /// What is sent to create or change one.
    pub input: Vec<&'static str>,
}

impl FormatsEntry {
    pub(super) fn of(route: &Route, formats: &Formats) -> Self {
        let (list, entity) = (route.sample_list(), route.sample_entity());
        let (is_list, is_entity) = (route.list.is_some(), route.read.is_some());
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
