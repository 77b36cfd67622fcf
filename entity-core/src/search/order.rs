//! The order of a list: keys, of which the last tells all entities apart.

use super::filter::column;
use super::{Cell, Operator};
use crate::error::{Error, Result};
use crate::schema::{Field, Role, Schema};

/// One key of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which field.
    pub field: &'static Field,
    /// Whether the greatest comes first. What has no value comes first otherwise, and last then.
    pub is_descending: bool,
}

impl Order {
    /// Reads `title,createdDate_desc`. A key that is there already is left out.
    ///
    /// # Errors
    /// Lists can't be ordered by one of the fields; it is named.
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
        // What is too long to be listed is too long to be compared.
        let field = column(name, schema)
            .filter(|it| Operator::In.fits(it.kind))
            .ok_or_else(|| Error::field("_order", format!("can't order by `{name}`")))?;
        Ok(Self {
            field,
            is_descending: descending.is_some(),
        })
    }

    /// The order of a list of which `declared` is declared: the id's, if that is nothing.
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

    /// `asked`, or `declared` if nothing is; in any case with the last key of `declared`, which tells all
    /// entities apart, as its last one.
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

    /// How two values of the field stand in this order.
    pub(super) fn compare(self, one: &Cell, other: &Cell) -> std::cmp::Ordering {
        match self.is_descending {
            true => other.compare(one),
            false => one.compare(other),
        }
    }
}
