//! A step that lets a column be emptied which nothing reads any more.

use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use crate::storage::db::backlog::{self, Task};

/// A step whose column is set to the empty text in all rows when all steps are done, some hundred rows at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmptiedColumn {
    /// The date, a number and what it is about; never changed once it was released.
    pub(super) name: &'static str,
    /// The table. The column `id` is its key.
    pub(super) table: &'static str,
    /// The column.
    pub(super) column: &'static str,
}

impl MigrationName for EmptiedColumn {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait]
impl MigrationTrait for EmptiedColumn {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let task = Task::empty(self.table, "id", self.column);
        backlog::add(manager.get_connection(), vec![task]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
