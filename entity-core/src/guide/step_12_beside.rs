//! Step 12: what happens beside a request: at a deletion, at a time, and to people who are told.
//!
//! # At a deletion
//!
//! `removed` names an `async fn` that is called before an entity is deleted, in the same transaction. It deletes what belongs to
//! the entity and is in no table that names it as `parent`, or refuses the deletion:
//!
//! ```
//! # use entity_core::{Context, DateTimeUtc, Entity, Error, Result};
//! # /// A piece of equipment that somebody has borrowed.
//! #[derive(Clone, Debug, serde::Serialize, Entity)]
//! #[entity(table = "loan", removed = Self::removed)]
//! struct Loan {
//!     // …
//! #     #[entity(id)] loan_id: String,
//! #     returned: Option<DateTimeUtc>,
//! }
//!
//! impl Loan {
//!     async fn removed(&self, _cx: &Context) -> Result<()> {
//!         match self.returned {
//!             Some(_) => Ok(()),
//!             None => Err(Error::conflict("it has not come back")),
//!         }
//!     }
//! }
//! ```
//!
//! It is called whoever deletes the entity: a client, an action, a [job](crate::engine::Job). It is not called where entities go
//! with something else: with their site, with the parent or with the account that they are about. Rows of other tables go along
//! there if the table names the entity by a foreign key: as a `parent`, as children or as groups.
//!
//! # At a time
//!
//! [`register_job!`](crate::register_job) lets the service call a function once in a period, on one node:
//!
//! ```
//! use std::time::Duration;
//!
//! use entity_core::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
//! use entity_core::{Context, DateTimeUtc, Entity, Result, db};
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, serde::Serialize, Entity)]
//! # #[entity(table = "loan")]
//! # struct Loan {
//! #     #[entity(id)] loan_id: String,
//! #     due: DateTimeUtc,
//! #     is_overdue: bool,
//! # }
//!
//! /// The most loans that are changed in one transaction.
//! const MOST: u64 = 100;
//!
//! async fn note_overdue(cx: &Context) -> Result<bool> {
//!     let late = loan::Entity::find()
//!         .filter(loan::Column::Due.lt(cx.now().timestamp_millis()))
//!         .filter(loan::Column::IsOverdue.eq(false))
//!         .limit(MOST);
//!     let late: Vec<Loan> = db::load(cx, late).await?;
//!     let has_more = late.len() == 100;
//!     for loan in late {
//!         let overdue = Loan { is_overdue: true, ..loan.clone() };
//!         cx.emit("loan.overdue", format!("/loan/{}", loan.loan_id), None);
//!         db::store(cx, loan, overdue).await?;
//!     }
//!     Ok(has_more)
//! }
//! entity_core::register_job!(note_overdue, every = Duration::from_hours(1));
//! ```
//!
//! A call is one transaction. It changes a bounded number of rows and says whether there are more, and is then called again at
//! once. Nobody is logged in: a job writes by [`db`](crate::db), and reads rows whoever may see them. If it fails, nothing of it
//! is stored, and it is tried again; `lectern doctor` and the metric `lectern_job_runs_total` tell. In tests,
//! `app.service().run_jobs()` runs what is due, and `app.advance(…)` moves the clock.
//!
//! # People who are told
//!
//! An event becomes a notification by a [`Notice`](crate::Notice). Whom it is about, and whether they may read the entity, is
//! decided when they look. The sentence that people read has fields of the entity:
//!
//! ```
//! use entity_core::{Audience, Notice, register_notice};
//!
//! register_notice!(Notice {
//!     event: "loan.refuse",
//!     kind: "loan.refuse",
//!     tool: "example.loans",
//!     audience: Audience::Person,
//!     text: "{item} is not lent to you: {reason}",
//! });
//! ```
//!
//! The event of a notice for one person has their internal id as a detail, which
//! [`Context::emit_with`](crate::Context::emit_with) sends along under the name [`PERSON`](crate::PERSON).
