//! Appointments in a site: a type of entity that calendars show.

use entity_core::{DateTimeUtc, Entity, EventEntry};
use serde::{Deserialize, Serialize};

/// An hour that the members of a site spend together.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "appointment", table = "appointment", access = Site("appointment"), verbs(read, list, create, update, delete))]
#[entity(event = Self::to_event)]
pub struct Appointment {
    #[entity(id)]
    appointment_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, search, required)]
    title: String,
    #[entity(required)]
    start: DateTimeUtc,
    #[entity(required, over)]
    end: DateTimeUtc,
    is_cancelled: bool,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}
entity_core::register!(Appointment);

impl Appointment {
    fn to_event(&self) -> EventEntry {
        let mut entry = EventEntry::new(self.title.clone(), self.start, self.end, self.modified);
entry.is_cancelled = self.is_cancelled;
entry.sequence = u32::try_from(self.version).unwrap_or_default();
entry
    }
}
