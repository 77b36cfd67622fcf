//! An entity of any type, for code that is compiled once for all types.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use erased_serde::Serialize as ErasedSerialize;
use serde_json::Value;

use super::entity::{Entity, EventEntry, FeedEntry};
use super::schema::Schema;
use crate::primitives::error::{Error, Result};
use crate::primitives::version::Version;

/// The object-safe counterpart of [`Entity`], implemented once for every type.
pub(crate) trait AnyEntity: Any + Send + Sync {
    fn schema(&self) -> &'static Schema;
    fn id(&self) -> Cow<'_, str>;
    fn title(&self) -> Option<Cow<'_, str>>;
    fn site(&self) -> Option<&str>;
    fn owner(&self) -> Option<&str>;
    fn version(&self) -> Option<Version>;
    fn updated(&self) -> Option<DateTime<Utc>>;
    fn feed_entry(&self) -> Option<FeedEntry>;
    fn event_entry(&self) -> Option<EventEntry>;
    fn removal(&self, caller: Option<&str>) -> Option<&'static str>;
    fn is_told_once(&self) -> bool;
    fn is_secret(&self) -> bool;
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync);
    /// Returns the fields as data.
    fn to_value(&self) -> Result<Value>;
}

impl<E: Entity> AnyEntity for E {
    fn schema(&self) -> &'static Schema {
        E::schema()
    }
    fn id(&self) -> Cow<'_, str> {
        Entity::id(self)
    }
    fn title(&self) -> Option<Cow<'_, str>> {
        Entity::title(self)
    }
    fn site(&self) -> Option<&str> {
        Entity::site(self)
    }
    fn owner(&self) -> Option<&str> {
        Entity::owner(self)
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
    fn removal(&self, caller: Option<&str>) -> Option<&'static str> {
        Entity::removal(self, caller)
    }
    fn is_told_once(&self) -> bool {
        Entity::is_told_once(self)
    }
    fn is_secret(&self) -> bool {
        Entity::is_secret(self)
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        self
    }
    fn to_value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(Error::internal)
    }
}

impl dyn AnyEntity {
    /// Returns the entity as one of the type `E`.
    ///
    /// # Errors
    /// Returns an error if it is of another type: a defect of the service.
    pub(crate) fn as_type<E: Entity>(&self) -> Result<&E> {
        let entity: &dyn Any = self;
        entity.downcast_ref().ok_or_else(mistaken)
    }

    /// Returns the entity as one of the type `E`, to whoever holds it alone.
    ///
    /// # Errors
    /// Returns an error if it is of another type, or if others hold it too: a defect of the service.
    pub(crate) fn into_type<E: Entity>(self: Arc<Self>) -> Result<E> {
        let entity: Arc<dyn Any + Send + Sync> = self;
        let entity = entity.downcast().ok().and_then(Arc::into_inner);
        entity.ok_or_else(mistaken)
    }
}

fn mistaken() -> Error {
    Error::internal("an entity is of another type, or is held elsewhere too")
}
