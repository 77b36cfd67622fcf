//! Tests of the framework through its public face, with providers of their own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by a panic"
)]

mod dispatcher;
mod edge;
mod formats;
mod gate;
mod lists;
mod notes;
mod registry;
mod table;
