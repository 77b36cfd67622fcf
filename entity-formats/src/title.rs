//! What the answer to an address is called, in all formats alike.

use std::borrow::Cow;

use entity_core::format::View;
use entity_core::{Collection, Item, encode_segment};

/// What an entity is called.
pub(crate) fn of_entity(item: &Item, view: &View<'_>) -> Option<String> {
    let own = view.own_address.map(|it| it.title.to_owned());
    own.or_else(|| item.title())
}

/// What a list is called: `Announcements` or, if an action answers it, `Announcements: site biology-101`.
pub(crate) fn of_list(collection: &Collection, view: &View<'_>) -> String {
    if let Some(own) = view.own_address {
        return own.title.to_owned();
    }
    let plural = view.registry.plural(collection.prefix);
    if is_whole(collection, view) {
        return plural;
    }
    let words = view.path.split('/').skip(2);
    let words: Vec<_> = words.map(percent_decode).collect();
    format!("{plural}: {}", words.join(" "))
}

/// Whether the address is that of the list of the type itself, not of one that an action answers.
pub(crate) fn is_whole(collection: &Collection, view: &View<'_>) -> bool {
    view.path.strip_prefix('/') == Some(encode_segment(collection.prefix).as_str())
}

fn percent_decode(segment: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy()
}
