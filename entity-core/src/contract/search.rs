//! Searches in lists: filters, words, the order and the requested page.
//!
//! # Query language
//!
//! | parameter | meaning |
//! |---|---|
//! | `field=value` | The field has this value. |
//! | `field[operator]=value` | One of the [operators](Operator) holds: `ne gt ge lt le like in null`. |
//! | `_search=two words` | Each word occurs in at least one searchable field, in upper or lower case. |
//! | `_order=title,createdDate_desc` | The order, by any number of fields. |
//! | `_first=newest`, `_first=coming` | In place of an order: what is newest, or what is not over, stands first. |
//! | `_limit`, `_start` | The maximum number of entities, and the number of entities to skip. |
//! | `_perpage`, `_page` | The same as the size and the number of a page; pages count from 1. |
//! | `_cursor` | The position at which a walk through the list continues; an empty cursor begins one. |
//! | `_count=exact` | The header `X-Total-Count` gives the total number of entities. |
//! | `_fields`, `_expand` | The fields and related entities to show: see [`Projection`]. |
//!
//! Ties of the requested order are broken by the last key of the type's own order, so that the order is always
//! unambiguous. In a walk by cursors, the `Link` header gives the address of the next page. A walk neither skips nor
//! repeats entities that stay in place, whatever is written concurrently.
//!
//! A field without a column, an operator that does not fit the field's kind, a value of another kind and a parameter
//! that is given twice are refused with an error that names the parameter. A missing value (NULL) is not less than,
//! greater than or equal to any value; `ne` matches it. Equality and order of text are those
//! of its code points. `like` and `_search` ignore the case of letters and their accents: see [`fold()`]; a `like` on a
//! field that is not declared `search` ignores the case alone. In HTML they search the text that people read and not the markup, while comparisons
//! use the HTML as it is.
//!
//! [`db::list`](crate::db::list) translates filters, words, order and page to SQL, and [`select()`] does the same
//! with entities in memory.

mod cell;
mod cursor;
mod field_of;
mod filter;
mod needle;
mod order;
mod page;
mod select;
mod window;

use crate::contract::access::Scope;
use crate::contract::reply::Item;
use crate::model::projection::Projection;
use crate::model::schema::{Field, Role, Schema};
use crate::primitives::error::{Error, Result};
use crate::{model::entity::Entity, primitives::version::Version};

pub use crate::primitives::fold::fold;
pub use cell::Cell;
pub use cursor::Cursor;
pub use field_of::{Comparable, FieldOf};
pub use filter::{Filter, Operator, Test};
pub use needle::Needle;
pub use order::Order;
pub use page::{Page, Places, Walk};
pub use select::select;
pub(crate) use select::select_items;
pub use window::Window;

use filter::plain;
use window::WindowNumbers;

/// The maximum number of entities in one reply, unless a type declares fewer.
pub const MAX_LIMIT: u64 = 1000;

/// The maximum number of words in `_search`: each word is a scan.
const MOST_WORDS: usize = 5;

/// The query parameters that other programs send with whatever they read, and that say nothing: those that keep a cache from
/// answering, those by which advertisers count their readers, and the size of a list where a list has no such size.
const SAYING_NOTHING: [&str; 7] = ["_", "d", "fbclid", "gclid", "n", "no-cache", "nocache"];

/// The query parameters that other parts of the service read, or that existing clients send and that have no meaning.
const OTHERS: [&str; 9] = [
    "auto",
    "last-modified",
    "envelope",
    "_validateSession",
    "_sessionId",
    "sakai.session",
    "JSESSIONID",
    "callback",
    "jsonCallback",
];

/// Returns whether a query parameter of this name says nothing wherever it is not declared.
fn says_nothing(name: &str) -> bool {
    SAYING_NOTHING.contains(&name) || name.starts_with("utm_")
}

/// A search in a list.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The conditions on fields.
    pub filters: Vec<Filter>,
    /// The words that must occur in the searchable fields.
    pub words: Vec<String>,
    /// The order. In a search that is passed to a provider, the last key has a unique value for each entity, if the
    /// type has such a key.
    pub order: Vec<Order>,
    /// The number of entities to skip at the beginning.
    pub start: u64,
    /// The maximum number of entities to return.
    pub limit: u64,
    /// The maximum length of the whole list, if it is [capped](Search::cut).
    pub most: Option<u64>,
    /// The position at which to continue, if the list is walked by a cursor. No entities are skipped then.
    pub cursor: Option<Cursor>,
    /// True if the client asks for the total number of entities.
    pub is_counted: bool,
    /// The sites that the caller may read: none, until the gate sets them. A provider applies the scope and never widens
    /// it.
    pub scope: Scope,
    /// The values of the further parameters that the type declares.
    pub parameters: Vec<(String, String)>,
}

/// The query parameters that the lists of a type accept.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(super) prefix: &'static str,
    pub(super) schema: &'static Schema,
    pub(super) parameters: Vec<&'static str>,
    pub(super) order: Vec<Order>,
    pub(super) over: Option<&'static Field>,
    pub(super) max: u64,
}

impl Grammar {
    /// Adds parameters that only one address accepts, such as that of an action.
    #[must_use]
    pub(crate) fn with(mut self, parameters: &[(&'static str, &'static str)]) -> Self {
        self.parameters.extend(parameters.iter().map(|it| it.0));
        self
    }

    /// Parses a query.
    ///
    /// # Errors
    /// Returns an error that names the parameter if a parameter is unknown or given twice, a value is of the wrong
    /// kind, a number is invalid, or a cursor belongs to another search.
    pub fn parse(&self, query: &[(String, String)]) -> Result<Search> {
        let mut search = Search::default();
        let mut numbers = WindowNumbers::default();
        let mut cursor = None;
        let mut seen: Vec<(&str, Option<Operator>)> = Vec::new();
        let mut question: Vec<(&str, &str)> = Vec::new();
        for (name, value) in query {
            let name = name.strip_suffix("[eq]").unwrap_or(name);
            if self.is_passed_over(name) {
                continue;
            }
            let mut key = (name, None);
            match name {
                "_cursor" => cursor = Some(value),
                "_count" => search.is_counted = parse_count(value)?,
                _ if numbers.read(name, value)? => {}
                _ => {
                    question.push((name, value));
                    key = self.read(&mut search, name, value)?;
                }
            }
            if seen.contains(&key) {
                return Err(Error::field(name, "is given more than once"));
            }
            seen.push(key);
        }
        if cursor.is_some() && numbers.have_start() {
            return Err(Error::field("_cursor", "already says where to begin"));
        }
        let window = numbers.resolve(self.max)?;
        (search.start, search.limit) = (window.start, window.limit);
        self.complete(&mut search);
        question.sort_unstable();
        let question = Version::of(&(self.prefix, question)).0;
        search.cursor = cursor
            .map(|it| Cursor::parse(it, question, &search.order))
            .transpose()?;
        Ok(search)
    }

    /// Returns whether the parameter is none of the list's. One that says nothing elsewhere may say something here.
    fn is_passed_over(&self, name: &str) -> bool {
        let is_own = || self.parameters.contains(&name) || self.schema.field(name).is_some();
        OTHERS.contains(&name)
            || Projection::PARAMETERS.contains(&name)
            || (says_nothing(name) && !is_own())
    }

    /// Adds one pair of a query to `search`. Returns the key that must not be given twice.
    fn read<'a>(
        &self,
        search: &mut Search,
        name: &'a str,
        value: &str,
    ) -> Result<(&'a str, Option<Operator>)> {
        match name {
            "_order" => search.order = Order::parse(value, self.schema)?,
            "_first" => search.order = self.leading(value)?,
            "_search" => search.words = self.parse_words(value)?,
            _ if self.parameters.contains(&name) => {
                search.parameters.push((name.to_owned(), value.to_owned()));
            }
            _ => {
                let (filter, operator) = Filter::parse(name, value, self.schema)?;
                let key = (filter.field.name, Some(operator));
                search.filters.push(filter);
                return Ok(key);
            }
        }
        Ok((name, None))
    }

    /// Completes the order of the search, so that it is unambiguous if the type has a key with unique values.
    pub fn complete(&self, search: &mut Search) {
        Order::complete(&mut search.order, &self.order);
    }

    /// Returns the order with the newest at the beginning or, for `coming` and a type that tells when an entity is over,
    /// those to come, as the type orders them, and behind them what was over last.
    fn leading(&self, value: &str) -> Result<Vec<Order>> {
        let back = |field| FieldOf::<String>::new(field).desc();
        let own = self.order.first().filter(|it| it.is_descending);
        let roles = [Role::Updated, Role::Created].map(|it| self.schema.role(it));
        let mut times = [own.map(|it| it.field)].into_iter().chain(roles).flatten();
        // A list that is ordered by time begins with the newest already.
        let time = times.find(|it| roles.contains(&Some(it)) && it.column.is_some());
        let last = self.order.last().map(|it| it.field);
        let last = last.filter(|_| time.is_some() || self.schema.has_feed);
        match (value, self.over) {
            ("coming", Some(over)) => Ok([&[back(over)], &*self.order].concat()),
            ("coming" | "newest", _) => Ok(time.into_iter().chain(last).map(back).collect()),
            _ => Err(Error::field("_first", "must be newest or coming")),
        }
    }

    fn parse_words(&self, value: &str) -> Result<Vec<String>> {
        if !self.schema.fields.iter().any(is_searched) {
            return Err(Error::field("_search", "finds nothing in this list"));
        }
        let words: Vec<String> = plain("_search", value)?
            .split_whitespace()
            .map(ToOwned::to_owned)
            .collect();
        match words.len() > MOST_WORDS {
            true => Err(Error::field(
                "_search",
                format!("must have at most {MOST_WORDS} words"),
            )),
            false => Ok(words),
        }
    }
}

impl Search {
    /// Creates a search for all entities, up to [`MAX_LIMIT`].
    pub fn all() -> Self {
        Self {
            limit: MAX_LIMIT,
            ..Self::default()
        }
    }

    /// Creates a search for this part of all entities.
    pub fn part(window: Window) -> Self {
        Self {
            start: window.start,
            limit: window.limit,
            ..Self::default()
        }
    }

    /// Returns the value of a further parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Sets a further parameter to the value that the path of the address contains.
    ///
    /// # Errors
    /// Returns an error if the query has another value for the parameter.
    pub fn insist(&mut self, name: &str, value: &str) -> Result<()> {
        match self.parameter(name) {
            None => {
                self.parameters.push((name.to_owned(), value.to_owned()));
                Ok(())
            }
            Some(own) if own == value => Ok(()),
            Some(_) => Err(Error::field(name, "must be what the path says")),
        }
    }

    /// Narrows the search to the entities that pass `filter`, such as `Loan::FIELD.due.lt(cx.now())`: see [`FieldOf`].
    pub fn narrow(&mut self, filter: Filter) {
        // In front of what the client asked: a site that is named here is the one in which permissions are looked up.
        self.filters.insert(0, filter);
    }

    /// Narrows the search to the entities of `site`.
    ///
    /// # Errors
    /// Returns an error if the entities belong to no site: a defect.
    pub fn narrow_to_site<E: Entity>(&mut self, site: &str) -> Result<()> {
        let site = FieldOf::<String>::new(site_field::<E>()?).eq(site);
        self.narrow(site);
        Ok(())
    }

    /// Narrows the search to the entities of these sites, of which there may be none. If the client named a site, that
    /// is no longer the one in which permissions are looked up: the list is empty if it is not among these.
    ///
    /// # Errors
    /// Returns an error if the entities belong to no site: a defect.
    pub fn narrow_to_sites<E: Entity>(&mut self, mut sites: Vec<String>) -> Result<()> {
        if let Some(named) = self.site().map(ToOwned::to_owned) {
            sites.retain(|it| *it == named);
            let is_of_site = |it: &Filter| it.field.role == Some(Role::Site);
            self.filters
                .retain(|it| !(is_of_site(it) && matches!(it.test, Test::Equal(_))));
        }
        let sites = FieldOf::<String>::new(site_field::<E>()?).is_in(sites);
        self.narrow(sites);
        Ok(())
    }

    /// Returns the value that the field must have, if a filter requires equality.
    pub fn filter(&self, name: &str) -> Option<&Cell> {
        self.equal(|it| it.field.name == name)
    }

    /// Returns the site that the entities must belong to, if a filter names one.
    pub fn site(&self) -> Option<&str> {
        match self.equal(|it| it.field.role == Some(Role::Site)) {
            Some(Cell::Text(site)) => Some(site),
            _ => None,
        }
    }

    fn equal(&self, is_wanted: impl Fn(&Filter) -> bool) -> Option<&Cell> {
        self.filters.iter().find_map(|it| match &it.test {
            Test::Equal(operand) if is_wanted(it) => Some(operand),
            _ => None,
        })
    }

    /// Reverses the order of the search.
    pub fn reverse(&mut self) {
        for key in &mut self.order {
            key.is_descending = !key.is_descending;
        }
    }

    /// Caps the whole list at `most` entities, before paging, cursors and counts. A lower cap that was set before
    /// stays.
    pub fn cut(&mut self, most: u64) {
        self.most = Some(self.most.map_or(most, |own| own.min(most)));
    }

    /// Returns how many of `total` entities are left under the cap.
    pub(crate) fn count_within(&self, total: u64) -> u64 {
        self.most.map_or(total, |most| total.min(most))
    }

    /// Returns the requested window of the list. If there is a cursor, the page begins there and not at the window's
    /// start.
    pub fn window(&self) -> Window {
        Window {
            start: self.start,
            limit: self.limit,
        }
    }

    /// Returns the number of entities to fetch: one more than the limit, to know whether there are more, but none
    /// beyond the cap.
    pub fn fetch(&self) -> u64 {
        let begin = self.cursor.as_ref().map_or(self.start, Cursor::passed);
        let wanted = self.limit.saturating_add(1);
        match self.most {
            Some(most) => wanted.min(most.saturating_sub(begin)),
            None => wanted,
        }
    }

    /// Returns the values of the order's keys behind which the page begins; `None` without a cursor and at the
    /// beginning of a walk.
    pub fn after(&self) -> Option<&[Cell]> {
        self.cursor.as_ref().and_then(Cursor::after)
    }

    /// Returns whether the order consists of exactly these keys: the name of a field, and whether it is descending.
    pub fn is_ordered_by(&self, keys: &[(&str, bool)]) -> bool {
        let own = self
            .order
            .iter()
            .map(|it| (it.field.name, it.is_descending));
        own.eq(keys.iter().copied())
    }

    /// Moves the cursor, if there is one, behind the last of `items`.
    pub(crate) fn move_behind(&mut self, items: &[Item]) -> Result<()> {
        self.cursor = self.behind(items)?;
        Ok(())
    }

    /// Returns the cursor with which a client continues behind `items`, if it walks by cursors.
    pub(crate) fn next_cursor(&self, items: &[Item]) -> Result<Option<String>> {
        let cursor = self.behind(items)?;
        cursor.map(|it| it.write()).transpose()
    }

    fn behind(&self, items: &[Item]) -> Result<Option<Cursor>> {
        let cursor = self.cursor.as_ref();
        cursor
            .map(|it| it.behind_items(&self.order, items))
            .transpose()
    }
}

/// Returns the field with the site of an entity.
fn site_field<E: Entity>() -> Result<&'static Field> {
    let field = E::schema().role(Role::Site);
    let field = field.filter(|it| it.column.is_some());
    field.ok_or_else(|| Error::internal("the entities belong to no site that lists compare"))
}

/// Returns whether `_search` looks into the field.
pub(crate) fn is_searched(field: &Field) -> bool {
    field.is_searchable && field.column.is_some()
}

fn parse_count(value: &str) -> Result<bool> {
    match value {
        "exact" => Ok(true),
        "none" => Ok(false),
        _ => Err(Error::field("_count", "must be none or exact")),
    }
}

#[cfg(test)]
mod tests;
