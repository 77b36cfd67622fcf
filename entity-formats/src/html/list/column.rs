//! Which fields a list shows, and the links that put it in order.

use entity_core::format::View;
use entity_core::schema::{Emphasis, Field, Kind, Role, Schema};
use entity_core::search::Order;
use entity_core::{Registry, encode_segment};
use serde_json::{Map, Value};

use crate::html::query::{ORDER, Query};
use crate::html::reference;
use crate::html::words::{self, is_usual, label_of};
use crate::render::paging::view_url;

/// The most columns besides the title.
const MAX_COLUMNS: usize = 5;
/// The most bytes that the texts of a column may have.
const MAX_CELL: usize = 60;

/// A column.
pub(super) struct Column {
    pub(super) label: String,
    /// Which field it shows; the first column shows the title, which an entity may make of several.
    pub(super) field: Option<&'static Field>,
    /// The list in this column's order, if it can be ordered by it.
    pub(super) href: Option<String>,
    /// The present order of the list by this column.
    pub(super) order: Option<Direction>,
}

/// Which end comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }

    pub(super) fn arrow(self) -> &'static str {
        match self {
            Self::Ascending => "▲",
            Self::Descending => "▼",
        }
    }
}

/// The columns of a list of `entities`, the title first, with links to other orders if it `is_ordered`.
pub(super) fn columns(
    schema: &'static Schema,
    entities: &[&Map<String, Value>],
    view: &View<'_>,
    is_ordered: bool,
) -> Vec<Column> {
    let order = present_order(schema, view).filter(|_| is_ordered);
    let title = schema.role(Role::Title);
    let kept = match schema.look.listed {
        [] => chosen(schema, entities, view.registry),
        listed => declared(schema, listed, entities),
    };
    let href = |field: &Field| {
        let can = is_ordered && field.column.is_some();
        can.then(|| order_href(field, order, view))
    };
    let first = Column {
        label: title.map_or_else(|| "Title".to_owned(), label_of),
        field: None,
        href: title.and_then(href),
        order: title.and_then(|it| direction(it, order)),
    };
    // The page of a site's list says which site it is.
    let site = site_of(entities, schema, view).and_then(|_| schema.role(Role::Site));
    let is_told = |it: &&'static Field| {
        site.is_some_and(|site| it.name == site.name || reference::names_target(it.name, site.name))
    };
    let kept = kept.into_iter().filter(|it| !is_told(it));
    let others = kept.map(|field| Column {
        label: label_of(field),
        field: Some(field),
        href: href(field),
        order: direction(field, order),
    });
    std::iter::once(first).chain(others).collect()
}

/// The links that put the rows of a list in order: by the title, by the instant from which an entity is there, and by that
/// until which something is to be done.
pub(super) fn orders(schema: &'static Schema, view: &View<'_>) -> Vec<Column> {
    let order = present_order(schema, view);
    let is_key = |it: &&Field| {
        let is_named = matches!(it.role, Some(Role::Title | Role::Created));
        it.column.is_some() && (is_named || it.emphasis == Some(Emphasis::Due))
    };
    let keys = schema.fields.iter().filter(is_key);
    let link = |field: &'static Field| Column {
        label: label_of(field),
        field: Some(field),
        href: Some(order_href(field, order, view)),
        order: direction(field, order),
    };
    keys.map(link).collect()
}

/// Returns the site that a list is about: the one that its address ends with, or that is known otherwise.
pub(in crate::html) fn site_of(
    entities: &[&Map<String, Value>],
    schema: &Schema,
    view: &View<'_>,
) -> Option<String> {
    let field = schema.role(Role::Site)?;
    let last = view.path.rsplit('/').next()?;
    let site = |it: &&Map<String, Value>| it.get(field.name)?.as_str().map(ToOwned::to_owned);
    let first = entities.first().and_then(site);
    let is_named = |it: &String| encode_segment(it) == last && view.path.split('/').count() > 3;
    view.allowed_actions
        .site
        .clone()
        .or_else(|| first.filter(is_named))
}

/// Returns the fields that the type declares for lists, without those that no entity has.
fn declared(
    schema: &'static Schema,
    listed: &[&str],
    entities: &[&Map<String, Value>],
) -> Vec<&'static Field> {
    let is_there = |field: &&Field| {
        let mut values = entities.iter().filter_map(|it| it.get(field.name));
        values.any(|it| !it.is_null() && it != "" && !is_usual(field, it))
    };
    let fields = listed.iter().filter_map(|it| schema.field(it));
    let fields = fields.filter(|it| it.role != Some(Role::Title));
    fields.filter(is_there).collect()
}

/// Returns the first fields that tell people something, those by which the list can be ordered first.
fn chosen(
    schema: &'static Schema,
    entities: &[&Map<String, Value>],
    registry: &Registry,
) -> Vec<&'static Field> {
    let (ordered, computed): (Vec<_>, Vec<_>) =
        schema.fields.iter().partition(|it| it.column.is_some());
    let fields = ordered.into_iter().chain(computed);
    let shown = fields.filter(|it| is_shown(it, schema, entities, registry));
    shown.take(MAX_COLUMNS).collect()
}

/// The first key of the order that the address asks for.
fn present_order(schema: &'static Schema, view: &View<'_>) -> Option<Order> {
    let asked = Order::parse(Query::of(view).get(ORDER), schema).ok()?;
    asked.first().copied()
}

fn direction(field: &Field, order: Option<Order>) -> Option<Direction> {
    let order = order.filter(|it| it.field.name == field.name)?;
    Some(match order.is_descending {
        true => Direction::Descending,
        false => Direction::Ascending,
    })
}

/// The list by `field`; the other way round if that is its order already.
fn order_href(field: &Field, order: Option<Order>, view: &View<'_>) -> String {
    let key = match direction(field, order) {
        Some(Direction::Ascending) => format!("{}_desc", field.name),
        _ => field.name.to_owned(),
    };
    Query::of(view)
        .at_start()
        .with(ORDER, key)
        .behind(&view_url(view, Some("html")))
}

/// Returns whether the page of a list may need the value of `field`.
pub(super) fn is_needed(field: &Field, schema: &Schema) -> bool {
    let is_text = field.role == Some(Role::Content) && schema.look.layout.is_text();
    is_simple(field)
        || is_text
        || field.emphasis.is_some()
        || matches!(field.role, Some(Role::Created | Role::Updated))
        || schema.look.listed.contains(&field.name)
}

/// Returns whether a field is one value that may be short.
fn is_simple(field: &Field) -> bool {
    !matches!(
        field.kind,
        Kind::Html(_) | Kind::List | Kind::Object | Kind::Moment
    )
}

/// Returns whether a field is short, means something to people, and is there in at least one entity.
fn is_shown(
    field: &Field,
    schema: &Schema,
    entities: &[&Map<String, Value>],
    registry: &Registry,
) -> bool {
    let has_place = matches!(field.role, Some(Role::Id | Role::Title | Role::Version));
    let title = schema.role(Role::Title);
    let names_title = title.is_some_and(|it| reference::names_target(it.name, field.name));
    // The bare id of a person tells people nothing.
    let mut others = schema.fields.iter();
    let is_nameless = field.role == Some(Role::Owner)
        && !others.any(|it| reference::names_target(it.name, field.name));
    let text = |entity: &&Map<String, Value>| entity.get(field.name)?.as_str().map(str::len);
    let is_short = || entities.iter().filter_map(text).all(|it| it <= MAX_CELL);
    let says_something = |entity: &&Map<String, Value>| {
        let value = entity.get(field.name);
        let is_word = |it: &Value| it.is_null() && field.absent.is_some();
        let is_told = |it: &Value| !it.is_null() && it != "" && !is_usual(field, it);
        let is_there = value.is_some_and(|it| is_word(it) || is_told(it));
        let leads_nowhere =
            field.name.ends_with("Id") && reference::target(field, entity, registry).is_none();
        let is_bare = value.is_some_and(words::is_nameless)
            && reference::target(field, entity, registry).is_none_or(|it| it.own_name.is_none());
        let is_opaque = leads_nowhere || is_nameless || is_bare;
        is_there && !is_opaque && !reference::is_naming(field.name, schema.fields, entity, registry)
    };
    is_simple(field)
        && !field.is_for_programs
        && field.name != "id"
        && (field.offered.is_none() || field.kind != Kind::Integer)
        && !has_place
        && !names_title
        && is_short()
        && entities.iter().any(says_something)
}
