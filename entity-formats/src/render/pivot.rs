//! Lists of objects as tables: the lines of a list, and its columns.

use std::collections::{HashMap, HashSet};

use entity_core::schema::Pivot;
use serde_json::{Map, Value};

/// Returns the objects of each line, in the order in which lines are first told.
pub(crate) fn grouped<'a>(list: &'a [Value], table: &Pivot) -> Vec<Vec<&'a Map<String, Value>>> {
    let mut lines: Vec<Vec<&Map<String, Value>>> = Vec::new();
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    for object in list.iter().filter_map(Value::as_object) {
        let key = table.line.iter();
        let key = key.map(|it| object.get(*it).map(ToString::to_string));
        let key: Vec<String> = key.map(Option::unwrap_or_default).collect();
        let place = *known.entry(key).or_insert(lines.len());
        match lines.get_mut(place) {
            Some(line) => line.push(object),
            None => lines.push(vec![object]),
        }
    }
    lines
}

/// Returns each of the values once, in the order in which they first come.
pub(crate) fn distinct<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    let mut found = HashSet::new();
    values.filter(|it| found.insert(it.to_string())).collect()
}
