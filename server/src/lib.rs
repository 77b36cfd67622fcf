//! The HTTP service of Lectern.

pub mod auth;
pub mod middleware;
pub mod session;
