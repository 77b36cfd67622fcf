//! Authentication: evidence, passwords, throttling, login and logout.

pub mod credentials;
pub mod directory;
pub mod evidence;
pub mod http;
pub mod login;
pub mod password;
pub(crate) mod schema;
pub mod throttle;
pub(crate) mod tries;

pub use directory::Accounts;
pub use evidence::{Account, Authenticator, Directory, Evidence, PasswordCheck, TrustedHeader};
pub use login::{LoggedIn, Login, LoginParts};
pub use password::{PasswordCost, Passwords};
pub use throttle::Throttle;

#[cfg(test)]
mod tests;
