//! The table of a list: on a page of its own, or on that of the entity to which its entities belong.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::reply::{Collection, Item};
use entity_core::schema::Role;
use serde_json::{Map, Value};

use super::column::{Column, columns};
use crate::html::reference;
use crate::html::shown::Shown;
use crate::html::words::{is_usual, word_of};

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
        let path = parent.reference().path();
        let target = |column: &Column, entity: &'a Map<String, Value>| {
            reference::target(column.field?, entity, view.registry)
        };
        columns.retain(|column| {
            let mut targets = entities.iter().filter_map(|it| target(column, it));
            !targets.any(|it| it.path == path)
        });
        let told_by = |column: &Column| -> Option<Vec<String>> {
            let told = entities.iter().map(|it| target(column, it)?.title(view));
            told.collect()
        };
        let own = parent.title();
        let repeats = collection.items.iter().all(|it| it.title() == own);
        // The first field that names somebody takes the place of the title.
        let mut others = columns.iter().enumerate().skip(1).filter(|_| repeats);
        let person = others.find_map(|(index, column)| Some((index, told_by(column)?)));
        let mut titles = Vec::new();
        if let Some((index, told)) = person {
            let label = columns.remove(index).label;
            if let Some(first) = columns.first_mut() {
                first.label = label;
            }
            titles = told;
        }
        let mut titles = titles.into_iter();
        let rows = collection.items.iter().zip(entities);
        let rows = rows.map(|(item, entity)| Row {
            title: titles.next().unwrap_or_else(|| title(item, entity, view)),
            ..Row::of(item, entity, &columns, view)
        });
        let rows = rows.collect();
        Self {
            id: format!("{}-caption", collection.prefix),
            caption: caption(collection),
            rows,
            columns,
        }
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
                .map(|it| match entity.get(it.name) {
                    Some(value) if is_usual(it, value) => Shown::Nothing,
                    _ => Shown::of_field(it, entity, item.schema(), view),
                })
                .collect(),
        }
    }
}

pub(super) fn title(item: &Item, entity: &Map<String, Value>, view: &View<'_>) -> String {
    let title = item.title().filter(|it| !it.trim().is_empty());
    title
        .map(|it| words_of(item, it))
        .or_else(|| reference::names(item.schema(), entity, view))
        .unwrap_or_else(|| view.registry.singular(item.prefix()))
}

/// A title that is one of the values for which there are words.
fn words_of(item: &Item, title: String) -> String {
    let field = item.schema().role(Role::Title);
    let words = field.and_then(|it| word_of(it, &title));
    words.unwrap_or(title)
}

pub(super) fn caption(collection: &Collection) -> String {
    let count = u64::try_from(collection.items.len()).unwrap_or(u64::MAX);
    let first = collection.start.saturating_add(1);
    let last = collection.start.saturating_add(count);
    match (collection.has_more, collection.start) {
        (true, _) => format!("{first} to {last}, and there are more"),
        (false, 0) => format!("{last} in all"),
        (false, _) => format!("{first} to {last}, the last ones"),
    }
}
