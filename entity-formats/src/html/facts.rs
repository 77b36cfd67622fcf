//! The facts that people look for first in an entity: who wrote it, by when it is to be done, and what is not the rule about it. The
//! type declares it; the page tells it below the title, and a list in each row.

use entity_core::format::View;
use entity_core::reply::Item;
use entity_core::schema::{Emphasis, Field, Kind, Layout, Role, Schema, Writable};
use serde_json::{Map, Value};

use super::mark::Mark;
use super::reference;
use super::shown::Shown;
use super::words::{is_usual, label_of};

/// The facts about one entity.
pub(super) struct Facts<'a> {
    pub(super) author: Option<Person>,
    /// The time from which it is there.
    pub(super) time: Option<Shown<'a>>,
    /// Instants until which something is to be done, each with its label.
    pub(super) due: Vec<(String, Shown<'a>)>,
    pub(super) told: Vec<String>,
    /// Each with the class of its colour.
    pub(super) badges: Vec<Shown<'a>>,
}

/// Somebody, as pages name people.
pub(super) struct Person {
    pub(super) mark: Mark,
    pub(super) name: String,
}

impl<'a> Facts<'a> {
    /// Returns the facts of `item`, which has the fields in `entity`.
    pub(super) fn of(item: &Item, entity: &'a Map<String, Value>, view: &View<'_>) -> Self {
        let schema = item.schema();
        let told = |it: &&Field| is_told(it, entity);
        let shown = |field: &Field| Shown::of_field(field, entity, schema, view);
        let fields = schema.fields.iter();
        let due = fields
            .clone()
            .filter(|it| it.emphasis == Some(Emphasis::Due));
        let facts = fields.clone().filter_map(|it| match it.emphasis {
            Some(Emphasis::Fact(words)) => Some((words, it)),
            _ => None,
        });
        let facts = facts.filter(|(_, it)| told(it));
        let badges = fields.filter(|it| is_badge(it, schema));
        Self {
            author: author(item, entity, view),
            time: time(schema).filter(told).map(shown),
            due: due
                .filter(told)
                .map(|it| (label_of(it), shown(it)))
                .collect(),
            told: facts
                .filter_map(|(words, it)| Some(in_words(words, &shown(it).text()?)))
                .collect(),
            badges: badges.filter(told).map(Shown::badge).collect(),
        }
    }

    /// Returns whether nothing is told.
    pub(super) fn is_empty(&self) -> bool {
        self.author.is_none()
            && self.time.is_none()
            && self.due.is_empty()
            && self.told.is_empty()
            && self.badges.is_empty()
    }
}

/// Returns whether the facts tell `field`, of an entity of the type with `schema`.
pub(super) fn is_fact(field: &Field, schema: &'static Schema) -> bool {
    field.emphasis.is_some()
        || is_badge(field, schema)
        || (field.role == Some(Role::Owner) && has_author(schema))
        || time(schema).is_some_and(|it| it.name == field.name)
}

/// Returns the field that says from when a text is there.
fn time(schema: &'static Schema) -> Option<&'static Field> {
    let role = |role| schema.role(role).filter(|_| schema.look.layout.is_text());
    role(Role::Created).or_else(|| role(Role::Updated))
}

fn has_author(schema: &Schema) -> bool {
    matches!(
        schema.look.layout,
        Layout::Plain | Layout::Article | Layout::Thread
    )
}

/// Returns whether a field is a badge while it is true: one that is declared so or, in a type that declares nothing, any
/// that clients may write.
fn is_badge(field: &Field, schema: &Schema) -> bool {
    let is_declared = |it: &Field| matches!(it.emphasis, Some(Emphasis::Badge(_)));
    let is_plain = || {
        field.kind == Kind::Boolean
            && field.writable != Writable::Never
            && !field.is_for_programs
            && schema.look.layout == Layout::Plain
            && !schema.fields.iter().any(is_declared)
    };
    is_declared(field) || is_plain()
}

/// Returns whether there is something to tell about the field.
fn is_told(field: &Field, entity: &Map<String, Value>) -> bool {
    let value = entity.get(field.name);
    value.is_some_and(|it| {
        !it.is_null() && *it != Value::Bool(false) && it != "" && !is_usual(field, it)
    })
}

/// Returns whose it is, if that has a name for the reader.
fn author(item: &Item, entity: &Map<String, Value>, view: &View<'_>) -> Option<Person> {
    let schema = item.schema();
    let field = schema.role(Role::Owner).filter(|_| has_author(schema))?;
    let target = reference::target(field, entity, view.registry)?;
    let told = || item.feed_entry()?.author;
    let name = target.title(view).or_else(told)?;
    Some(Person {
        mark: Mark::of(target.value, &name),
        name,
    })
}

fn in_words(words: &str, value: &str) -> String {
    match words {
        "" => value.to_owned(),
        words => words.replace("{}", value.strip_suffix(".0").unwrap_or(value)),
    }
}
