//! The page of a list.

mod agenda;
mod column;
mod filter;
mod rows;
mod table;

use askama::Template;
use entity_core::format::View;
use entity_core::reply::{Collection, Item};
use entity_core::schema::{Layout, Role, Schema};
use entity_core::{Reference, Result, encode_segment};
use serde_json::Value;

use self::agenda::Agenda;
use self::column::{is_needed, site_of};
use self::filter::Filter;
pub(super) use self::rows::Rows;
use self::rows::has_rows;
pub(super) use self::table::Table;
use super::ask::Ask;
use super::entity::{Command, buttons, links};
use super::form::is_prefilled;
use super::frame::Frame;
use super::query::Query;
use super::sheet::Sheet;
use super::subscribe::Subscribe;
use super::words::has_uuid;
use crate::{paging_links, primitives::title, render::tree};

/// A list.
#[derive(Template)]
#[template(path = "list.html")]
pub(super) struct ListPage<'a> {
    frame: Frame<'a>,
    kind: String,
    new_href: Option<String>,
    buttons: Vec<Command>,
    asks: Vec<Ask<'a>>,
    links: Vec<Command>,
    creates_accounts: bool,
    feed: Option<Subscribe>,
    filter: Option<Filter>,
    agenda: Option<Agenda>,
    is_empty: bool,
    /// The type, if it is talk, which is read while it goes on.
    live: Option<&'static str>,
    /// The form that stands in the place of the list.
    sheet: Option<Sheet<'a>>,
    table: Option<Table<'a>>,
    rows: Option<Rows<'a>>,
    paging: Vec<(&'static str, String)>,
}

/// Returns the fields of each of `items`, which are of the type with `schema`, that a list may show: long texts are not
/// written for nothing.
pub(super) fn trees(items: &[Item], schema: &Schema) -> Result<Vec<Value>> {
    let fields = schema.fields.iter().filter(|it| is_needed(it, schema));
    let names: Vec<&'static str> = fields.map(|it| it.name).collect();
    let tree = |item: &Item| tree::of_fields(item, &names);
    items.iter().map(tree).collect()
}

impl<'a> ListPage<'a> {
    /// Returns the frame of the page of `collection`.
    pub(super) fn frame(collection: &Collection, trees: &[Value], view: &View<'a>) -> Frame<'a> {
        let entities: Vec<_> = trees.iter().filter_map(Value::as_object).collect();
        let site = site_of(&entities, collection.schema, view);
        let site = site.map(|it| Reference::entity("site", it).path());
        let site = site.and_then(|it| Some((view.allowed_actions.readable.get(&it)?.clone(), it)));
        let mut frame = match site {
            Some((name, path)) if !title::is_whole(collection, view.path) => {
                let plural = view.registry.plural(collection.prefix);
                Frame::new(format!("{plural}: {name}"), view).below_entity(&path, name)
            }
            // What a list is narrowed to by an id has no name here.
            _ if view.path.split('/').any(has_uuid) => {
                Frame::new(view.registry.plural(collection.prefix), view)
            }
            _ => Frame::new(title::of_list(collection, view), view),
        };
        if !title::is_whole(collection, view.path) {
            frame = frame.below_type(collection.prefix);
        }
        frame.paging = paging_links(collection, view, Some("html"));
        frame.is_wide = view.allowed_actions.sheet.is_some();
        frame.of_part(collection.prefix)
    }

    /// The page of `collection`, whose entities have the fields in `trees`.
    pub(super) fn of(
        collection: &Collection,
        trees: &'a [Value],
        frame: Frame<'a>,
        view: &View<'a>,
    ) -> Self {
        let entities: Vec<_> = trees.iter().filter_map(Value::as_object).collect();
        let path = format!("/direct/{}", encode_segment(collection.prefix));
        Self {
            kind: view.registry.singular(collection.prefix).to_lowercase(),
            // Where a table stands for the list, an action beside it adds to it.
            new_href: (view.allowed_actions.create && view.allowed_actions.sheet.is_none()).then(
                || {
                    let is_known = |name: &str| is_prefilled(collection.schema, name);
                    let query = Query::of(view).only(is_known);
                    let field = collection.schema.role(Role::Site);
                    let query = match (field, &view.allowed_actions.site) {
                        (Some(field), Some(site)) => query.with(field.name, site.clone()),
                        _ => query,
                    };
                    query.behind(&format!("{path}/new.html"))
                },
            ),
            buttons: buttons(&view.allowed_actions.actions),
            asks: Ask::all(&view.allowed_actions.actions, &Value::Null, view),
            links: links(&view.allowed_actions.actions),
            creates_accounts: view.allowed_actions.creates_accounts,
            feed: None,
            filter: Filter::of(collection.schema, view).filter(|_| collection.is_searched),
            agenda: Agenda::of(collection, view),
            is_empty: entities.is_empty(),
            live: live(collection),
            sheet: Sheet::shown(view),
            table: (!has_rows(collection.schema)).then(|| Table::of(collection, &entities, view)),
            rows: has_rows(collection.schema).then(|| Rows::of(collection, &entities, view)),
            paging: frame.paging.clone(),
            frame,
        }
    }
}

impl ListPage<'_> {
    /// The same, with the button that makes a feed of it.
    pub(super) fn with_feed(mut self, feed: Option<Subscribe>) -> Self {
        self.feed = feed;
        self
    }
}

/// Returns the type of the entities in `collection`, if they are talk.
pub(super) fn live(collection: &Collection) -> Option<&'static str> {
    let is_talk = collection.schema.look.layout == Layout::Thread;
    is_talk.then_some(collection.prefix)
}

/// Returns the label of the link to another part of the list.
fn paging_label(relation: &str) -> &'static str {
    match relation {
        "first" => "First page",
        "prev" => "Previous page",
        "last" => "Last page",
        _ => "Next page",
    }
}
