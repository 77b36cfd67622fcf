//! The check that a site keeps at least one maintainer.

use entity_core::db::Sql;
use entity_core::{Context, Error, Result};
use sea_orm::{ConnectionTrait, DbBackend};

use super::{RoleAuthorizer, of};
use crate::people::site::id::ADMIN_SITE;

/// The function to maintain the site.
const MAINTAINS: &str = "site.upd";

/// Does `change`, unless it takes away from `site` the last member who looks after it. Super users may leave a
/// site to nobody, since they look after all of them, but not the administration site, which makes them.
///
/// # Errors
/// Fails as `change` does, and when nobody would be left: the caller must give up what was written then.
pub(crate) async fn keep_maintained<T: Send>(
    cx: &Context,
    site: &str,
    change: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    let authorizer = of(cx)?;
    lock(cx, site).await?;
    let was_maintained = is_maintained(cx, &authorizer, site).await?;
    let done = change.await?;
    if !was_maintained || is_maintained(cx, &authorizer, site).await? {
        return Ok(done);
    }
    match site != ADMIN_SITE && cx.authorizer().is_superuser(cx).await? {
        true => Ok(done),
        false => Err(Error::conflict(
            "nobody would be left who looks after the site: let somebody else look after it first",
        )),
    }
}

/// Lets such changes of one site come one after the other. On SQLite all writers do.
async fn lock(cx: &Context, site: &str) -> Result<()> {
    let connection = cx.db()?;
    if connection.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let mut sql = Sql::new(DbBackend::Postgres, "SELECT id FROM site WHERE id = ");
    sql.bind(site).push(" FOR UPDATE");
    connection.query_one_raw(sql.into_statement()).await?;
    Ok(())
}

/// Returns whether an active member who can log in has a role that looks after the site.
async fn is_maintained(cx: &Context, authorizer: &RoleAuthorizer, site: &str) -> Result<bool> {
    let facts = authorizer.site(cx, site).await?;
    let Some(facts) = &*facts else {
        return Ok(false);
    };
    let roles = facts.role_names().into_iter();
    let roles: Vec<String> = roles.filter(|it| facts.role_holds(it, MAINTAINS)).collect();
    let connection = cx.db()?;
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT 1 FROM membership m JOIN user_account u ON u.id = m.user_id \
         WHERE m.is_active AND NOT u.is_disabled AND m.site_id = ",
    );
    sql.bind(site).push(" AND m.role").bind_list(&roles)?;
    sql.push(" LIMIT 1");
    let found = connection.query_one_raw(sql.into_statement()).await?;
    Ok(found.is_some())
}
