//! The groups that a record is for.

use std::collections::HashMap;

use sea_orm::ConnectionTrait;

use super::any::{AnyRecord, Rows};
use super::constants::Constants;
use crate::contract::context::Context;
use crate::db::columns;
use crate::model::table::GroupTable;
use crate::primitives::error::{Error, Result};

/// Reads the groups of the records in `rows` that are for some groups only, with one statement for all.
pub(super) async fn fill(of: &Constants, cx: &Context, rows: &mut dyn Rows) -> Result<()> {
    let Some(groups) = of.groups else {
        return Ok(());
    };
    let all = || 0..rows.length();
    let restricted = all().filter(|it| rows.at(*it).is_some_and(|it| it.facts().is_restricted));
    let restricted: Vec<usize> = restricted.collect();
    let records = restricted.iter().filter_map(|it| rows.at(*it));
    let keys: Vec<&str> = records.map(AnyRecord::key).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let mut found = read(groups, cx, &keys).await?;
    for index in restricted {
        if let Some(record) = rows.at_mut(index)
            && let Some(groups) = found.remove(record.key())
        {
            record.set_groups(groups);
        }
    }
    Ok(())
}

/// Returns the groups of each of the entities with these keys.
async fn read(
    groups: GroupTable,
    cx: &Context,
    keys: &[&str],
) -> Result<HashMap<String, Vec<String>>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT ");
    sql.column("g", groups.key)
        .push(", g.group_id FROM ")
        .push(groups.table);
    sql.push(" g WHERE ")
        .column("g", groups.key)
        .bind_list(keys)?;
    sql.push(" ORDER BY g.group_id");
    let rows: Vec<(String, String)> = db.rows(sql.into_statement(), columns).await?;
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for (key, group) in rows {
        found.entry(key).or_default().push(group);
    }
    Ok(found)
}

/// Checks that every group of `record` is one of its site, and puts the groups in order, each once.
pub(super) async fn check(cx: &Context, record: &mut dyn AnyRecord) -> Result<()> {
    let groups = record.groups().to_vec();
    if !groups.is_empty() {
        let site = record.site().unwrap_or_default();
        let groups = known(cx, site, groups, record.constants().groups_field).await?;
        record.set_groups(groups);
    }
    Ok(())
}

async fn known(
    cx: &Context,
    site: &str,
    mut groups: Vec<String>,
    field: &'static str,
) -> Result<Vec<String>> {
    groups.sort();
    groups.dedup();
    if let Some(unknown) = cx.authorizer().unknown_group(cx, site, &groups).await? {
        let message = format!("has `{unknown}`, which is no group of the site");
        return Err(Error::field(field, message));
    }
    Ok(groups)
}

/// Stores the groups of `record`, which had the groups `former` before.
pub(super) async fn store(cx: &Context, record: &dyn AnyRecord, former: &[String]) -> Result<()> {
    match record
        .constants()
        .groups
        .filter(|_| record.groups() != former)
    {
        Some(table) => {
            let entity = (record.key(), record.site());
            write(table, cx, entity, record.groups(), former).await
        }
        None => Ok(()),
    }
}

async fn write(
    groups: GroupTable,
    cx: &Context,
    (key, site): (&str, Option<&str>),
    now: &[String],
    former: &[String],
) -> Result<()> {
    let db = cx.db()?;
    if !former.is_empty() {
        let mut sql = db.sql("DELETE FROM ");
        sql.push(groups.table)
            .push(" WHERE \"")
            .push(groups.key)
            .push("\" = ");
        sql.bind(key);
        db.execute_raw(sql.into_statement()).await?;
    }
    let mut before = " VALUES (";
    let mut sql = db.sql("INSERT INTO ");
    sql.push(groups.table)
        .push(" (\"")
        .push(groups.key)
        .push("\", group_id, site_id)");
    for group in now {
        sql.push(before).bind(key).push(", ").bind(group.as_str());
        sql.push(", ").bind(site.map(ToOwned::to_owned)).push(")");
        before = ", (";
    }
    if !now.is_empty() {
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}
