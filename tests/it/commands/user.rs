//! `lectern user list`, `lectern user enable` and `lectern user disable`.

use http::StatusCode;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::process::{run, text};
use tests::{Database, TestApp, both};

/// Returns the line of `lectern user list --json` about the account `eid`.
async fn listed(database: &Database, eid: &str) -> Value {
    let done = run(database, &["user", "list", "--json"]).await;
    assert!(done.status.success(), "{done:?}");
    let lines = text(&done.stdout).lines();
    let mut accounts = lines.map(|it| serde_json::from_str::<Value>(it).expect("an object"));
    let found = accounts.find(|it| it["eid"] == eid);
    found.unwrap_or_else(|| panic!("{eid} is not in {done:?}"))
}

both! {
    async fn accounts_are_listed_shut_and_opened_again(app: TestApp) {
        let database = app.database();
        let before = listed(database, "student1").await;
        assert_eq!((&before["disabled"], &before["superuser"]), (&json!(false), &json!(false)), "{before}");
        assert!(before["name"].as_str().is_some_and(|it| it.contains(' ')), "{before}");
        assert!(before["type"].is_string() && before["id"].is_string(), "{before}");
        assert_eq!(listed(database, "admin").await["superuser"], true);

        let done = run(database, &["user", "disable", "student1"]).await;
        assert!(done.status.success(), "{done:?}");
        assert_eq!(listed(database, "student1").await["disabled"], true);
        let table = run(database, &["user", "list"]).await;
        let lines: Vec<&str> = text(&table.stdout).lines().collect();
        assert!(lines[0].starts_with("EID "), "{lines:?}");
        let line = |eid: &str| lines.iter().find(|it| it.starts_with(&format!("{eid} "))).expect("it is there");
        assert!(line("student1").ends_with(" disabled"), "{lines:?}");
        assert!(line("admin").ends_with(" superuser"), "{lines:?}");
        let eids: Vec<&str> = lines[1..].iter().filter_map(|it| it.split(' ').next()).collect();
        assert!(eids.len() > 5 && eids.iter().all(|it| !it.is_empty()), "{eids:?}");

        let form = format!("username=student1&password={PASSWORD}");
        let shut = app.anonymous().post_form("/api/login", &form).await;
        shut.expect(StatusCode::UNAUTHORIZED);
        let done = run(database, &["user", "enable", "STUDENT1"]).await;
        assert!(done.status.success(), "{done:?}");
        assert_eq!(listed(database, "student1").await, before);
    }

    async fn a_name_that_nobody_has_is_refused_with_where_the_names_are(database: Database) {
        assert!(run(&database, &["migrate"]).await.status.success());
        let nobody = run(&database, &["user", "list"]).await;
        assert!(nobody.status.success() && nobody.stdout.is_empty(), "{nobody:?}");
        assert!(text(&nobody.stderr).contains("`lectern user add NAME --superuser`"), "{nobody:?}");
        for action in ["enable", "disable"] {
            let refused = run(&database, &["user", action, "nobody"]).await;
            assert!(!refused.status.success(), "{refused:?}");
            let told = "lectern: there is no account `nobody`: `lectern user list` names the accounts, and `lectern \
                        user add` makes one\n";
            assert_eq!(text(&refused.stderr), told);
        }
    }
}
