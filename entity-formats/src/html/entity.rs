//! The page of one entity.

use askama::Template;
use entity_core::Item;
use entity_core::format::View;
use entity_core::schema::{Kind, Role};
use serde_json::Value;

use super::frame::Frame;
use super::label;
use super::shown::{SanitizedHtml, Shown};
use crate::json::METADATA;

/// One entity.
#[derive(Template)]
#[template(path = "entity.html")]
pub(super) struct EntityPage<'a> {
    frame: Frame<'a>,
    edit_href: Option<String>,
    delete_href: Option<String>,
    sections: Vec<Section<'a>>,
    fields: Vec<(String, Shown<'a>)>,
}

/// A field whose value is a text with markup.
struct Section<'a> {
    id: String,
    label: String,
    content: SanitizedHtml<'a>,
}

impl<'a> EntityPage<'a> {
    /// The page of `item`, which has the fields in `tree`.
    pub(super) fn of(item: &Item, tree: &'a Value, view: &View<'a>) -> Self {
        let schema = item.schema();
        let path = item.reference().path();
        let mut sections = Vec::new();
        let mut fields = Vec::new();
        for (name, value) in tree.as_object().into_iter().flatten() {
            let field = schema.field(name);
            let is_in_title = field.is_some_and(|it| it.role == Some(Role::Title));
            if METADATA.contains(&name.as_str()) || is_in_title {
                continue;
            }
            match (field.map(|it| it.kind), value) {
                (Some(Kind::Html(_)), Value::String(html)) if !html.trim().is_empty() => {
                    sections.push(Section {
                        id: format!("section-{}", sections.len()),
                        label: label(name),
                        content: SanitizedHtml(html),
                    });
                }
                (kind, value) => match Shown::of_field(value, kind) {
                    Shown::Nothing => {}
                    shown => fields.push((label(name), shown)),
                },
            }
        }
        Self {
            frame: Frame::new(title(item), view)
                .below_type(item.prefix())
                .with_data(view)
                .with_feeds(schema, view),
            edit_href: view
                .abilities
                .update
                .then(|| format!("/direct{path}/edit.html")),
            delete_href: view
                .abilities
                .delete
                .then(|| format!("/direct{path}/delete.html")),
            sections,
            fields,
        }
    }
}

/// What a page calls `item`.
pub(super) fn title(item: &Item) -> String {
    item.title()
        .filter(|it| !it.trim().is_empty())
        .unwrap_or_else(|| format!("{} {}", label(item.prefix()), item.id()))
}
