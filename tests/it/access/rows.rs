//! Rows of every type, and how they get into the database.

use std::fmt::Debug;
use std::sync::Arc;

use entity_core::db::Record;
use entity_core::{Context, Result, db};
use entity_providers::people::site::Site;
use entity_providers::people::user::{User, user};
use entity_providers::storage::db::site_parts::{SiteGroup, SitePage, SiteTool};
use entity_providers::storage::db::{group_member, membership, realm_grant};
use entity_providers::talk::conversations::ConversationSettings;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, QuerySelect as _};

/// Rows to add.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) users: Vec<User>,
    pub(super) sites: Vec<Site>,
    pub(super) pages: Vec<SitePage>,
    pub(super) tools: Vec<SiteTool>,
    pub(super) groups: Vec<SiteGroup>,
    pub(super) group_members: Vec<group_member::Model>,
    pub(super) members: Vec<membership::Model>,
    pub(super) grants: Vec<realm_grant::Model>,
    pub(super) settings: Vec<ConversationSettings>,
    /// Whatever belongs to these, in the order in which it was added.
    others: Vec<Arc<dyn Row>>,
}

/// Something that is added past the service.
pub(super) trait Row: Debug + Send + Sync {
    fn insert<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<()>>;
}

impl<T: Record + Debug> Row for T {
    fn insert<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<()>> {
        db::insert(cx, self).boxed()
    }
}

impl Rows {
    pub(super) fn add(&mut self, row: impl Row + 'static) {
        self.others.push(Arc::new(row));
    }

    pub(super) fn add_first(&mut self, row: impl Row + 'static) {
        self.others.insert(0, Arc::new(row));
    }

    pub(super) async fn insert(self, cx: &Context) -> Result<()> {
        // Hashing is slow on purpose: everybody has the hash of the demo.
        let known: Vec<User> = db::load(cx, user::Entity::find().limit(1)).await?;
        let hash = known.into_iter().map(|it| it.password_hash).next();
        let users = self.users.into_iter().map(|it| User {
            password_hash: hash.clone().unwrap_or_default(),
            ..it
        });
        records(cx, &users.collect::<Vec<_>>()).await?;
        records(cx, &self.sites).await?;
        records(cx, &self.pages).await?;
        records(cx, &self.tools).await?;
        records(cx, &self.groups).await?;
        insert(cx, self.group_members).await?;
        insert(cx, self.members).await?;
        insert(cx, self.grants).await?;
        for row in &self.others {
            row.insert(cx).await?;
        }
        for settings_of_site in self.settings {
            db::put(cx, settings_of_site, |_| {}).await?;
        }
        Ok(())
    }
}

async fn records<T: Record>(cx: &Context, records: &[T]) -> Result<()> {
    for record in records {
        db::insert(cx, record).await?;
    }
    Ok(())
}

async fn insert<M, A>(cx: &Context, rows: Vec<M>) -> Result<()>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait + Send,
{
    if rows.is_empty() {
        return Ok(());
    }
    let rows: Vec<A> = rows
        .into_iter()
        .map(IntoActiveModel::into_active_model)
        .collect();
    A::Entity::insert_many(rows)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}
