//! The test kit for authors of entity types.
//!
//! [`TestApp`] is the whole service in the process of the test, with every linked type, over the demo university in a
//! database of its own. [`Client`] sends requests as a user of that university with some [`Role`]. [`both!`] makes two tests of a body,
//! one for each kind of database. [`conformance!`] makes the tests that every type has to pass.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on says so and stops"
)]

pub mod app;
pub mod client;
pub mod conformance;
pub mod counting;
pub mod database;
pub mod endpoints;
#[doc(hidden)]
pub mod postgres;
mod role;
#[doc(hidden)]
pub mod template;

pub use app::TestApp;
pub use client::{Answer, Client};
pub use database::{Backend, Database, OnBackend};
pub use role::{OTHER_SITE, Role, SITE};
#[doc(hidden)]
pub use {serde_json, tokio};

/// Makes two tests of each body: `name::sqlite` and `name::postgres`.
///
/// The argument is any type that implements [`OnBackend`], such as a [`TestApp`] or an empty [`Database`]:
///
/// ```text
/// both! {
///     async fn a_stranger_cannot_read_a_closed_site(app: TestApp) { … }
/// }
/// ```
///
/// Where PostgreSQL is not installed, its test says so in a line and succeeds, unless the environment variable
/// `REQUIRE_POSTGRES` demands it.
#[macro_export]
macro_rules! both {
    ($($(#[$meta:meta])* async fn $name:ident($argument:ident: $type:ty) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            use super::*;

            async fn body($argument: $type) $body

            #[$crate::tokio::test(crate = "lectern_testing::tokio")]
            async fn sqlite() {
                $crate::database::on($crate::Backend::Sqlite, body).await;
            }

            #[$crate::tokio::test(crate = "lectern_testing::tokio")]
            async fn postgres() {
                $crate::database::on($crate::Backend::Postgres, body).await;
            }
        }
    )+};
}
