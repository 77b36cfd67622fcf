//! Walking a list by the place where the last part ended, which stays a place while others write.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Cell, Order};
use crate::error::{Error, Result};

/// Most characters of a cursor: it has to fit into an address.
const MOST_CHARACTERS: usize = 4096;

/// Where a walk through a list goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// Tells the question apart from others; a cursor leads nowhere in the list of another one.
    question: u64,
    /// The keys of the entity behind which to go on; none at the beginning.
    after: Option<Vec<Cell>>,
    /// How many the walk has passed by: where it stands in a list that is cut.
    passed: u64,
}

impl Cursor {
    /// Reads what [`Cursor::write`] wrote for the same question; nothing begins the walk.
    pub(super) fn parse(text: &str, question: u64, order: &[Order]) -> Result<Self> {
        if order.is_empty() {
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

    /// The keys behind which to go on.
    pub(super) fn after(&self) -> Option<&[Cell]> {
        self.after.as_deref()
    }

    /// How many the walk has passed by.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The place `count` further on, behind the entity that has `keys`.
    pub(super) fn behind(&self, keys: Vec<Cell>, count: u64) -> Self {
        Self {
            question: self.question,
            after: Some(keys),
            passed: self.passed.saturating_add(count),
        }
    }

    /// The text by which a client goes on here.
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
