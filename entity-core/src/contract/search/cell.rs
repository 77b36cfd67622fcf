//! The value of a field in the form in which lists compare it: the same in memory and on every database.

use std::cmp::Ordering;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Needle;
use crate::model::schema::{Field, Kind};
use crate::primitives::text::plain_text;

/// The value of a field in the form in which lists compare it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// No value. It comes before all others.
    Null,
    /// A truth value; false comes first.
    Boolean(bool),
    /// A whole number, or an instant in milliseconds since 1970.
    Integer(i64),
    /// A finite number.
    Number(#[serde(serialize_with = "write_bits", deserialize_with = "read_bits")] f64),
    /// Text, compared byte by byte.
    Text(String),
}

impl Cell {
    /// Converts a JSON value of a field of this kind. A value that lists can't compare becomes `Null`.
    pub fn of(kind: Kind, value: &Value) -> Self {
        let cell = match kind {
            Kind::Text(_) | Kind::Html(_) => value.as_str().map(|it| Self::Text(it.to_owned())),
            Kind::Integer => value.as_i64().map(Self::Integer),
            Kind::Number => value.as_f64().map(Self::Number),
            Kind::Boolean => value.as_bool().map(Self::Boolean),
            Kind::Instant | Kind::Millis | Kind::Moment => crate::model::value::read_instant(value)
                .map(|it| Self::Integer(it.timestamp_millis())),
            Kind::List | Kind::Object => None,
        };
        cell.unwrap_or(Self::Null)
    }

    /// Returns the value of `field` in an entity, of which `data` is the JSON.
    pub(super) fn of_field(field: &Field, data: &Value) -> Self {
        data.get(field.name)
            .map_or(Self::Null, |it| Self::of(field.kind, it))
    }

    /// Returns whether the value is text that contains `needle`, or HTML whose text does.
    pub(super) fn holds(&self, field: &Field, needle: &Needle) -> bool {
        match (self, field.kind) {
            (Self::Text(html), Kind::Html(_)) => needle.occurs_in(&plain_text(html), field),
            (Self::Text(text), _) => needle.occurs_in(text, field),
            _ => false,
        }
    }

    /// Compares two values in ascending order.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(one), Self::Boolean(other)) => one.cmp(other),
            (Self::Integer(one), Self::Integer(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => {
                one.partial_cmp(other).unwrap_or(Ordering::Equal)
            }
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (one, other) => one.is_null().cmp(&other.is_null()).reverse(),
        }
    }

    /// Returns whether there is no value.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Returns whether a field of this kind can have this value. A value that comes back from a client may be of any
    /// kind.
    pub(super) fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Null => true,
            Self::Boolean(_) => kind == Kind::Boolean,
            Self::Integer(_) => {
                matches!(
                    kind,
                    Kind::Integer | Kind::Instant | Kind::Millis | Kind::Moment
                )
            }
            Self::Number(it) => kind == Kind::Number && it.is_finite(),
            Self::Text(it) => matches!(kind, Kind::Text(_) | Kind::Html(_)) && !it.contains('\0'),
        }
    }
}

/// Writes the bits of a number: its decimal text does not always lead back to the same number, but its bits do.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn write_bits<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number.to_bits().serialize(serializer)
}

fn read_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    u64::deserialize(deserializer).map(f64::from_bits)
}
