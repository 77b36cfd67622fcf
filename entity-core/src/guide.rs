//! A guide for authors of entity types, in steps. The module contains documentation only.
//!
//! The steps develop one example, a type for loans of equipment. Each step shows the whole struct or only the lines
//! that change; every example compiles, and the registry accepts every type in it. A complete crate with this type is
//! in `tests/third-party` of the repository; `entity-providers/src/courses/announcement.rs` is the largest type that comes with
//! the service.
//!
//! | page | subject |
//! |---|---|
//! | [`program`] | the crate, the program that links it, its tables, and the errors that stop it at the start |
//! | [`step_01_plain_type`] | a struct with a table, search, forms and permissions |
//! | [`step_02_sight`] | a rule about who sees an entity, and checks before a write |
//! | [`step_03_functions`] | functions of the type's own, and the roles that hold them |
//! | [`step_04_actions`] | named operations on an entity or on the collection |
//! | [`step_05_fields`] | joined, hidden and computed fields |
//! | [`step_06_related_data`] | groups, files, children, positions and versions |
//! | [`step_07_other_storage`] | types whose data are stored elsewhere |
//! | [`step_08_formats`] | a format |
//! | [`step_09_tests`] | tests |
//! | [`step_10_views`] | views and endpoints below `/api` |
//! | [`step_11_files`] | files that people upload and download |
//! | [`step_12_beside`] | what happens at a deletion, at a time, and to people who are told |
//! | [`step_13_whole`] | a whole type: bookings without overlap, approval, notices, a job, settings, a view |
//! | [`terms`] | [`Context`](crate::Context), [`Scope`](crate::Scope), [`Search`](crate::Search), errors and statuses |
//!
//! [`derive(Entity)`](macro@crate::Entity) lists all attributes.

pub mod program;
pub mod step_01_plain_type;
pub mod step_02_sight;
pub mod step_03_functions;
pub mod step_04_actions;
pub mod step_05_fields;
pub mod step_06_related_data;
pub mod step_07_other_storage;
pub mod step_08_formats;
pub mod step_09_tests;
pub mod step_10_views;
pub mod step_11_files;
pub mod step_12_beside;
pub mod step_13_whole;
pub mod terms;
