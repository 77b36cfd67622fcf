//! Sessions: their ids, the cookie that carries them, the table that keeps them and the memory in front of it.

pub mod attributes;
pub(crate) mod bearer;
pub mod cache;
pub mod cookie;
pub mod id;
pub mod provider;
pub mod record;
pub mod store;
pub mod table;

use http::HeaderName;

pub use attributes::{Area, Attributes};
pub use cache::Sessions;
pub use cookie::{Presented, SessionCookie};
pub use id::{IdHash, SessionId};
pub use record::Session;
pub use store::{SqlSessions, Touch};

/// The header with the public name of the session on every answer to a user who is logged in. Clients take its absence
/// for having been logged out.
pub const SESSION_HEADER: HeaderName = HeaderName::from_static("x-sakai-session");
