//! The order of a list that the request does not order: the format decides what stands first, before anything is read.

use axum::http::Uri;
use entity_core::engine::{Request, sample};
use entity_core::format::Format;
use entity_core::reply::Body;
use entity_core::{Registry, Verb, Window};

/// Lets a feed begin with the newest, of which it has fifty, and a calendar with what is to come.
pub(crate) fn of_format(request: &mut Request, format: Format, registry: &Registry) {
    let answer = sample(registry, &request.path, Verb::Get);
    let has = |name: &str| request.query.iter().any(|it| it.0 == name);
    let is_list = request.verb.is_safe() && matches!(answer, Some(Body::Collection(_)));
    if !is_list || !format.is_feed || ["_order", "_first", "_cursor"].into_iter().any(has) {
        return;
    }
    let is_calendar = format.name == "ics";
    let is_long = is_calendar || has("_limit") || has("_perpage");
    let first = if is_calendar { "coming" } else { "newest" };
    let pairs = [("_limit", "50"), ("_first", first)].map(|it| (it.0.to_owned(), it.1.to_owned()));
    request.query.extend(pairs.into_iter().skip(is_long.into()));
}

/// Returns the address at which a table leaves out the oldest, if not all fits into it: a reader who keeps it as a file
/// sees no other part. The rows that fit are in the order of the list.
pub(super) fn of_table(request: &Request, format: Format, body: &Body, uri: &Uri) -> Option<Uri> {
    let is_cut = matches!(body, Body::Collection(it) if it.is_searched && it.has_more);
    let mut names = request.query.iter().map(|it| it.0.as_str());
    let is_chosen = names.any(|it| Window::is_set_by(it) || ["_order", "_first"].contains(&it));
    let query = uri.query().unwrap_or_default();
    let other = format!("{}?{query}&_first=coming", uri.path()).parse();
    other
        .ok()
        .filter(|_| format.name == "csv" && is_cut && !is_chosen)
}
