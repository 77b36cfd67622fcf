//! The harness of the integration tests and of what measures: databases, the service itself, its users as clients.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a test that cannot go on says so and stops"
)]

pub mod bucket;
pub mod crowd;
pub mod process;
pub mod rows;
pub mod visited;

use std::env;

pub use lectern_testing::{
    Answer, Backend, Client, Database, OnBackend, TestApp, app, both, client, database, endpoints,
};

/// Makes a type of services with these settings, which the tests of [`both!`] can take:
///
/// ```text
/// app_with! {
///     /// A service with little patience.
///     Impatient, [("login.accountFailures", "2")]
/// }
/// ```
#[macro_export]
macro_rules! app_with {
    ($(#[$meta:meta])* $name:ident, $settings:expr) => {
        $(#[$meta])*
        struct $name($crate::TestApp);

        impl $crate::OnBackend for $name {
            async fn on_backend(backend: $crate::Backend) -> Option<Self> {
                let app = $crate::TestApp::with_settings(backend, &$settings).await;
                app.map(Self)
            }
        }
    };
}

/// Returns whether all of a long test is wanted, and not a sample of it: `FULL` says so, unless it is empty or 0.
pub fn is_full() -> bool {
    env::var_os("FULL").is_some_and(|it| !it.is_empty() && it != "0")
}

/// Declares tests of what is decided above the storage, such as pages, formats and headers: each runs on SQLite and, with
/// `FULL=1`, on PostgreSQL as well. What touches the storage is declared by [`both`].
#[macro_export]
macro_rules! above_storage {
    ($($(#[$meta:meta])* async fn $name:ident($argument:ident: $type:ty) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            use super::*;

            async fn body($argument: $type) $body

            #[tokio::test]
            async fn sqlite() {
                $crate::database::on($crate::Backend::Sqlite, body).await;
            }

            #[tokio::test]
            async fn postgres() {
                match $crate::is_full() {
                    true => $crate::database::on($crate::Backend::Postgres, body).await,
                    false => $crate::say("decided above the storage; FULL=1 runs it on PostgreSQL"),
                }
            }
        }
    )+};
}

/// Returns whether a long test of what is decided above the storage is left out on this database: on PostgreSQL, unless `FULL=1`.
/// Then it says so.
pub fn is_left_out(app: &TestApp) -> bool {
    let is_left_out = app.database().backend() == Backend::Postgres && !is_full();
    if is_left_out {
        say("a long test runs on SQLite alone; FULL=1 runs it on PostgreSQL as well");
    }
    is_left_out
}

/// Says on standard error what a run leaves out or has measured, even if the test that does so succeeds.
pub fn say(line: &str) {
    use std::io::Write;
    // The harness of tests keeps to itself what the macros print.
    let said = writeln!(std::io::stderr(), "{line}");
    said.expect("standard error is open");
}
