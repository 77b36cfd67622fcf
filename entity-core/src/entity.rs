//! What an entity is: fields with meanings, an id, a title, a version, an entry in a feed.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::schema::Schema;

/// One thing of a registered type, as clients see it.
///
/// `#[derive(Entity)]` writes this from the struct's fields:
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
///     /// What the door says.
///     #[entity(title)]
///     name: String,
/// }
///
/// let room = Room { room_id: "r1".into(), name: "Library".into() };
/// assert_eq!(room.id(), "r1");
/// assert_eq!(Room::schema().field("roomId").map(|it| it.name), Some("roomId"));
/// ```
pub trait Entity: Serialize + Send + Sync + 'static {
    /// The fields and what they mean.
    fn schema() -> &'static Schema;

    /// The id: unique within the type, and the last part of the entity's URL.
    fn id(&self) -> Cow<'_, str>;

    /// What a person calls it.
    fn title(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// The site it belongs to; permissions are looked up there.
    fn site(&self) -> Option<&str> {
        None
    }

    /// The user whom it belongs to, by internal id.
    fn owner(&self) -> Option<&str> {
        None
    }

    /// Changes whenever anything a client sees of it changes; `None` if nobody keeps count.
    fn version(&self) -> Option<Version> {
        None
    }

    /// When anything of it that a client sees last changed, if that is written down.
    fn updated(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// Its entry in a feed. A type has feeds only if its schema says so.
    fn feed_entry(&self) -> Option<FeedEntry> {
        None
    }

    /// Its entry in a calendar. A type has events only if its schema says so.
    fn event_entry(&self) -> Option<EventEntry> {
        None
    }

    /// Whether it tells now what it never tells again, such as a new secret. An answer with it is shown to
    /// the client even where its like is left out or redirected, and nothing on the way may keep a copy.
    fn is_told_once(&self) -> bool {
        false
    }
}

/// The state that an entity is in. Two states of one entity have different versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub u64);

impl Version {
    /// The version of whatever `parts` tell apart: row versions, ids, dates.
    pub fn of(parts: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The version that a text names; `None` if it is none that was ever written.
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

/// Writes the version as clients carry it: in tags, and in the forms that they fill in.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What a feed reader is told about an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// The headline, plain text.
    pub title: String,
    /// When it last changed. Nothing else may move this. Readers are told when it came out instead, if that was
    /// later.
    pub updated: DateTime<Utc>,
    /// When it came out.
    pub published: Option<DateTime<Utc>>,
    /// Who wrote it: a name, plain text.
    pub author: Option<String>,
    /// The text, sanitised HTML.
    pub content: Option<String>,
    /// Words it is filed under, plain text.
    pub categories: Vec<String>,
    /// Files that belong to it.
    pub enclosures: Vec<Enclosure>,
}

/// What a calendar is told about an entity.
///
/// Its name in calendars is made of its reference, so that it stays the same for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEntry {
    /// The headline, plain text.
    pub summary: String,
    /// The text, plain.
    pub description: Option<String>,
    /// Where it takes place, plain text.
    pub location: Option<String>,
    /// When it begins.
    pub start: DateTime<Utc>,
    /// When it is over.
    pub end: DateTime<Utc>,
    /// Whether it takes whole days: those from the one that it begins on to the one that it is over on.
    pub is_all_day: bool,
    /// Whether it does not take place after all. Calendars must be told, so it stays in their list.
    pub is_cancelled: bool,
    /// Counts the changes, so that calendars know the newer of two.
    pub sequence: u32,
    /// When it was made.
    pub created: Option<DateTime<Utc>>,
    /// When it last changed. Nothing else may move this.
    pub updated: DateTime<Utc>,
    /// How it repeats: the value of an iCalendar `RRULE`, such as `FREQ=WEEKLY;COUNT=5`.
    pub recurrence: Option<String>,
}

/// A file that belongs to a feed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// Where it is, absolute.
    pub url: String,
    /// Its name, plain text.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes, if known.
    pub length: Option<u64>,
}
