//! The events of logins in the outbox: the user, the address and the kind of login.

use http::StatusCode;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Answer, TestApp, both};

use tests::rows::{databases, texts};

/// The last event of this kind: its actor and its details.
async fn last(app: &TestApp, kind: &str) -> (Option<String>, Value) {
    let connections = databases(app).await;
    let sql = |column: &str| {
        format!(
            "SELECT coalesce({column}, '') AS line FROM outbox WHERE kind = '{kind}' ORDER BY sequence DESC"
        )
    };
    let actor = texts(&connections[0], &sql("actor")).await.swap_remove(0);
    let details = texts(&connections[0], &sql("details")).await.swap_remove(0);
    let details = serde_json::from_str(&details).expect("an object");
    (Some(actor).filter(|it| !it.is_empty()), details)
}

/// The address that the audit log has for the request.
async fn address(app: &TestApp, answer: &Answer) -> String {
    app.service().audit.flush().await;
    let id = answer.header("x-request-id").expect("an id");
    let sql = format!("SELECT address AS line FROM audit WHERE request_id = '{id}'");
    let mut found = Vec::new();
    for connection in databases(app).await {
        found.extend(texts(&connection, &sql).await);
    }
    assert_eq!(found.len(), 1);
    found.swap_remove(0)
}

both! {
    async fn a_login_is_told_with_who_came_from_where_by_which_door(app: TestApp) {
        let user = app.user("student1").await.get("/direct/user/current.json").await.json();
        let id = user["id"].as_str().expect("an id").to_owned();
        for (path, sign) in [("/api/login", ""), ("/direct/session", "_")] {
            let form = |password: &str| format!("{sign}username=STUDENT1&{sign}password={password}");
            let answer = app.anonymous().post_form(path, &form(PASSWORD)).await;
            assert!(answer.status.is_success());
            let from = address(&app, &answer).await;
            let details = json!({"userId": id, "username": "student1", "address": from, "path": path});
            assert_eq!(last(&app, "user.login.ws").await, (Some(id.clone()), details));

            let answer = app.anonymous().post_form(path, &form("guess-4711")).await;
            assert!(answer.status.is_client_error());
            let from = address(&app, &answer).await;
            let details = json!({"userId": id, "username": "STUDENT1", "address": from, "path": path});
            assert_eq!(last(&app, "user.login.failed").await, (None, details));
        }
        let connections = databases(&app).await;
        let all = texts(&connections[0], "SELECT coalesce(details, '') AS line FROM outbox").await;
        assert!(!all.iter().any(|it| it.contains("4711") || it.contains(PASSWORD)));
        // What is no login has none.
        assert!(all.iter().any(String::is_empty));
    }

    async fn of_a_name_that_nobody_has_the_beginning_is_told(app: TestApp) {
        let form = format!("username=%00%22{}&password=x", "\u{fc}".repeat(300));
        let answer = app.anonymous().post_form("/api/login", &form).await;
        answer.expect(StatusCode::UNAUTHORIZED);
        let from = address(&app, &answer).await;
        let name = format!("\0\"{}", "\u{fc}".repeat(98));
        let details = json!({"username": name, "address": from, "path": "/api/login"});
        assert_eq!(last(&app, "user.login.failed").await, (None, details));
    }
}
