//! The rows of a list, where its type is no table: of each entity its title, what people look for first, and the beginning
//! of its text.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::primitives::plain_text;
use entity_core::reply::{Collection, Item};
use entity_core::schema::{Kind, Layout, Role, Schema};
use serde_json::{Map, Value};

use super::column::{Column, orders};
use super::table::{caption, title};
use crate::html::facts::Facts;
use crate::html::mark::{Mark, icon};

/// The most bytes of a text of which a row shows the beginning.
const MOST_TEXT: usize = 200;
/// The most bytes of the beginning.
const MOST_LINE: usize = 160;

/// A row for each entity.
#[derive(Template)]
#[template(path = "rows.html")]
pub(in crate::html) struct Rows<'a> {
    /// The number of them.
    pub(super) caption: String,
    /// The links to other orders, if there are others.
    pub(super) orders: Vec<Column>,
    icon: &'static str,
    items: Vec<Row<'a>>,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Rows<'_> {}

/// One entity of the list.
struct Row<'a> {
    href: String,
    title: String,
    /// The person that the row is, or who wrote it.
    mark: Option<Mark>,
    line: String,
    facts: Facts<'a>,
}

/// Returns whether a list of the type has rows, and no table.
pub(super) fn has_rows(schema: &Schema) -> bool {
    !matches!(schema.look.layout, Layout::Plain | Layout::Agenda)
}

impl<'a> Rows<'a> {
    /// Returns the rows of `collection`, whose `entities` have the fields that a list may show.
    pub(in crate::html) fn of(
        collection: &Collection,
        entities: &[&'a Map<String, Value>],
        view: &View<'_>,
    ) -> Self {
        let rows = collection.items.iter().zip(entities);
        Self {
            caption: caption(collection),
            orders: match collection.is_searched {
                true => orders(collection.schema, view),
                false => Vec::new(),
            },
            icon: icon(collection.schema),
            items: rows
                .map(|(item, entity)| Row::of(item, entity, view))
                .collect(),
        }
    }
}

impl<'a> Row<'a> {
    fn of(item: &Item, entity: &'a Map<String, Value>, view: &View<'_>) -> Self {
        let schema = item.schema();
        let title = title(item, entity, view);
        let mut facts = Facts::of(item, entity, view);
        let author = facts.author.take();
        let text = schema
            .role(Role::Content)
            .filter(|_| schema.look.layout.is_text());
        let begin = text.and_then(|field| {
            let text = entity.get(field.name)?.as_str()?;
            Some(match field.kind {
                Kind::Html(_) => beginning(text),
                _ => line(text).to_owned(),
            })
        });
        let begin = begin.unwrap_or_default();
        let is_person = schema.look.layout == Layout::People;
        let (mark, name) = match author {
            Some(it) if it.name == title => (Some(it.mark), String::new()),
            Some(it) => (Some(it.mark), it.name),
            None => (
                is_person.then(|| Mark::of(&item.id(), &title)),
                String::new(),
            ),
        };
        Self {
            href: format!("/direct{}.html", item.reference().path()),
            line: match (name.is_empty(), begin.is_empty()) {
                (false, false) => format!("{name}: {begin}"),
                _ => format!("{name}{begin}"),
            },
            title,
            mark,
            facts,
        }
    }
}

/// The beginning of a text with markup, as one line.
fn beginning(html: &str) -> String {
    let most = html.floor_char_boundary(MOST_TEXT);
    let cut = html.get(..most).unwrap_or_default();
    // A tag that is cut off is none.
    let cut = match (most < html.len(), cut.rfind('<'), cut.rfind('>')) {
        (true, Some(open), close) if close.is_none_or(|it| it < open) => {
            cut.get(..open).unwrap_or_default()
        }
        _ => cut,
    };
    line(&plain_text(cut)).to_owned()
}

fn line(text: &str) -> &str {
    let most = text.floor_char_boundary(MOST_LINE);
    text.get(..most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_beginning_of_a_text_without_its_markup() {
        assert_eq!(
            beginning("<p>One <b>two</b></p><p>3 &lt; 4</p>"),
            "One two 3 < 4"
        );
        assert_eq!(beginning(""), "");
        let long = format!("<p>{}</p>", "ä".repeat(300));
        assert_eq!(beginning(&long).len(), MOST_LINE);
        let link = format!(
            "<p>{}<a href=\"https://example.org/\">here</a></p>",
            "a ".repeat(90)
        );
        assert!(!beginning(&link).contains('<'), "{}", beginning(&link));
    }
}
