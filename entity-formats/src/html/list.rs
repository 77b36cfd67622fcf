//! The page of a list.

mod column;
mod filter;

use askama::Template;
use entity_core::format::View;
use entity_core::{Collection, Item, Result, encode_segment};
use serde_json::{Map, Value};

use self::column::{Column, columns, is_simple};
use self::filter::Filter;
use super::entity::{Command, buttons, links};
use super::form::is_prefilled;
use super::frame::Frame;
use super::label;
use super::query::Query;
use super::shown::Shown;
use crate::{paging_links, title, tree};

/// A list.
#[derive(Template)]
#[template(path = "list.html")]
pub(super) struct ListPage<'a> {
    frame: Frame<'a>,
    doc: &'static str,
    kind: String,
    caption: String,
    new_href: Option<String>,
    buttons: Vec<Command>,
    links: Vec<Command>,
    filter: Option<Filter>,
    columns: Vec<Column>,
    rows: Vec<Row<'a>>,
    paging: Vec<(&'static str, String)>,
}

/// One entity of the list.
struct Row<'a> {
    href: String,
    title: String,
    /// One for each column but the first.
    cells: Vec<Shown<'a>>,
}

/// The fields of `item` that a list may show, so that long texts are not kept for nothing.
pub(super) fn tree_of(item: &Item, view: &View<'_>) -> Result<Value> {
    let mut tree = tree::of_entity(item, view.base_url)?;
    if let Some(fields) = tree.as_object_mut() {
        let schema = item.schema();
        fields.retain(|name, _| schema.field(name).is_some_and(is_simple));
    }
    Ok(tree)
}

impl<'a> ListPage<'a> {
    /// What is around the page of `collection`.
    pub(super) fn frame(collection: &Collection, view: &View<'a>) -> Frame<'a> {
        let mut frame = Frame::new(title::of_list(collection, view), view);
        if !title::is_whole(collection, view.path) {
            frame = frame.below_type(collection.prefix);
        }
        frame.paging = paging_links(collection, view, Some("html"));
        frame
    }

    /// The page of `collection`, whose entities have the fields in `trees`.
    pub(super) fn of(
        collection: &Collection,
        trees: &'a [Value],
        frame: Frame<'a>,
        view: &View<'a>,
    ) -> Self {
        let entities: Vec<_> = trees.iter().filter_map(Value::as_object).collect();
        let columns = columns(collection.schema, &entities, view, collection.is_searched);
        let rows = collection.items.iter().zip(entities);
        let path = format!("/direct/{}", encode_segment(collection.prefix));
        Self {
            doc: collection.schema.doc,
            kind: label(collection.prefix).to_lowercase(),
            caption: caption(collection),
            new_href: view.abilities.create.then(|| {
                let is_known = |name: &str| is_prefilled(collection.schema, name);
                Query::of(view)
                    .only(is_known)
                    .behind(&format!("{path}/new.html"))
            }),
            buttons: buttons(&view.abilities.actions, &path),
            links: links(&view.abilities.actions, &path),
            filter: Filter::of(collection.schema, view).filter(|_| collection.is_searched),
            rows: rows
                .map(|(item, entity)| Row::of(item, entity, &columns, view))
                .collect(),
            columns,
            paging: frame.paging.clone(),
            frame,
        }
    }
}

impl<'a> Row<'a> {
    fn of(
        item: &Item,
        entity: &'a Map<String, Value>,
        columns: &[Column],
        view: &View<'_>,
    ) -> Self {
        let title = item.title().filter(|it| !it.trim().is_empty());
        let others = columns.iter().filter_map(|it| it.field);
        Self {
            href: format!("/direct{}.html", item.reference().path()),
            title: title.unwrap_or_else(|| item.id()),
            cells: others.map(|it| Shown::of_field(it, entity, view)).collect(),
        }
    }
}

fn caption(collection: &Collection) -> String {
    let count = u64::try_from(collection.items.len()).unwrap_or(u64::MAX);
    let first = collection.start.saturating_add(1);
    let last = collection.start.saturating_add(count);
    match (collection.has_more, collection.start) {
        (true, _) => format!("{first} to {last}, and there are more"),
        (false, 0) => format!("{last} in all"),
        (false, _) => format!("{first} to {last}, the last ones"),
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
