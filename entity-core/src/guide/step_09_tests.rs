//! Step 9: tests.
//!
//! # Conformance
//!
//! The crate `lectern-testing` is a harness for the crates of entity types: a service on a throw-away database, users by
//! role, a client, and a clock that tests move. Its macro `conformance!(Loan)`, one line in a module of tests, makes a
//! test for SQLite and one for PostgreSQL. They show that item, list, count, search, feeds, tables and batch agree about
//! who sees an entity, that the actions that read and the views below `/api` answer every role and show nothing that is hidden from it, that
//! every
//! field survives JSON, XML and forms, that wrong input is refused by name, that versions and conditional requests hold,
//! that a list takes a constant number of statements, that nothing leaks through parameters, and that the rows go with
//! their site. A check for which the type has nothing is skipped; a type for which all are has not passed.
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
