//! Members by their ids.

use std::collections::HashMap;

use entity_core::db;
use entity_core::{Context, Result};

/// Returns those of these users, by internal id, that are members of `site` whose membership counts.
pub(crate) async fn active_members(
    cx: &Context,
    site: &str,
    users: &[&str],
) -> Result<Vec<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT user_id FROM membership WHERE is_active AND site_id = ");
    sql.bind(site).push(" AND user_id").bind_list(users)?;
    db.rows(sql.into_statement(), db::columns).await
}

/// Returns the internal ids of those members of `site` that have one of these external ids, by external id.
pub(crate) async fn members_named(
    cx: &Context,
    site: &str,
    eids: &[&str],
) -> Result<HashMap<String, String>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT u.eid, u.id FROM membership m JOIN user_account u ON u.id = m.user_id WHERE m.is_active AND m.site_id = ",
    );
    sql.bind(site).push(" AND u.eid").bind_list(eids)?;
    let found = db.scan(sql.into_statement(), db::columns).await?;
    Ok(found.into_iter().collect())
}
