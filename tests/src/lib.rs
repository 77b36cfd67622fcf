//! The harness of the integration tests and of what measures: databases, the service itself, its users as clients.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that cannot go on says so and stops"
)]

pub mod advisories;
pub mod app;
pub mod artefacts;
pub mod bare;
pub mod bench;
pub mod cgroup;
pub mod client;
pub mod clock;
pub mod database;
pub mod endpoints;
pub mod fault;
pub mod instructions;
pub mod long_table;
pub mod pooler;
mod postgres;
pub mod process;
pub mod proxy;
pub mod server;
mod template;
pub mod trial;

pub use app::TestApp;
pub use client::{Answer, Client};
pub use database::{Backend, Database, OnBackend};

/// Says on standard error what a run leaves out or has measured, even if the test that does so succeeds.
pub fn say(line: &str) {
    use std::io::Write;
    // The harness of tests keeps to itself what the macros print.
    let said = writeln!(std::io::stderr(), "{line}");
    said.expect("standard error is open");
}

/// Makes two tests of each body: `name::sqlite` and `name::postgres`.
///
/// The argument is whatever can be made [`OnBackend`], an empty service or an empty database:
///
/// ```text
/// both! {
///     async fn a_stranger_cannot_read_a_closed_site(app: TestApp) { … }
/// }
/// ```
#[macro_export]
macro_rules! both {
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
                $crate::database::on($crate::Backend::Postgres, body).await;
            }
        }
    )+};
}
