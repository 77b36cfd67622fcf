//! What was kept for an `Idempotency-Key`, and for how long.

use chrono::TimeDelta;
use http::{HeaderName, StatusCode};
use serde_json::json;
use tests::{Answer, TestApp, both};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const NEWS: &str = "/direct/announcement";
const WORD: &str = "Wolpertinger";

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

both! {
    async fn how_long_results_are_kept_is_a_setting(app: KeptForAnHour) {
        let app = app.0;
        let news = json!({"siteId": "biology-101", "title": WORD});
        // Sessions end before an hour is over.
        let send = async || {
            let keyed = app.user("instructor1").await.with_header(KEY, "hour");
            let answer = keyed.post(NEWS, &news).await;
            is_replayed(answer.expect(StatusCode::CREATED))
        };
        assert!(!send().await);
        app.advance(TimeDelta::minutes(59));
        assert!(send().await);
        app.advance(TimeDelta::minutes(2));
        assert!(!send().await);
    }
}

/// A service that keeps results for an hour.
struct KeptForAnHour(TestApp);

impl tests::OnBackend for KeptForAnHour {
    async fn on_backend(backend: tests::Backend) -> Option<Self> {
        let settings = [("retention.idempotency", "1h")];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}
