//! Step 5: joined, hidden and computed fields.
//!
//! ```standalone_crate
//! # use entity_core::{Context, DateTimeUtc, Entity, Result};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! #[entity(order = "due,loanId", check = Self::check)]
//! pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//!     #[entity(owner, on_create, references = "user")]
//!     borrower: String,
//!     /// The name of the borrower.
//!     #[entity(name_of = borrower)]
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
//! # What a field refers to
//!
//! A field with `references = "user"` holds the id of an entity of that type. A write that puts another id into it is
//! refused with 400, and names the field, unless the id is that of a member of the entity's site or, of any other type
//! and where there is no site, of an entity that the caller may read. Forms offer them by name, and pages link to them.
//! A field with `name_of = borrower` shows the name of the person whose id is in `borrower`; it is empty if there is none.
//!
//! # Joined fields
//!
//! `join` and `left_join` join a table in every statement about the type; the type's own row is called `this`. A field
//! with `sql` is read by that expression and never written. The text is fixed when the type is compiled, must work on
//! SQLite and on PostgreSQL, and must not return more than one row for each entity.
//!
//! - Lists can be filtered and ordered by such a field only if it is also declared as `column`: no index may serve it.
//! - The version of an entity covers its joined fields, so that its `ETag` changes when the borrower is renamed.
//! - An entity whose type has such fields is read again after a write.
//! - The service does not start with SQL that the database refuses: it names the type, the expression and the cause.
//!
//! A join by hand is not needed to follow a reference: `references = "user"` lets clients ask for the whole user with
//! `_expand=borrower`, under the name `borrowerEntity`, if they may read it.
//!
//! In `sql`, `join` and `left_join`, `{caller}` stands for the internal id of the caller, which is empty for an anonymous
//! one, and `{now}` for the present instant in milliseconds since 1970. So a type can have:
//!
//! - the caller's own row beside each entity, such as whether they have read it:
//!   `left_join = "loan_mark m ON m.loan_id = this.loan_id AND m.user_id = {caller}"` with
//!   `#[entity(sql = "(m.user_id IS NOT NULL)", column)] is_marked: bool`;
//! - a state that follows from times, by which lists can be filtered and ordered:
//!   `#[entity(sql = "CASE WHEN this.returned IS NOT NULL THEN 'BACK' WHEN this.due < {now} THEN 'LATE' ELSE 'LENT' END",
//!   column)] state: String`;
//! - numbers of other rows: `#[entity(sql = "(SELECT count(*) FROM loan_note n WHERE n.loan_id = this.loan_id)")]`.
//!
//! A type with a field declared as `parent` has the parent's row joined under the name `parent`:
//! `#[entity(sql = "parent.item")]`.
//!
//! # Unique fields
//!
//! `#[entity(unique)]` refuses an entity with a value that another entity has, and `#[entity(unique_in_site)]` one with a
//! value that another entity of the same site has. The status is 409; the latter error names the field. The service
//! makes an index for it if it manages the table, so that two requests at once can't both succeed, and the type asks
//! nothing itself. Where a table has equal values already, the index can't be made and the service does not start.
//! Fields without a value are never equal.
//!
//! # Hidden columns
//!
//! A `hidden` field is a column that clients neither see nor write, and that is not in the schema; `check` or an action
//! sets it. It also needs `#[serde(skip)]`, which the derive demands. Because it is
//! not in the schema, no list is ordered or filtered by it, and a rule asks for it by
//! [`RowPolicy::Sql`](crate::db::RowPolicy::Sql).
//!
//! # Computed fields
//!
//! A `computed` field is shown and not stored. `computed = path` names the function that computes it from the other
//! fields:
//!
//! ```
//! # use entity_core::{Context, DateTimeUtc, Entity};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list))]
//! pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//!     due: DateTimeUtc,
//!     /// Whether it should have come back.
//!     #[entity(computed = Self::is_late)]
//!     is_late: bool,
//! }
//!
//! impl Loan {
//!     fn is_late(&self, cx: &Context) -> bool {
//!         self.due < cx.now()
//!     }
//! }
//! ```
//!
//! Facts from elsewhere are looked up for all entities at once: `complete = path` on the struct names an
//! `async fn(cx: &Context, entities: &mut [Self]) -> Result<()>` that is called with the entities that one statement
//! has read. A value that follows from columns alone is better an `sql` field: lists can be filtered by it.
//!
//! A field that only a single entity is answered with, for instance the replies to a message, is set by `whole = path`:
//! an `async fn(&mut self, cx: &Context) -> Result<()>` that the verbs read and update call, and lists do not.
//!
//! # Ids that are numbers
//!
//! A new entity has a random text as its id. Where programs keep ids as whole numbers, `numbered` on the struct lets the verb
//! create draw one from 1 to 2,147,483,647 that is free.
//!
//! # Fields that some do not see
//!
//! `#[entity(sight = RULE)]` on a field, an `Option`, a text or a `Files`, says who sees it by the same rules as in step 2. For
//! everybody else the field is empty in every output, has no effect on filters, order, searches and counts, and keeps
//! its value: what they send for it is refused with 403, unless it is empty. Whoever creates an entity may send the field: `check` can refuse that. The rule holds
//! in the verbs that the derive writes and in `db::list`, `db::read` and `db::update`.
