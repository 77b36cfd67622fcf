//! Jobs: once in a period, in transactions of their own, tried again when they fail, and told to operators.

use std::time::Duration;

use chrono::TimeDelta;
use entity_core::sea_orm::ConnectionTrait as _;
use entity_core::{Context, Error, Result};
use lectern_testing::{TestApp, both};

/// Notes each turn in the title of a site, and stops at three; fails as long as the site is called so.
async fn count(cx: &Context) -> Result<bool> {
    let db = cx.db()?;
    let sql = "UPDATE site SET title = title || '+' WHERE id = 'history-210'";
    db.execute_unprepared(sql).await?;
    let titles = db.sql("SELECT title FROM site WHERE id = 'history-210'");
    let titles: Vec<String> = db
        .rows(titles.into_statement(), entity_core::db::columns)
        .await?;
    let title = titles.first().ok_or_else(Error::not_found)?;
    match title.starts_with("Broken") {
        true => Err(Error::conflict("the site is broken")),
        false => Ok(!title.ends_with("+++")),
    }
}
entity_core::register_job!(count, every = Duration::from_hours(1));

async fn title(app: &TestApp) -> String {
    let admin = app.user("admin").await;
    let site = admin.get("/direct/site/history-210.json").await.json();
    site["title"].as_str().expect("a title").to_owned()
}

async fn rename(app: &TestApp, title: &str) {
    let admin = app.user("admin").await;
    let changed = serde_json::json!({ "title": title });
    let answer = admin.put("/direct/site/history-210.json", &changed).await;
    assert!(answer.status.is_success(), "{}", answer.text());
}

/// Returns the line of the metrics about the job that begins like that.
fn runs(app: &TestApp, outcome: &str) -> Option<String> {
    let line = format!("lectern_job_runs_total{{job=\"tests.count\",outcome=\"{outcome}\"}} ");
    let text = app.service().figures.to_text();
    let mut lines = text.lines();
    lines
        .find_map(|it| it.strip_prefix(&line))
        .map(ToOwned::to_owned)
}

async fn run(app: &TestApp) {
    app.service().run_jobs().await.expect("jobs");
}

both! {
    async fn a_job_goes_on_while_there_is_more_and_rests_for_its_period(app: TestApp) {
        rename(&app, "History").await;
        run(&app).await;
        assert_eq!(title(&app).await, "History+++");
        assert_eq!(runs(&app, "done").as_deref(), Some("3"));
        app.advance(TimeDelta::minutes(59));
        run(&app).await;
        assert_eq!(title(&app).await, "History+++");
        rename(&app, "History").await;
        app.advance(TimeDelta::minutes(1));
        run(&app).await;
        assert_eq!(title(&app).await, "History+++");
    }

    async fn a_job_that_fails_leaves_nothing_and_is_tried_again(app: TestApp) {
        rename(&app, "Broken").await;
        run(&app).await;
        assert_eq!(title(&app).await, "Broken");
        assert_eq!(runs(&app, "failed").as_deref(), Some("1"));
        assert!(app.service().health.degraded().contains("jobs"));
        rename(&app, "Mended").await;
        run(&app).await;
        assert_eq!(title(&app).await, "Mended");
        app.advance(TimeDelta::minutes(1));
        run(&app).await;
        assert_eq!(title(&app).await, "Mended+++");
        assert!(!app.service().health.degraded().contains("jobs"));
    }
}
