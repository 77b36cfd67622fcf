//! Lists that are tables: a line for each thing that they are about, with a column for each of its aspects. What is about
//! one thing only is told by aspect, one below the other.

use entity_core::primitives::label;
use entity_core::schema::Pivot;
use serde_json::{Map, Value};

use super::clock::Clock;
use super::shown::{Shown, is_for_programs};
use crate::render::pivot::{distinct, grouped};

/// The text for an aspect that has nothing yet.
const NOT_YET: &str = "not yet";

/// Returns the table of `items`, as `pivot` declares it.
pub(super) fn table<'a>(pivot: &Pivot, items: &'a [Value], clock: Clock) -> Shown<'a> {
    let lines = grouped(items, pivot);
    let aspects = distinct(
        items
            .iter()
            .filter_map(|it| it.get(pivot.column).filter(|it| it.is_string())),
    );
    match lines.as_slice() {
        [] => Shown::Nothing,
        [only] => of_one(pivot, only, clock),
        _ => of_all(pivot, &lines, &aspects, clock),
    }
}

fn cell<'a>(pivot: &Pivot, item: &'a Map<String, Value>, clock: Clock) -> Shown<'a> {
    match item.get(pivot.cell) {
        None | Some(Value::Null) => Shown::Text(NOT_YET.to_owned()),
        Some(value) => Shown::of(value, clock),
    }
}

/// An aspect on each line, with what else is known of it.
fn of_one<'a>(pivot: &Pivot, items: &[&'a Map<String, Value>], clock: Clock) -> Shown<'a> {
    let shown = |value: Option<&'a Value>| value.map_or(Shown::Nothing, |it| Shown::of(it, clock));
    let names = items.first().into_iter().flat_map(|it| it.keys());
    let others: Vec<&str> = names
        .map(String::as_str)
        .filter(|it| ![pivot.column, pivot.cell].contains(it) && !pivot.line.contains(it))
        .filter(|it| !is_for_programs(it))
        .collect();
    let row = |item: &&'a Map<String, Value>| {
        let aspect = shown(item.get(pivot.column));
        let others = others.iter().map(|it| shown(item.get(*it)));
        [aspect, cell(pivot, item, clock)]
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
fn of_all<'a>(
    pivot: &Pivot,
    lines: &[Vec<&'a Map<String, Value>>],
    aspects: &[&Value],
    clock: Clock,
) -> Shown<'a> {
    let told: Vec<_> = pivot
        .line
        .iter()
        .filter(|it| !is_for_programs(it))
        .collect();
    let row = |own: &Vec<&'a Map<String, Value>>| {
        let names = told.iter().map(|name| {
            let value = own.first().and_then(|it| it.get(**name));
            value.map_or(Shown::Nothing, |it| Shown::of(it, clock))
        });
        let cells = aspects.iter().map(|aspect| {
            let found = own.iter().find(|it| it.get(pivot.column) == Some(*aspect));
            found.map_or(Shown::Nothing, |it| cell(pivot, it, clock))
        });
        names.chain(cells).collect()
    };
    let titles = aspects.iter().filter_map(|it| it.as_str());
    let titles = titles.map(ToOwned::to_owned);
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
        let (columns, rows) = texts(table(&MARKS, items.as_array().expect("a list"), Clock::UTC));
        assert_eq!(columns, ["Name", "Oral", "Essay"]);
        assert_eq!(rows, [["Ada", "1", "2"], ["Ben", "not yet", ""]]);
    }

    #[test]
    fn the_aspects_of_one_thing_are_lines() {
        let items = json!([
            {"studentId": "1", "name": "Ada", "exam": "Oral", "mark": "1", "points": 4},
            {"studentId": "1", "name": "Ada", "exam": "Essay", "mark": null, "points": 5},
        ]);
        let (columns, rows) = texts(table(&MARKS, items.as_array().expect("a list"), Clock::UTC));
        assert_eq!(columns, ["Exam", "Mark", "Points"]);
        assert_eq!(rows, [["Oral", "1", "4"], ["Essay", "not yet", "5"]]);
    }
}
