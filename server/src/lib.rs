//! The HTTP service of Lectern.

pub mod auth;
pub mod form;
pub mod middleware;
pub mod migration;
pub mod session;
