//! Step 2: a rule about who sees an entity, and checks before a write.
//!
//! # The rule
//!
//! The permission to read the type is held in a site, for all its entities. A [`RowPolicy`](crate::db::RowPolicy)
//! narrows it for single entities. Borrowers see their own loans, and whoever holds the function `loan.read.any` sees
//! all:
//!
//! ```standalone_crate
//! use entity_core::db::{PolicyInputs, RowPolicy};
//! use entity_core::{Context, DateTimeUtc, Entity, Error, Result};
//! # use serde::Serialize;
//!
//! const SIGHT: RowPolicy = RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds("loan.read.any")]);
//!
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! #[entity(sight = SIGHT, check = Self::check)]
//! pub struct Loan {
//!     // The fields of step 1, and:
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//! #     #[entity(owner, on_create, references = "user")]
//! #     borrower: String,
//! #     #[entity(title, search)]
//! #     item: String,
//! #     due: DateTimeUtc,
//! #     #[entity(read_only)]
//! #     returned: Option<DateTimeUtc>,
//! #     #[entity(version)]
//! #     version: i64,
//!     #[serde(skip)]
//!     #[entity(facts)]
//!     facts: PolicyInputs,
//! }
//! # entity_core::register!(Loan);
//!
//! impl Loan {
//!     fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
//!         match before {
//!             None if self.due <= cx.now() => Err(Error::field("due", "must be in the future")),
//!             _ => Ok(()),
//!         }
//!     }
//! }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! The rule is part of the SQL condition of lists, counts and searches, so that pages are full and counts are right.
//! When one entity is read, the same statement also selects the answers about its row into the field declared as
//! `facts`, and the gate decides by them. [`#[standard(version, facts)]`](crate::standard) in front of the
//! `#[derive(…)]` adds this field and one that counts the changes, neither of which clients see.
//!
//! - A rule only narrows: a caller who sees a loan by the rule still needs `loan.read` in its site.
//! - An entity that the rule hides does not exist for the caller: the status is 404, for reads and for writes.
//! - A write must not leave the entity hidden from the caller: it is then refused with 403. Whoever creates a loan for
//!   somebody else therefore needs `loan.read.any`.
//! - Super users hold every function, so they see whatever [`Holds`](crate::db::RowPolicy::Holds) admits. They do not
//!   see what a rule without functions hides from them.
//! - [`Is`](crate::db::RowPolicy::Is), [`Since`](crate::db::RowPolicy::Since) and
//!   [`Until`](crate::db::RowPolicy::Until) take the field's name on the wire. The field must have a column and be
//!   shown to clients; a condition on a hidden column is a [`Sql`](crate::db::RowPolicy::Sql).
//! - [`Addressed`](crate::db::RowPolicy::Addressed) is a rule about [groups](super::step_06_related_data).
//!
//! - [`Parent`](crate::db::RowPolicy::Parent) is the rule of the entity that this one belongs to: an answer is seen by
//!   those who see its question. The field with the id of the question is declared as `parent`, as in
//!   `#[entity(on_create, parent = Question, references = "question")] question_id: String`, and the rule is
//!   `RowPolicy::Parent(&QUESTION_SIGHT)`. Both entities are in the same site.
//!
//! - [`Follows`](crate::db::RowPolicy::Follows) is for what is made because of something else, such as the entry of a
//!   calendar for a loan that is due: its hidden column has the reference, `/loan/7`, and whoever does not see the loan
//!   does not see the entry. Nothing is copied: a loan that is hidden takes its entry along, without a write. The type of
//!   the loan says that others may follow it: [`register_cause!(Loan)`](crate::register_cause).
//!
//! The facts are about the caller who read the entity. An entity that the code makes itself has none, and is seen by
//! nobody.
//!
//! # Checks before a write
//!
//! `check` names a function that is called before an entity is written: `before` is `None` on creation and the former
//! state on a change. It refuses an entity that contradicts itself, and sets fields that follow from others. `settle`
//! names an `async fn` with the same parameters, which may query the database; it runs after `check`. Both run for
//! creations, for updates and for [`db::replace`](crate::db::replace), but not for [`db::insert`](crate::db::insert),
//! which stores a record as it is.
//!
//! ```standalone_crate
//! use entity_core::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
//! use entity_core::{Context, DateTimeUtc, Entity, Error, Result, db};
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, serde::Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! # #[entity(settle = Self::settle)]
//! # struct Loan {
//! #     #[entity(id)] loan_id: String,
//! #     #[entity(site)] site_id: String,
//! #     #[entity(owner, on_create, references = "user")] borrower: String,
//! #     #[entity(title, search)] item: String,
//! #     due: DateTimeUtc,
//! #     #[entity(read_only)] returned: Option<DateTimeUtc>,
//! #     #[entity(version)] version: i64,
//! # }
//! # entity_core::register!(Loan);
//! # impl Loan {
//!
//! async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
//!     if before.is_some_and(|it| it.item == self.item) {
//!         return Ok(());
//!     }
//!     // Who lends the same item at this moment is not in the table yet: one after the other.
//!     db::lock_text::<Self>(cx, &format!("{}/{}", self.site_id, self.item)).await?;
//!     let lent = loan::Entity::find()
//!         .filter(loan::Column::SiteId.eq(&self.site_id))
//!         .filter(loan::Column::Item.eq(&self.item))
//!         .filter(loan::Column::LoanId.ne(&self.loan_id))
//!         .filter(loan::Column::Returned.is_null());
//!     match lent.count(cx.db()?).await? {
//!         0 => Ok(()),
//!         _ => Err(Error::conflict("this item is lent already")),
//!     }
//! }
//! # }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! A rule about several rows needs a lock. Requests run at the same time, and a query does not see what another one has
//! written and not yet finished: on PostgreSQL two people would borrow the last item. There are four ways, of which the
//! first that fits is the best:
//!
//! | rule | way |
//! |---|---|
//! | no two entities have the same value | `unique` or `unique_in_site` on the field |
//! | no two are at the same time | `no_overlap(item, start, end)` on the type |
//! | about the rows of something that has a row itself, such as the places of an excursion | [`db::lock`](crate::db::lock) on that row before the query |
//! | about something that has no row | [`db::lock_text`](crate::db::lock_text) on what names it, as above |
//!
//! A lock ends with the request. On SQLite requests that write come one after the other in any case.
//!
//! The module `loan` is the table as an entity of [`sea_orm`], which the derive makes of the struct: it
//! is called as the struct is, in small letters, and its columns are called as the fields are. A misspelt column does
//! not compile, and instants are compared as the column holds them. [`db::find`](crate::db::find) returns the records of
//! such a query as the caller sees them, [`db::load`](crate::db::load) whole, [`db::among`](crate::db::among) is the
//! condition for a list of values, and `loan::Relation` joins the `parent`. Records are written by the functions of
//! [`db`](crate::db) alone, because these check them, count versions and follow files.
//!
//! The gate decides about permissions, before and after the write, and neither function repeats that. A permission that
//! depends on the values that are written is decided here: the function fails with
//! [`Error::forbidden`](crate::Error::forbidden). What a function writes is undone when the request fails.
