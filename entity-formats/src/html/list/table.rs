//! The table of a list: on a page of its own, or on that of the entity to which its entities belong.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::{Collection, Item};
use serde_json::{Map, Value};

use super::column::{Column, columns};
use crate::html::reference;
use crate::html::shown::Shown;

/// A row for each entity, with a column for each field that people look for.
#[derive(Template)]
#[template(path = "table.html")]
pub(in crate::html) struct Table<'a> {
    id: String,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Row<'a>>,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Table<'_> {}

/// One entity of the list.
struct Row<'a> {
    href: String,
    title: String,
    /// One for each column but the first.
    cells: Vec<Shown<'a>>,
}

impl<'a> Table<'a> {
    /// Returns the table of `collection`, whose `entities` have the fields that a list may show.
    pub(in crate::html) fn of(
        collection: &Collection,
        entities: &[&'a Map<String, Value>],
        view: &View<'_>,
    ) -> Self {
        let columns = columns(collection.schema, entities, view, collection.is_searched);
        let rows = collection.items.iter().zip(entities);
        let rows = rows.map(|(item, entity)| Row {
            title: title(item, entity, view),
            ..Row::of(item, entity, &columns, view)
        });
        Self {
            id: "caption".to_owned(),
            caption: caption(collection),
            rows: rows.collect(),
            columns,
        }
    }

    /// Returns the table of `collection` for the page of the entity `parent`, whose title its entities do not repeat: they
    /// are called by whom they are of.
    pub(in crate::html) fn below(
        parent: &Item,
        collection: &Collection,
        entities: &[&'a Map<String, Value>],
        view: &View<'_>,
    ) -> Self {
        let mut columns = columns(collection.schema, entities, view, false);
        let (path, schema) = (parent.reference().path(), collection.schema);
        let belongs = |field: &str, entity: &Map<String, Value>| {
            let field = schema.field(field);
            let target = field.and_then(|it| reference::target(it, entity, view.registry));
            target.is_some_and(|it| it.path == path)
        };
        columns.retain(|column| {
            let is_of_parent = |entity: &&Map<String, Value>| {
                column.field.is_some_and(|it| belongs(it.name, entity))
            };
            !entities.iter().any(is_of_parent)
        });
        let own = parent.title();
        let repeats = collection.items.iter().all(|it| it.title() == own);
        // The first field that names somebody takes the place of the title.
        let person = columns.iter().position(|column| {
            let names = |entity: &&Map<String, Value>| {
                let target = reference::target(column.field?, entity, view.registry)?;
                target.title(view)
            };
            !entities.is_empty() && entities.iter().all(|it| names(it).is_some())
        });
        let person = person.filter(|_| repeats).map(|it| columns.remove(it));
        let rows = collection.items.iter().zip(entities);
        let rows = rows.map(|(item, entity)| {
            let field = person.as_ref().and_then(|it| it.field);
            let target = field.and_then(|it| reference::target(it, entity, view.registry));
            let name = target.and_then(|it| it.title(view));
            Row {
                title: name.unwrap_or_else(|| title(item, entity, view)),
                ..Row::of(item, entity, &columns, view)
            }
        });
        let rows = rows.collect();
        if let (Some(first), Some(person)) = (columns.first_mut(), person) {
            first.label = person.label;
        }
        Self {
            id: format!("{}-caption", collection.prefix),
            caption: caption(collection),
            rows,
            columns,
        }
    }

    pub(in crate::html) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<'a> Row<'a> {
    /// Returns the row of `item`, without a title.
    fn of(
        item: &Item,
        entity: &'a Map<String, Value>,
        columns: &[Column],
        view: &View<'_>,
    ) -> Self {
        let others = columns.iter().filter_map(|it| it.field);
        Self {
            href: format!("/direct{}.html", item.reference().path()),
            title: String::new(),
            cells: others
                .map(|it| Shown::of_field(it, entity, item.schema(), view))
                .collect(),
        }
    }
}

fn title(item: &Item, entity: &Map<String, Value>, view: &View<'_>) -> String {
    let title = item.title().filter(|it| !it.trim().is_empty());
    title
        .or_else(|| reference::names(item.schema(), entity, view))
        .unwrap_or_else(|| item.id())
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
