//! Bodies as data: forms, JSON and XML, each read strictly.

pub mod form;
pub mod json;
pub mod xml;

/// The most levels of lists and objects in a body.
const MAX_DEPTH: usize = 32;
