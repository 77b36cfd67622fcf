//! The page of one entity.

use askama::Template;
use entity_core::format::View;
use entity_core::schema::{Field, Kind, Role, Writable};
use entity_core::{Item, Offer, Verb, encode_segment};
use serde_json::{Map, Value};

use super::frame::Frame;
use super::shown::{SanitizedHtml, Shown, instant};
use super::{label, label_of, reference};
use crate::json::METADATA;

/// One entity.
#[derive(Template)]
#[template(path = "entity.html")]
pub(super) struct EntityPage<'a> {
    frame: Frame<'a>,
    path: String,
    may_update: bool,
    may_delete: bool,
    /// What the caller may do with it.
    buttons: Vec<Command>,
    /// What there is to read about it.
    links: Vec<Command>,
    sections: Vec<Section<'a>>,
    fields: Vec<(String, Shown<'a>)>,
    /// What few readers want to know.
    further: Vec<(String, Shown<'a>)>,
}

/// Something that a link or a button leads to.
pub(super) struct Command {
    pub(super) href: String,
    pub(super) label: String,
    pub(super) doc: &'static str,
}

/// A field whose value is a text with markup.
struct Section<'a> {
    id: String,
    label: String,
    content: SanitizedHtml<'a>,
}

impl<'a> EntityPage<'a> {
    /// What is around the page of `item`.
    pub(super) fn frame(item: &Item, view: &View<'a>) -> Frame<'a> {
        Frame::new(title(item), view).below_type(item.prefix())
    }

    /// The page of `item`, which has the fields in `tree`.
    pub(super) fn of(item: &Item, tree: &'a Value, frame: Frame<'a>, view: &View<'a>) -> Self {
        let path = format!("/direct{}", item.reference().path());
        let mut page = Self {
            frame,
            may_update: view.abilities.update,
            may_delete: view.abilities.delete,
            buttons: buttons(&view.abilities.actions, &path),
            links: related(item, view)
                .into_iter()
                .chain(links(&view.abilities.actions, &path))
                .collect(),
            path,
            sections: Vec::new(),
            fields: Vec::new(),
            further: Vec::new(),
        };
        for (name, value) in tree.as_object().into_iter().flatten() {
            if let Some(entity) = tree.as_object() {
                page.add(name, value, entity, item, view);
            }
        }
        if page.fields.is_empty() && page.sections.is_empty() {
            page.fields = std::mem::take(&mut page.further);
        }
        page
    }

    /// Puts a field where readers look for it, unless the page says the same elsewhere.
    fn add(
        &mut self,
        name: &str,
        value: &'a Value,
        entity: &'a Map<String, Value>,
        item: &Item,
        view: &View<'_>,
    ) {
        let Some(field) = item.schema().field(name) else {
            if !METADATA.contains(&name) {
                self.push(label(name), Shown::of(value), true);
            }
            return;
        };
        let fields = item.schema().fields;
        if is_said_elsewhere(field, value, fields, entity)
            || reference::is_naming(name, fields, entity, view.registry)
        {
            return;
        }
        match (field.kind, value) {
            (Kind::Html(_), Value::String(html)) if !html.trim().is_empty() => {
                self.sections.push(Section {
                    id: format!("section-{}", self.sections.len()),
                    label: label_of(field),
                    content: SanitizedHtml(html),
                });
            }
            _ => {
                let shown = Shown::of_field(field, entity, view);
                self.push(label_of(field), shown, is_for_few(field));
            }
        }
    }

    fn push(&mut self, label: String, shown: Shown<'a>, is_for_few: bool) {
        let fields = match is_for_few {
            true => &mut self.further,
            false => &mut self.fields,
        };
        if !matches!(shown, Shown::Nothing) {
            fields.push((label, shown));
        }
    }
}

/// What a page calls `item`.
pub(super) fn title(item: &Item) -> String {
    item.title()
        .filter(|it| !it.trim().is_empty())
        .unwrap_or_else(|| format!("{} {}", label(item.prefix()), item.id()))
}

/// The buttons of those of the `offers` that change what is at `path`.
pub(super) fn buttons(offers: &[Offer], path: &str) -> Vec<Command> {
    commands(offers, path, "", |verb| verb != Verb::Get)
}

/// The links to those of the `offers` that only read what is at `path`.
pub(super) fn links(offers: &[Offer], path: &str) -> Vec<Command> {
    commands(offers, path, ".html", |verb| verb == Verb::Get)
}

fn commands(
    offers: &[Offer],
    path: &str,
    extension: &str,
    is_wanted: impl Fn(Verb) -> bool,
) -> Vec<Command> {
    let wanted = offers.iter().filter(|it| is_wanted(it.verb));
    wanted
        .map(|offer| Command {
            href: format!("{path}/{}{extension}", encode_segment(offer.name)),
            label: label(offer.name),
            doc: offer.doc,
        })
        .collect()
}

/// The lists of other types that are about `item` and that the reader may open.
fn related(item: &Item, view: &View<'_>) -> Vec<Command> {
    let related = view.abilities.related.iter();
    related
        .map(|it| Command {
            href: format!(
                "/direct/{}/{}/{}.html",
                encode_segment(it.prefix),
                encode_segment(it.action),
                encode_segment(&item.id())
            ),
            label: view.registry.plural(it.prefix),
            doc: it.doc,
        })
        .collect()
}

/// Whether the title, a section or another field says the same.
fn is_said_elsewhere(
    field: &Field,
    value: &Value,
    fields: &[Field],
    entity: &Map<String, Value>,
) -> bool {
    let is_same = |it: &Field| it.name != field.name && entity.get(it.name) == Some(value);
    let is_same_instant = |it: &Field| {
        let own = entity.get(it.name).and_then(|own| instant(it.kind, own));
        it.kind != Kind::Moment && own.is_some() && own == instant(field.kind, value)
    };
    match field.kind {
        _ if field.role == Some(Role::Title) => true,
        Kind::Moment => fields.iter().any(is_same_instant),
        Kind::Text(_) => fields
            .iter()
            .any(|it| matches!(it.kind, Kind::Html(_)) && is_same(it)),
        _ => false,
    }
}

/// Whether the field is one of those that a service keeps for itself or for programs.
fn is_for_few(field: &Field) -> bool {
    let is_plain = matches!(field.kind, Kind::Text(_) | Kind::Boolean);
    let is_derived =
        field.writable == Writable::Never && field.column.is_none() && field.role.is_none();
    let is_opaque =
        field.writable == Writable::Never && field.role.is_none() && field.name.ends_with("Id");
    matches!(field.role, Some(Role::Id | Role::Version)) || (is_plain && is_derived) || is_opaque
}
