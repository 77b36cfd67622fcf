//! What a list is asked for: filters, order and the part of it that is wanted.

use serde_json::Value;

use crate::access::Scope;
use crate::error::{Error, Result};
use crate::schema::{Field, Role, Schema};

/// Most entities in one answer, unless a type declares fewer.
pub const MAX_LIMIT: u64 = 1000;

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
    /// Fields that must have a value.
    pub filters: Vec<Filter>,
    /// Words that must occur in the searchable fields.
    pub words: Vec<String>,
    /// The order that was asked for. A list adds its own tie-break.
    pub order: Vec<Order>,
    /// How many to leave out at the beginning.
    pub start: u64,
    /// How many to answer at most.
    pub limit: u64,
    /// The sites that the caller may read. Set by the gate: a provider applies it and never widens it.
    pub scope: Scope,
    /// Values of the further parameters that the type declares.
    pub parameters: Vec<(String, String)>,
}

/// A field that must have a value.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Which field.
    pub field: &'static Field,
    /// The value, of the field's kind.
    pub value: Value,
}

/// One key of an order.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Which field.
    pub field: &'static Field,
    /// Whether the greatest comes first.
    pub is_descending: bool,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entities, in order.
    pub items: Vec<T>,
    /// Whether the list goes on behind them.
    pub has_more: bool,
}

impl<T> Page<T> {
    /// All there is.
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            has_more: false,
        }
    }

    /// The first `limit` of `items`, of which one more than that was fetched if there are more.
    pub fn cut(mut items: Vec<T>, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Self { items, has_more }
    }
}

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many to leave out at the beginning; fits an `i64`.
    pub start: u64,
    /// How many to answer at most; at least one.
    pub limit: u64,
}

impl Window {
    /// The first [`MAX_LIMIT`] entities.
    pub const FIRST: Self = Self {
        start: 0,
        limit: MAX_LIMIT,
    };

    /// Reads `_start` and `_limit`, or `_page` and `_perpage`, and leaves the other pairs of `query` alone.
    /// No limit, or a limit of 0, means `max`, and so does a greater one.
    ///
    /// # Errors
    /// A number that is none or is too large, a page 0, both spellings of the start; the error names the
    /// parameter.
    pub fn parse(query: &[(String, String)], max: u64) -> Result<Self> {
        let mut numbers = WindowNumbers::default();
        for (name, value) in query {
            numbers.read(name, value)?;
        }
        numbers.resolve(max)
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

    /// Reads a query against a type's schema. `parameters` are the further names that the type takes.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong kind, numbers that are none; all named.
    pub fn parse(
        query: &[(String, String)],
        schema: &'static Schema,
        parameters: &[&str],
        max: u64,
    ) -> Result<Self> {
        let mut search = Self {
            limit: max,
            ..Self::default()
        };
        let mut numbers = WindowNumbers::default();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in query {
            if OTHERS.contains(&name.as_str()) {
                continue;
            }
            if seen.contains(&name.as_str()) {
                return Err(Error::field(name, "is given more than once"));
            }
            seen.push(name);
            if numbers.read(name, value)? {
                continue;
            }
            match name.as_str() {
                "_order" => search.order = parse_order(value, schema)?,
                "_search" => search.words = parse_words(value)?,
                _ if parameters.contains(&name.as_str()) => {
                    search.parameters.push((name.clone(), value.clone()));
                }
                _ => search.filters.push(parse_filter(name, value, schema)?),
            }
        }
        let window = numbers.resolve(max)?;
        (search.start, search.limit) = (window.start, window.limit);
        Ok(search)
    }

    /// The value of a further parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The value that a field must have.
    pub fn filter(&self, name: &str) -> Option<&Value> {
        self.filters
            .iter()
            .find(|it| it.field.name == name)
            .map(|it| &it.value)
    }

    /// The site that the entities must belong to, when a filter names one.
    pub fn site(&self) -> Option<&str> {
        self.filters
            .iter()
            .find(|it| it.field.role == Some(Role::Site))
            .and_then(|it| it.value.as_str())
    }

    /// How many to fetch, to know whether there are more than wanted.
    pub fn fetch(&self) -> u64 {
        self.limit.saturating_add(1)
    }
}

/// The numbers of a [`Window`] as a query spells them.
#[derive(Default)]
struct WindowNumbers {
    start: Option<u64>,
    limit: Option<u64>,
    page: Option<u64>,
    per_page: Option<u64>,
}

impl WindowNumbers {
    /// Takes the pair in if it is one of the window's. Whether it was.
    fn read(&mut self, name: &str, value: &str) -> Result<bool> {
        let place = match name {
            "_limit" => &mut self.limit,
            "_start" => &mut self.start,
            "_page" => &mut self.page,
            "_perpage" => &mut self.per_page,
            _ => return Ok(false),
        };
        *place = Some(number(name, value)?);
        Ok(true)
    }

    /// The count and the first index, whichever way they were spelled. A limit of 0 means as many as allowed.
    fn resolve(self, max: u64) -> Result<Window> {
        let limit = match self.limit.or(self.per_page) {
            None | Some(0) => max,
            Some(limit) => limit.min(max),
        };
        let start = match (self.start, self.page) {
            (Some(start), None) => start,
            (None, None) => 0,
            (None, Some(0)) => return Err(Error::field("_page", "counts from 1")),
            (None, Some(page)) => page.saturating_sub(1).saturating_mul(limit),
            (Some(_), Some(_)) => {
                return Err(Error::field(
                    "_page",
                    "must not be given together with `_start`",
                ));
            }
        };
        match i64::try_from(start) {
            Ok(_) => Ok(Window { start, limit }),
            Err(_too_large) => Err(Error::field("_start", "is too large")),
        }
    }
}

fn number(name: &str, value: &str) -> Result<u64> {
    value.parse().map_err(|error: std::num::ParseIntError| {
        Error::field(name, "must be a whole number, 0 or greater").with_source(error)
    })
}

fn parse_filter(name: &str, value: &str, schema: &'static Schema) -> Result<Filter> {
    let field = searchable(name, schema)?;
    Ok(Filter {
        field,
        value: field.parse(value)?,
    })
}

fn parse_order(value: &str, schema: &'static Schema) -> Result<Vec<Order>> {
    value
        .split(',')
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .map(|key| parse_key(key, schema))
        .collect()
}

fn parse_key(key: &str, schema: &'static Schema) -> Result<Order> {
    let descending = key
        .strip_suffix("_desc")
        .or_else(|| key.strip_suffix("_reverse"));
    let name = descending
        .or_else(|| key.strip_suffix("_asc"))
        .unwrap_or(key);
    let field = searchable(name, schema).map_err(|error| {
        Error::field("_order", format!("can't order by `{name}`")).with_source(error)
    })?;
    Ok(Order {
        field,
        is_descending: descending.is_some(),
    })
}

/// At most five words of at most 200 characters together: each one is a scan.
fn parse_words(value: &str) -> Result<Vec<String>> {
    let words: Vec<String> = value.split_whitespace().map(ToOwned::to_owned).collect();
    match words.len() > 5 || value.chars().count() > 200 || value.chars().any(char::is_control) {
        true => Err(Error::field(
            "_search",
            "must have at most 5 words and 200 characters",
        )),
        false => Ok(words),
    }
}

fn searchable(name: &str, schema: &'static Schema) -> Result<&'static Field> {
    schema
        .field(name)
        .filter(|it| it.column.is_some())
        .ok_or_else(|| Error::field(name, "is not a parameter of this list"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Kind;

    static SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("title", Kind::Text(99), "").column("title"),
            Field::new("points", Kind::Integer, "").column("points"),
            Field::new("body", Kind::Text(99), ""),
        ],
        has_feed: false,
        has_events: false,
    };

    fn parse(query: &[(&str, &str)]) -> Result<Search> {
        let query: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Search::parse(&query, &SCHEMA, &["select"], 500)
    }

    #[test]
    fn the_window_has_two_spellings() {
        for (query, expected) in [
            (&[][..], (0, 500)),
            (&[("_limit", "0")], (0, 500)),
            (&[("_limit", "50"), ("_start", "50")], (50, 50)),
            (&[("_limit", "9999")], (0, 500)),
            (&[("_page", "3"), ("_perpage", "5")], (10, 5)),
        ] {
            let search = parse(query).unwrap();
            assert_eq!((search.start, search.limit), expected, "{query:?}");
        }
    }

    #[test]
    fn filters_and_order_are_of_declared_fields() {
        let search = parse(&[
            ("points", "5"),
            ("select", "access"),
            ("_order", "title,points_desc"),
            ("_", "1"),
        ])
        .unwrap();
        assert_eq!(search.filter("points"), Some(&Value::from(5)));
        assert_eq!(search.parameter("select"), Some("access"));
        let order: Vec<_> = search
            .order
            .iter()
            .map(|it| (it.field.name, it.is_descending))
            .collect();
        assert_eq!(order, [("title", false), ("points", true)]);
    }

    #[test]
    fn what_is_not_declared_is_named() {
        for (query, name) in [
            (("nonsense", "1"), "nonsense"),
            (("body", "1"), "body"),
            (("points", "x"), "points"),
            (("_limit", "-1"), "_limit"),
            (("_order", "nonsense"), "_order"),
            (("_page", "0"), "_page"),
            (("_start", "99999999999999999999"), "_start"),
        ] {
            let error = parse(&[query]).unwrap_err();
            assert_eq!(error.field_errors()[0].name, name);
        }
    }
}
