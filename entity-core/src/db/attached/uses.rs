//! The table `attached_use`: which entity names which attached file, and since when.
//!
//! A row is written and removed with the entity that names the file. Entities that go with something else, as those of a
//! deleted site do, leave rows behind, which open the file for nobody and are [swept](stale). A file that no entity names
//! is loose.

use sea_orm::ConnectionTrait;

use super::{AttachedFile, AttachedFileService, loose};
use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::db::{Sql, columns};
use crate::model::file::{ATTACHED_FILES, OWN_FILES};
use crate::model::table::TableSpec;
use crate::primitives::error::Result;

/// The number of entities that are asked at once whether the caller sees a file in them.
const PART: i64 = 100;

/// The instant since which an entity names a file, in milliseconds, and the table and the key of the entity.
pub(super) type Use = (i64, String, String);

/// Returns the next entities that name `file` behind `last`, those first that named it first.
pub(super) async fn behind(
    cx: &Context,
    file: &AttachedFile,
    last: Option<&Use>,
) -> Result<Vec<Use>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT noted, holder, entity FROM attached_use WHERE file = ");
    sql.bind(file.id.as_str());
    if let Some((noted, holder, entity)) = last {
        sql.push(" AND (noted, holder, entity) > (").bind(*noted);
        sql.push(", ").bind(holder.as_str());
        sql.push(", ").bind(entity.as_str()).push(")");
    }
    sql.push(" ORDER BY noted, holder, entity LIMIT ")
        .bind(PART);
    db.rows(sql.into_statement(), columns).await
}

/// Notes that an entity names the file with this id.
pub(super) async fn insert(cx: &Context, file: &str, holder: &str, key: &str) -> Result<()> {
    let db = cx.db()?;
    let mut sql = db.sql("INSERT INTO attached_use (file, holder, entity, noted) VALUES (");
    sql.bind(file).push(", ").bind(holder);
    sql.push(", ").bind(key).push(", ");
    sql.bind(cx.now().timestamp_millis());
    sql.push(") ON CONFLICT DO NOTHING");
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Notes that an entity names `files` no more.
pub(super) async fn remove(
    cx: &Context,
    holder: &str,
    key: &str,
    files: &[impl AsRef<str> + Sync],
) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let db = cx.db()?;
    let mut sql = db.sql("DELETE FROM attached_use WHERE holder = ");
    sql.bind(holder).push(" AND entity = ").bind(key);
    sql.push(" AND file").bind_list(files)?;
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Notes that something names `files` that can't be asked who sees it: they stay, and their senders alone see them and pay
/// for them.
///
/// # Errors
/// Returns an error if the database can't be written.
pub async fn keep(cx: &Context, files: &[String]) -> Result<()> {
    for id in files {
        insert(cx, id, "", "").await?;
    }
    Ok(())
}

/// Returns entities that are noted and not there any more, each as its table and key: at most `most`.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn stale(cx: &Context, registry: &Registry, most: u32) -> Result<Vec<(String, String)>> {
    let db = cx.db()?;
    let mut found = Vec::new();
    for (table, _) in naming(registry) {
        let mut sql = db.sql("SELECT DISTINCT holder, entity FROM attached_use WHERE holder = ");
        sql.bind(table.name);
        sql.push(" AND NOT EXISTS (SELECT 1 FROM \"")
            .push(table.name);
        sql.push("\" this WHERE ").column("this", table.key);
        sql.push(" = attached_use.entity) LIMIT ");
        sql.bind(i64::from(most));
        found.extend(db.scan(sql.into_statement(), columns).await?);
    }
    Ok(found)
}

/// Removes all that is noted of these entities.
///
/// # Errors
/// Returns an error if the database can't be written.
pub async fn forget(cx: &Context, entities: &[(String, String)]) -> Result<()> {
    let db = cx.db()?;
    for (holder, entity) in entities {
        let mut sql = db.sql("DELETE FROM attached_use WHERE holder = ");
        sql.bind(holder.as_str()).push(" AND entity = ");
        sql.bind(entity.as_str());
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

/// Notes what the rows of `site` name that are there: rows that were not written one by one as entities are.
///
/// # Errors
/// Returns an error if the database can't be read or written.
pub async fn note_rows(
    connection: &impl ConnectionTrait,
    registry: &Registry,
    files: &AttachedFileService,
    site: &str,
) -> Result<()> {
    let (attached, condition) = files.0.table();
    if !registry
        .routes()
        .filter_map(|it| it.table)
        .any(|it| it().name == attached)
    {
        return Ok(());
    }
    for (table, of_site) in naming(registry) {
        let backend = connection.get_database_backend();
        // Rows with an address are few; they are looked for before each is compared with the files of its site.
        let mut sql = Sql::new(
            backend,
            "INSERT INTO attached_use (file, holder, entity, noted) SELECT this.id, '",
        );
        let position = loose::position(&sql);
        sql.push(table.name)
            .push("', naming.entity, this.created FROM (SELECT ");
        sql.column("row", table.key).push(" AS entity, ");
        sql.column("row", of_site).push(" AS site");
        let texts = table
            .written
            .iter()
            .map(|it| format!("coalesce(row.\"{it}\", '')"));
        let texts = texts.collect::<Vec<_>>().join(" || ' ' || ");
        sql.push(", ")
            .push(&texts)
            .push(" AS texts FROM \"")
            .push(table.name);
        sql.push("\" row WHERE ")
            .push(position)
            .push(&texts)
            .push(", ");
        sql.bind(format!("{OWN_FILES}{ATTACHED_FILES}"))
            .push(") > 0");
        sql.push(" AND ").column("row", of_site);
        sql.push(" = ").bind(site);
        sql.push(") naming JOIN \"").push(attached);
        sql.push("\" this ON this.site_id = naming.site WHERE ")
            .push(condition);
        sql.push(" AND ")
            .push(position)
            .push("naming.texts, '/' || this.id || '/') > 0 ON CONFLICT DO NOTHING");
        connection.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

/// Returns the types whose entities name attached files of their site, each with its table and the column of the site.
fn naming(registry: &Registry) -> impl Iterator<Item = (TableSpec, &'static str)> {
    registry.routes().filter_map(|route| {
        let table = route.table?();
        let site = table.site.filter(|_| !table.written.is_empty())?;
        Some((table, site))
    })
}
