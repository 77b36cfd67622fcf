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
pub mod audit;
pub mod auth;
mod capacity;
pub mod cli;
pub mod config;
mod descriptions;
mod direct;
pub mod error;
mod exchange;
pub mod feed;
pub mod health;
mod janitor;
mod journal;
pub mod listen;
mod media;
mod memory;
pub mod metrics;
pub mod middleware;
pub mod migration;
pub mod openapi;
mod path_text;
mod pipeline;
pub mod portal;
pub mod production;
mod retention;
mod sanitizer;
pub mod session;
pub mod storage;
pub mod supervise;
pub mod system;
pub mod telemetry;

pub use app::{App, Parts};
pub use cli::run;
