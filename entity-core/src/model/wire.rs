//! The forms of an instant on the wire, besides the ISO text of `DateTime<Utc>` itself, decimal numbers, and the size of
//! data as JSON.

pub(crate) mod decimal;

use std::io;

use chrono::format::{Fixed, Item, Numeric, Pad};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::primitives::error::{Error, Result};

pub use decimal::Decimal;

/// Returns the number of bytes that `value` takes as JSON.
///
/// # Errors
/// Returns an error if `value` can't be serialised.
pub fn size_in_json<T: Serialize + ?Sized>(value: &T) -> Result<usize> {
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).map_err(Error::internal)?;
    Ok(counter.0)
}

/// A writer that counts the bytes written to it.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Formats an instant as ISO 8601 text in UTC without a fraction: `2026-11-21T10:00:00Z`.
pub fn iso(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats the instant in `value` as [`iso`] does. The text is empty if there is none.
pub fn iso_or_empty(value: &impl Instant) -> String {
    value.instant().map(iso).unwrap_or_default()
}

/// Returns the instant in `value` in seconds since 1970, or 0 if there is none.
pub fn seconds_or_zero(value: &impl Instant) -> i64 {
    value.instant().map_or(0, |it| it.timestamp())
}

/// The value of a field that stands for an instant, in any form.
pub trait Instant {
    /// Returns the instant, if there is one.
    fn instant(&self) -> Option<DateTime<Utc>>;
}

impl Instant for DateTime<Utc> {
    fn instant(&self) -> Option<DateTime<Utc>> {
        Some(*self)
    }
}

impl Instant for Millis {
    fn instant(&self) -> Option<DateTime<Utc>> {
        Some(self.0)
    }
}

impl Instant for Moment {
    fn instant(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(self.time)
    }
}

impl<T: Instant> Instant for Option<T> {
    fn instant(&self) -> Option<DateTime<Utc>> {
        self.as_ref().and_then(T::instant)
    }
}

/// An instant as milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Millis(pub DateTime<Utc>);

impl From<DateTime<Utc>> for Millis {
    fn from(instant: DateTime<Utc>) -> Self {
        Self(instant)
    }
}

impl From<Millis> for DateTime<Utc> {
    fn from(millis: Millis) -> Self {
        millis.0
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.timestamp_millis())
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = i64::deserialize(deserializer)?;
        DateTime::from_timestamp_millis(millis)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("milliseconds out of range"))
    }
}

/// An instant as an object that clients of every generation can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Seconds since 1970.
    pub epoch_second: i64,
    /// Nanoseconds of the second, as precise as `time`.
    pub nano: u32,
    /// Milliseconds since 1970.
    pub time: i64,
    /// For people, in English and UTC: `Dec 5, 2026, 2:15 AM`.
    pub display: String,
}

impl Default for Moment {
    fn default() -> Self {
        DateTime::UNIX_EPOCH.into()
    }
}

impl From<Moment> for DateTime<Utc> {
    fn from(moment: Moment) -> Self {
        moment.instant().unwrap_or_default()
    }
}

/// The parts of `%b %-d, %Y, %-I:%M %p`, which is not parsed for each instant.
const DISPLAY: [Item<'static>; 11] = [
    Item::Fixed(Fixed::ShortMonthName),
    Item::Space(" "),
    Item::Numeric(Numeric::Day, Pad::None),
    Item::Literal(", "),
    Item::Numeric(Numeric::Year, Pad::Zero),
    Item::Literal(", "),
    Item::Numeric(Numeric::Hour12, Pad::None),
    Item::Literal(":"),
    Item::Numeric(Numeric::Minute, Pad::Zero),
    Item::Space(" "),
    Item::Fixed(Fixed::UpperAmPm),
];

/// Reads what validated input has: milliseconds since 1970.
impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Millis::deserialize(deserializer).map(|it| it.0.into())
    }
}

impl From<DateTime<Utc>> for Moment {
    fn from(instant: DateTime<Utc>) -> Self {
        Self {
            epoch_second: instant.timestamp(),
            nano: instant.timestamp_subsec_millis().saturating_mul(1_000_000),
            time: instant.timestamp_millis(),
            display: instant.format_with_items(DISPLAY.iter()).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_has_the_forms_that_clients_read() {
        let instant = DateTime::from_timestamp(1_796_436_929, 0).unwrap();
        assert_eq!(iso(instant), "2026-12-05T02:15:29Z");
        assert_eq!(
            serde_json::to_string(&Millis(instant)).unwrap(),
            "1796436929000"
        );
        assert_eq!(
            serde_json::to_string(&Moment::from(instant)).unwrap(),
            r#"{"epochSecond":1796436929,"nano":0,"time":1796436929000,"display":"Dec 5, 2026, 2:15 AM"}"#
        );
        for millis in [1_796_436_929_081_i64, -1_796_436_929_081] {
            let moment = Moment::from(DateTime::from_timestamp_millis(millis).unwrap());
            let nanos = i64::from(moment.nano);
            assert_eq!(moment.epoch_second * 1000 + nanos / 1_000_000, moment.time);
            assert_eq!((moment.time, nanos % 1_000_000), (millis, 0));
        }
    }
}
