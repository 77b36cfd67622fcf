//! A step that adds the columns with folded text to a table, which are filled when all steps are done.

use async_trait::async_trait;
use entity_core::schema::Field;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use crate::db::backlog::{self, Task};

/// A step that lets lists of a table look into the text of some fields: each gets the column that
/// [`Field::folded_column`] names, and the rows that are there are filled afterwards, some hundred at a time.
#[derive(Clone, Copy, Debug)]
pub struct FoldedColumns {
    /// The date, a number and what it is about; never changed once it was released.
    pub name: &'static str,
    /// The table. The column `id` is its key.
    pub table: &'static str,
    /// What was searched when the step was made; of each field, its column and its kind matter.
    pub fields: &'static [&'static Field],
}

impl MigrationName for FoldedColumns {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait]
impl MigrationTrait for FoldedColumns {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in self.fields.iter().filter_map(|it| it.folded_column()) {
            let sql = format!("ALTER TABLE {} ADD COLUMN {column} TEXT", self.table);
            super::define(manager, &[&sql]).await?;
        }
        let fold = |it: &&Field| Task::fold(self.table, "id", it);
        let tasks: Vec<_> = self.fields.iter().filter_map(fold).collect();
        backlog::add(manager.get_connection(), tasks).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
