//! Step 6: groups, files, children, positions and versions, which belong to a row.
//!
//! ```standalone_crate
//! use entity_core::db::{PolicyInputs, RowPolicy};
//! use entity_core::file::Files;
//! # use entity_core::{DateTimeUtc, Entity};
//! # use serde::Serialize;
//!
//! const SIGHT: RowPolicy = RowPolicy::Any(&[
//!     RowPolicy::Own,
//!     RowPolicy::Holds("loan.read.any"),
//!     RowPolicy::All(&[RowPolicy::Is("isOpen"), RowPolicy::Addressed]),
//! ]);
//!
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! # #[entity(sight = SIGHT)]
//! pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//! #     #[entity(owner, on_create, references = "user")]
//! #     borrower: String,
//! #     #[entity(title, search)]
//! #     item: String,
//! #     due: DateTimeUtc,
//!     /// Whether others may use the equipment too.
//!     is_open: bool,
//!     /// The ids of the groups that may use it; none means all members of the site.
//!     #[entity(groups = "loan_group")]
//!     groups: Vec<String>,
//!     /// Manuals, each with `name`, `url` and perhaps `type` and `size`.
//!     #[entity(files)]
//!     manuals: Files,
//!     /// The things that were handed over with it.
//!     #[entity(children, max = 20)]
//!     accessories: Vec<Accessory>,
//!     /// The place among the loans of the site.
//!     #[serde(skip)]
//!     #[entity(position)]
//!     position: i64,
//!     #[entity(updated)]
//!     modified: DateTimeUtc,
//!     #[entity(version)]
//!     version: i64,
//!     #[serde(skip)]
//!     #[entity(facts)]
//!     facts: PolicyInputs,
//!     // The other fields are those of step 1.
//! }
//!
//! /// Something that belongs to the equipment.
//! #[derive(Clone, Debug, Serialize, Entity)]
//! #[serde(rename_all = "camelCase")]
//! #[entity(table = "loan_accessory")]
//! pub struct Accessory {
//!     #[entity(id)]
//!     id: String,
//!     #[serde(skip)]
//!     #[entity(hidden, parent = Loan)]
//!     loan_id: String,
//!     #[serde(skip)]
//!     #[entity(position)]
//!     position: i64,
//!     name: String,
//!     is_returned: bool,
//! }
//! # entity_core::register!(Loan);
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! # Groups
//!
//! A field with `groups = "loan_group"` is a `Vec<String>` with the ids of groups of the entity's site. They are rows
//! of the table `loan_group`, which has the columns `loan_id`, `group_id` and `site_id`: the first is named after the
//! table of the type. The type's own table has the column `is_restricted`, which says whether there are any. The
//! service creates both if it manages the table.
//!
//! - A group that is not one of the site is refused, and names the field.
//! - The field alone restricts nothing: [`RowPolicy::Addressed`](crate::db::RowPolicy::Addressed) in the rule admits
//!   the members of the groups, and everybody if there are none. A type with groups needs the field declared as `facts`
//!   in any case.
//! - Lists can't be filtered or ordered by groups.
//!
//! # Files
//!
//! A [`Files`](crate::file::Files) is a list of references to files, stored as JSON in one column: the service keeps
//! addresses and no content. Addresses below the service's own URL are stored as paths, so that they survive a change
//! of the URL. The attribute `files` makes them the enclosures of the entry in feeds.
//!
//! A file that was sent to be attached, at `/access/content/attachment/…`, is open to those who see an entity that has
//! its address in a list of files or in a text. Whoever writes such an address must be able to open the file.
//!
//! # Children
//!
//! A field declared as `children` is a `Vec` of another record: one with a table and without a prefix. Its entries are
//! rows of that table; a field declared as `parent` holds the key of the entity that a row belongs to, and the
//! `position` keeps the order. Children may have children of their own, of another type.
//!
//! Clients read and write the list as a part of the entity. What they send takes the place of the whole list:
//!
//! - An entry with the `id` of a present one replaces it: the row stays, and fields that were left out become empty. An
//!   entry without an id is new, present ones that were left out are deleted, and the order is that of the list.
//! - An id that none of the entity's entries has is refused, and so is one that is sent twice. When an entity is created,
//!   ids have no meaning.
//! - Errors name the entry and its field: `accessories[2].name`.
//! - Only rows that differ are written. The entity's version is counted once, and its `check` sees all entries.
//!
//! There are at most as many entries as `max` says, 100 without it, and all of them together have at most 1 MiB. A list
//! of entities reads their children with one statement for each field. The entity's own table has the column
//! `children_size`: the bytes of all children, which count towards the length of a page of a list and towards what an
//! account and a site use. The service creates it if it manages the table; otherwise a migration adds it, as an integer
//! that is not null.
//!
//! Rows that clients address by themselves, such as the answers to a question, are no children but a type of their own.
//! It too may declare a field as `parent`, such as `#[entity(on_create, parent = Question, references = "question")]`:
//! its rows are deleted with that entity. The table gets the foreign key when it is created.
//!
//! # Positions
//!
//! A `position` is a hidden number, one more than the largest in the site when the entity is created. The service does
//! not renumber. The field is not in the schema, so `order` can't name it; it is meant for code that reads entities,
//! such as a view.
//!
//! # Versions
//!
//! Step 1 describes the role `version`. A type with feeds or `Last-Modified` also has a field with the role `updated`,
//! which is set to [`Context::now`](crate::Context::now) by every change. `version = path` on the struct names a
//! function that makes the version from other facts; it must tell apart all states that clients can see.
//!
//! # Composed ids
//!
//! `#[entity(id, shown = "{site_id}:{loan_id}")]` on a field shows an id that is composed of others; it ends with the
//! field declared as `key`, which is the primary key of the row. Lists can't be filtered or ordered by a composed id,
//! so such a type declares an `order` that ends with the key.
//!
//! # Deletion
//!
//! If the service manages the table, the rows are deleted with their site and with their parent, and the rows of groups
//! with their entity or group. Tables of the author's own declare foreign keys that do the same.
