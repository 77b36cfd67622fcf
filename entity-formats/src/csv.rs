//! Answers as comma-separated values (RFC 4180), for spreadsheets and scripts.
//!
//! The first row names the columns: the fields in the order of the schema, then `entityReference` and
//! `entityURL`. Lists and objects are written as JSON. Numbers are written as they are; text that a
//! spreadsheet would take for a formula has an apostrophe before it, and characters that no spreadsheet can
//! hold are replaced.

use std::borrow::Cow;

use csv::{Terminator, Writer, WriterBuilder};
use entity_core::format::{Format, Renderer, View};
use entity_core::schema::Schema;
use entity_core::{Body, Error, Item, Result};
use serde_json::Value;

use crate::feed::clean;
use crate::json::METADATA;
use crate::text::replace_forbidden;
use crate::tree;

/// Writes CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

entity_core::register_format!(Csv);

impl Renderer for Csv {
    fn format(&self) -> Format {
        Format {
            name: "csv",
            media_type: "text/csv; charset=utf-8; header=present",
            aliases: &[],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        matches!(body, Body::Entity(_) | Body::Collection(_))
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        match body {
            Body::Entity(item) => write(item.schema(), std::slice::from_ref(item), view),
            Body::Collection(it) => write(it.schema, &it.items, view),
            _ => Err(Error::not_acceptable(&["json", "xml", "html"])),
        }
    }
}

fn write(schema: &Schema, items: &[Item], view: &View<'_>) -> Result<Vec<u8>> {
    let columns = columns(schema);
    let mut rows = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::with_capacity(2048));
    rows.write_record(&columns).map_err(Error::internal)?;
    for item in items {
        write_row(&mut rows, &columns, &tree::of_entity(item, view.base_url)?)?;
    }
    rows.into_inner()
        .map_err(|error| Error::internal(error.into_error()))
}

fn columns(schema: &Schema) -> Vec<&'static str> {
    let own = schema.fields.iter().map(|it| it.name);
    let [reference, url, ..] = METADATA;
    let mut columns: Vec<_> = own.filter(|it| ![reference, url].contains(it)).collect();
    columns.extend([reference, url]);
    columns
}

fn write_row(rows: &mut Writer<Vec<u8>>, columns: &[&str], entity: &Value) -> Result<()> {
    let cells = columns
        .iter()
        .map(|it| cell(entity.get(*it).unwrap_or(&Value::Null)).into_owned());
    rows.write_record(cells).map_err(Error::internal)
}

fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) if is_formula(text) => Cow::Owned(format!("'{}", clean(text))),
        Value::String(text) => replace_forbidden(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Whether a spreadsheet would calculate with what is only text.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}
