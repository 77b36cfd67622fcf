//! Cursors: the position at which the last page of a walk ended, which stays valid during concurrent writes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Cell, Order};
use crate::contract::reply::Item;
use crate::primitives::error::{Error, Result};

/// The maximum length of a cursor, in characters: it has to fit into an address.
const MOST_CHARACTERS: usize = 4096;

/// The position at which a walk through a list continues.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// The hash of the search; a cursor is refused in the list of another search.
    question: u64,
    /// The values of the order's keys of the entity behind which the walk continues; `None` at the beginning.
    after: Option<Vec<Cell>>,
    /// The number of entities that the walk has passed: its position in a list that is capped.
    passed: u64,
}

impl Cursor {
    /// Parses the text that [`Cursor::write`] wrote for the same search; an empty text begins the walk.
    pub(super) fn parse(text: &str, question: u64, order: &[Order]) -> Result<Self> {
        if order.first().is_none_or(|it| it.field.name.is_empty()) {
            return Err(Error::field("_cursor", "is not offered by this list"));
        }
        let begin = Self {
            question,
            after: None,
            passed: 0,
        };
        match text {
            "" => Ok(begin),
            text => read(text, question, order).ok_or_else(|| Error::field("_cursor", FOREIGN)),
        }
    }

    /// Returns the values of the order's keys behind which the walk continues.
    pub(super) fn after(&self) -> Option<&[Cell]> {
        self.after.as_deref()
    }

    /// Returns the number of entities that the walk has passed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Returns the cursor with which the walk continues behind `items`, which are in this order; the same one if there are
    /// none.
    pub(super) fn behind_items(&self, order: &[Order], items: &[Item]) -> Result<Self> {
        let Some(last) = items.last() else {
            return Ok(self.clone());
        };
        let data = last.entity().to_value()?;
        let keys = order.iter().map(|it| Cell::of_field(it.field, &data));
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        Ok(self.behind(keys.collect(), count))
    }

    /// Returns the cursor that is `count` entities further on, behind the entity with the values `keys`.
    pub(super) fn behind(&self, keys: Vec<Cell>, count: u64) -> Self {
        Self {
            question: self.question,
            after: Some(keys),
            passed: self.passed.saturating_add(count),
        }
    }

    /// Encodes the cursor as the text with which a client continues here.
    pub(super) fn write(&self) -> Result<String> {
        let place = (self.question, &self.after, self.passed);
        let bytes = serde_json::to_vec(&place).map_err(Error::internal)?;
        let text = URL_SAFE_NO_PAD.encode(bytes);
        match text.len() > MOST_CHARACTERS {
            true => Err(Error::field(
                "_cursor",
                "can't carry values as long as those of this order: use `_start`",
            )),
            false => Ok(text),
        }
    }
}

const FOREIGN: &str = "is not one that this list gave out for these filters and this order";

fn read(text: &str, question: u64, order: &[Order]) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (asked, keys, passed): (u64, Vec<Cell>, u64) = serde_json::from_slice(&bytes).ok()?;
    let fits = |(key, order): (&Cell, &Order)| key.fits(order.field.kind);
    let is_ours =
        asked == question && keys.len() == order.len() && keys.iter().zip(order).all(fits);
    is_ours.then_some(Cursor {
        question,
        after: Some(keys),
        passed,
    })
}
