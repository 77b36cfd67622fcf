//! Storage with sea-orm: one writer, many readers, and ready-made operations on a table.

pub mod archive;
pub mod attached;
pub mod blobs;
mod column;
mod contains;
mod decimal;
mod driver;
#[doc(hidden)]
pub mod entity;
mod error;
mod expression;
mod failure;
mod faults;
mod file;
mod folded;
mod group;
mod lane;
mod page;
pub(crate) mod quota;
mod recent;
mod record;
mod row;
mod rule;
mod savepoint;
mod scanning;
mod search;
mod session;
mod sight;
mod sink;
mod sql;
mod stop;
mod sweep;
mod table;
mod transaction;
mod trial;
pub mod usage;
pub(crate) mod veil;

pub use crate::model::counted::Counted;
pub use crate::model::migration::Migration;
pub use crate::model::table::{ColumnType, MADE_BY, TableSpec, Unique};
pub use column::Column;
pub use entity::Values;
pub use entity_core_derive::Row;
pub use faults::Faults;
pub use file::File;
pub use group::Groups;
pub use lane::{Lane, LaneCounts, Lanes, Take, overrun, refusal};
pub use page::Measure;
pub use quota::{Quota, Quotas, check as check_quotas};
pub use record::{
    Followed, GroupTable, Kept, MOST_PASSED, Parent, Record, Secret, THIS, add, among, children,
    computed, count, count_by, create, delete, delete_of_person, find, follow, insert, insert_many,
    json_value, large_number, later, list, list_statement, load, lock, new_key, new_number, note,
    owner, pin, put, put_many, read, read_json, read_many, replace, row, sent_list, store, update,
};
pub use row::{FromRow, Row, columns};
pub use rule::{Facts, Sight, Telling, Veiled};
pub use scanning::Scanning;
pub use session::{Db, Reader, Session};
pub use sight::{Cause, WrittenSight, permits};
pub use sql::{Sql, Variables};
pub use stop::{Stop, Stops};
pub use sweep::Dated;
pub use table::Parents;
pub use transaction::{Transaction, is_at_rest};
pub use trial::try_tables;
