//! Step 5: joined, hidden and computed fields.
//!
//! ```standalone_crate
//! # use entity_core::{Context, DateTimeUtc, Entity, Result};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! #[entity(left_join = "user_account u ON u.id = this.borrower", order = "due,loanId", check = Self::check)]
//! pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//!     #[entity(owner, on_create, references = "user")]
//!     borrower: String,
//!     /// The name of the borrower.
//!     #[entity(sql = "coalesce(u.first_name || ' ' || u.last_name, '')")]
//!     borrower_name: String,
//!     /// Whether it came back.
//!     #[entity(sql = "(this.returned IS NOT NULL)", column)]
//!     is_back: bool,
//! #     #[entity(title, search)]
//! #     item: String,
//! #     due: DateTimeUtc,
//! #     #[entity(read_only)]
//! #     returned: Option<DateTimeUtc>,
//! #     #[entity(version)]
//! #     version: i64,
//!     #[serde(skip)]
//!     #[entity(hidden)]
//!     lent_by: String,
//!     // The other fields are those of step 1.
//! }
//! # entity_core::register!(Loan);
//!
//! impl Loan {
//!     fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
//!         if before.is_none() {
//!             self.lent_by = cx.user_id()?.to_owned();
//!         }
//!         Ok(())
//!     }
//! }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! # Joined fields
//!
//! `join` and `left_join` join a table in every statement about the type; the type's own row is called `this`. A field
//! with `sql` is read by that expression and never written. The text is fixed when the type is compiled, must work on
//! SQLite and on PostgreSQL, and must not return more than one row for each entity.
//!
//! - Lists can be filtered and ordered by such a field only if it is also declared as `column`: no index may serve it.
//! - The version of an entity covers its joined fields, so that its `ETag` changes when the borrower is renamed.
//! - An entity is read again after a write if its type joins tables, has groups or has a `sight`. In a type without any
//!   of these, an `sql` field has its default value in the answer to a write.
//! - Errors in the SQL are found by the first request, not at the start: a test should read and list the type.
//!
//! A join by hand is not needed to follow a reference: `references = "user"` lets clients ask for the whole user with
//! `_expand=borrower`, under the name `borrowerEntity`, if they may read it.
//!
//! # Hidden columns
//!
//! A `hidden` field is a column that clients neither see nor write, and that is not in the schema; `check` or an action
//! sets it. It also needs `#[serde(skip)]`: without it, the entity would be serialised with the field. Because it is
//! not in the schema, no list is ordered or filtered by it, and a rule asks for it by
//! [`Sight::Sql`](crate::db::Sight::Sql).
//!
//! # Computed fields
//!
//! A `computed` field is shown and not stored. It has the default value of its type whenever a row is read, so it
//! serves for keys that clients expect, or for values that the code fills in itself:
//!
//! ```standalone_crate
//! # use entity_core::{Context, DateTimeUtc, Entity, Page, Read, List, Result, Search, db};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "loan", table = "loan", access = Site("loan"))]
//! pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//!     due: DateTimeUtc,
//!     /// Whether it should have come back.
//!     #[entity(computed)]
//!     is_late: bool,
//! }
//!
//! impl Loan {
//!     fn complete(mut self, cx: &Context) -> Self {
//!         self.is_late = self.due < cx.now();
//!         self
//!     }
//! }
//!
//! impl Read for Loan {
//!     async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
//!         let found: Option<Self> = db::read(cx, id).await?;
//!         Ok(found.map(|it| it.complete(cx)))
//!     }
//! }
//!
//! impl List for Loan {
//!     async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
//!         let page: Page<Self> = db::list(cx, search).await?;
//!         Ok(page.map(|it| it.complete(cx)))
//!     }
//!
//!     async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
//!         db::count::<Self>(cx, search).await.map(Some)
//!     }
//! }
//! # entity_core::register!(Loan);
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! The verbs that are implemented by hand are left out of `verbs(…)`. A value that follows from columns alone is better
//! an `sql` field: lists can be filtered by it.
