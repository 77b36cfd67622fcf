//! The title of the answer to an address, in all formats alike.

use std::borrow::Cow;

use entity_core::format::View;
use entity_core::reply::{Body, Collection, Item};
use entity_core::schema::Role;
use entity_core::{Registry, encode_segment};

/// Returns the title of the answer `body` of the address `path` below `/direct`, if it is an entity or a list.
pub fn title(registry: &Registry, path: &str, body: &Body) -> Option<String> {
    match body {
        Body::Entity(item) => item.title(),
        Body::Collection(collection) => Some(list(registry, path, collection)),
        _ => None,
    }
}

/// Returns the title of an entity.
pub(crate) fn of_entity(item: &Item, view: &View<'_>) -> Option<String> {
    let own = view.own_address.map(|it| it.title.to_owned());
    own.or_else(|| item.title())
}

/// Returns the title of a list, whatever the address at which it is read.
pub(crate) fn of_list(collection: &Collection, view: &View<'_>) -> String {
    match view.own_address {
        Some(own) => own.title.to_owned(),
        None => list(view.registry, view.path, collection),
    }
}

/// Returns the title of a list as a calendar: that of the site, if it is that of one and its owner did not name it.
pub(crate) fn of_calendar(collection: &Collection, view: &View<'_>) -> String {
    let usual = list(view.registry, view.path, collection);
    let is_named = view.own_address.is_some_and(|it| it.title != usual);
    match site_title(collection, view.path).filter(|_| !is_named) {
        Some(title) => title,
        None => of_list(collection, view),
    }
}

/// The title of the site of which `path` is the list, as the first entry tells it.
fn site_title(collection: &Collection, path: &str) -> Option<String> {
    let item = collection.items.first()?;
    let field = item.schema().role(Role::Site)?;
    let data = serde_json::to_value(item.data()).ok()?;
    let (_, last) = path.rsplit_once('/')?;
    let is_of_site = data.get(field.name)?.as_str()? == percent_decode(last);
    let categories = item.feed_entry().filter(|_| is_of_site)?.categories;
    categories.into_iter().find(|it| !it.trim().is_empty())
}

/// `Announcements` or, if an action answers it, `Announcements: site biology-101`.
fn list(registry: &Registry, path: &str, collection: &Collection) -> String {
    let plural = registry.plural(collection.prefix);
    if is_whole(collection, path) {
        return plural;
    }
    let words = path.split('/').skip(2);
    let words: Vec<_> = words.map(percent_decode).collect();
    format!("{plural}: {}", words.join(" "))
}

/// Returns whether the address is that of the list of the type itself, not of one that an action answers.
pub(crate) fn is_whole(collection: &Collection, path: &str) -> bool {
    path.strip_prefix('/') == Some(encode_segment(collection.prefix).as_str())
}

fn percent_decode(segment: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy()
}
