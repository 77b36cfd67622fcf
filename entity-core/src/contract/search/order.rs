//! The order of a list: a sequence of keys, of which the last has a unique value for each entity.

use super::filter::column;
use super::{Cell, Operator};
use crate::model::schema::{Field, Role, Schema};
use crate::primitives::error::{Error, Result};

/// One key of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The field.
    pub field: &'static Field,
    /// True if the order is descending. Missing values come last in a descending order and first in an ascending one.
    pub is_descending: bool,
}

impl Order {
    /// Parses an order such as `title,createdDate_desc`. A key that occurs again is ignored.
    ///
    /// # Errors
    /// Returns an error that names the field if lists can't be ordered by it.
    pub fn parse(text: &str, schema: &'static Schema) -> Result<Vec<Self>> {
        let mut order: Vec<Self> = Vec::new();
        let keys = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        for key in keys {
            let key = Self::parse_key(key, schema)?;
            if order.iter().all(|it| it.field != key.field) {
                order.push(key);
            }
        }
        Ok(order)
    }

    fn parse_key(key: &str, schema: &'static Schema) -> Result<Self> {
        let descending = key
            .strip_suffix("_desc")
            .or_else(|| key.strip_suffix("_reverse"));
        let name = descending
            .or_else(|| key.strip_suffix("_asc"))
            .unwrap_or(key);
        // A field too long for lists is too long to be compared.
        let field = column(name, schema)
            .filter(|it| Operator::In.fits(it.kind))
            .ok_or_else(|| Error::field("_order", format!("can't order by `{name}`")))?;
        Ok(Self {
            field,
            is_descending: descending.is_some(),
        })
    }

    /// Parses the declared order of a list; an empty string orders by the id, if it has a column.
    pub(crate) fn declared(declared: &str, schema: &'static Schema) -> Result<Vec<Self>> {
        let id = || schema.role(Role::Id).and_then(|it| column(it.name, schema));
        Ok(match declared {
            "" => id().map(Self::ascending).into_iter().collect(),
            declared => Self::parse(declared, schema)?,
        })
    }

    fn ascending(field: &'static Field) -> Self {
        Self {
            field,
            is_descending: false,
        }
    }

    /// Completes `asked`, which is replaced by `declared` if it is empty. The result ends with the last key of
    /// `declared`, which has a unique value for each entity.
    pub(super) fn complete(asked: &mut Vec<Self>, declared: &[Self]) {
        if asked.is_empty() {
            *asked = declared.to_vec();
        }
        let Some(tie_break) = declared.last() else {
            return;
        };
        match asked.iter().position(|it| it.field == tie_break.field) {
            Some(index) => asked.truncate(index.saturating_add(1)),
            None => asked.push(*tie_break),
        }
    }

    /// Compares two values of the field in this order.
    pub(super) fn compare(self, one: &Cell, other: &Cell) -> std::cmp::Ordering {
        match self.is_descending {
            true => other.compare(one),
            false => one.compare(other),
        }
    }
}
