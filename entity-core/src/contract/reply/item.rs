//! An entity of any type, as renderers see it.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use erased_serde::Serialize as ErasedSerialize;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::any_entity::AnyEntity;
use crate::model::projection::{Chosen, Projection};
use crate::model::schema::Schema;
use crate::primitives::error::Result;
use crate::primitives::reference::Reference;
use crate::{
    model::entity::{Entity, EventEntry, FeedEntry},
    primitives::version::Version,
};

/// One entity of any type, as renderers see it. Cloning is cheap.
#[derive(derive_more::Debug, Clone)]
#[debug("Item({})", self.reference())]
pub struct Item {
    prefix: &'static str,
    entity: Arc<dyn AnyEntity>,
    projection: Option<Arc<Projection>>,
    expanded: Option<Vec<(&'static str, Arc<Self>)>>,
}

/// An entity that is made of single fields: none, if it is a sample of its type.
struct Told {
    schema: &'static Schema,
    id: String,
    title: Option<String>,
    fields: Map<String, Value>,
    /// The entity as it is stored.
    stored: Option<Item>,
}

impl AnyEntity for Told {
    fn schema(&self) -> &'static Schema {
        self.schema
    }
    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }
    fn title(&self) -> Option<Cow<'_, str>> {
        let stored = || self.stored.as_ref()?.entity.title();
        self.title.as_deref().map(Cow::from).or_else(stored)
    }
    fn site(&self) -> Option<&str> {
        self.stored.as_ref()?.site()
    }
    fn owner(&self) -> Option<&str> {
        None
    }
    fn version(&self) -> Option<Version> {
        None
    }
    fn updated(&self) -> Option<DateTime<Utc>> {
        self.stored.as_ref()?.updated()
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        self.stored.as_ref()?.feed_entry()
    }
    fn event_entry(&self) -> Option<EventEntry> {
        self.stored.as_ref()?.event_entry()
    }
    fn removal(&self, _caller: Option<&str>) -> Option<&'static str> {
        None
    }
    fn is_told_once(&self) -> bool {
        false
    }
    fn is_secret(&self) -> bool {
        self.stored.as_ref().is_some_and(Item::is_secret)
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        &self.fields
    }
    fn to_value(&self) -> Result<Value> {
        Ok(self.fields.clone().into())
    }
}

impl Item {
    /// Creates an item from `entity`, which is of the type `prefix`.
    pub fn new<E: Entity>(prefix: &'static str, entity: E) -> Self {
        Self {
            prefix,
            entity: Arc::new(entity),
            projection: None,
            expanded: None,
        }
    }

    /// Creates a sample item that has a type but no data, which is used to find the formats that can write such
    /// entities.
    pub fn sample(prefix: &'static str, schema: &'static Schema) -> Self {
        Self::told(
            prefix,
            Told {
                schema,
                id: String::new(),
                title: None,
                fields: Map::new(),
                stored: None,
            },
        )
    }

    /// Creates an item with the id of this one that shows these fields; `stored` is the entity as it is stored.
    pub(crate) fn retold(
        &self,
        title: Option<String>,
        stored: Option<Self>,
        fields: Map<String, Value>,
    ) -> Self {
        let told = Told {
            schema: self.schema(),
            id: self.id(),
            title,
            fields,
            stored,
        };
        Self {
            projection: self.projection.clone(),
            ..Self::told(self.prefix, told)
        }
    }

    fn told(prefix: &'static str, told: Told) -> Self {
        Self {
            prefix,
            entity: Arc::new(told),
            projection: None,
            expanded: None,
        }
    }

    /// Restricts the shown fields to those that `projection` selects.
    pub(crate) fn show(&mut self, projection: Arc<Projection>) {
        self.projection = Some(projection);
    }

    /// Returns the requested projection of the entity, if there is one.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_deref()
    }

    /// Sets the entities that are shown beside the fields that refer to them, each with the name of its field.
    pub(crate) fn expand(&mut self, entities: Vec<(&'static str, Arc<Self>)>) {
        self.expanded = Some(entities);
    }

    /// Returns the type's prefix.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// Returns the type's schema.
    pub fn schema(&self) -> &'static Schema {
        self.entity.schema()
    }

    /// Returns the entity's id.
    pub fn id(&self) -> String {
        self.entity.id().into_owned()
    }

    /// Returns the entity's title, if it has one.
    pub fn title(&self) -> Option<String> {
        self.entity.title().map(Cow::into_owned)
    }

    /// Returns the id of the entity's site, if it has one.
    pub fn site(&self) -> Option<&str> {
        self.entity.site()
    }

    /// Returns the entity's version, which includes the versions of the entities that are shown with it. Returns `None`
    /// if one of them has no version.
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

    /// Returns the instant of the entity's last change. Returns `None` if that is not known, or if other entities are
    /// shown with it, which change independently.
    pub fn updated(&self) -> Option<DateTime<Utc>> {
        match self.expanded {
            Some(_) => None,
            None => self.entity.updated(),
        }
    }

    /// Returns the entity's entry in a feed. If the entity was published after its last change, the entry counts as
    /// updated when it was published.
    pub fn feed_entry(&self) -> Option<FeedEntry> {
        let entry = self.entity.feed_entry()?;
        let updated = entry
            .published
            .map_or(entry.updated, |it| it.max(entry.updated));
        Some(FeedEntry { updated, ..entry })
    }

    /// Returns the entity's entry in a calendar.
    pub fn event_entry(&self) -> Option<EventEntry> {
        self.entity.event_entry()
    }

    /// Returns the instant of the entity's last change according to its entry in a feed or in a calendar.
    pub fn updated_in_feed(&self) -> Option<DateTime<Utc>> {
        let in_feed = self.feed_entry().map(|it| it.updated);
        in_feed.or_else(|| Some(self.event_entry()?.updated))
    }

    /// Returns whether the entity carries data that is shown only in this response, such as a new secret.
    pub fn is_told_once(&self) -> bool {
        self.entity.is_told_once()
    }

    /// Returns whether the entity carries a secret of the caller, so that the response must not be compressed.
    pub fn is_secret(&self) -> bool {
        self.entity.is_secret()
    }

    /// Returns the entity's own fields, as far as the projection shows them, without metadata.
    pub fn data(&self) -> impl Serialize + '_ {
        Shown(self)
    }

    /// Returns those of [`data`](Self::data) that have one of the names in `fields`.
    pub fn some_data<'a>(&'a self, fields: &'a [&'static str]) -> impl Serialize + 'a {
        Selected(self, fields)
    }

    /// Returns the entity, of whichever type.
    pub(crate) fn entity(&self) -> &dyn AnyEntity {
        &*self.entity
    }

    /// Returns the entity as one of the type `E`. The item must not have been cloned.
    ///
    /// # Errors
    /// Returns an error if the entity is of another type, or if the item was cloned: a defect of the service.
    pub(crate) fn into_entity<E: Entity>(self) -> Result<E> {
        self.entity.into_type()
    }

    /// Returns all of the entity's own fields, whatever the projection shows.
    pub(crate) fn whole(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        self.entity.data()
    }

    /// Returns the entities that are shown beside the fields that refer to them, each with the name of its field.
    pub fn expanded(&self) -> impl Iterator<Item = (&'static str, &Self)> {
        let expanded = self.expanded.iter().flatten();
        expanded.map(|(name, it)| (*name, &**it))
    }

    /// Returns a reference to the entity, or to its type if the entity has no id.
    pub fn reference(&self) -> Reference {
        match self.id() {
            id if id.is_empty() => Reference::collection(self.prefix),
            id => Reference::entity(self.prefix, id),
        }
    }
}

/// The fields of an item that its projection shows.
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

/// Those of an item's fields that are named, as far as its projection shows them.
struct Selected<'a>(&'a Item, &'a [&'static str]);

impl Serialize for Selected<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Chosen::new(&self.0.data(), self.1).serialize(serializer)
    }
}
