//! What a list is asked for: filters, words, order and the part of it that is wanted.
//!
//! # The language
//!
//! | parameter | meaning |
//! |---|---|
//! | `field=value` | The field has this value. |
//! | `field[operator]=value` | One of the [operators](Operator) holds: `ne gt ge lt le like in null`. |
//! | `_search=two words` | Each word occurs in one of the fields that are declared searchable, in whatever case. |
//! | `_order=title,createdDate_desc` | The order, by any number of fields. What is equal is ordered by the type's own last key, so that there is always one order only. |
//! | `_limit`, `_start` | How many, and how many to leave out; `_perpage` and `_page` count from 1. |
//! | `_cursor` | Empty, it begins a walk; the `Link` header names the address of the next part. A walk neither leaves out nor repeats what stays, whatever others write meanwhile. |
//! | `_count=exact` | `X-Total-Count` tells how many there are in all. |
//! | `_fields`, `_expand` | What is shown of each entity: see [`Projection`]. |
//!
//! A field that is no column, an operator that does not fit the field's kind, a value of another kind and
//! anything given twice are refused by name. No value is less, greater or equal to any; `ne` holds for it.
//! Text is compared byte by byte. `like` and `_search` find letters in whatever case: see [`fold()`]. In HTML they
//! find what people read there and nothing of the markup, while a comparison is with the HTML as it is.
//!
//! [`db::apply`](crate::db::apply) says all of it in SQL, and [`select()`] does the same with entities in
//! memory.

mod cell;
mod cursor;
mod filter;
mod fold;
mod needle;
mod order;
mod page;
mod select;
mod window;

use crate::access::Scope;
use crate::entity::{Entity, Version};
use crate::error::{Error, Result};
use crate::projection::Projection;
use crate::provider::List;
use crate::registry::Route;
use crate::schema::{Role, Schema};

pub use cell::Cell;
pub use cursor::Cursor;
pub use filter::{Filter, Operator, Test};
pub use fold::fold;
pub use needle::Needle;
pub use order::Order;
pub use page::{Page, Places, Walk};
pub(crate) use select::find;
pub use select::select;
pub use window::Window;

use filter::plain;
use window::WindowNumbers;

/// Most entities in one answer, unless a type declares fewer.
pub const MAX_LIMIT: u64 = 1000;

/// Most words to look for: each one is a scan.
const MOST_WORDS: usize = 5;

/// Query parameters that other parts of the service read, or that existing clients send without meaning.
const OTHERS: [&str; 12] = [
    "_",
    "auto",
    "no-cache",
    "nocache",
    "last-modified",
    "envelope",
    "_validateSession",
    "_sessionId",
    "sakai.session",
    "JSESSIONID",
    "callback",
    "jsonCallback",
];

/// A question to a list.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// What must hold of fields.
    pub filters: Vec<Filter>,
    /// Words that must occur in the searchable fields.
    pub words: Vec<String>,
    /// The order. A search that a provider is given ends with a key that tells all entities apart, if the
    /// type has one.
    pub order: Vec<Order>,
    /// How many to leave out at the beginning.
    pub start: u64,
    /// How many to answer at most.
    pub limit: u64,
    /// Where the list ends, if it is [cut](Search::cut).
    pub most: Option<u64>,
    /// Where to go on, if the list is walked by a cursor. There is nothing to leave out then.
    pub cursor: Option<Cursor>,
    /// Whether the client wants to know how many there are in all.
    pub is_counted: bool,
    /// The sites that the caller may read. Set by the gate: a provider applies it and never widens it.
    pub scope: Scope,
    /// Values of the further parameters that the type declares.
    pub parameters: Vec<(String, String)>,
}

/// What lists of a type can be asked.
#[derive(Clone, Debug)]
pub struct Grammar {
    prefix: &'static str,
    schema: &'static Schema,
    parameters: Vec<&'static str>,
    order: Vec<Order>,
    max: u64,
}

impl Grammar {
    /// What lists of `P` can be asked.
    ///
    /// # Errors
    /// [`List::ORDER`] is no order of the type's fields: the registry has refused such a type.
    pub fn of<P: List>() -> Result<Self> {
        let schema = P::Entity::schema();
        Ok(Self {
            prefix: P::PREFIX,
            schema,
            parameters: P::PARAMETERS.iter().map(|(name, _)| *name).collect(),
            order: Order::declared(P::ORDER, schema)?,
            max: P::MAX,
        })
    }

    /// What lists of the type behind `route` can be asked.
    ///
    /// # Errors
    /// The declared order is none of the type's fields: the registry has refused such a type.
    pub fn of_route(route: &Route) -> Result<Self> {
        Ok(Self {
            prefix: route.prefix,
            schema: route.schema,
            parameters: route.parameters.iter().map(|(name, _)| *name).collect(),
            order: Order::declared(route.order, route.schema)?,
            max: route.max,
        })
    }

    /// The same with these parameters besides, which an address of its own takes.
    #[must_use]
    pub(crate) fn with(mut self, parameters: &[(&'static str, &'static str)]) -> Self {
        self.parameters.extend(parameters.iter().map(|it| it.0));
        self
    }

    /// Reads a query.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong kind, numbers that are none, a cursor of another question;
    /// all named.
    pub fn parse(&self, query: &[(String, String)]) -> Result<Search> {
        let mut search = Search::default();
        let mut numbers = WindowNumbers::default();
        let mut cursor = None;
        let mut seen: Vec<(&str, Option<Operator>)> = Vec::new();
        let mut question: Vec<(&str, &str)> = Vec::new();
        for (name, value) in query {
            let name = name.strip_suffix("[eq]").unwrap_or(name);
            if OTHERS.contains(&name) || Projection::PARAMETERS.contains(&name) {
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

    /// Takes one pair in; answers with what must not be given twice.
    fn read<'a>(
        &self,
        search: &mut Search,
        name: &'a str,
        value: &str,
    ) -> Result<(&'a str, Option<Operator>)> {
        match name {
            "_order" => search.order = Order::parse(value, self.schema)?,
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

    /// Gives the search an order that has one result only, as far as the type has one.
    pub fn complete(&self, search: &mut Search) {
        Order::complete(&mut search.order, &self.order);
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
    /// Everything, up to the greatest number of entities.
    pub fn all() -> Self {
        Self {
            limit: MAX_LIMIT,
            ..Self::default()
        }
    }

    /// The value of a further parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Says that a further parameter has this value, which the address tells.
    ///
    /// # Errors
    /// The query says that it has another one.
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

    /// The value that a field must have.
    pub fn filter(&self, name: &str) -> Option<&Cell> {
        self.equal(|it| it.field.name == name)
    }

    /// The site that the entities must belong to, when a filter names one.
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

    /// Asks for the same the other way round.
    pub fn reverse(&mut self) {
        for key in &mut self.order {
            key.is_descending = !key.is_descending;
        }
    }

    /// Lets the list have no more than the first `most` of its order: whoever looks at a part of it, walks it or
    /// counts it finds nothing behind them.
    pub fn cut(&mut self, most: u64) {
        self.most = Some(self.most.map_or(most, |own| own.min(most)));
    }

    /// How many of `total` are in the list.
    pub(crate) fn count_within(&self, total: u64) -> u64 {
        self.most.map_or(total, |most| total.min(most))
    }

    /// Which part of the list is wanted, unless a cursor says where it begins.
    pub fn window(&self) -> Window {
        Window {
            start: self.start,
            limit: self.limit,
        }
    }

    /// How many to fetch, to know whether there are more than wanted: none of those behind a cut.
    pub fn fetch(&self) -> u64 {
        let begin = self.cursor.as_ref().map_or(self.start, Cursor::passed);
        let wanted = self.limit.saturating_add(1);
        match self.most {
            Some(most) => wanted.min(most.saturating_sub(begin)),
            None => wanted,
        }
    }

    /// The values of the keys of the order behind which the wanted part begins.
    pub fn after(&self) -> Option<&[Cell]> {
        self.cursor.as_ref().and_then(Cursor::after)
    }

    /// Whether the order is this one: names of fields, and whether the greatest comes first.
    pub fn is_ordered_by(&self, keys: &[(&str, bool)]) -> bool {
        let own = self
            .order
            .iter()
            .map(|it| (it.field.name, it.is_descending));
        own.eq(keys.iter().copied())
    }

    /// The same question about what comes behind `items`.
    pub(crate) fn move_behind(&mut self, items: &[impl Entity]) -> Result<()> {
        self.cursor = self.behind(items)?;
        Ok(())
    }

    /// The cursor by which a client goes on behind `items`, if it walks by cursors.
    pub(crate) fn next_cursor(&self, items: &[impl Entity]) -> Result<Option<String>> {
        let cursor = self.behind(items)?;
        cursor.map(|it| it.write()).transpose()
    }

    fn behind(&self, items: &[impl Entity]) -> Result<Option<Cursor>> {
        let (Some(cursor), Some(last)) = (&self.cursor, items.last()) else {
            return Ok(self.cursor.clone());
        };
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        Ok(Some(
            cursor.behind(page::keys_of(&self.order, last)?, count),
        ))
    }
}

/// The keys of `order` that an entity with these fields has.
fn keys(order: &[Order], data: &serde_json::Value) -> Vec<Cell> {
    let keys = order.iter().map(|it| Cell::of_field(it.field, data));
    keys.collect()
}

/// Whether `_search` looks into the field.
pub(crate) fn is_searched(field: &crate::schema::Field) -> bool {
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
