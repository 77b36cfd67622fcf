//! Addresses of the other parts of a list, and of the same thing in other formats.

use entity_core::format::View;
use entity_core::primitives::to_uri_part;
use entity_core::reply::Collection;
use entity_core::search::Window;

use crate::input::form::parse_pairs;

/// The absolute addresses of the first, previous, next and last part of `collection`, as far as there are any
/// and they are known, with the names of their relations. `extension` is the format that the addresses ask for.
pub fn paging_links(
    collection: &Collection,
    view: &View<'_>,
    extension: Option<&str>,
) -> Vec<(&'static str, String)> {
    let (start, limit) = (collection.start, collection.limit);
    let part = |name, place: &str, limit: u64| {
        let place = format!("{name}={place}&_limit={limit}");
        part_url(view, extension, Some(&place))
    };
    let url = |name, place: &str| part(name, place, limit);
    let mut links = Vec::new();
    if start > 0 {
        links.push(("first", url("_start", "0")));
        let previous = start.saturating_sub(limit);
        // Fewer than usual may stand before this part; what it has itself is not shown again.
        let count = limit.min(start);
        links.push(("prev", part("_start", &previous.to_string(), count)));
    }
    if collection.has_more {
        let next = collection.next_start().to_string();
        links.push(match &collection.cursor {
            Some(cursor) => ("next", url("_cursor", cursor)),
            None => ("next", url("_start", &next)),
        });
    }
    let last = collection.total.and_then(|it| last_start(it, start, limit));
    if let Some(last) = last {
        links.push(("last", url("_start", &last.to_string())));
    }
    links
}

/// Where the last part begins, if parts go on from `start` as they do.
fn last_start(total: u64, start: u64, limit: u64) -> Option<u64> {
    let offset = start.checked_rem(limit)?;
    let parts = total
        .checked_sub(1)?
        .saturating_sub(offset)
        .checked_div(limit)?;
    Some(offset.saturating_add(parts.saturating_mul(limit)))
}

/// The address of the part of the list that the pairs `part` choose.
fn part_url(view: &View<'_>, extension: Option<&str>, part: Option<&str>) -> String {
    let mut url = view_url(view, extension);
    let own = match view.own_address {
        Some(_) => "",
        None => view.query,
    };
    append(&mut url, filters(own).chain(part));
    url
}

/// The pairs of `query` that say what is in a list, as they were sent.
pub fn filters(query: &str) -> impl Iterator<Item = &str> {
    pairs(query).filter(|it| !is_window(it))
}

/// The pairs of `query` that say which part of the list is wanted, as they were sent.
pub fn windows(query: &str) -> impl Iterator<Item = &str> {
    pairs(query).filter(|it| is_window(it))
}

fn pairs(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|it| !it.is_empty())
}

fn append<'a>(url: &mut String, pairs: impl Iterator<Item = &'a str>) {
    for (index, pair) in pairs.enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        // Browsers send the brackets of operators as they are, among others; an address has them encoded.
        url.push_str(&to_uri_part(pair));
    }
}

fn is_window(pair: &str) -> bool {
    parse_pairs(pair.as_bytes())
        .is_ok_and(|pairs| pairs.iter().any(|(name, _)| Window::is_set_by(name)))
}

/// The absolute address of what is shown, without its query.
pub(crate) fn view_url(view: &View<'_>, extension: Option<&str>) -> String {
    let address = match view.own_address {
        Some(own) => own.url.to_owned(),
        None => format!("{}/direct{}", view.base_url, to_uri_part(view.path)),
    };
    match extension {
        Some(extension) => format!("{address}.{extension}"),
        None => address,
    }
}

/// The absolute address of the page that shows the same to people.
pub(crate) fn page_url(view: &View<'_>) -> String {
    format!("{}/direct{}.html", view.base_url, to_uri_part(view.path))
}

/// The absolute address of all that is shown a part of, in the format `extension`: what a program subscribes to.
pub(crate) fn list_url(view: &View<'_>, extension: &str) -> String {
    part_url(view, Some(extension), None)
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
