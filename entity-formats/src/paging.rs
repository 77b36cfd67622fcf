//! Addresses of the other parts of a list, and of the same thing in other formats.

use entity_core::Collection;
use entity_core::format::View;

use crate::input::form::parse_pairs;

/// The query parameters that choose a part of a list.
pub(crate) const WINDOW: [&str; 4] = ["_start", "_limit", "_page", "_perpage"];

/// The absolute addresses of the first, previous and next part of `collection`, as far as there are any,
/// with the names of their relations. `extension` is the format that the addresses ask for.
pub fn paging_links(
    collection: &Collection,
    view: &View<'_>,
    extension: Option<&str>,
) -> Vec<(&'static str, String)> {
    let (start, limit) = (collection.start, collection.limit);
    let mut links = Vec::new();
    if start > 0 {
        links.push(("first", part_url(view, extension, 0, limit)));
        let previous = start.saturating_sub(limit);
        links.push(("prev", part_url(view, extension, previous, limit)));
    }
    if collection.has_more {
        let next = start.saturating_add(limit);
        links.push(("next", part_url(view, extension, next, limit)));
    }
    links
}

fn part_url(view: &View<'_>, extension: Option<&str>, start: u64, limit: u64) -> String {
    let mut url = view_url(view, extension);
    if view.own_address.is_none() {
        append(&mut url, filters(view.query));
    }
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}_start={start}&_limit={limit}")
}

/// The pairs of `query` that say what is in a list, as they were sent.
pub fn filters(query: &str) -> impl Iterator<Item = &str> {
    pairs(query).filter(|it| !is_window(it))
}

fn pairs(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|it| !it.is_empty())
}

fn append<'a>(url: &mut String, pairs: impl Iterator<Item = &'a str>) {
    for (index, pair) in pairs.enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(pair);
    }
}

/// Whether `name` is a query parameter that chooses a part of a list.
pub fn is_window_parameter(name: &str) -> bool {
    WINDOW.contains(&name)
}

fn is_window(pair: &str) -> bool {
    parse_pairs(pair.as_bytes())
        .is_ok_and(|pairs| pairs.iter().any(|(name, _)| is_window_parameter(name)))
}

/// The absolute address of what is shown, without its query.
pub(crate) fn view_url(view: &View<'_>, extension: Option<&str>) -> String {
    let address = match view.own_address {
        Some(own) => own.url.to_owned(),
        None => format!("{}/direct{}", view.base_url, view.path),
    };
    match extension {
        Some(extension) => format!("{address}.{extension}"),
        None => address,
    }
}

/// The absolute address of the page that shows the same to people.
pub(crate) fn page_url(view: &View<'_>) -> String {
    format!("{}/direct{}.html", view.base_url, view.path)
}

/// The absolute address of what is shown, with its query, in the format `extension`.
pub(crate) fn view_url_with_query(view: &View<'_>, extension: &str) -> String {
    let mut url = view_url(view, Some(extension));
    match view.own_address {
        Some(own) => append(&mut url, pairs(own.query)),
        None => append(&mut url, pairs(view.query)),
    }
    url
}
