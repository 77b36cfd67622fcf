//! Records: entities that are a row of a table, with its children and groups.
//!
//! [`Record`] is what `#[derive(Entity)]` writes for a struct with `#[entity(table = "…")]`: how a row is read and
//! written. The functions here read, list, count, create, change and delete records of any type.

pub(super) mod any;
mod asked;
mod by_site;
pub mod children;
mod column_value;
pub(super) mod constants;
mod deadline;
pub(super) mod definition;
mod follow;
pub(super) mod from;
mod groups;
mod json;
mod lock;
mod number;
mod overlap;
mod person;
mod put;
mod read;
mod references;
mod secret;
mod write;

pub use crate::model::table::{GroupTable, Parent};
pub use asked::among;
pub use column_value::{ColumnValue, computed, later, new_key, owner, sent_list};
pub use deadline::{Deadline, DeadlineFollower};
pub use definition::{Record, THIS};
pub use follow::{Followed, follow};
pub use json::{json_value, read_json};
pub use lock::{lock, lock_text, pin};
pub use number::{large_number, new_number};
pub use person::delete_of_person;
pub use put::{insert_many, put, put_many};
pub use read::{MOST_PASSED, count, count_by, find, list, list_statement, load, read, read_many};
pub use secret::Secret;
pub(super) use write::row_of;
pub use write::{add, create, delete, insert, note, replace, row, store, update};
