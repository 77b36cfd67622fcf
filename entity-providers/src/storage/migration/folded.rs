//! A step that adds the columns with folded text to a table, which are filled when all steps are done.

use async_trait::async_trait;
use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use crate::storage::db::backlog::{self, Task};

/// A step that lets lists of a table look into the text of some columns: each gets one with its name and `_folded` behind
/// it, and the rows that are there are filled afterwards, some hundred at a time.
#[derive(Clone, Copy, Debug)]
pub struct FoldedColumns {
    /// The date, a number and what it is about; never changed once it was released.
    pub name: &'static str,
    /// The table. The column `id` is its key.
    pub table: &'static str,
    /// The columns with text.
    pub texts: &'static [&'static str],
    /// The columns with HTML.
    pub html: &'static [&'static str],
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
        for column in self.texts.iter().chain(self.html) {
            let sql = format!("ALTER TABLE {} ADD COLUMN {column}_folded TEXT", self.table);
            super::define(manager, &[&sql]).await?;
        }
        let texts = self.texts.iter().map(|it| (it, false));
        let columns = texts.chain(self.html.iter().map(|it| (it, true)));
        let tasks = columns.map(|(it, is_html)| Task::fold_column(self.table, "id", it, is_html));
        let tasks = tasks.collect();
        backlog::add(manager.get_connection(), tasks).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// A step that lets text be folded anew that was folded by a former rule, which kept accents. What is ASCII is the same by
/// both.
#[derive(Clone, Copy, Debug)]
pub struct FoldedAnew {
    /// The date, a number and what it is about; never changed once it was released.
    pub name: &'static str,
    /// The columns, as the steps say that made them.
    pub columns: &'static [FoldedColumns],
    /// True if the tables of the registered types follow when the service looks at these.
    pub has_types: bool,
}

impl MigrationName for FoldedAnew {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait]
impl MigrationTrait for FoldedAnew {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        for it in self.columns {
            let texts = it.texts.iter().map(|column| (column, false));
            let columns = texts.chain(it.html.iter().map(|column| (column, true)));
            let tasks =
                columns.map(|(column, is_html)| Task::fold_column(it.table, "id", column, is_html));
            backlog::fold_anew(connection, tasks.collect()).await?;
        }
        match self.has_types {
            true => backlog::let_types_follow(connection).await,
            false => Ok(()),
        }
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
