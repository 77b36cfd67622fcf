//! Which part of a list is wanted, in either spelling.

use super::MAX_LIMIT;
use crate::error::{Error, Result};

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

/// The numbers of a [`Window`] as a query spells them.
#[derive(Default)]
pub(super) struct WindowNumbers {
    start: Option<u64>,
    limit: Option<u64>,
    page: Option<u64>,
    per_page: Option<u64>,
}

impl WindowNumbers {
    /// Takes the pair in if it is one of the window's. Whether it was.
    pub(super) fn read(&mut self, name: &str, value: &str) -> Result<bool> {
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

    /// Whether they say where the part begins.
    pub(super) fn have_start(&self) -> bool {
        self.start.is_some() || self.page.is_some()
    }

    /// The count and the first index, whichever way they were spelled. A limit of 0 means as many as allowed.
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
