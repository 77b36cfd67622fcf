//! Step 13: a whole type. Members of a course book equipment by the hour, and whoever looks after it answers.
//!
//! | need | means |
//! |---|---|
//! | no two have the same thing at once | `no_overlap(…)`, which counts only what is asked for or approved |
//! | everybody sees when something is taken, and only some see by whom | a `sight`, and the action `busy` that reads past it |
//! | answers with a reason, and people who are told in words | two actions, an event for each, and a [`Notice`](crate::Notice) |
//! | calendars show what is not settled yet | the [`status`](crate::EventStatus) of its [`EventEntry`](crate::EventEntry) |
//! | questions that nobody answers end | a [job](crate::engine::Job) |
//! | limits that each university sets | three [settings](crate::setting::Setting) |
//! | what has begun can't be called off | `removed` |
//!
//! Lists, pages, forms, feeds, tables, the calendar and the description of all this come from the declaration.
//!
#![doc = "```standalone_crate"]
#![doc = include_str!("../../tests/guide/booking.rs")]
#![doc = "# fn main() {"]
#![doc = "#     entity_core::Registry::from_inventory().unwrap();"]
#![doc = "# }"]
#![doc = "```"]
