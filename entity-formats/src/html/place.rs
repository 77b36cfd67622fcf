//! The addresses of the pages of lists.

use chrono::{Datelike as _, Months, NaiveDate};
use entity_core::format::View;
use entity_core::recurrence::{FIRST_DAY, LAST_DAY};
use entity_core::reply::Related;
use entity_core::{Registry, Verb, encode_segment};

use super::query::Query;

/// The first and the last of some days.
pub(super) type Span = (NaiveDate, NaiveDate);

/// The address of the page of a list.
pub(super) fn href_of(list: &Related) -> String {
    let segments = list.segments.iter().map(String::as_str);
    let segments = std::iter::once(list.prefix).chain(segments);
    let path: Vec<_> = segments.map(encode_segment).collect();
    let path = format!("/direct/{}.html", path.join("/"));
    let query = list.query.iter();
    let query = query.fold(Query::default(), |all, (name, value)| {
        all.with(name, value.clone())
    });
    query.behind(&path)
}

/// The address of the page of a list: of this month, where it goes by days.
pub(super) fn near(list: &Related, view: &View<'_>) -> String {
    let href = href_of(list);
    let name = list.segments.first().map_or("", String::as_str);
    match this_month(list.prefix, name, view) {
        Some(days) if list.query.is_empty() => format!("{href}?{days}"),
        _ => href,
    }
}

/// Returns the query of the present month, if the list `name` of the type `prefix` takes days.
fn this_month(prefix: &str, name: &str, view: &View<'_>) -> Option<String> {
    let (first, last) = month(view.now.date_naive())?;
    takes_days(view.registry, prefix, name)
        .then(|| format!("{FIRST_DAY}={first}&{LAST_DAY}={last}"))
}

/// Returns whether the list takes days as parameters.
pub(super) fn takes_days(registry: &Registry, prefix: &str, name: &str) -> bool {
    let route = registry.route(prefix).filter(|it| it.schema.has_events);
    let mut actions = route.into_iter().flat_map(|it| &it.actions);
    let found = actions.find(|it| it.name == name && it.verb == Verb::Get);
    found.is_some_and(|it| {
        [FIRST_DAY, LAST_DAY]
            .iter()
            .all(|day| it.parameters.iter().any(|it| it.0 == *day))
    })
}

/// The days of the month in which `day` is.
pub(super) fn month(day: NaiveDate) -> Option<Span> {
    let first = day.with_day(1)?;
    let next = first.checked_add_months(Months::new(1))?;
    Some((first, next.pred_opt()?))
}
