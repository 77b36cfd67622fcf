//! A pooler between the service and PostgreSQL is recognised, and refused in words that say what to do.

use entity_core::Registry;
use load::pooler::Pooler;
use load::{Backend, Database, OnBackend};
use server::operate::storage::Storage;

/// A pooler that lets settings of connections fall under the table, so that nobody notices.
const SILENT: &str = "ignore_startup_parameters = extra_float_digits,options";

#[tokio::test]
async fn pgbouncer_is_named_as_refused() {
    let registry = Registry::from_inventory().expect("types that go together");
    for mode in ["session", "transaction", "statement"] {
        for settings in [
            "",
            SILENT,
            &format!("{SILENT}\nserver_round_robin = 1\nmin_pool_size = 5"),
        ] {
            let Some(database) = Database::on_backend(Backend::Postgres).await else {
                return;
            };
            let settings = format!("pool_mode = {mode}\n{settings}");
            let Some(pooler) = Pooler::start(&database, &settings) else {
                return;
            };
            let refused = Storage::open(&pooler.url(), &registry).await;
            let text = refused.expect_err(&settings).to_string();
            for part in ["PgBouncer", "setting `database`", "server itself"] {
                assert!(text.contains(part), "{settings}: {text}");
            }
            drop(pooler);
            // Nothing was begun.
            let opened = Storage::open(database.url(), &registry).await;
            drop(opened.expect("the server itself"));
        }
    }
}
