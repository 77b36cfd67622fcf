//! Tests of the framework through its public face, with providers of their own.

mod dispatcher;
mod gate;
mod notes;
mod registry;
mod table;
