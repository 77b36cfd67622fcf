//! Layers around every request.

pub mod csrf;
