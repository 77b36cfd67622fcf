//! The page of one entity.

use std::sync::LazyLock;

use askama::Template;
use entity_core::Verb;
use entity_core::format::View;
use entity_core::primitives::label;
use entity_core::reply::{Item, Offer};
use entity_core::schema::{Field, Kind, Layout, Role, Writable};
use serde_json::{Map, Value};

use super::ask::{Ask, is_asking};
use super::children::{Children, List};
use super::clock::Clock;
use super::facts::{Facts, is_fact};
use super::frame::Frame;
use super::place::near;
use super::reference;
use super::sheet::Sheet;
use super::shown::{SanitizedHtml, Shown, file, instant};
use super::words::{is_nameless, is_usual, label_of};
use crate::render::json::METADATA;

/// The fields of something that is no object.
static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// One entity.
#[derive(Template)]
#[template(path = "entity.html")]
pub(super) struct EntityPage<'a> {
    frame: Frame<'a>,
    facts: Facts<'a>,
    path: String,
    may_update: bool,
    may_delete: bool,
    /// The label of the button that deletes it.
    removal: &'static str,
    /// The commands that the caller may run on it.
    buttons: Vec<Command>,
    /// The commands that the caller may run on it, for which a form asks for something first.
    asks: Vec<Ask<'a>>,
    /// Why the reader may not do something with it now.
    reasons: Vec<&'static str>,
    /// The links to more about it.
    links: Vec<Command>,
    sections: Vec<Section<'a>>,
    /// The form that stands in the place of a list or a field.
    sheet: Option<Sheet<'a>>,
    /// The lists of entities that belong to it.
    children: Vec<Children<'a>>,
    /// Its files, by address and name.
    files: Vec<(String, String)>,
    /// Instants, where they stand beside the text.
    dates: Vec<(String, Shown<'a>)>,
    fields: Vec<(String, Shown<'a>)>,
    /// True if the fields are folded, because what people read comes before them.
    is_folded: bool,
    /// The fields for few readers.
    further: Vec<(String, Shown<'a>)>,
}

/// Something that a link or a button leads to.
pub(super) struct Command {
    pub(super) href: String,
    pub(super) label: String,
}

/// A field whose value is a text with markup.
struct Section<'a> {
    id: String,
    label: String,
    /// True if it is what the entity says, which needs no heading.
    is_text: bool,
    content: SanitizedHtml<'a>,
}

/// Returns the prefix, the path and the title of what `item` belongs to, if it is something that the reader may open.
fn above(item: &Item, tree: &Value, view: &View<'_>) -> Option<(&'static str, String, String)> {
    let field = view.registry.route(item.prefix())?.parent()?;
    let target = reference::target(field, tree.as_object()?, view.registry)?;
    let title = view.allowed_actions.readable.get(&target.path)?;
    Some((field.references?, target.path, title.clone()))
}

impl<'a> EntityPage<'a> {
    /// Returns the frame of the page of `item`, which has the fields in `tree`.
    pub(super) fn frame(item: &Item, tree: &Value, view: &View<'a>) -> Frame<'a> {
        let field = item.schema().role(Role::Site);
        let site = field.and_then(|it| tree.get(it.name)?.as_str());
        let site = site.filter(|_| item.prefix() != "site");
        let mut frame = Frame::new(title(item, view), view).showing(item.prefix(), view);
        frame.is_narrow = item.schema().look.layout.is_text();
        frame.is_wide = view.allowed_actions.sheet.is_some();
        let frame = match above(item, tree, view) {
            Some((prefix, path, title)) => frame
                .below_list(prefix, site, view)
                .below_entity(&path, title),
            None => frame.below_list(item.prefix(), site, view),
        };
        // What a course has one of is called as the part of the course is.
        let course = frame.course.as_ref().map(|it| &it.title);
        match course == Some(&frame.title) && item.prefix() != "site" {
            true => frame.of_part(item.prefix()),
            false => frame,
        }
    }

    /// The page of `item`, which has the fields in `tree`, with the `lists` of what belongs to it, whose entities have the
    /// fields in `below`.
    pub(super) fn of(
        item: &Item,
        tree: &'a Value,
        (lists, below): (&[List<'_>], &'a [Vec<Value>]),
        frame: Frame<'a>,
        view: &View<'a>,
    ) -> Self {
        let path = format!("/direct{}", item.reference().path());
        let entity = tree.as_object().unwrap_or(&EMPTY);
        let layout = item.schema().look.layout;
        let is_home = frame.is_home();
        let mut page = Self {
            facts: Facts::of(item, entity, view),
            frame,
            may_update: view.allowed_actions.update,
            may_delete: view.allowed_actions.delete,
            removal: view.allowed_actions.removal.unwrap_or("Delete"),
            buttons: buttons(&view.allowed_actions.actions),
            asks: Ask::all(&view.allowed_actions.actions, tree, view),
            reasons: view
                .allowed_actions
                .actions
                .iter()
                .filter_map(|it| it.reason)
                .collect(),
            links: related(lists, view)
                .into_iter()
                .chain(links(&view.allowed_actions.actions))
                .collect(),
            path,
            children: Children::all(item, lists, below, view),
            sections: Vec::new(),
            sheet: Sheet::shown(view),
            files: Vec::new(),
            dates: Vec::new(),
            is_folded: item.schema().look.layout.is_text() || layout == Layout::Work || is_home,
            fields: Vec::new(),
            further: Vec::new(),
        };
        for (name, value) in entity {
            page.add(name, value, entity, item, view);
        }
        page
    }

    /// Returns whether something stands beside the text.
    fn has_aside(&self) -> bool {
        let is_needed = !self.dates.is_empty() || !self.files.is_empty() || !self.links.is_empty();
        !self.frame.is_narrow && is_needed
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
                self.push(name, label(name), Shown::of(value, Clock::of(view)), true);
            }
            return;
        };
        if Sheet::replaces(name, view) {
            return;
        }
        if is_bulky(value) && (self.sheet.is_some() || !self.children.is_empty()) {
            return;
        }
        let fields = item.schema().fields;
        let is_frame = field.role == Some(Role::Site) && self.frame.course.is_some();
        if is_frame
            || is_fact(field, item.schema())
            || is_usual(field, value)
            || is_said_elsewhere(field, value, fields, entity)
            || reference::is_naming(name, fields, entity, view.registry)
        {
            return;
        }
        match (field.kind, value) {
            (Kind::Html(_), Value::String(html)) if !html.trim().is_empty() => {
                self.sections.push(Section {
                    id: format!("section-{}", self.sections.len()),
                    label: label_of(field),
                    is_text: field.role == Some(Role::Content),
                    content: SanitizedHtml(html),
                });
            }
            (Kind::List, Value::Array(items))
                if !is_for_few(field) && !items.is_empty() && items.iter().all(is_file) =>
            {
                self.files.extend(items.iter().filter_map(file));
            }
            _ => {
                let is_aside = is_for_few(field)
                    || is_bulky(value)
                    || (is_nameless(value) && !reference::is_named(field, entity, view))
                    || reference::is_opaque(field, entity, view);
                let shown = match value {
                    Value::String(text) if is_aside => Shown::of_text(text),
                    _ => Shown::of_field(field, entity, item.schema(), view),
                };
                let is_date = matches!(shown, Shown::Time { .. })
                    && self.is_folded
                    && !self.frame.is_narrow
                    && !matches!(field.role, Some(Role::Created | Role::Updated));
                if is_date && !is_aside {
                    self.dates.push((label_of(field), shown));
                } else {
                    self.push(name, label_of(field), shown, is_aside);
                }
            }
        }
    }

    /// Shows the field `name`, which people call `words`; by the name, if another one among the same is called so.
    fn push(&mut self, name: &str, words: String, shown: Shown<'a>, is_for_few: bool) {
        let fields = match is_for_few {
            true => &mut self.further,
            false => &mut self.fields,
        };
        let is_taken = fields.iter().any(|it| it.0 == words);
        let words = if is_taken { label(name) } else { words };
        if !matches!(shown, Shown::Nothing) {
            fields.push((words, shown));
        }
    }
}

/// Returns the title of the page of `item`: its own, that of the entity it is about, or the name of its type.
pub(super) fn title(item: &Item, view: &View<'_>) -> String {
    let own = item.title().filter(|it| !it.trim().is_empty());
    let about = || {
        let data = serde_json::to_value(item.data()).ok()?;
        reference::names(item.schema(), data.as_object()?, view)
    };
    own.or_else(about)
        .unwrap_or_else(|| view.registry.singular(item.prefix()))
}

/// The buttons of those of the `offers` that change something and ask for nothing.
pub(super) fn buttons(offers: &[Offer]) -> Vec<Command> {
    commands(offers, "", |it| it.verb != Verb::Get && !is_asking(it))
}

/// The links to those of the `offers` that only read.
pub(super) fn links(offers: &[Offer]) -> Vec<Command> {
    commands(offers, ".html", |it| it.verb == Verb::Get)
}

fn commands(offers: &[Offer], extension: &str, is_wanted: impl Fn(&Offer) -> bool) -> Vec<Command> {
    let wanted = offers
        .iter()
        .filter(|it| it.reason.is_none() && is_wanted(it));
    wanted
        .map(|offer| Command {
            href: match offer.answers_bytes {
                true => format!("/direct{}", offer.path),
                false => format!("/direct{}{extension}", offer.path),
            },
            label: offer.label.clone(),
        })
        .collect()
}

/// The lists of other types that are about `item`, that the reader may open and that the page does not show.
fn related(shown: &[List<'_>], view: &View<'_>) -> Vec<Command> {
    let related = view.allowed_actions.related.iter();
    related
        .filter(|it| !shown.iter().any(|shown| std::ptr::eq(shown.place, *it)))
        .filter(|it| !Sheet::replaces(it.prefix, view))
        .filter(|it| {
            !view
                .allowed_actions
                .menu
                .iter()
                .any(|part| part.1.prefix == it.prefix)
        })
        .map(|it| Command {
            href: near(it, view),
            label: view.registry.plural(it.prefix),
        })
        .collect()
}

fn is_file(item: &Value) -> bool {
    file(item).is_some()
}

/// The most parts that each entry of a list may have for people to read the list within a page.
const MOST_PARTS: usize = 12;

/// Returns whether the value is a list of entries with so many parts that they have pages of their own.
fn is_bulky(value: &Value) -> bool {
    let mut items = value.as_array().into_iter().flatten();
    items.any(|it| it.as_object().is_some_and(|it| it.len() > MOST_PARTS))
}

/// Returns whether the title, a section or another field says the same.
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

/// Returns whether the field is one of those that a service keeps for itself or for programs.
fn is_for_few(field: &Field) -> bool {
    let is_plain = matches!(field.kind, Kind::Text(_) | Kind::Boolean);
    let is_derived =
        field.writable == Writable::Never && field.column.is_none() && field.role.is_none();
    let is_opaque =
        field.writable == Writable::Never && field.role.is_none() && field.name.ends_with("Id");
    let is_id = field.name == "id" || matches!(field.role, Some(Role::Id | Role::Version));
    let is_number = field.kind == Kind::Integer && field.offered.is_some();
    field.is_for_programs
        || is_number
        || is_id
        || (is_plain && is_derived && field.label.is_none())
        || is_opaque
}
