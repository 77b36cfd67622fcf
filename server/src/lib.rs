//! The Lectern service: HTTP around the registered entity types.
//!
//! A request goes one way: [`listen`] accepts it, the layers of [`middleware`] say who sent it and refuse
//! what nobody should have to think about, `direct` or [`api`] turn it into a request to the
//! [`Dispatcher`](entity_core::Dispatcher), and its reply back into HTTP. [`app`] puts all of this together.
//!
//! A service with further entity types is a binary of its own that links their crates and calls [`run`].

pub mod admission;
mod answers;
pub mod api;
pub mod app;
pub mod archive;
pub mod audit;
pub mod auth;
mod capacity;
pub mod cli;
mod coding;
pub mod config;
mod deadline;
mod descriptions;
mod direct;
pub mod error;
mod events;
mod exchange;
pub mod feed;
pub mod files;
mod follower;
pub mod health;
mod janitor;
mod journal;
pub mod listen;
mod media;
mod memory;
pub mod metrics;
pub mod middleware;
pub mod migration;
mod mount;
mod network;
mod no_store;
pub mod openapi;
mod own;
mod packing;
mod path_text;
mod pipeline;
pub mod portal;
mod presence;
pub mod production;
mod retention;
mod sanitizer;
pub mod session;
pub mod storage;
pub mod supervise;
pub mod system;
pub mod telemetry;
mod webhooks;

pub use app::{App, Parts};
pub use cli::run;
