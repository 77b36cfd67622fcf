//! The facts of sites that decisions need.

use std::collections::HashMap;
use std::sync::Arc;

use entity_core::db::{Row, columns};
use entity_core::{Context, Result};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::grants::{Grants, Roles, realm_of};
use crate::storage::db::realm_grant;

/// Sites that one statement asks for: well below the number of values that it may bind.
const BATCH: usize = 500;

/// The facts of a site that decisions need.
#[derive(Clone, Debug)]
pub struct SiteFacts {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// `course`, `project`, or nothing.
    pub kind: Option<String>,
    /// True if its members may come in.
    pub is_published: bool,
    /// True if strangers may look at it.
    pub is_pub_view: bool,
    pub(super) roles: Arc<Roles>,
}

impl SiteFacts {
    /// Returns whether the site has the role `name`.
    pub fn has_role(&self, name: &str) -> bool {
        self.roles.of(name).is_some()
    }

    /// The names of the roles, sorted.
    pub fn role_names(&self) -> Vec<String> {
        self.roles.names()
    }

    /// Returns whether roles of this site can be granted `function`: any role anywhere holds the like of it.
    pub fn can_grant(&self, function: &str) -> bool {
        let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        function.contains('.') && function.chars().all(is_usual) && self.roles.knows(function)
    }

    /// Returns whether the role `name` of this site holds `function`.
    pub fn role_holds(&self, name: &str, function: &str) -> bool {
        let function = self.roles.resolve(function);
        self.roles.of(name).is_some_and(|it| it.contains(function))
    }
}

#[derive(Debug, Row)]
struct SiteRow {
    id: String,
    title: String,
    r#type: Option<String>,
    is_published: bool,
    is_pub_view: bool,
}

/// Reads the sites `ids`, those that exist.
pub(super) async fn load(
    cx: &Context,
    ids: &[&str],
    grants: &Grants,
) -> Result<HashMap<String, SiteFacts>> {
    let mut found = HashMap::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let changes = changes(cx, batch).await?;
        for row in rows(cx, batch).await? {
            let changes = changes.get(&realm_of(&row.id));
            let changes = changes.map_or(&[][..], Vec::as_slice);
            let facts = SiteFacts {
                roles: grants.of_site(&row.id, row.r#type.as_deref(), changes),
                id: row.id,
                title: row.title,
                kind: row.r#type,
                is_published: row.is_published,
                is_pub_view: row.is_pub_view,
            };
            found.insert(facts.id.clone(), facts);
        }
    }
    Ok(found)
}

async fn rows(cx: &Context, ids: &[&str]) -> Result<Vec<SiteRow>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT id, title, type, is_published, is_pub_view FROM site WHERE id");
    sql.bind_list(ids)?;
    db.rows(sql.into_statement(), columns).await
}

/// Returns the changes that each of the sites makes to its template's grants, by realm.
async fn changes(cx: &Context, ids: &[&str]) -> Result<HashMap<String, Vec<realm_grant::Model>>> {
    let realms = ids.iter().map(|id| realm_of(id));
    let rows: Vec<realm_grant::Model> = cx
        .db()?
        .select(&realm_grant::Entity::find().filter(realm_grant::Column::Realm.is_in(realms)))
        .await?;
    let mut changes: HashMap<String, Vec<realm_grant::Model>> = HashMap::new();
    for row in rows {
        changes.entry(row.realm.clone()).or_default().push(row);
    }
    Ok(changes)
}
