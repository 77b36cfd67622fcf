//! The context of one unit of work: who asks, the clock, the ids, the data, the events.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::access::{Authorizer, Caller};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::html::Sanitizer;
use crate::prepare::Preparation;
use crate::reply::Remark;
use crate::request::Origin;
use crate::unit::Unit;

/// Tells the time. The service has one clock; tests own theirs.
pub trait Clock: Send + Sync {
    /// The present instant, in whole milliseconds.
    fn now(&self) -> DateTime<Utc>;

    /// An instant to tell by how long ago something was: [`Self::now`], unless the clock of the machine was set while
    /// the service ran. It goes on as time does then, so that nothing becomes old, or young again, all at once.
    fn steady(&self) -> DateTime<Utc> {
        self.now()
    }
}

/// Makes ids.
pub trait Ids: Send + Sync {
    /// An id that nobody else has, made at `now`; ids made later sort behind.
    fn new_id(&self, now: DateTime<Utc>) -> String;
}

/// Things of the service that providers share: caches, stores, settings. One value for each type.
#[derive(Clone, Default)]
pub struct Services(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Services {
    /// Adds `service`; it replaces one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, service: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), service);
    }

    /// The service of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0
            .get(&TypeId::of::<T>())
            .and_then(|it| Arc::clone(it).downcast().ok())
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Services({})", self.0.len())
    }
}

/// What every unit of work of a service shares.
#[derive(Clone)]
pub struct Shared {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// Who decides about functions.
    pub authorizer: Arc<dyn Authorizer>,
    /// Things that providers share.
    pub services: Services,
    /// The public address of the service, without a slash at the end.
    pub base_url: Arc<str>,
    /// Most bytes of stored entities that are read for one list, and that one list is answered with.
    pub answer_bytes: usize,
    /// Makes HTML from clients harmless. Every field of that kind goes through it on the way in.
    pub sanitizer: Arc<dyn Sanitizer>,
}

impl Shared {
    /// The service of type `T`.
    ///
    /// # Errors
    /// The service was set up without one: a defect, not the caller's fault.
    pub fn service<T: Send + Sync + 'static>(&self) -> Result<Arc<T>> {
        self.services.get::<T>().ok_or_else(|| {
            Error::internal(format!("no service of type {}", std::any::type_name::<T>()))
        })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// One unit of work. Dropping it gives up what it wrote; only the dispatcher can commit it.
pub struct Context {
    pub(crate) shared: Arc<Shared>,
    pub(crate) origin: Origin,
    pub(crate) now: DateTime<Utc>,
    pub(crate) unit: Box<dyn Unit>,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) preparation: Preparation,
    remarks: Mutex<Vec<Remark>>,
}

impl Context {
    /// A unit of work of `origin` on `unit`.
    pub fn new(shared: impl Into<Arc<Shared>>, origin: Origin, unit: Box<dyn Unit>) -> Self {
        let shared = shared.into();
        let now = shared.clock.now();
        Self {
            shared,
            origin,
            now,
            unit,
            events: Mutex::default(),
            preparation: Preparation::default(),
            remarks: Mutex::default(),
        }
    }

    /// When this unit of work began. The same for all of it.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// An instant to tell by how long ago something was; what is shown has [`Self::now`].
    pub fn steady(&self) -> DateTime<Utc> {
        self.shared.clock.steady()
    }

    /// An id that nobody else has.
    pub fn new_id(&self) -> String {
        self.shared.ids.new_id(self.now)
    }

    /// On whose behalf it runs.
    pub fn caller(&self) -> &Caller {
        &self.origin.caller
    }

    /// The internal id of the user on whose behalf it runs.
    ///
    /// # Errors
    /// Nobody is logged in.
    pub fn user_id(&self) -> Result<&str> {
        self.caller().user_id().ok_or_else(Error::unauthenticated)
    }

    /// How the request came in.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Who decides about functions.
    pub fn authorizer(&self) -> &dyn Authorizer {
        &*self.shared.authorizer
    }

    /// How many bytes a list may be answered with.
    pub fn answer_bytes(&self) -> usize {
        self.shared.answer_bytes
    }

    /// The public address of the service, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.shared.base_url
    }

    /// The service of type `T`.
    ///
    /// # Errors
    /// The service was set up without one: a defect, not the caller's fault.
    pub fn service<T: Send + Sync + 'static>(&self) -> Result<Arc<T>> {
        self.shared.service()
    }

    /// The store's own unit of work; [`Context::db`] is the convenient way to it.
    pub fn unit(&self) -> &dyn Unit {
        &*self.unit
    }

    /// Tells that `kind` happened to `reference`. Stored when the unit of work is committed.
    pub fn emit(&self, kind: impl Into<String>, reference: impl Into<String>, site: Option<&str>) {
        self.emit_with(kind, reference, site, Map::new());
    }

    /// The same with `details`: what followers need to know beside it, and never a secret.
    pub fn emit_with(
        &self,
        kind: impl Into<String>,
        reference: impl Into<String>,
        site: Option<&str>,
        details: Map<String, Value>,
    ) {
        let event = Event {
            kind: kind.into(),
            reference: reference.into(),
            actor: self.caller().user_id().map(ToOwned::to_owned),
            site: site.map(ToOwned::to_owned),
            time: self.now,
            details,
        };
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    }

    /// Goes on with another request of the same unit of work, and with what was prepared for it.
    pub(crate) fn turn_to(&mut self, origin: &Origin, preparation: Preparation) {
        self.origin.clone_from(origin);
        self.preparation = preparation;
    }

    /// Says `value` beside the entity that this request answers with: a header of this name, never a secret.
    pub fn remark(&self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        self.remarks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Remark { name, value });
    }

    /// The remarks since this was last called.
    pub(crate) fn take_remarks(&self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The events since this was last called.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The events so far.
    pub fn events(&self) -> Vec<Event> {
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("origin", &self.origin)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
