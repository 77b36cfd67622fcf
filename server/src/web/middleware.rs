//! Steps around every request; `pipeline.rs` puts them in order.

pub mod address;
pub mod audit;
pub(crate) mod cors;
pub mod csrf;
pub mod guard;
pub mod headers;
pub mod identify;
pub mod panic;
pub mod request_id;
pub mod session;
