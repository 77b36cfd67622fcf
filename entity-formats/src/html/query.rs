//! The query of a page's address, to make the links that change it.

use entity_core::format::View;
use entity_core::recurrence::{FIRST_DAY, LAST_DAY};
use entity_core::search::Window;

use crate::input::form::{parse_pairs, write_pairs};

/// The parameter that says in which order a list is.
pub(super) const ORDER: &str = "_order";
/// The parameter with the words that are looked for.
pub(super) const SEARCH: &str = "_search";
/// The parameter that says how long a part of a list is.
pub(super) const LIMIT: &str = "_limit";
/// Parameters that say where in a list a part begins: in another order that is another place.
const PLACE: [&str; 3] = ["_start", "_page", "_cursor"];

/// The names and values of a query, in order.
#[derive(Clone, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// The query of the page's address. One that can't be read was answered with an error page, without links.
    pub(super) fn of(view: &View<'_>) -> Self {
        Self(parse_pairs(view.query.as_bytes()).unwrap_or_default())
    }

    /// All pairs.
    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The value of `name`, empty without one.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(it, _)| it == name)
            .map_or("", |(_, value)| value)
    }

    /// The query from the beginning of the list on.
    pub(super) fn at_start(mut self) -> Self {
        self.0.retain(|(it, _)| !PLACE.contains(&it.as_str()));
        self
    }

    /// The query with this pair only for its name.
    pub(super) fn with(mut self, name: &str, value: String) -> Self {
        self.0.retain(|(it, _)| it != name);
        self.0.push((name.to_owned(), value));
        self
    }

    /// The pairs that `is_kept` keeps.
    pub(super) fn only(mut self, is_kept: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(it, _)| is_kept(it));
        self
    }

    /// The query behind `address`.
    pub(super) fn behind(&self, address: &str) -> String {
        let pairs = self.0.iter().map(|(name, value)| (&**name, &**value));
        match self.0.is_empty() {
            true => address.to_owned(),
            false => format!("{address}?{}", write_pairs(pairs)),
        }
    }
}

/// Returns whether the parameter says which part of a list is shown, such as which days, or in which order: nothing about
/// its entities.
pub(super) fn is_about_list(name: &str) -> bool {
    Window::is_set_by(name) || PLACE.contains(&name) || [ORDER, FIRST_DAY, LAST_DAY].contains(&name)
}
