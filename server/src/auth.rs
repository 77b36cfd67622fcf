//! Who somebody is: evidence, passwords, throttling, login and logout.

pub mod evidence;
pub mod login;
pub mod password;
pub mod throttle;

pub use evidence::{Account, Authenticator, Directory, Evidence, PasswordCheck, TrustedHeader};
pub use login::{LoggedIn, Login, LoginParts};
pub use password::Passwords;
pub use throttle::{Throttle, ThrottleOptions};
