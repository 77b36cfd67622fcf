//! Sessions: their ids, the cookie that carries them, the table that keeps them and the memory in front of it.

pub mod cookie;
pub mod id;

pub use cookie::{CookieError, CookieOptions, Presented, SameSite};
pub use id::{IdHash, SessionId};
