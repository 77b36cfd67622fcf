//! The `Entity` trait, with the version of an entity and its entries in feeds and calendars.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::model::schema::Schema;
use crate::primitives::recurrence::Tz;
use crate::primitives::reference::Reference;
use crate::primitives::typed;
use crate::primitives::version::Version;

/// An instance of a registered entity type, as clients see it.
///
/// `#[derive(Entity)]` implements this trait from the fields of a struct:
///
/// ```
/// use entity_core::Entity;
///
/// /// A room of the university.
/// #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
/// #[serde(rename_all = "camelCase")]
/// struct Room {
///     #[entity(id)]
///     room_id: String,
///     /// The name on the door.
///     #[entity(title)]
///     name: String,
/// }
///
/// let room = Room { room_id: "r1".into(), name: "Library".into() };
/// assert_eq!(room.id(), "r1");
/// assert_eq!(Room::schema().field("roomId").map(|it| it.name), Some("roomId"));
/// ```
pub trait Entity: Serialize + Send + Sync + 'static {
    /// Returns the schema: the fields and their meanings.
    fn schema() -> &'static Schema;

    /// Returns the id, which is unique within the type and is the last segment of the entity's URL.
    fn id(&self) -> Cow<'_, str>;

    /// Returns the title, by which people know the entity.
    fn title(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Returns the id of the site that the entity belongs to. Permissions are looked up in that site.
    fn site(&self) -> Option<&str> {
        None
    }

    /// Returns the internal id of the user who owns the entity.
    fn owner(&self) -> Option<&str> {
        None
    }

    /// Returns the version, which changes whenever anything changes that clients see of the entity, or `None` if the
    /// type keeps no versions.
    fn version(&self) -> Option<Version> {
        None
    }

    /// Returns when anything last changed that clients see of the entity, or `None` if that is not recorded.
    fn updated(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// Returns the entry of the entity in feeds. A type has feeds only if its schema says so.
    fn feed_entry(&self) -> Option<FeedEntry> {
        None
    }

    /// Returns the entry of the entity in calendars. A type has events only if its schema says so.
    fn event_entry(&self) -> Option<EventEntry> {
        None
    }

    /// Returns whether the form that changes `entity`, or makes a new one, asks `caller`, an internal id, for `field`. It asks
    /// for nothing that the type refuses to take from them; what is sent without a form is decided by the type's checks.
    fn is_asked(entity: Option<&Self>, caller: Option<&str>, field: &str) -> bool
    where
        Self: Sized,
    {
        let _ = (entity, caller, field);
        true
    }

    /// Returns the label of the button by which `caller`, an internal id, deletes the entity, such as
    /// `Leave the course` for the own membership. Without it, it is called `Delete`.
    fn removal(&self, caller: Option<&str>) -> Option<&'static str> {
        let _ = caller;
        None
    }

    /// Returns whether this value carries something that is shown only in this response, such as a new secret. Such a
    /// response has a body even where others of its kind are empty or a redirect, and must not be stored by any cache.
    fn is_told_once(&self) -> bool {
        false
    }

    /// Returns whether this value carries a secret of the caller, such as a token of the session. Such a response is never
    /// compressed: its length would tell of the secret to whoever can make the rest of it longer. What is told once is
    /// secret by default.
    fn is_secret(&self) -> bool {
        self.is_told_once()
    }
}

/// The entry of an entity in a feed. It is made by [`new`](Self::new), and then given what else the entity has.
///
/// ```
/// # use entity_core::{DateTimeUtc, FeedEntry};
/// # fn entry(changed: DateTimeUtc) -> FeedEntry {
/// let mut entry = FeedEntry::new("Room 204 is closed".to_owned(), changed);
/// entry.author = Some("Ada Moreau".to_owned());
/// entry
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEntry {
    /// The headline, as plain text.
    pub title: String,
    /// The time of the last change. Nothing but a change of the entity may move it. Feeds show `published` instead, if
    /// that is later.
    pub updated: DateTime<Utc>,
    /// The time of publication.
    pub published: Option<DateTime<Utc>>,
    /// The name of the author, as plain text.
    pub author: Option<String>,
    /// The text.
    pub content: Option<Content>,
    /// The categories, as plain text.
    pub categories: Vec<String>,
    /// The attached files.
    pub enclosures: Vec<Enclosure>,
    /// The entity that this one answers, of whichever type. Its reader may not see it: then its address leads to a
    /// refusal.
    pub in_reply_to: Option<Reference>,
}

/// The text of an entry in a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Sanitised HTML.
    Html(String),
    /// Plain text: what looks like a tag in it is none.
    Text(String),
}

impl Content {
    /// Returns the HTML that shows the text.
    pub fn into_html(self) -> String {
        match self {
            Self::Html(html) => html,
            Self::Text(text) => typed::of_plain(&text),
        }
    }
}

impl FeedEntry {
    /// Creates an entry with a headline, which is plain text, and the time of the last change.
    pub fn new(title: String, updated: DateTime<Utc>) -> Self {
        Self {
            title,
            updated,
            published: None,
            author: None,
            content: None,
            categories: Vec::new(),
            enclosures: Vec::new(),
            in_reply_to: None,
        }
    }
}

/// The entry of an entity in a calendar.
///
/// Its UID is derived from the reference of the entity, so that it never changes. It is made by [`new`](Self::new), and
/// then given what else the entity has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventEntry {
    /// The headline, as plain text.
    pub summary: String,
    /// The description, as plain text.
    pub description: Option<String>,
    /// The location, as plain text.
    pub location: Option<String>,
    /// The time at which the event begins.
    pub start: DateTime<Utc>,
    /// The time at which the event ends.
    pub end: DateTime<Utc>,
    /// True if the event takes whole days: those from the day of `start` to the day of `end`, both included. An `end`
    /// at midnight belongs to the day before.
    pub is_all_day: bool,
    /// Says whether it takes place.
    pub status: EventStatus,
    /// The number of changes, by which calendars tell the newer of two entries.
    pub sequence: u32,
    /// The time at which the event was created.
    pub created: Option<DateTime<Utc>>,
    /// The time of the last change. Nothing but a change of the event may move it.
    pub updated: DateTime<Utc>,
    /// The recurrence rule: the value of an iCalendar `RRULE`, such as `FREQ=WEEKLY;COUNT=5`.
    pub recurrence: Option<String>,
    /// The time zone by whose clock the rule counts. Without it, the rule counts in UTC.
    pub zone: Option<Tz>,
    /// The instants at which the event would begin by its rule, and does not.
    pub excluded: Vec<DateTime<Utc>>,
    /// The occurrence of another event that this one replaces, if it is a single occurrence that was changed.
    pub occurrence: Option<Occurrence>,
}

impl EventEntry {
    /// Creates an entry with a headline, which is plain text, for an event that takes place once, from `start` to `end`,
    /// and was last changed at `updated`.
    pub fn new(
        summary: String,
        start: DateTime<Utc>,
        end: DateTime<Utc>,
        updated: DateTime<Utc>,
    ) -> Self {
        Self {
            summary,
            description: None,
            location: None,
            start,
            end,
            is_all_day: false,
            status: EventStatus::Confirmed,
            sequence: 0,
            created: None,
            updated,
            recurrence: None,
            zone: None,
            excluded: Vec::new(),
            occurrence: None,
        }
    }
}

/// The `STATUS` of iCalendar: whether an event takes place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventStatus {
    /// It takes place.
    #[default]
    Confirmed,
    /// It may take place: calendars show it as not settled yet.
    Tentative,
    /// It does not take place. It stays in the list, so that calendars learn of it.
    Cancelled,
}

/// One of the occurrences of an event that recurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The event that recurs.
    pub series: Reference,
    /// The instant at which the occurrence begins by the rule of that event.
    pub at: DateTime<Utc>,
}

/// A file that is attached to a feed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// The absolute URL of the file.
    pub url: String,
    /// The name of the file, as plain text.
    pub name: String,
    /// The media type of the file.
    pub media_type: String,
    /// The size of the file in bytes, if known.
    pub length: Option<u64>,
}
