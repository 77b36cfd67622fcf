//! Filling the disk: what strangers and accounts can make the service store is bounded.

use sea_orm::{ConnectionTrait, Statement};
use tests::{TestApp, both};

use crate::rows::databases;

const REQUESTS: i64 = 1_000;

/// The sum of `expression` over the audit log.
async fn sum(app: &TestApp, expression: &str) -> i64 {
    app.service().audit.flush().await;
    let sql = format!("SELECT CAST(COALESCE(SUM({expression}), 0) AS BIGINT) AS sum FROM audit");
    let mut sum = 0;
    for connection in databases(app).await {
        let statement = Statement::from_string(connection.get_database_backend(), &sql);
        let row = connection.query_one_raw(statement).await.expect("a row");
        sum += row
            .expect("a row")
            .try_get::<i64>("", "sum")
            .expect("a number");
    }
    sum
}

both! {
    async fn log_3_strangers_cant_fill_the_audit_log_and_are_all_counted(app: TestApp) {
        let stranger = app.anonymous();
        let before = sum(&app, "times").await;
        let bytes = sum(&app, "LENGTH(path)").await;
        for number in 0..REQUESTS {
            let path = format!("/direct/site/{}{number}", "x".repeat(3_000));
            stranger.get(&path).await;
        }
        assert_eq!(sum(&app, "times").await - before, REQUESTS);
        let bytes = sum(&app, "LENGTH(path)").await - bytes;
        assert!(bytes < 64 * 1024, "{bytes} bytes of paths");
    }
}
