//! Passwords that everybody knows: the profile `production` refuses accounts that have one, whatever made them.

use std::process::Output;

use http::StatusCode;
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::json;
use server::operate::production;
use tests::app::PASSWORD;
use tests::rows::databases;
use tests::{TestApp, both};

use crate::operator::user;

/// Returns the finding of the production profile that is about passwords.
async fn found(app: &TestApp) -> Option<String> {
    let service = app.service();
    let findings = production::inspect(&service.config, None, &service.storage.content).await;
    let refused = findings.expect("an answer").refused;
    let mut texts = refused.into_iter().map(|it| it.message);
    texts.find(|it| it.contains("password is known"))
}

/// Lets nobody of the demo log in.
async fn without_demo(app: &TestApp) {
    let content = &databases(app).await[0];
    let sql = "UPDATE user_account SET password_hash = NULL";
    content.execute_unprepared(sql).await.expect("rows");
    assert_eq!(found(app).await, None);
}

/// Gives an account a password behind the back of the service.
async fn set(app: &TestApp, eid: &str, password: &str) {
    let hash = app
        .service()
        .passwords
        .hash(password)
        .await
        .expect("a hash");
    let content = &databases(app).await[0];
    let backend = content.get_database_backend();
    let admin = "UPDATE user_account SET password_hash = $1 WHERE eid = $2";
    let statement = Statement::from_sql_and_values(backend, admin, [hash.into(), eid.into()]);
    content.execute_raw(statement).await.expect("a row");
}

both! {
    async fn conf_1_nobody_chooses_a_password_that_everybody_knows(app: TestApp) {
        let admin = app.user("admin").await;
        let draft = |eid: &str, password: &str| json!({
            "eid": eid, "email": format!("{eid}@example.edu"), "password": password,
        });
        admin.post("/direct/user", &draft("chosen.well", "four random words")).await.expect(StatusCode::CREATED);
        for (eid, password) in [
            ("everybody1", "Password1"), ("own.name.2", "own.name.2"), ("own.mail.3", "own.mail.3@example.edu"),
            ("demo.password.4", PASSWORD),
        ] {
            let refused = admin.post("/direct/user", &draft(eid, password)).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains("choose another"));
            admin.get(&format!("/direct/user/{eid}")).await.expect(StatusCode::NOT_FOUND);
        }
        for password in ["12345678", "chosen.well"] {
            let refused = admin.put("/direct/user/chosen.well", &json!({"password": password})).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains("choose another"));
        }
        let _client = app.anonymous().log_in("chosen.well", "four random words").await;
    }

    async fn conf_1_an_account_that_the_operator_gives_a_known_password_is_found(app: TestApp) {
        without_demo(&app).await;
        let database = app.database();
        let done = |output: Output| assert!(output.status.success(), "{output:?}");
        for (number, password) in ["password", "operator-1", PASSWORD].into_iter().enumerate() {
            let eid = format!("operator-{number}");
            done(user(database, &["add", &eid], password).await);
            let text = found(&app).await.unwrap_or_else(|| panic!("{eid} has a known password"));
            assert!(text.contains(&format!("`{eid}`")), "{text}");
            done(user(database, &["passwd", &eid], "four random words").await);
            assert_eq!(found(&app).await, None);
            done(user(database, &["passwd", &eid], password).await);
            assert!(found(&app).await.is_some(), "{eid}");
            done(user(database, &["disable", &eid], "").await);
            assert_eq!(found(&app).await, None);
        }
        // What nobody has any more is forgotten.
        let content = &databases(&app).await[0];
        let rows = tests::rows::texts(content, "SELECT hash AS line FROM demo_password").await;
        assert_eq!(rows.len(), 3, "{rows:?}");
    }

    async fn conf_1_an_account_that_something_else_made_is_found(app: TestApp) {
        without_demo(&app).await;
        set(&app, "student1", "student1").await;
        assert_eq!(found(&app).await, None, "nobody knows yet");
        let login = app.anonymous().post_form("/api/login", "username=student1&password=student1").await;
        login.expect(StatusCode::OK);
        let text = found(&app).await.expect("known since the login");
        assert!(text.contains("`student1`"), "{text}");
        without_demo(&app).await;
        // Nobody has logged in to this one.
        set(&app, "admin", "admin").await;
        let text = found(&app).await.expect("tried at the start");
        assert!(text.contains("`admin`"), "{text}");
    }
}
