//! Lists that are tables: a line for each thing that they are about, with a column for each of its aspects. What is about
//! one thing only is told by aspect, one below the other.

use std::collections::BTreeMap;

use entity_core::schema::Pivot;
use serde_json::Value;

use super::label;
use super::shown::{Shown, is_for_programs};

/// What is shown of an aspect that has nothing yet.
const NOT_YET: &str = "not yet";

/// Returns the table of `items`, as `pivot` declares it.
pub(super) fn table<'a>(pivot: &Pivot, items: &'a [Value]) -> Shown<'a> {
    let mut lines: Vec<Vec<&Value>> = Vec::new();
    let mut places = BTreeMap::new();
    let mut aspects: Vec<&str> = Vec::new();
    for item in items {
        let names = pivot.line.iter().filter_map(|it| item.get(*it));
        let line: Vec<String> = names.map(Value::to_string).collect();
        let place = *places.entry(line).or_insert(lines.len());
        match lines.get_mut(place) {
            Some(line) => line.push(item),
            None => lines.push(vec![item]),
        }
        aspects.extend(aspect_of(pivot, item).filter(|it| !aspects.contains(it)));
    }
    match lines.as_slice() {
        [] => Shown::Nothing,
        [_only] => of_one(pivot, items),
        _ => of_all(pivot, &lines, &aspects),
    }
}

fn aspect_of<'a>(pivot: &Pivot, item: &'a Value) -> Option<&'a str> {
    item.get(pivot.column)?.as_str()
}

fn cell<'a>(pivot: &Pivot, item: &'a Value) -> Shown<'a> {
    match item.get(pivot.cell) {
        None | Some(Value::Null) => Shown::Text(NOT_YET.to_owned()),
        Some(value) => Shown::of(value),
    }
}

/// An aspect on each line, with what else is known of it.
fn of_one<'a>(pivot: &Pivot, items: &'a [Value]) -> Shown<'a> {
    let first = items.first().and_then(Value::as_object);
    let names = first.into_iter().flat_map(|it| it.keys());
    let others: Vec<&str> = names
        .map(String::as_str)
        .filter(|it| ![pivot.column, pivot.cell].contains(it) && !pivot.line.contains(it))
        .filter(|it| !is_for_programs(it))
        .collect();
    let row = |item: &'a Value| {
        let aspect = item.get(pivot.column).map_or(Shown::Nothing, Shown::of);
        let others = others.iter().map(|it| item.get(*it));
        let others = others.map(|it| it.map_or(Shown::Nothing, Shown::of));
        [aspect, cell(pivot, item)]
            .into_iter()
            .chain(others)
            .collect()
    };
    let names = [pivot.column, pivot.cell]
        .into_iter()
        .chain(others.iter().copied());
    Shown::Table {
        columns: names.map(label).collect(),
        rows: items.iter().map(row).collect(),
    }
}

/// A thing on each line, with a column for each aspect.
fn of_all<'a>(pivot: &Pivot, lines: &[Vec<&'a Value>], aspects: &[&str]) -> Shown<'a> {
    let told: Vec<_> = pivot
        .line
        .iter()
        .filter(|it| !is_for_programs(it))
        .collect();
    let row = |own: &Vec<&'a Value>| {
        let names = told.iter().map(|name| {
            let value = own.first().and_then(|it| it.get(**name));
            value.map_or(Shown::Nothing, Shown::of)
        });
        let cells = aspects.iter().map(|aspect| {
            let found = own.iter().find(|it| aspect_of(pivot, it) == Some(*aspect));
            found.map_or(Shown::Nothing, |it| cell(pivot, it))
        });
        names.chain(cells).collect()
    };
    let titles = aspects.iter().map(|it| (*it).to_owned());
    Shown::Table {
        columns: told.iter().map(|it| label(it)).chain(titles).collect(),
        rows: lines.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MARKS: Pivot = Pivot {
        line: &["studentId", "name"],
        column: "exam",
        cell: "mark",
        beside: &[],
    };

    fn texts(shown: Shown<'_>) -> (Vec<String>, Vec<Vec<String>>) {
        let Shown::Table { columns, rows } = shown else {
            panic!("no table");
        };
        let text = |it: Shown<'_>| match it {
            Shown::Text(text) => text,
            _ => String::new(),
        };
        let row = |it: Vec<Shown<'_>>| it.into_iter().map(text).collect();
        (columns, rows.into_iter().map(row).collect())
    }

    #[test]
    fn several_things_are_lines_and_their_aspects_columns() {
        let items = json!([
            {"studentId": "1", "name": "Ada", "exam": "Oral", "mark": "1"},
            {"studentId": "2", "name": "Ben", "exam": "Oral", "mark": null},
            {"studentId": "1", "name": "Ada", "exam": "Essay", "mark": "2"},
        ]);
        let (columns, rows) = texts(table(&MARKS, items.as_array().expect("a list")));
        assert_eq!(columns, ["Name", "Oral", "Essay"]);
        assert_eq!(rows, [["Ada", "1", "2"], ["Ben", "not yet", ""]]);
    }

    #[test]
    fn the_aspects_of_one_thing_are_lines() {
        let items = json!([
            {"studentId": "1", "name": "Ada", "exam": "Oral", "mark": "1", "points": 4},
            {"studentId": "1", "name": "Ada", "exam": "Essay", "mark": null, "points": 5},
        ]);
        let (columns, rows) = texts(table(&MARKS, items.as_array().expect("a list")));
        assert_eq!(columns, ["Exam", "Mark", "Points"]);
        assert_eq!(rows, [["Oral", "1", "4"], ["Essay", "not yet", "5"]]);
    }
}
