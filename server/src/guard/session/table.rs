//! The table `session`.

use sea_orm::entity::prelude::*;

/// A row: one session, known by the hash of its id.
#[derive(derive_more::Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "session")]
#[debug("session::Model {{ handle: {:?} }}", self.handle)]
pub struct Model {
    /// SHA-256 of the id, hexadecimal. The id itself is nowhere.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id_hash: String,
    /// The public name.
    pub handle: String,
    /// The internal id of the user.
    pub user_id: String,
    /// The external id of the user.
    pub user_eid: String,
    /// The name by which people call the user.
    pub display_name: String,
    /// The time at which it began, in milliseconds since 1970.
    pub created: i64,
    /// The time of its last use, in milliseconds since 1970; up to a thirtieth of the timeout late.
    pub last_accessed: i64,
    /// The time for which it may go unused, in seconds.
    pub max_inactive: i64,
    /// The CSRF token. It is stored as it is, because the holder of the session must get it again; without the session
    /// it opens nothing.
    pub csrf_token: String,
    /// The address that the login came from.
    pub address: String,
    /// Named attributes of the session and of its sub-sessions, JSON.
    pub attributes: String,
}

/// A session belongs to no other table that this crate knows.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
