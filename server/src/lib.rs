//! The Lectern service: HTTP around the registered entity types.
//!
//! A connection comes in; an answer goes out, and a row of the audit log. A request goes one way:
//! [`listen`](base::listen) accepts it, the `pipeline` takes it through the layers of [`middleware`](web::middleware),
//! which authenticate the sender and refuse invalid requests early, `direct` or [`api`](web::api) turn it into a
//! request to the [`Dispatcher`](entity_core::engine::Dispatcher), and its reply back into HTTP. [`App`] holds what all
//! of them need.
//!
//! The modules below are floors, from the bottom up: a file imports from its own floor and from those below it.
//!
//! A service with further entity types is a binary of its own that links their crates and calls [`run`].

/// The base, which does not depend on callers: settings, clocks, logs, metrics, sockets, errors as HTTP.
pub mod base {
    pub(crate) mod accept;
    pub mod address;
    pub(crate) mod capacity;
    pub mod class;
    pub mod config;
    pub(crate) mod deadline;
    pub mod error;
    pub mod health;
    pub mod listen;
    pub(crate) mod media;
    pub(crate) mod memory;
    pub mod metrics;
    pub(crate) mod mount;
    pub(crate) mod network;
    pub(crate) mod no_store;
    pub(crate) mod own;
    pub(crate) mod packing;
    pub mod panic;
    pub mod request_id;
    pub mod supervise;
    pub mod system;
    pub mod telemetry;
}

/// The guard at the door: admission, sessions, authentication, the audit log.
pub mod guard {
    pub mod admission;
    pub mod audit;
    pub mod auth;
    pub mod csrf;
    pub(crate) mod feed_token;
    pub(crate) mod path_text;
    pub(crate) mod rate_limiter;
    pub(crate) mod sanitizer;
    pub mod session;
}

/// Work beside the requests: storage, files, events to come, retention, webhooks.
pub mod operate {
    pub mod archive;
    pub(crate) mod background;
    pub mod files;
    pub(crate) mod follower;
    pub(crate) mod idempotency;
    pub(crate) mod janitor;
    pub(crate) mod jobs;
    pub(crate) mod journal;
    pub mod migration;
    pub mod node;
    pub(crate) mod position;
    pub(crate) mod presence;
    pub mod production;
    pub(crate) mod retention;
    pub mod storage;
    pub(crate) mod told;
    pub(crate) mod trusted_clock;
    pub(crate) mod watch;
    pub(crate) mod webhooks;
}

/// From HTTP to the dispatcher and back: the middleware, `/direct`, `/api`.
pub mod web {
    pub(crate) mod answers;
    pub mod api;
    pub mod app;
    pub(crate) mod coding;
    pub(crate) mod descriptions;
    pub(crate) mod direct;
    pub(crate) mod events;
    pub mod middleware;
    pub(crate) mod prefer;
    pub(crate) mod request_body;
    pub(crate) mod request_context;
    pub(crate) mod session_post;
    pub(crate) mod unread;
    pub(crate) mod zone;
}

/// Further things that are served: the portal, private feeds, the description of the service.
pub mod pages {
    pub mod administration;
    pub mod feed;
    pub mod openapi;
    pub mod portal;
}

/// The start, which builds and runs all of it: the command line, the parts of a service, the way of a request through them.
pub mod start {
    pub(crate) mod assembly;
    pub mod build;
    pub mod cli;
    pub(crate) mod figures;
    pub(crate) mod pipeline;
}

pub use start::build::Parts;
pub use start::cli::run;
pub use web::app::App;
