//! Functions of other crates that run once when the service starts.
//!
//! ```
//! use std::sync::Arc;
//!
//! use entity_core::{Context, Result, Start};
//!
//! /// A catalogue that the library keeps elsewhere.
//! struct Catalogue {
//!     url: String,
//! }
//!
//! entity_core::register_setting! {
//!     /// The address of the catalogue.
//!     static CATALOGUE: String = "catalogue", "https://catalogue.example";
//! }
//!
//! async fn open_catalogue(start: &mut Start) -> Result<()> {
//!     let url = start.setting(&CATALOGUE)?;
//!     start.provide(Arc::new(Catalogue { url }))
//! }
//! entity_core::register_start!(open_catalogue);
//!
//! fn catalogue(cx: &Context) -> Result<Arc<Catalogue>> {
//!     cx.service::<Catalogue>()
//! }
//! ```

use std::error::Error as _;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::context::Services;
use crate::contract::registry::Registry;
use crate::contract::setting::{Setting, Settings};
use crate::primitives::error::{Error, Result};

/// A service that is about to start: its types, its settings, and the values that its providers will share.
#[derive(Debug)]
pub struct Start {
    registry: Arc<Registry>,
    settings: Arc<Settings>,
    services: Services,
}

impl Start {
    /// Creates the start of a service with these types, which has these `services` of its own.
    pub fn new(registry: Arc<Registry>, settings: Arc<Settings>, services: Services) -> Self {
        Self {
            registry,
            settings,
            services,
        }
    }

    /// Runs the functions that the linked crates registered, in the order of the crates' names, and returns the values that
    /// providers share.
    ///
    /// # Errors
    /// Returns the error of the first function that fails, with the name of its crate.
    pub async fn run(mut self) -> Result<Services> {
        let mut all: Vec<&StartRegistration> =
            inventory::iter::<StartRegistration>.into_iter().collect();
        all.sort_by_key(|it| it.origin);
        for StartRegistration { origin, hook } in all {
            let done = hook(&mut self).await;
            done.map_err(|error| Error::internal(told(origin, &error)))?;
        }
        self.services.insert(self.settings);
        Ok(self.services)
    }

    /// Returns the registered types.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the value of `setting`.
    ///
    /// # Errors
    /// Returns an error if the text of the setting can't be parsed, which is checked before.
    pub fn setting<T: FromStr>(&self, setting: &Setting<T>) -> Result<T>
    where
        T::Err: fmt::Display,
    {
        self.settings.get(setting)
    }

    /// Gives `service` to all providers, which find it by its type with [`Context::service`](crate::Context::service).
    ///
    /// # Errors
    /// Returns an error if there is a service of this type already.
    pub fn provide<T: Send + Sync + 'static>(&mut self, service: Arc<T>) -> Result<()> {
        if self.services.get::<T>().is_some() {
            let name = std::any::type_name::<T>();
            return Err(Error::internal(format!(
                "a service of type {name} exists already"
            )));
        }
        self.services.insert(service);
        Ok(())
    }
}

/// Returns the message that the crate `origin` failed with `error`, with its causes.
fn told(origin: &str, error: &Error) -> String {
    let mut text = format!("the crate `{origin}` can't start: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A function that runs when the service starts.
pub type StartHook = for<'a> fn(&'a mut Start) -> BoxFuture<'a, Result<()>>;

/// The registration of such a function; created by [`register_start!`](crate::register_start).
#[derive(derive_more::Debug, Clone, Copy)]
#[debug("StartRegistration({})", self.origin)]
pub struct StartRegistration {
    /// The name of the crate that registers the function.
    pub origin: &'static str,
    /// The function.
    pub hook: StartHook,
}

inventory::collect!(StartRegistration);

/// Registers an `async fn(&mut Start) -> Result<()>` that runs once when the service starts, behind the migrations and
/// before the first request: `register_start!(open_catalogue);`. An error stops the start.
#[macro_export]
macro_rules! register_start {
    ($hook:path) => {
        $crate::inventory::submit! {
            $crate::engine::StartRegistration {
                origin: env!("CARGO_PKG_NAME"),
                hook: |start| ::std::boxed::Box::pin($hook(start)),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bell(u32);

    crate::register_setting! {
        /// The number of strokes.
        static STROKES: u32 = "bell.strokes", "3";
    }

    async fn hang_bell(start: &mut Start) -> Result<()> {
        let strokes = start.setting(&STROKES)?;
        start.provide(Arc::new(Bell(strokes)))
    }
    crate::register_start!(hang_bell);

    fn start(services: Services) -> Start {
        let registry = Registry::new(Vec::new()).unwrap();
        Start::new(Arc::new(registry), Arc::default(), services)
    }

    #[tokio::test]
    async fn a_crate_provides_a_service_when_the_service_starts() {
        let services = start(Services::default()).run().await.unwrap();
        assert_eq!(services.get::<Bell>().unwrap().0, 3);
        assert!(services.get::<Settings>().is_some());
    }

    #[tokio::test]
    async fn a_crate_that_can_t_start_is_named() {
        let mut services = Services::default();
        services.insert(Arc::new(Bell(1)));
        let error = start(services).run().await.err().unwrap();
        let said = format!("{error:?}");
        assert!(
            said.contains("the crate `entity-core` can't start"),
            "{said}"
        );
    }
}
