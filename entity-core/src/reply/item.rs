//! An entity of whatever type, as renderers see it.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use erased_serde::Serialize as ErasedSerialize;
use serde::{Serialize, Serializer};

use super::Reference;
use crate::entity::{Entity, EventEntry, FeedEntry, Version};
use crate::projection::{Chosen, Projection};
use crate::schema::Schema;

/// One entity of whatever type, as renderers see it. Cloning it is cheap.
#[derive(Clone)]
pub struct Item {
    prefix: &'static str,
    entity: Arc<dyn Erased>,
    projection: Option<Arc<Projection>>,
    expanded: Option<Vec<(&'static str, Arc<Self>)>>,
}

/// The object-safe face of [`Entity`]; written once, for every type.
trait Erased: Send + Sync {
    fn schema(&self) -> &'static Schema;
    fn id(&self) -> String;
    fn title(&self) -> Option<String>;
    fn version(&self) -> Option<Version>;
    fn updated(&self) -> Option<DateTime<Utc>>;
    fn feed_entry(&self) -> Option<FeedEntry>;
    fn event_entry(&self) -> Option<EventEntry>;
    fn is_told_once(&self) -> bool;
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync);
}

impl<E: Entity> Erased for E {
    fn schema(&self) -> &'static Schema {
        E::schema()
    }
    fn id(&self) -> String {
        Entity::id(self).into_owned()
    }
    fn title(&self) -> Option<String> {
        Entity::title(self).map(std::borrow::Cow::into_owned)
    }
    fn version(&self) -> Option<Version> {
        Entity::version(self)
    }
    fn updated(&self) -> Option<DateTime<Utc>> {
        Entity::updated(self)
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        Entity::feed_entry(self)
    }
    fn event_entry(&self) -> Option<EventEntry> {
        Entity::event_entry(self)
    }
    fn is_told_once(&self) -> bool {
        Entity::is_told_once(self)
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        self
    }
}

/// An entity of which nothing but the type is there.
struct Sample(&'static Schema);

impl Erased for Sample {
    fn schema(&self) -> &'static Schema {
        self.0
    }
    fn id(&self) -> String {
        String::new()
    }
    fn title(&self) -> Option<String> {
        None
    }
    fn version(&self) -> Option<Version> {
        None
    }
    fn updated(&self) -> Option<DateTime<Utc>> {
        None
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        None
    }
    fn event_entry(&self) -> Option<EventEntry> {
        None
    }
    fn is_told_once(&self) -> bool {
        false
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        &()
    }
}

impl Item {
    /// `entity`, an entity of the type `prefix`.
    pub fn new<E: Entity>(prefix: &'static str, entity: E) -> Self {
        Self {
            prefix,
            entity: Arc::new(entity),
            projection: None,
            expanded: None,
        }
    }

    /// An entity of which nothing but the type is there: to ask formats whether they write entities of it.
    pub fn sample(prefix: &'static str, schema: &'static Schema) -> Self {
        Self {
            prefix,
            entity: Arc::new(Sample(schema)),
            projection: None,
            expanded: None,
        }
    }

    /// Shows only the fields that `projection` chooses.
    pub(crate) fn show(&mut self, projection: Arc<Projection>) {
        self.projection = Some(projection);
    }

    /// What was said of what is shown of it, if anything was.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_deref()
    }

    /// Shows these entities beside the fields that refer to them.
    pub(crate) fn expand(&mut self, entities: Vec<(&'static str, Arc<Self>)>) {
        self.expanded = Some(entities);
    }

    /// The type's prefix.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The type's fields.
    pub fn schema(&self) -> &'static Schema {
        self.entity.schema()
    }

    /// The entity's id.
    pub fn id(&self) -> String {
        self.entity.id()
    }

    /// The entity's title.
    pub fn title(&self) -> Option<String> {
        self.entity.title()
    }

    /// The entity's version and, if it shows others, theirs too; `None` if one of them has none.
    pub fn version(&self) -> Option<Version> {
        let own = self.entity.version()?;
        let Some(expanded) = &self.expanded else {
            return Some(own);
        };
        let others: Vec<_> = expanded
            .iter()
            .map(|(name, it)| Some((name, it.prefix, it.id(), it.version()?)))
            .collect::<Option<_>>()?;
        Some(Version::of(&(own, others)))
    }

    /// When the entity last changed; `None` if it shows others, which change by themselves.
    pub fn updated(&self) -> Option<DateTime<Utc>> {
        match self.expanded {
            Some(_) => None,
            None => self.entity.updated(),
        }
    }

    /// The entity's entry in a feed. What came out after it was last changed is news as of then.
    pub fn feed_entry(&self) -> Option<FeedEntry> {
        let entry = self.entity.feed_entry()?;
        let updated = entry
            .published
            .map_or(entry.updated, |it| it.max(entry.updated));
        Some(FeedEntry { updated, ..entry })
    }

    /// The entity's entry in a calendar.
    pub fn event_entry(&self) -> Option<EventEntry> {
        self.entity.event_entry()
    }

    /// When the entity last changed, by its entry in a feed or in a calendar.
    pub fn updated_in_feed(&self) -> Option<DateTime<Utc>> {
        let in_feed = self.feed_entry().map(|it| it.updated);
        in_feed.or_else(|| Some(self.event_entry()?.updated))
    }

    /// Whether the entity tells now what it never tells again.
    pub fn is_told_once(&self) -> bool {
        self.entity.is_told_once()
    }

    /// The entity's own fields, as far as they are shown, without metadata.
    pub fn data(&self) -> impl Serialize + '_ {
        Shown(self)
    }

    /// All of the entity's own fields, whatever is shown of them.
    pub(crate) fn whole(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        self.entity.data()
    }

    /// The entities that are shown beside fields which refer to them, with the names of these fields.
    pub fn expanded(&self) -> impl Iterator<Item = (&'static str, &Self)> {
        let expanded = self.expanded.iter().flatten();
        expanded.map(|(name, it)| (*name, &**it))
    }

    /// The entity's name; that of its type if the entity has no id of its own.
    pub fn reference(&self) -> Reference {
        match self.id() {
            id if id.is_empty() => Reference::collection(self.prefix),
            id => Reference::entity(self.prefix, id),
        }
    }
}

/// The fields of an entity that are shown.
struct Shown<'a>(&'a Item);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.0.entity.data();
        match self.0.projection().and_then(|it| it.fields.as_ref()) {
            None => data.serialize(serializer),
            Some(fields) => Chosen::new(data, fields).serialize(serializer),
        }
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item({})", self.reference())
    }
}
