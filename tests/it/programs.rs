//! Programs that other people wrote for this wire work unchanged.

use serde_json::{Value, json};
use tests::process::{Process, service};
use tests::{Backend, Database, OnBackend as _};

use crate::python::{Needs, run};

const SAKAIPY: &str = include_str!("programs/sakaipy.py");

/// Its booleans are those of Python, and it reads the name of its session from a header.
#[tokio::test]
async fn sakaipy_logs_in_and_reads() {
    let database = Database::on_backend(Backend::Sqlite).await;
    let database = database.expect("SQLite is always there");
    let process = Process::start_service(&service(false), &database, true);
    let base = format!("http://127.0.0.1:{}", process.port());
    let ask = |account: &str| {
        let given = json!([base, account, "lectern-demo", "biology-101"]).to_string();
        let printed = run(SAKAIPY, given.as_bytes(), Needs::Packages)?;
        serde_json::from_slice::<Value>(&printed).ok()
    };
    for (account, sees_members) in [("student1", false), ("instructor1", true)] {
        let Some(got) = ask(account) else {
            return;
        };
        assert!(got["session"].is_string(), "{got}");
        assert_eq!(got["user"]["eid"], account);
        assert_eq!(got["own session"]["userEid"], account);
        for (name, list) in [
            ("announcements of the site", "announcement_collection"),
            ("messages of the day", "announcement_collection"),
            ("announcements", "announcement_collection"),
            ("assignments", "assignment_collection"),
            ("events", "calendar_collection"),
            ("memberships", "membership_collection"),
            ("roles", "membership_collection"),
        ] {
            let entities = got[name][list].as_array();
            assert!(entities.is_some_and(|it| !it.is_empty()), "{name} in {got}");
        }
        assert_eq!(
            got["assignment"]["title"],
            got["assignments"]["assignment_collection"][0]["title"]
        );
        assert_eq!(
            got["event"]["title"],
            got["events"]["calendar_collection"][0]["title"]
        );
        assert_eq!(
            got["members"]["membership_collection"].is_array(),
            sees_members,
            "{got}"
        );
        assert_eq!(got["end"], 204);
    }
}
