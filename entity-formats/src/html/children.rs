//! The children of an entity, on its page: texts one below the other, so that a thread is read at once, anything else as
//! a table.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::Result;
use entity_core::format::View;
use entity_core::reply::{Collection, Item, Related};
use entity_core::schema::{Field, Kind, Role, Schema, Writable};
use serde_json::{Map, Value};

use super::list::{self, Table};
use super::place::href_of;
use super::shown::{SanitizedHtml, Shown};
use crate::render::tree;

/// The maximum number of bytes of the texts of one list.
const MOST_TEXT: usize = 40_000;

/// The entities of one type that belong to another one.
#[derive(Template)]
#[template(path = "children.html")]
pub(super) struct Children<'a> {
    id: String,
    label: String,
    href: String,
    articles: Vec<Article<'a>>,
    table: Table<'a>,
    has_more: bool,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Children<'_> {}

/// An entity that is read as a text.
struct Article<'a> {
    href: String,
    title: String,
    time: Option<Shown<'a>>,
    content: SanitizedHtml<'a>,
}

/// A list that a page shows: where all of it is, and its beginning.
pub(super) type List<'a> = (&'a Related, &'a Collection);

/// Returns the lists of what belongs to `item`, which has the fields in `tree`, that its page shows: those in which there
/// is something, unless a text that the service makes of it leads there already.
pub(super) fn shown<'a>(item: &Item, tree: &Value, view: &'a View<'_>) -> Vec<List<'a>> {
    let fields = item.schema().fields.iter();
    let made =
        fields.filter(|it| matches!(it.kind, Kind::Html(_)) && it.writable == Writable::Never);
    let made: Vec<&str> = made.filter_map(|it| tree.get(it.name)?.as_str()).collect();
    let is_told = |it: &Item| {
        let page = format!("/direct{}.html", it.reference().path());
        made.iter().any(|text| text.contains(&page))
    };
    let related = view.abilities.related.iter();
    let lists = related.filter_map(|it| Some((it, it.first.as_deref()?)));
    let lists = lists.filter(|(_, list)| !list.items.is_empty() && !list.items.iter().any(is_told));
    lists.collect()
}

/// Returns the fields of the entities of each of the lists, as far as the page shows them.
pub(super) fn trees(lists: &[List<'_>], view: &View<'_>) -> Result<Vec<Vec<Value>>> {
    let whole = |item: &Item| tree::of_entity(item, view.base_url);
    let of_list = |list: &Collection| match content_of(list.schema) {
        Some(_) => list.items.iter().map(whole).collect(),
        None => list::trees(&list.items, list.schema),
    };
    lists.iter().map(|it| of_list(it.1)).collect()
}

/// Returns the field of the text that the entities of a type are, if they are texts with markup.
fn content_of(schema: &Schema) -> Option<&Field> {
    let content = schema.role(Role::Content);
    content.filter(|it| matches!(it.kind, Kind::Html(_)))
}

impl<'a> Children<'a> {
    /// Returns the lists of what belongs to `parent`, with the fields that [`trees`] returns.
    pub(super) fn all(
        parent: &Item,
        lists: &[List<'_>],
        trees: &'a [Vec<Value>],
        view: &View<'_>,
    ) -> Vec<Self> {
        let lists = lists.iter().zip(trees).enumerate();
        let lists = lists.map(|(index, ((related, list), trees))| {
            let entities: Vec<_> = trees.iter().filter_map(Value::as_object).collect();
            let content = content_of(list.schema);
            let articles = content.map(|it| articles(parent, (list, it), &entities, view));
            let shown: &[_] = if content.is_some() { &[] } else { &entities };
            Self {
                id: format!("list-{index}"),
                label: view.registry.plural(related.prefix),
                href: href_of(related),
                has_more: list.has_more
                    || articles
                        .as_ref()
                        .is_some_and(|it| it.len() < entities.len()),
                articles: articles.unwrap_or_default(),
                table: Table::below(parent, list, shown, view),
            }
        });
        lists.collect()
    }
}

/// Returns the first of the entities as texts.
fn articles<'a>(
    parent: &Item,
    (list, content): (&Collection, &Field),
    entities: &[&'a Map<String, Value>],
    view: &View<'_>,
) -> Vec<Article<'a>> {
    let mut bytes = 0_usize;
    let mut articles = Vec::new();
    for (item, entity) in list.items.iter().zip(entities) {
        let text = entity.get(content.name).and_then(Value::as_str);
        let text = text.unwrap_or_default();
        bytes = bytes.saturating_add(text.len());
        if bytes > MOST_TEXT && !articles.is_empty() {
            break;
        }
        let entry = item.feed_entry();
        let author = entry.as_ref().and_then(|it| it.author.clone());
        let title = item
            .title()
            .filter(|it| Some(it) != parent.title().as_ref());
        let names: Vec<String> = title.into_iter().chain(author).collect();
        articles.push(Article {
            href: format!("/direct{}.html", item.reference().path()),
            title: match names.is_empty() {
                true => view.registry.singular(item.prefix()),
                false => names.join(", "),
            },
            time: entry.and_then(|it| it.published).map(Shown::of_instant),
            content: SanitizedHtml(text),
        });
    }
    articles
}
