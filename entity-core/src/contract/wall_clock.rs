//! Local times, which clients send without an offset for an entity that names a time zone.
//!
//! A type declares the field that names the zone with [`Meaning::Zone`]. The instants that
//! clients write are then by the clock of that zone: of the zone that is sent with them, else of the one that the entity
//! has. What has an offset, and milliseconds, are instants whatever the zone is.

use chrono::{NaiveDateTime, SecondsFormat, SubsecRound as _};
use serde_json::{Map, Value};

use crate::DateTimeUtc;
use crate::contract::input::Input;
use crate::model::schema::{Field, Kind, Meaning, Schema};
use crate::model::value::{instant, read_instant};
use crate::primitives::error::FieldError;
use crate::primitives::recurrence::{self, Tz};

/// The clock by which the local times of an input are.
#[derive(Debug)]
pub(crate) struct WallClock {
    /// The zone that the entity names.
    zone: Tz,
    /// The zone of the form, for times by whose clock no field is.
    form: Option<Tz>,
    /// The fields of the entity as it is, if a form was filled with them.
    shown: Map<String, Value>,
}

impl WallClock {
    /// Returns the clock of the entity that is made of `input`.
    pub(crate) fn of_new(input: &Input, schema: &Schema) -> Self {
        let field = zone_field(schema);
        let sent = field.and_then(|it| sent(input, it));
        Self {
            zone: named(sent.or_else(|| field?.default)),
            form: input.zone,
            shown: Map::new(),
        }
    }

    /// Returns the clock of an entity with the fields `stored`, which `input` changes.
    pub(crate) fn of_present(input: &Input, schema: &Schema, stored: &Value) -> Self {
        if !has_local_time(input, schema) {
            return Self::of_new(input, schema);
        }
        let field = zone_field(schema);
        let sent = field.and_then(|it| sent(input, it));
        let present = || stored.get(field?.name)?.as_str();
        let shown = stored.as_object().filter(|_| input.is_form);
        Self {
            zone: named(sent.or_else(present)),
            form: input.zone,
            shown: shown.cloned().unwrap_or_default(),
        }
    }

    /// Returns the instant that `value` is as a value of `field`, if it is a local time by this clock. Who sends back the
    /// time that a form showed means the same instant, also where that time occurs twice.
    pub(crate) fn place(&self, schema: &Schema, field: &Field, value: &Value) -> Option<Value> {
        let zone = self.zone_of(schema, field)?;
        let local = instant::local(value.as_str()?)?;
        let shown = self.shown.get(field.name).and_then(read_instant);
        let shown = shown.filter(|it| clock(*it, zone) == local.trunc_subsecs(3));
        let placed = shown.or_else(|| recurrence::place(local, zone))?;
        Some(placed.to_rfc3339_opts(SecondsFormat::AutoSi, true).into())
    }

    /// Returns the zone by whose clock a local time is that is sent for `field`, if it is not UTC.
    fn zone_of(&self, schema: &Schema, field: &Field) -> Option<Tz> {
        let is_instant = matches!(field.kind, Kind::Instant | Kind::Millis | Kind::Moment);
        match schema.clock_of(field) {
            Some(_) => Some(self.zone),
            None => self.form.filter(|_| is_instant),
        }
    }
}

/// Returns the time that a clock in `zone` shows at `instant`, to the millisecond.
fn clock(instant: DateTimeUtc, zone: Tz) -> NaiveDateTime {
    let local = instant.with_timezone(&zone).naive_local();
    local.trunc_subsecs(3)
}

/// Checks that `value`, if it is one of a field that names a zone, does so. Nothing is checked of what is empty.
///
/// # Errors
/// Returns an error that names the field.
pub(crate) fn check_zone(field: &Field, value: &Value) -> Result<(), FieldError> {
    let name = value.as_str().map(str::trim).filter(|it| !it.is_empty());
    let name = name.filter(|_| field.meaning == Some(Meaning::Zone));
    match name.is_none_or(|it| recurrence::zone(it).is_some()) {
        true => Ok(()),
        false => Err(FieldError {
            name: field.name.to_owned(),
            message: "must be a time zone such as Europe/Berlin".to_owned(),
        }),
    }
}

fn zone_field(schema: &Schema) -> Option<&Field> {
    let mut fields = schema.fields.iter();
    fields.find(|it| it.meaning == Some(Meaning::Zone))
}

fn has_local_time(input: &Input, schema: &Schema) -> bool {
    input.fields.iter().any(|(name, value)| {
        let is_clocked = schema
            .field(name)
            .is_some_and(|it| input.zone.is_some() || schema.clock_of(it).is_some());
        is_clocked
            && value
                .as_str()
                .is_some_and(|it| instant::local(it).is_some())
    })
}

/// Returns the name of the zone that is sent for `field`: empty if what is sent clears the field.
fn sent<'a>(input: &'a Input, field: &Field) -> Option<&'a str> {
    let value = input.fields.get(field.name)?;
    Some(value.as_str().unwrap_or_default())
}

/// Returns the zone of this name. Without one it is UTC; so is one that there is not, which is refused elsewhere.
fn named(name: Option<&str>) -> Tz {
    let zone = name.and_then(|it| recurrence::zone(it.trim()));
    zone.unwrap_or(Tz::UTC)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("zone", Kind::Text(64), "")
                .writable()
                .meaning(Meaning::Zone),
            Field::new("at", Kind::Instant, "").writable(),
            Field::new("made", Kind::Millis, ""),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    #[test]
    fn a_local_time_is_by_the_clock_of_the_zone_that_is_sent_with_it() {
        for (at, zone, expected) in [
            (
                "2027-03-29T09:00:00",
                "Europe/Berlin",
                "2027-03-29T07:00:00Z",
            ),
            (
                "2027-03-29T09:00",
                "America/New_York",
                "2027-03-29T13:00:00Z",
            ),
            ("2027-03-29", "Asia/Kathmandu", "2027-03-28T18:15:00Z"),
            (
                "2027-03-29T09:00:00Z",
                "Europe/Berlin",
                "2027-03-29T09:00:00Z",
            ),
            (
                "2027-03-29T09:00+05:00",
                "Europe/Berlin",
                "2027-03-29T04:00:00Z",
            ),
            ("1800000000000", "Europe/Berlin", "2027-01-15T08:00:00Z"),
            ("2027-03-29T09:00:00", "", "2027-03-29T09:00:00Z"),
            // The hour that is skipped is counted from before it; of the hour that comes twice the first is meant.
            ("2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:30:00Z"),
            ("2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"),
            (
                "2027-04-04T01:45",
                "Australia/Lord_Howe",
                "2027-04-03T14:45:00Z",
            ),
            ("2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00Z"),
        ] {
            for is_textual in [false, true] {
                let input = Input {
                    is_textual,
                    ..Input::from_iter([("at", at), ("zone", zone)])
                };
                let fields = input.check(&SCHEMA, true).expect(at);
                assert_eq!(fields.text("at"), Some(expected), "{at} {zone}");
            }
        }
    }

    #[test]
    fn a_zone_that_there_is_not_is_refused_by_name() {
        for zone in ["Mars/Phobos", "+01:00", "europe"] {
            let input = Input::from_iter([("at", "2027-03-29T09:00"), ("zone", zone)]);
            let error = input.check(&SCHEMA, true).expect_err(zone);
            assert_eq!(error.field_errors()[0].name, "zone");
        }
        let number = Input::from_iter([("zone", json!(5))]);
        assert!(number.check(&SCHEMA, true).is_err());
    }
}
