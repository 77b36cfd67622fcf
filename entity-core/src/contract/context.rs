//! The context of one unit of work: the caller, the clock, the ids, the data, the events.

use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::contract::access::{Authorizer, Caller};
use crate::contract::blob::Upload;
use crate::contract::event::Event;
use crate::contract::origin::Origin;
use crate::contract::preparation::Preparation;
use crate::contract::response_header::ResponseHeader;
use crate::contract::sanitizer::{REPLACED, Sanitizer};
use crate::contract::setting::{Setting, Settings};
use crate::primitives::error::{Error, Result};
use crate::primitives::unit::Unit;

/// Tells the time. A service has one clock; tests provide their own.
pub trait Clock: Send + Sync {
    /// Returns the present instant, in whole milliseconds.
    fn now(&self) -> DateTime<Utc>;

    /// Returns an instant for measuring ages: [`Self::now`], unless the clock of the machine was set while the service
    /// ran. Then the result continues at the pace at which time passes, so that nothing becomes old, or young again,
    /// all at once.
    fn steady(&self) -> DateTime<Utc> {
        self.now()
    }
}

/// Generates ids.
pub trait Ids: Send + Sync {
    /// Returns a unique id, generated at `now`; ids generated later sort after it.
    fn new_id(&self, now: DateTime<Utc>) -> String;
}

/// The values that the providers of a service share, such as caches, stores and settings: one of each type.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("Services({})", self.0.len())]
pub struct Services(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Services {
    /// Adds `service`, which replaces an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, service: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), service);
    }

    /// Returns the service of type `T`, if there is one.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0
            .get(&TypeId::of::<T>())
            .and_then(|it| Arc::clone(it).downcast().ok())
    }
}

/// The parts of a service that all its units of work share.
#[derive(derive_more::Debug, Clone)]
#[debug("Shared {{ base_url: {:?} }}", self.base_url)]
pub struct Shared {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// The authorizer, which decides who holds which function.
    pub authorizer: Arc<dyn Authorizer>,
    /// The values that providers share.
    pub services: Services,
    /// The public base URL of the service, without a trailing slash.
    pub base_url: Arc<str>,
    /// The maximum number of bytes of stored entities that are read for one list, and of the answer with that list.
    pub answer_bytes: usize,
    /// The sanitiser that makes HTML from clients harmless. Every HTML field passes through it before it is stored.
    pub sanitizer: Arc<dyn Sanitizer>,
}

impl Shared {
    /// Returns the service of type `T`.
    ///
    /// # Errors
    /// Returns an error if the service was set up without a value of this type: a defect, not the caller's fault.
    pub fn service<T: Send + Sync + 'static>(&self) -> Result<Arc<T>> {
        self.services.get::<T>().ok_or_else(|| {
            Error::internal(format!("no service of type {}", std::any::type_name::<T>()))
        })
    }
}

/// One unit of work. Dropping it rolls back what it wrote; only the dispatcher can commit it.
#[derive(derive_more::Debug)]
#[debug("Context {{ origin: {:?}, now: {:?} }}", self.origin, self.now)]
pub struct Context {
    pub(crate) shared: Arc<Shared>,
    pub(crate) origin: Origin,
    pub(crate) now: DateTime<Utc>,
    pub(crate) unit: Box<dyn Unit>,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) preparation: Preparation,
    /// The elements of texts of which only the address or the text was kept, as [`REPLACED`] names them.
    pub(crate) replaced: Mutex<BTreeSet<&'static str>>,
    pub(crate) uploads: Vec<Upload>,
    is_request: bool,
    headers: Mutex<Vec<ResponseHeader>>,
}

impl Context {
    /// Creates the context of a unit of work for `origin` on `unit`.
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
            replaced: Mutex::default(),
            uploads: Vec::new(),
            is_request: false,
            headers: Mutex::default(),
        }
    }

    /// Returns when this unit of work began, which is the same throughout it.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Returns an instant for measuring ages; times that are shown come from [`Self::now`].
    pub fn steady(&self) -> DateTime<Utc> {
        self.shared.clock.steady()
    }

    /// Returns a new unique id.
    pub fn new_id(&self) -> String {
        self.shared.ids.new_id(self.now)
    }

    /// Returns the caller on whose behalf the unit of work runs.
    pub fn caller(&self) -> &Caller {
        &self.origin.caller
    }

    /// Returns the internal id of the user on whose behalf the unit of work runs.
    ///
    /// # Errors
    /// Returns an error if nobody is logged in.
    pub fn user_id(&self) -> Result<&str> {
        self.caller().user_id().ok_or_else(Error::unauthenticated)
    }

    /// Returns the origin of the request: its sender and the way in which it came in.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the authorizer, which decides who holds which function.
    pub fn authorizer(&self) -> &dyn Authorizer {
        &*self.shared.authorizer
    }

    /// Returns the maximum number of bytes of an answer with a list.
    pub fn answer_bytes(&self) -> usize {
        self.shared.answer_bytes
    }

    /// Returns the public base URL of the service, without a trailing slash.
    pub fn base_url(&self) -> &str {
        &self.shared.base_url
    }

    /// Returns the value of `setting`: what the operator set, or its default.
    ///
    /// # Errors
    /// Returns an error if the text of the setting can't be parsed, which the service checks when it starts.
    pub fn setting<T: FromStr>(&self, setting: &Setting<T>) -> Result<T>
    where
        T::Err: fmt::Display,
    {
        match self.shared.services.get::<Settings>() {
            Some(settings) => settings.get(setting),
            None => Settings::default().get(setting),
        }
    }

    /// Returns the service of type `T`.
    ///
    /// # Errors
    /// Returns an error if the service was set up without a value of this type: a defect, not the caller's fault.
    pub fn service<T: Send + Sync + 'static>(&self) -> Result<Arc<T>> {
        self.shared.service()
    }

    /// Returns the store's own unit of work; [`Context::db`] is the convenient way to access a database.
    pub fn unit(&self) -> &dyn Unit {
        &*self.unit
    }

    /// Emits an event: `kind` happened to `reference`. The event is stored when the unit of work is committed.
    pub fn emit(&self, kind: impl Into<String>, reference: impl Into<String>, site: Option<&str>) {
        self.emit_with(kind, reference, site, Map::new());
    }

    /// Emits an event as [`emit`](Self::emit) does, with `details`: further facts that followers need, and never a
    /// secret.
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
        self.events.lock().push(event);
    }

    /// Switches to another request of the same unit of work, with what was done for it at the edge.
    pub(crate) fn reset_for(&mut self, origin: &Origin, preparation: Preparation) {
        self.origin.clone_from(origin);
        self.preparation = preparation;
        self.uploads = Vec::new();
        self.is_request = false;
    }

    /// Takes the files of a request, which is served from now on.
    pub(crate) fn serve(&mut self, uploads: &[Upload]) {
        self.uploads = uploads.to_vec();
        self.is_request = true;
    }

    /// Returns whether the unit of work does what somebody asked for, and not what the service does on its own: that
    /// has no request and no caller.
    #[cfg(feature = "sea-orm")]
    pub(crate) fn serves_somebody(&self) -> bool {
        self.is_request || !self.caller().is_anonymous()
    }

    /// Adds a header with this `name` to the answer. Its `value` must never be a secret.
    pub fn add_header(&self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        self.headers.lock().push(ResponseHeader { name, value });
    }

    /// Takes the headers that were added since the last call.
    pub(crate) fn take_headers(&self) -> Vec<ResponseHeader> {
        let replaced = std::mem::take(&mut *self.replaced.lock());
        if !replaced.is_empty() {
            let names: Vec<_> = replaced.into_iter().collect();
            self.add_header(REPLACED, names.join(" "));
        }
        std::mem::take(&mut self.headers.lock())
    }

    /// Takes the events that were emitted since the last call.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock())
    }

    /// Returns the events that were emitted so far and are not recorded yet.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().clone()
    }
}
