//! Lists of objects as the tables that they are: a line for each thing that they are about.

use std::collections::HashMap;

use entity_core::engine::Projection;
use entity_core::format::View;
use entity_core::reply::Item;
use entity_core::schema::{Field, Pivot, Role, Schema};
use entity_core::{Error, Result};
use serde_json::Value;

use super::{cell, end, lines};
use crate::primitives::buffer::Buffer;
use crate::render::json::METADATA;
use crate::render::pivot::{distinct, grouped};
use crate::render::tree;

/// Returns the field that is told as a table, if it is among those that were chosen.
pub(super) fn of(
    schema: &'static Schema,
    projection: Option<&Projection>,
) -> Option<(&'static Field, &'static Pivot)> {
    let chosen = projection.and_then(|it| it.fields.as_deref());
    let mut fields = schema.fields.iter();
    fields.find_map(|it| {
        let is_shown = chosen.is_none_or(|chosen| chosen.contains(&it.name));
        Some((it, it.pivot.filter(|_| is_shown)?))
    })
}

/// Writes the tables of these entities as one, each line with the reference and the address of its entity at the end. In
/// the table of a list, it begins with the id and the title of the entity.
pub(super) fn write(
    buffer: Buffer,
    (field, table): (&'static Field, &'static Pivot),
    items: &[Item],
    schema: Option<&'static Schema>,
    view: &View<'_>,
) -> Result<Vec<u8>> {
    let trees: Result<Vec<Value>> = items
        .iter()
        .map(|it| tree::of_entity(it, view.base_url))
        .collect();
    let trees = trees?;
    let leading = schema.into_iter().flat_map(|it| {
        [Role::Id, Role::Title]
            .into_iter()
            .filter_map(|role| it.role(role))
    });
    let leading: Vec<&str> = leading.map(|it| it.name).collect();
    let objects = |tree: &'_ Value| tree.get(field.name).and_then(Value::as_array).cloned();
    let lists: Vec<Vec<Value>> = trees
        .iter()
        .map(|it| objects(it).unwrap_or_default())
        .collect();
    let all = || lists.iter().flatten().filter_map(Value::as_object);
    let titles = distinct(all().filter_map(|it| it.get(table.column)));
    let beside: Vec<&str> = table
        .beside
        .iter()
        .copied()
        .filter(|name| all().any(|it| it.contains_key(*name)))
        .collect();
    let mut rows = lines(buffer);
    let names = leading.iter().chain(table.line).map(|it| (*it).to_owned());
    let columns = titles.iter().map(|it| cell(it).into_owned());
    let [reference, url, ..] = METADATA;
    let last = beside.iter().chain([&reference, &url]);
    let last = last.map(|it| (*it).to_owned());
    rows.write_record(names.chain(columns).chain(last))
        .map_err(Error::internal)?;
    for (index, (tree, list)) in trees.iter().zip(&lists).enumerate() {
        for line in grouped(list, table) {
            let of = |name: &str| line.iter().rev().find_map(|it| it.get(name));
            let told = leading.iter().map(|name| tree.get(*name));
            let told = told.chain(table.line.iter().map(|name| of(name)));
            let by_title: HashMap<String, &Value> = line
                .iter()
                .filter_map(|it| Some((it.get(table.column)?.to_string(), it.get(table.cell)?)))
                .collect();
            let cells = titles
                .iter()
                .map(|title| by_title.get(&title.to_string()).copied());
            let told = told.chain(cells).chain(beside.iter().map(|name| of(name)));
            let told = told.chain([reference, url].map(|name| tree.get(name)));
            let told = told.map(|it| cell(it.unwrap_or(&Value::Null)).into_owned());
            let written = rows.write_record(told).map_err(Error::internal);
            rows.get_ref().check(written, index)?;
        }
    }
    end(rows, items.len())
}
