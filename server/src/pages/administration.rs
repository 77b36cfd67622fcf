//! Types that only administrators read: the settings of the service, and what was asked of it.

use std::sync::Arc;

use entity_core::search::select;
use entity_core::{
    Access, Context, DateTimeUtc, Entity, Error, List, Need, Page, Read, Result, Search,
};
use sea_orm::DatabaseConnection;
use serde::Serialize;

use crate::guard::audit::{AuditEntry, AuditFilter, AuditReader};

const ACCESS: Access = Access::new(Need::Superuser, Need::Superuser);

/// The most rows of the audit log in the list: the newest ones. `lectern audit` prints all.
const MOST_ROWS: usize = 5_000;

/// The facts for these types, which the service shares with them.
#[derive(Debug)]
pub(crate) struct AdministrationFacts {
    /// The settings.
    pub(crate) settings: Vec<Setting>,
    /// The database with the content and the audit rows of writes.
    pub(crate) content: DatabaseConnection,
    /// The database with the other audit rows, if that is another one.
    pub(crate) reads: Option<DatabaseConnection>,
}

impl AdministrationFacts {
    /// Returns the facts for an administrator.
    async fn of(cx: &Context) -> Result<Arc<Self>> {
        match cx.authorizer().is_superuser(cx).await? {
            true => cx.service(),
            false => Err(Error::forbidden()),
        }
    }
}

/// A setting of the service as it is in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "setting", plural = "Settings in effect", access = ACCESS, order = "name")]
pub struct Setting {
    /// The name again, which is what addresses have.
    #[entity(id, column)]
    pub id: String,
    /// The name, such as `limits.connections`.
    #[entity(title, column, search)]
    pub name: String,
    /// The value; a secret is not shown.
    #[entity(column, search)]
    pub value: String,
    /// Where it was set: `default`, `file`, `environment` or `argument`.
    #[entity(column)]
    pub source: String,
}

entity_core::register!(Setting);

impl Read for Setting {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        let facts = AdministrationFacts::of(cx).await?;
        Ok(facts.settings.iter().find(|it| it.id == id).cloned())
    }
}

impl List for Setting {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        select(AdministrationFacts::of(cx).await?.settings.clone(), search)
    }
}

/// A request of which the audit log has a row, or several that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "audit", plural = "Audit log", access = ACCESS, order = "time_desc,id")]
pub struct Audited {
    /// The id of the request, as answers and log lines tell it.
    #[entity(id, column, search)]
    pub id: String,
    /// When the request came in.
    #[entity(column)]
    pub time: DateTimeUtc,
    /// The user name of the account, if it is still there.
    #[entity(column, search, label = "User name")]
    pub user_eid: Option<String>,
    /// The internal id of the account.
    #[entity(column, for_programs)]
    pub user_id: Option<String>,
    /// The address from which it came.
    #[entity(column, search)]
    pub address: String,
    /// The method.
    #[entity(column)]
    pub method: String,
    /// The path, without the query.
    #[entity(title, column, search)]
    pub path: String,
    /// The status of the answer.
    #[entity(column)]
    pub status: i64,
    /// The number of requests for which it stands.
    #[entity(column)]
    pub times: i64,
}

entity_core::register!(Audited);

impl Audited {
    fn of(row: AuditEntry) -> Result<Self> {
        let time = chrono::DateTime::parse_from_rfc3339(&row.time).map_err(Error::internal)?;
        Ok(Self {
            id: row.request_id,
            time: time.into(),
            user_eid: row.user_eid,
            user_id: row.user_id,
            address: row.address,
            method: row.method,
            path: row.path,
            status: row.status,
            times: row.times,
        })
    }

    /// Returns the newest rows.
    async fn newest(cx: &Context) -> Result<Vec<Self>> {
        let facts = AdministrationFacts::of(cx).await?;
        let (filter, beside) = (AuditFilter::default(), facts.reads.as_ref());
        let mut reader = AuditReader::new(&facts.content, beside, filter, MOST_ROWS).await?;
        let mut found = Vec::new();
        loop {
            let page = reader.next().await?;
            if page.is_empty() {
                return Ok(found);
            }
            for row in page {
                found.push(Self::of(row)?);
            }
        }
    }
}

impl Read for Audited {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        let found = Self::newest(cx).await?;
        Ok(found.into_iter().find(|it| it.id == id))
    }
}

impl List for Audited {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        select(Self::newest(cx).await?, search)
    }
}
