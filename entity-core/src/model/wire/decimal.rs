//! Decimal numbers such as points and weights, exact in both databases and in every format.

use std::fmt;

use serde::{Serialize, Serializer};

/// A decimal number with four places behind the point and up to nine before it.
///
/// It is stored as a whole number of ten-thousandths, so that sums in SQL are exact. On the wire it is a number: each of
/// these values has a text of at most 13 digits, which survives the way through a binary floating-point number.
///
/// A field of this type is declared as `#[entity(kind = Number, uncompared)]`, because lists would compare the number of
/// ten-thousandths.
///
/// ```
/// use entity_core::wire::Decimal;
///
/// let points = Decimal::parse("87.25").unwrap();
/// assert_eq!(points.units(), 872_500);
/// assert_eq!(points.to_string(), "87.25");
/// assert_eq!(Decimal::parse("88").unwrap().to_string(), "88.0");
/// assert_eq!(Decimal::parse("0.12345").unwrap_err(), "must not have more than 4 places behind the point");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decimal(i64);

/// The number of places behind the point.
const PLACES: usize = 4;
/// The number of units in one.
const ONE: u64 = 10_000;
/// The message about a text that is no number.
pub(crate) const NO_NUMBER: &str = "must be a number";

impl Decimal {
    /// The number 0.
    pub const ZERO: Self = Self(0);
    /// The largest number.
    pub const MAX: Self = Self(9_999_999_999_999);
    /// The number of places behind the point.
    pub const PLACES: u32 = 4;

    /// Creates a number from the number of its ten-thousandths.
    pub const fn of_units(units: i64) -> Self {
        Self(units)
    }

    /// Returns the number as people write it: without places behind the point if these are 0.
    pub fn plain(self) -> String {
        self.to_string().trim_end_matches(".0").to_owned()
    }

    /// Returns the number of ten-thousandths, which columns hold.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Parses a number such as `87.25`, without an exponent.
    ///
    /// # Errors
    /// Returns a message that continues the name of the field if the text is no such number, or too large or too precise.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        if !is_number(whole) || !is_number(part) {
            return Err(NO_NUMBER.to_owned());
        }
        let part = part.trim_end_matches('0');
        if part.len() > PLACES {
            return Err(format!(
                "must not have more than {PLACES} places behind the point"
            ));
        }
        let whole = whole.trim_start_matches('0');
        let units = format!("{whole}{part:0<PLACES$}");
        let units = units.parse::<i64>().ok();
        let units = units.filter(|it| *it <= Self::MAX.0);
        let units = units.ok_or_else(|| format!("must be between -{0} and {0}", Self::MAX))?;
        Ok(Self(if is_negative { -units } else { units }))
    }
}

mod typed;

/// Writes the number as JSON does, with one place behind the point at least: `88.0`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let part = format!("{:04}", units.rem_euclid(ONE));
        let part = match part.trim_end_matches('0') {
            "" => "0",
            part => part,
        };
        write!(f, "{sign}{}.{part}", units.div_euclid(ONE))
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: f64 = self
            .to_string()
            .parse()
            .map_err(serde::ser::Error::custom)?;
        serializer.serialize_f64(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_or_are_refused_with_a_reason() {
        for (text, units) in [
            ("0", 0),
            ("-0", 0),
            ("00.50", 5_000),
            ("+1.5", 15_000),
            (" 87.25 ", 872_500),
            ("-0.0001", -1),
            ("999999999.9999", 9_999_999_999_999),
        ] {
            assert_eq!(
                Decimal::parse(text).map(Decimal::units),
                Ok(units),
                "{text}"
            );
        }
        let long = "9".repeat(500);
        for text in [
            "",
            "-",
            ".",
            ".5",
            "5.",
            "1e3",
            "NaN",
            "0x1",
            "1,5",
            "1_0",
            "٣",
            "0.00001",
            "1000000000",
            &long,
        ] {
            assert!(Decimal::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_number_survives_json() {
        for units in [
            0,
            1,
            -1,
            9,
            12_345,
            5_000,
            10_000,
            880_000,
            9_999_999_999_999,
            -9_999_999_999_999,
        ] {
            let number = Decimal::of_units(units);
            let json = serde_json::to_string(&number).unwrap();
            assert_eq!(json, number.to_string());
            let read: f64 = serde_json::from_str(&json).unwrap();
            assert_eq!(Decimal::parse(&read.to_string()), Ok(number));
        }
    }
}
