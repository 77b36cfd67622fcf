//! The clock by which pages ask for instants and show them: that of the time zone that an entity names, else that of the
//! reader, else UTC.

use chrono::{DateTime, NaiveDateTime, Utc};
use entity_core::recurrence::{self, Tz};
use entity_core::schema::{Field, Schema};
use serde_json::{Map, Value};

use super::words::label_of;

/// The clock of one field.
#[derive(Clone, Copy)]
pub(super) struct WallClock<'a> {
    pub(super) zone: Tz,
    /// The field that names the zone.
    source: Option<&'a Field>,
    /// True if the zone is that of the reader, which each page names.
    is_readers: bool,
}

impl<'a> WallClock<'a> {
    /// The clock of instants that no zone is named for.
    pub(super) const UTC: Self = Self {
        zone: Tz::UTC,
        source: None,
        is_readers: false,
    };

    /// Returns the clock by which a `field` of `entity` is sent and shown: that of the entity or, if it has none, of the
    /// reader.
    pub(super) fn of(
        schema: &'a Schema,
        field: &Field,
        entity: Option<&Map<String, Value>>,
        reader: Option<Tz>,
    ) -> Self {
        let source = schema.clock_of(field);
        let name = source.and_then(|it| entity?.get(it.name)?.as_str());
        let reader = reader.filter(|_| source.is_none());
        let named = name.and_then(recurrence::zone);
        Self {
            zone: reader.or(named).unwrap_or(Tz::UTC),
            source,
            is_readers: reader.is_some(),
        }
    }

    /// Returns the time that this clock shows at `instant`.
    pub(super) fn local(self, instant: DateTime<Utc>) -> NaiveDateTime {
        instant.with_timezone(&self.zone).naive_local()
    }

    /// Returns the sentence that says by which clock a form takes times.
    pub(super) fn hint(self) -> String {
        match self.source {
            Some(it) => format!("In the zone that \u{201c}{}\u{201d} names.", label_of(it)),
            None if self.is_readers => String::new(),
            None => "In UTC.".to_owned(),
        }
    }
}
