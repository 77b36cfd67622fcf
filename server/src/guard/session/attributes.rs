//! Named attributes of a session, and of its sub-sessions for a tool or a context.

use std::collections::BTreeMap;

use entity_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most that the attributes of one session may take, as JSON.
const MAX: usize = 64 * 1024;

type Named = BTreeMap<String, Value>;

/// The attributes of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attributes {
    named: Named,
    tools: BTreeMap<String, Named>,
    contexts: BTreeMap<String, Named>,
}

/// The part of a session that an attribute belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Area {
    /// The session itself.
    Whole,
    /// The sub-session of a tool's placement.
    Tool(String),
    /// The sub-session of a context, such as a site.
    Context(String),
}

impl Attributes {
    /// The attribute `name` in `area`.
    pub fn get(&self, area: &Area, name: &str) -> Option<&Value> {
        match area {
            Area::Whole => Some(&self.named),
            Area::Tool(tool) => self.tools.get(tool),
            Area::Context(context) => self.contexts.get(context),
        }?
        .get(name)
    }

    /// The names of the attributes in `area`, in order.
    pub fn names<'a>(&'a self, area: &Area) -> impl Iterator<Item = &'a str> + use<'a> {
        match area {
            Area::Whole => Some(&self.named),
            Area::Tool(tool) => self.tools.get(tool),
            Area::Context(context) => self.contexts.get(context),
        }
        .into_iter()
        .flat_map(|it| it.keys().map(String::as_str))
    }

    /// Sets the attribute `name` in `area`; null removes it, and with its last attribute the sub-session.
    pub fn set(&mut self, area: Area, name: &str, value: Value) {
        let (group, key) = match area {
            Area::Whole => return put(&mut self.named, name, value),
            Area::Tool(key) => (&mut self.tools, key),
            Area::Context(key) => (&mut self.contexts, key),
        };
        let mut named = group.remove(&key).unwrap_or_default();
        put(&mut named, name, value);
        if !named.is_empty() {
            group.insert(key, named);
        }
    }

    pub(super) fn to_text(&self) -> Result<String> {
        let text = serde_json::to_string(self).map_err(Error::internal)?;
        match text.len() > MAX {
            true => Err(Error::bad_request(
                "the session holds too much: remove attributes from it",
            )),
            false => Ok(text),
        }
    }

    pub(super) fn from_text(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(Error::internal)
    }
}

fn put(named: &mut Named, name: &str, value: Value) {
    match value {
        Value::Null => drop(named.remove(name)),
        value => drop(named.insert(name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_of_a_session_has_attributes_of_its_own() {
        let mut attributes = Attributes::default();
        let areas = [
            Area::Whole,
            Area::Tool("t".to_owned()),
            Area::Context("t".to_owned()),
        ];
        for (index, area) in areas.iter().enumerate() {
            attributes.set(area.clone(), "a", json!(index));
        }
        let attributes = Attributes::from_text(&attributes.to_text().unwrap()).unwrap();
        for (index, area) in areas.iter().enumerate() {
            assert_eq!(attributes.get(area, "a"), Some(&json!(index)));
            assert_eq!(attributes.names(area).collect::<Vec<_>>(), ["a"]);
        }
    }

    #[test]
    fn what_is_set_to_null_is_gone() {
        let mut attributes = Attributes::default();
        attributes.set(Area::Tool("t".to_owned()), "a", json!(1));
        attributes.set(Area::Tool("t".to_owned()), "a", Value::Null);
        assert_eq!(attributes, Attributes::default());
    }

    #[test]
    fn a_session_does_not_hold_more_than_its_share() {
        let mut attributes = Attributes::default();
        attributes.set(Area::Whole, "a", json!("x".repeat(MAX)));
        assert!(attributes.to_text().is_err());
    }
}
