//! The Lectern service: HTTP around the entity types.

pub mod config;
