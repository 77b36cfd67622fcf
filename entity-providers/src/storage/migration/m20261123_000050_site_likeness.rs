//! The skeletons of the ids of sites, so that no two of them look alike.

use async_trait::async_trait;
use sea_orm::sea_query::{Alias, Expr, OnConflict, Query};
use sea_orm::{ConnectionTrait, DbErr, Statement};
use sea_orm_migration::sea_orm::DeriveMigrationName;
use sea_orm_migration::{MigrationTrait, SchemaManager};
use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

#[derive(Debug, DeriveMigrationName)]
pub(super) struct Migration;

const TABLES: &[&str] = &[
    "CREATE TABLE site_likeness (
        skeleton TEXT NOT NULL PRIMARY KEY,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE
    )",
    "CREATE INDEX site_likeness_by_site ON site_likeness (site_id)",
];

/// The number of sites that are read at a time.
const BATCH: usize = 500;

/// Sites that look alike already keep their ids: the first of them, by its id, has the skeleton.
#[async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::define(manager, TABLES).await?;
        let connection = manager.get_connection();
        let mut last = String::new();
        loop {
            let ids = ids_behind(connection, &last).await?;
            let Some(id) = ids.last() else {
                return Ok(());
            };
            let read_to = id.clone();
            let mut insert = Query::insert();
            insert
                .into_table(Alias::new("site_likeness"))
                .columns(["skeleton", "site_id"].map(Alias::new))
                .on_conflict(
                    OnConflict::column(Alias::new("skeleton"))
                        .do_nothing()
                        .to_owned(),
                );
            for id in ids {
                insert.values_panic([Expr::val(likeness(&id)), Expr::val(id)]);
            }
            connection.execute(&insert).await?;
            last = read_to;
        }
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// The skeleton of `id`, as it was when this step was made: what sites get now may be another one some day.
fn likeness(id: &str) -> String {
    let folded = id.nfkc().collect::<String>().to_lowercase();
    skeleton(&folded).collect::<String>().to_lowercase()
}

async fn ids_behind(connection: &impl ConnectionTrait, last: &str) -> Result<Vec<String>, DbErr> {
    let statement = Statement::from_sql_and_values(
        connection.get_database_backend(),
        format!("SELECT id FROM site WHERE id > $1 ORDER BY id LIMIT {BATCH}"),
        [last.into()],
    );
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(|it| it.try_get("", "id")).collect()
}
