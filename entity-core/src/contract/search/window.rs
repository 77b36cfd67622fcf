//! The requested window of a list, as offset and limit or as a page number and size.

use super::MAX_LIMIT;
use crate::primitives::error::{Error, Result};

/// The requested window of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The number of entities to skip at the beginning; fits an `i64`.
    pub start: u64,
    /// The maximum number of entities to return; at least one.
    pub limit: u64,
}

impl Window {
    /// The first [`MAX_LIMIT`] entities.
    pub const FIRST: Self = Self {
        start: 0,
        limit: MAX_LIMIT,
    };

    /// The query parameters that choose a part of a list.
    const PARAMETERS: [&str; 5] = ["_start", "_limit", "_page", "_perpage", "_cursor"];

    /// Returns whether `name` is a query parameter that chooses a part of a list.
    #[must_use]
    pub fn is_set_by(name: &str) -> bool {
        Self::PARAMETERS.contains(&name)
    }

    /// Parses `_start` and `_limit`, or `_page` and `_perpage`, and ignores the other pairs of `query`. No limit, a
    /// limit of 0 and a limit above `max` mean `max`.
    ///
    /// # Errors
    /// Returns an error that names the parameter if a number is invalid or too large, the page is 0, or the start is
    /// given in both spellings.
    pub fn parse(query: &[(String, String)], max: u64) -> Result<Self> {
        let mut numbers = WindowNumbers::default();
        for (name, value) in query {
            numbers.read(name, value)?;
        }
        numbers.resolve(max)
    }
}

/// The numbers of a [`Window`] as a query spells them.
#[derive(Default)]
pub(super) struct WindowNumbers {
    start: Option<u64>,
    limit: Option<u64>,
    page: Option<u64>,
    per_page: Option<u64>,
}

impl WindowNumbers {
    /// Reads the pair if it is one of the window's parameters. Returns whether it was.
    pub(super) fn read(&mut self, name: &str, value: &str) -> Result<bool> {
        let place = match name {
            "_limit" => &mut self.limit,
            "_start" => &mut self.start,
            "_page" => &mut self.page,
            "_perpage" => &mut self.per_page,
            _ => return Ok(false),
        };
        if place.replace(number(name, value)?).is_some() {
            return Err(Error::field(name, "is given more than once"));
        }
        Ok(true)
    }

    /// Returns whether the numbers say where the window begins.
    pub(super) fn have_start(&self) -> bool {
        self.start.is_some() || self.page.is_some()
    }

    /// Converts the numbers to a window, whichever way they were spelled. A limit of 0 means `max`.
    pub(super) fn resolve(self, max: u64) -> Result<Window> {
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
