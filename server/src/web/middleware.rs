//! Steps around every request; `pipeline.rs` puts them in order.

pub mod audit;
pub(crate) mod cors;
pub mod csrf;
pub mod guard;
pub mod headers;
pub mod identify;
pub mod session;
