//! Many people and courses beside the demo university of a service.

use entity_core::Caller;
use entity_core::engine::Audit;
use entity_core::testing::origin;
use entity_providers::face::demo::scale::{self, Part};
use sea_orm::ConnectionTrait as _;

use crate::TestApp;

/// Adds `part`, and lets the database count its rows.
pub async fn add(app: &TestApp, part: Part) {
    let dispatcher = app.service().dispatcher.clone().with_write_limit(None);
    let origin = origin(Caller::anonymous());
    let work = dispatcher.write(&origin, move |cx| {
        Box::pin(async move { Ok((scale::add(cx, &part).await?, Audit::Later)) })
    });
    work.await.expect("the database takes it");
    analyze(app).await;
}

/// Lets the database count its rows.
pub async fn analyze(app: &TestApp) {
    let writer = &app.service().storage.content.writer;
    writer.execute_unprepared("ANALYZE").await.expect("numbers");
}
