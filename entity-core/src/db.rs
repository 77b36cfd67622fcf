//! Storage with sea-orm: one writer, many readers, and ready-made operations on a table.

pub mod archive;
pub mod attached;
pub mod blobs;
mod column;
mod contains;
mod decimal;
mod declared_sql;
mod driver;
#[doc(hidden)]
pub mod entity;
mod error;
mod expression;
mod failure;
mod faults;
mod file;
mod folded;
mod page;
mod query_pool;
pub(crate) mod quota;
mod record;
pub(crate) mod redaction;
mod row;
mod row_policy;
mod rule;
mod scanning;
mod search;
mod session;
mod sink;
mod sql;
mod stop;
mod sweep;
mod table;
mod transaction;
mod transaction_cache;
pub mod usage;

pub use crate::model::counted::Counted;
pub use crate::model::migration::Migration;
pub use crate::model::table::{ColumnType, MADE_BY, NoOverlap, TableSpec, Unique};
pub use column::Column;
pub use declared_sql::check_declared_sql;
pub use entity::Values;
pub use entity_core_derive::Row;
pub use faults::Faults;
pub use file::File;
pub use page::ReadLimit;
pub use query_pool::{QueryPool, QueryPoolCounts, QueryPools, RowVisitor, overrun, refusal};
pub use quota::{Quota, Quotas, check as check_quotas};
pub use record::{
    ColumnValue, Deadline, DeadlineFollower, Followed, GroupTable, MOST_PASSED, Parent, Record,
    Secret, THIS, add, among, children, computed, count, count_by, create, delete,
    delete_of_person, find, follow, insert, insert_many, json_value, large_number, later, list,
    list_statement, load, lock, lock_text, new_key, new_number, note, owner, pin, put, put_many,
    read, read_json, read_many, replace, row, sent_list, store, update,
};
pub use row::{FromRow, Row, columns};
pub use row_policy::{Cause, WrittenRowPolicy, permits};
pub use rule::{PolicyInputs, RedactedField, RowPolicy, Telling};
pub use scanning::Scanning;
pub use session::{Db, Reader, Session};
pub use sql::{Sql, Variables};
pub use stop::{Stop, Stops};
pub use sweep::ExpiringTable;
pub use table::Parents;
pub use transaction::{Transaction, is_at_rest};
