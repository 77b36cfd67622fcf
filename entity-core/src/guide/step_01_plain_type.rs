//! Step 1: a plain type.
//!
//! An entity type is a struct that derives [`Entity`](macro@crate::Entity), and one line that registers it:
//!
//! ```standalone_crate
//! use entity_core::{DateTimeUtc, Entity};
//! use serde::Serialize;
//!
//! /// A piece of equipment that somebody has borrowed.
//! #[derive(Clone, Debug, Serialize, Entity)]
//! #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! pub struct Loan {
//!     #[entity(id)]
//!     loan_id: String,
//!     #[entity(site)]
//!     site_id: String,
//!     /// The user who has it.
//!     #[entity(owner, on_create, references = "user")]
//!     borrower: String,
//!     #[entity(title, search)]
//!     item: String,
//!     /// When it must be back.
//!     due: DateTimeUtc,
//!     /// When it came back.
//!     #[entity(read_only)]
//!     returned: Option<DateTimeUtc>,
//!     #[entity(version)]
//!     version: i64,
//! }
//! entity_core::register!(Loan);
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! The struct must be `Clone` and `Serialize`; it need not be `Deserialize`, because the fields that a client sends are
//! decoded one by one. The doc comments of the struct and of its fields are the descriptions that clients read.
//!
//! # What the type has
//!
//! | request below `/direct` | effect |
//! |---|---|
//! | `GET /loan` | lists loans; [`search`](crate::search) describes filters, words, order and paging |
//! | `POST /loan` | creates a loan |
//! | `GET /loan/ID` | shows a loan |
//! | `PUT /loan/ID`, `PATCH /loan/ID` | changes the fields that are sent; `PATCH` takes a merge patch or a JSON Patch |
//! | `DELETE /loan/ID` | deletes the loan |
//! | `GET /loan/new`, `GET /loan/ID/edit`, `GET /loan/ID/delete` | shows a form |
//! | `GET /loan/describe` | describes the type |
//!
//! Each address answers in every format that can write the answer: `/loan.json`, `/loan/ID.html`. Each write checks the
//! permissions, is stored in one transaction with an event and an audit row, and counts towards the quotas of the owner
//! and of the site. The type also has feeds if it has a title and a field declared as `updated` or `created`, and
//! appears in calendars if it declares an [`EventEntry`](crate::EventEntry).
//!
//! # Names
//!
//! A field's name on the wire is the name that serde gives it. The derive reads `rename_all = "camelCase"` on the
//! struct and `rename` on a field, and refuses other styles, with which the schema and the serialised entity would
//! disagree. A column has the field's Rust name, unless `column = "…"` declares another one.
//!
//! # Types of fields
//!
//! | type of the field | kind | limit for clients |
//! |---|---|---|
//! | `String` | text | 4000 characters; 255 with a role other than `content`; `max = …` declares another limit |
//! | `String` with `html` | plain text or HTML, which is stored as sanitised HTML | 200,000 characters |
//! | `i64`, `i32` | whole number | |
//! | `f64` | number | |
//! | `bool` | boolean | |
//! | [`DateTimeUtc`](crate::DateTimeUtc) | instant, ISO 8601 on the wire | |
//! | [`Millis`](crate::wire::Millis) | instant, milliseconds since 1970 on the wire | |
//! | [`Moment`](crate::wire::Moment) | instant, an object with it in all forms on the wire | |
//! | [`Files`](crate::file::Files) | list of files | 50 files |
//! | `Option<…>` of one of these except `Files` | the same, may be null | |
//!
//! Any other type of a stored field implements [`db::ColumnValue`](crate::db::ColumnValue). The table stores instants
//! with a precision of milliseconds.
//!
//! # Which fields clients write
//!
//! - The service fills the fields with the roles `id`, `owner`, `created`, `updated` and `version`. Clients can't write
//!   these, unless an attribute says so: with `owner, on_create`, a client may name the owner of a new entity, and the
//!   caller is the owner otherwise.
//! - The field with the role `site` is written only on creation. An entity never moves to another site.
//! - Clients may write every other field of a table at any time, unless it is `on_create` or `read_only`.
//! - A creation must send each of these fields that is a text, a number or an instant and neither an `Option` nor
//!   `optional`. A required text must not be blank.
//! - A field that clients can't write is ignored if it is sent, so that clients can send back what they read. A field
//!   that the type does not have is refused with an error that names it.
//!
//! # The site
//!
//! `access = Site("loan")` looks up permissions in the site of the entity, so such a type must have a field with the
//! role `site`: the service does not start with one that has none. If the field is an `Option` and empty, only super
//! users may read and write the entity.
//!
//! # The version
//!
//! A field with the role `version` counts the changes. The `ETag` of an entity is made from it, and an update is
//! refused with [`precondition_failed`](crate::Error::precondition_failed) if the row changed after it was read.
//! Without it, the `ETag` is made from the field with the role `updated`, and concurrent updates are not detected by
//! the row. A type with neither has no `ETag`.
