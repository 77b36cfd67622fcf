//! The table `session`, in which sessions are kept.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::db::Db;
use entity_core::unit::{Mode, Store as _};
use entity_core::{Context, Error, Result};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait, EntityTrait as _, IntoActiveModel as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Select,
};

use super::attributes::Attributes;
use super::id::IdHash;
use super::record::Session;
use super::table::{Column, Entity};

/// The most rows that one sweep of the janitor removes, so that it never keeps writers waiting.
const SWEEP: u64 = 500;

/// The last use of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The id of the session.
    pub id: IdHash,
    /// The time of the use.
    pub at: DateTime<Utc>,
}

/// The table `session` of a database. Changes of sessions together with other data are part of the unit of work of a
/// context.
#[derive(Clone, Debug)]
pub struct SqlSessions {
    db: Db,
}

impl SqlSessions {
    /// The table of `db`.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Runs `statements` in a transaction of their own.
    async fn write<T, F>(&self, statements: F) -> Result<T>
    where
        F: AsyncFnOnce(&entity_core::db::Session) -> Result<T>,
    {
        let unit = self.db.begin(Mode::Write).await?;
        let session = unit
            .as_any()
            .downcast_ref()
            .ok_or_else(|| Error::internal("the unit of work is not one of the database"))?;
        let done = statements(session).await?;
        unit.commit().await?;
        Ok(done)
    }
}

impl SqlSessions {
    /// The session with this id, be it over or not.
    pub async fn find(&self, id: IdHash) -> Result<Option<Session>> {
        Entity::find_by_id(id.to_hex())
            .one(&self.db.read())
            .await?
            .map(Session::from_row)
            .transpose()
    }

    /// The session with this public name, be it over or not.
    pub async fn find_by_handle(&self, cx: &Context, handle: &str) -> Result<Option<Session>> {
        Entity::find()
            .filter(Column::Handle.eq(handle))
            .one(cx.db()?)
            .await?
            .map(Session::from_row)
            .transpose()
    }

    /// Stores a new session. Of its user's, only the `cap` newest stay; those that ended are returned.
    pub async fn create(&self, cx: &Context, session: &Session, cap: u64) -> Result<Vec<IdHash>> {
        let user = session.user().id.as_str();
        Entity::insert(session.to_row()?.into_active_model())
            .exec_without_returning(cx.db()?)
            .await?;
        let beyond: Vec<String> = Entity::find()
            .select_only()
            .column(Column::IdHash)
            .filter(Column::UserId.eq(user))
            .order_by_desc(Column::Created)
            .order_by_desc(Column::Handle)
            .offset(Ord::max(cap, 1))
            .limit(SWEEP)
            .into_tuple()
            .all(cx.db()?)
            .await?;
        // Of sessions that begin in the same millisecond the new one stays.
        let new = session.id().to_hex();
        remove(
            cx.db()?,
            beyond.into_iter().filter(|it| *it != new).collect(),
        )
        .await
    }

    /// Ends a session; answers whether there was one.
    pub async fn end(&self, cx: &Context, id: IdHash) -> Result<bool> {
        let done = Entity::delete_by_id(id.to_hex()).exec(cx.db()?).await?;
        Ok(done.rows_affected > 0)
    }

    /// Ends all sessions of a user, who lost the right to them; returns their ids.
    pub async fn end_all_of_user(
        &self,
        cx: &Context,
        user_id: &str,
        but: Option<&str>,
    ) -> Result<Vec<IdHash>> {
        let all: Vec<String> = Entity::find()
            .select_only()
            .column(Column::IdHash)
            .filter(Column::UserId.eq(user_id))
            .filter(Condition::all().add_option(but.map(|it| Column::Handle.ne(it))))
            .into_tuple()
            .all(cx.db()?)
            .await?;
        remove(cx.db()?, all).await
    }

    /// All sessions, the newest first, at most `limit` behind the first `start`.
    pub async fn list(&self, cx: &Context, start: u64, limit: u64) -> Result<Vec<Session>> {
        newest(cx, Entity::find(), start, limit).await
    }

    /// Keeps the attributes of a session.
    pub async fn keep_attributes(
        &self,
        cx: &Context,
        id: IdHash,
        attributes: &Attributes,
    ) -> Result<()> {
        Entity::update_many()
            .col_expr(Column::Attributes, Expr::value(attributes.to_text()?))
            .filter(Column::IdHash.eq(id.to_hex()))
            .exec(cx.db()?)
            .await?;
        Ok(())
    }

    /// Writes down when sessions were used, all at once.
    pub async fn touch(&self, touches: &[Touch]) -> Result<()> {
        self.write(async |db| {
            for touch in touches {
                let at = touch.at.timestamp_millis();
                Entity::update_many()
                    .col_expr(Column::LastAccessed, Expr::value(at))
                    .filter(Column::IdHash.eq(touch.id.to_hex()))
                    .filter(Column::LastAccessed.lt(at))
                    .exec(db)
                    .await?;
            }
            Ok(())
        })
        .await
    }

    /// Removes some sessions that are over; answers how many.
    pub async fn remove_expired(&self, now: DateTime<Utc>, max_lifetime: TimeDelta) -> Result<u64> {
        let now = now.timestamp_millis();
        let last_good =
            Expr::col(Column::LastAccessed).add(Expr::col(Column::MaxInactive).mul(1000));
        let is_over = Condition::any()
            .add(last_good.lt(now))
            .add(Column::Created.lt(now.saturating_sub(max_lifetime.num_milliseconds())));
        let over: Vec<String> = Entity::find()
            .select_only()
            .column(Column::IdHash)
            .filter(is_over.clone())
            .order_by_asc(Column::IdHash)
            .limit(SWEEP)
            .into_tuple()
            .all(&self.db.read())
            .await?;
        if over.is_empty() {
            return Ok(0);
        }
        // Asked again: one of them may have been used in between.
        self.write(async |db| {
            let done = Entity::delete_many()
                .filter(Column::IdHash.is_in(over.clone()))
                .filter(is_over.clone())
                .exec(db)
                .await?;
            Ok(done.rows_affected)
        })
        .await
    }
}

/// Returns some of these sessions, the newest first.
async fn newest(cx: &Context, of: Select<Entity>, start: u64, limit: u64) -> Result<Vec<Session>> {
    let found = of
        .order_by_desc(Column::Created)
        .order_by_desc(Column::Handle)
        .offset(start)
        .limit(limit)
        .all(cx.db()?)
        .await?;
    found.into_iter().map(Session::from_row).collect()
}

async fn remove(db: &impl ConnectionTrait, ids: Vec<String>) -> Result<Vec<IdHash>> {
    let hashes = ids.iter().filter_map(|it| IdHash::from_hex(it)).collect();
    if !ids.is_empty() {
        Entity::delete_many()
            .filter(Column::IdHash.is_in(ids))
            .exec(db)
            .await?;
    }
    Ok(hashes)
}
