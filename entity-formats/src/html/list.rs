//! The page of a list.

use askama::Template;
use entity_core::format::View;
use entity_core::schema::{Field, Kind, Role};
use entity_core::{Collection, Item, encode_segment};
use serde_json::Value;

use super::frame::Frame;
use super::label;
use super::shown::Shown;
use crate::paging_links;

/// The most columns besides the title.
const MAX_COLUMNS: usize = 4;
/// Text that may be longer than this is no column.
const MAX_CELL: usize = 300;

/// A list.
#[derive(Template)]
#[template(path = "list.html")]
pub(super) struct ListPage<'a> {
    frame: Frame<'a>,
    doc: &'static str,
    kind: &'static str,
    caption: String,
    new_href: Option<String>,
    columns: Vec<String>,
    rows: Vec<Row<'a>>,
}

/// One entity of the list.
struct Row<'a> {
    href: String,
    title: String,
    cells: Vec<Shown<'a>>,
}

impl<'a> ListPage<'a> {
    /// The page of `collection`, whose entities have the fields in `trees`.
    pub(super) fn of(collection: &Collection, trees: &'a [Value], view: &View<'a>) -> Self {
        let fields: Vec<_> = collection
            .schema
            .fields
            .iter()
            .filter(|it| is_column(it, trees))
            .take(MAX_COLUMNS)
            .collect();
        let mut frame = Frame::new(label(collection.prefix), view)
            .with_data(view)
            .with_feeds(collection.schema, view);
        frame.paging = paging_links(collection, view, Some("html"));
        let prefix = encode_segment(collection.prefix);
        let rows = collection.items.iter().zip(trees);
        Self {
            doc: collection.schema.doc,
            kind: collection.prefix,
            caption: caption(collection),
            new_href: view
                .abilities
                .create
                .then(|| format!("/direct/{prefix}/new.html")),
            columns: fields.iter().map(|it| label(it.name)).collect(),
            rows: rows
                .map(|(item, tree)| Row::of(item, tree, &fields))
                .collect(),
            frame,
        }
    }
}

impl<'a> Row<'a> {
    fn of(item: &Item, tree: &'a Value, fields: &[&Field]) -> Self {
        let title = item.title().filter(|it| !it.trim().is_empty());
        let cell = |field: &&Field| match tree.get(field.name) {
            Some(value) => Shown::of_field(value, Some(field.kind)),
            None => Shown::Nothing,
        };
        Self {
            href: format!("/direct{}.html", item.reference().path()),
            title: title.unwrap_or_else(|| item.id()),
            cells: fields.iter().map(cell).collect(),
        }
    }
}

/// Whether a field is short, and there in at least one entity.
fn is_column(field: &Field, trees: &[Value]) -> bool {
    let is_short = match field.kind {
        Kind::Text(max) => max <= MAX_CELL,
        Kind::Html(_) | Kind::List | Kind::Object => false,
        _ => true,
    };
    let has_place = matches!(field.role, Some(Role::Id | Role::Title | Role::Version));
    let is_there = |tree: &Value| {
        tree.get(field.name)
            .is_some_and(|it| !it.is_null() && it != "")
    };
    is_short && !has_place && trees.iter().any(is_there)
}

fn caption(collection: &Collection) -> String {
    let count = u64::try_from(collection.items.len()).unwrap_or(u64::MAX);
    let first = collection.start.saturating_add(1);
    let last = collection.start.saturating_add(count);
    match collection.has_more {
        true => format!("{first} to {last}, and more"),
        false => format!("{first} to {last}"),
    }
}

/// What the link to another part of the list says.
fn paging_label(relation: &str) -> &'static str {
    match relation {
        "first" => "First page",
        "prev" => "Previous page",
        "last" => "Last page",
        _ => "Next page",
    }
}
