//! The database: connecting, bringing its tables up to date, one module for each table.

pub(crate) mod backfill;
mod catalog;
mod connect;
mod journal;
pub(crate) mod migrate;
mod pool;
mod pooler;
mod query_pool;
mod stop;
mod survey;
mod tables;
mod type_migrations;
mod usage;
mod watch;

pub mod authorization_epoch;
pub mod demo_password;
pub mod group_member;
pub mod membership;
pub mod offline;
pub mod realm_grant;
pub mod site_likeness;
pub mod site_parts;

#[cfg(test)]
mod tests;

pub use connect::{connect, connect_with, look, look_at_file, make_file, make_private};
pub use journal::{LARGE_JOURNAL, shrink_journal};
pub use migrate::{lacks, migrate};
pub use pool::Pools;
pub use survey::Survey;
pub(crate) use tables::PARENTS;
pub use tables::ensure_tables;
pub use type_migrations::run_again;
pub use usage::{count_tables, mend_usage, miscounted};
