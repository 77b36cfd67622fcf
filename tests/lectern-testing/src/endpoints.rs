//! A service with endpoints that no crate registers.

use std::sync::Arc;

use entity_core::Registry;
use entity_core::endpoint::{Endpoint, EndpointRegistration};
use entity_core::engine::Route;
use entity_core::format::Formats;
use entity_core::testing::FixedClock;
use server::web::api::Endpoints;
use server::{App, Parts};

use crate::app::{config, parts};
use crate::{Backend, Database, TestApp, template};

/// A service with `added` beside its own.
fn with(clock: Arc<FixedClock>, added: &'static [Endpoint]) -> Parts {
    let added = added.iter().map(|endpoint| EndpointRegistration {
        origin: "tests",
        endpoint,
    });
    let endpoints = EndpointRegistration::all().into_iter().chain(added);
    Parts {
        endpoints: Arc::new(Endpoints::of(endpoints).expect("endpoints that go together")),
        ..parts(clock)
    }
}

impl TestApp {
    /// Starts the service on a database of this kind with the demo university, with the endpoints `added` beside its
    /// own and further `settings`; `None` where this kind of storage is not installed.
    pub async fn with_endpoints(
        backend: Backend,
        added: &'static [Endpoint],
        settings: &[(&str, &str)],
    ) -> Option<Self> {
        let database = template::copy(backend).await?;
        let parts = |clock| with(clock, added);
        Some(Self::start_parts(database, settings, parts).await)
    }
}

/// Parts that a service has beside those that are linked.
#[derive(Debug, Default)]
pub struct Added {
    /// The types.
    pub types: Vec<Route>,
    /// The endpoints.
    pub endpoints: &'static [Endpoint],
    /// The formats, in place of those that are linked.
    pub formats: Option<Formats>,
}

impl TestApp {
    /// Starts the service with the parts `added` beside its own, on a database of this kind with the demo university.
    /// Returns `None` where this kind of database is not installed.
    pub async fn with_added(backend: Backend, added: Added) -> Option<Self> {
        let database = template::copy(backend).await?;
        let parts = |clock| {
            let parts = with(clock, added.endpoints);
            let routes = parts.registry.routes().cloned().chain(added.types);
            Parts {
                registry: Registry::new(routes).expect("types that go together"),
                formats: added.formats.map_or(parts.formats, Arc::new),
                ..parts
            }
        };
        Some(Self::start_parts(database, &[], parts).await)
    }
}

/// Why a service on `database` with `added` beside its own endpoints does not listen.
pub async fn refusal(database: &Database, added: &'static [Endpoint]) -> String {
    let files = database.folder().join("files").display().to_string();
    let config = config(database.url(), &[("files.folder", &files)]);
    let started = App::start(config, with(Arc::default(), added)).await;
    let app = started.expect("a service that starts");
    let refused = app.description();
    let error = refused.expect_err("endpoints that contradict others");
    let cause = std::error::Error::source(&error).expect("a cause");
    cause.to_string()
}
