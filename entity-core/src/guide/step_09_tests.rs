//! Step 9: tests.
//!
//! # Conformance
//!
//! The crate `lectern-testing` is a harness for the crates of entity types: a service on a throw-away database, users by
//! role, a client, and a clock that tests move. Its macro `conformance!(Loan)`, one line in a module of tests, makes a
//! test for SQLite and one for PostgreSQL. They show that
//!
//! - item, list, count, search, feeds, tables and batch agree about who sees an entity and about its values;
//! - the actions that read and the views below `/api` answer every role, and show nothing that is hidden from it: no entity,
//!   no field with a `sight`, no hidden column, nothing of another site;
//! - actions that write, changes and deletions are refused to those who may not, change nothing then, and give a new version
//!   otherwise;
//! - every field survives JSON, XML and forms, wrong input is refused by name, and nothing leaks through parameters;
//! - calendars show events at the instants of the entity's fields;
//! - versions and conditional requests hold, and a list takes a constant number of statements;
//! - of two creations at once one is refused, if one after another is;
//! - a deletion leaves no rows, and the rows go with their site.
//!
//! A check for which the type has nothing is skipped, with a line that says so; a type for which all are has not passed.
//!
//! # The entities of the checks
//!
//! The checks make entities of values that they generate from the fields: texts that no other entity has, members of the site
//! for fields that refer to users, and an entity of its own for a required field that refers to another type, such as a
//! `parent`. Two things help where a rule of the type refuses that:
//!
//! - `conformance!(Loan, {"due": "2026-12-01T10:00:00Z"})` gives values for some fields.
//! - `conformance!(Loan, make = loan)` names a function that returns the fields of each entity, and makes before what they
//!   need:
//!
//! ```text
//! async fn loan(app: &TestApp, site: &str, number: usize) -> serde_json::Value {
//!     let admin = app.role(Role::Superuser).await;
//!     let shelf = json!({"siteId": site, "name": format!("Shelf {number}")});
//!     let shelf = admin.post("/direct/shelf.json", &shelf).await;
//!     json!({"siteId": site, "shelf": shelf.header("EntityId"), "item": format!("Item {number}")})
//! }
//! ```
//!
//! The function is called with another number each time, so that what must differ can. Entities then differ in nothing else:
//! the checks leave out the other choices, flags and nulls of fields, and say so in a line.
//!
//! Some complaints are about what a type may want. Where everybody is to change the entities of others, or to run an action
//! that does, it declares a function for it and grants it: `Need::Site("loan.tag")` with `grants("loan.tag" = "amsti")`. Tables
//! that keep what happened are no leftovers if their names say so, such as `loan_history` or `loan_event`.
//!
//! # Functions of the type
//!
//! The feature `testing` of this crate has a context without a database, whose clock stands still at
//! 2026-11-21T10:00:00Z and whose ids are `id-1`, `id-2` and so on. It is enough for functions such as `check`:
//!
//! ```
//! use entity_core::testing::{ToldAuthorizer, context};
//! use entity_core::{Caller, Context, DateTimeUtc, Error, Result};
//!
//! # struct Loan {
//! #     due: DateTimeUtc,
//! # }
//! # impl Loan {
//! #     fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
//! #         match before {
//! #             None if self.due <= cx.now() => Err(Error::field("due", "must be in the future")),
//! #             _ => Ok(()),
//! #         }
//! #     }
//! # }
//! let authorizer = ToldAuthorizer::default().grant("loan.new", "biology-101");
//! let cx = context(authorizer, Caller::user("u1", "ada"));
//! let mut loan = Loan { due: cx.now() };
//! let error = loan.check(&cx, None).unwrap_err();
//! assert_eq!(error.message(), "`due` must be in the future");
//! ```
//!
//! `testing::context_on` makes the same context on a unit of work of a database.
