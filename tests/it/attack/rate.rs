//! Rate limits: clients without a pause are told to wait, accounts each for themselves, strangers by their network.

use std::net::SocketAddr;

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Backend, Client, OnBackend, TestApp, above_storage};

use tests::rows::{databases, texts};

const LIST: &str = "/direct/session/current.json";
const BATCH: &str = "/direct/batch.json";
const FINE: StatusCode = StatusCode::OK;
const SLOWER: StatusCode = StatusCode::TOO_MANY_REQUESTS;

/// A service with the limits that hold unless somebody says otherwise, and with one network that is exempt.
struct Limited(TestApp);

impl OnBackend for Limited {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [
            ("rate.reads", "50"),
            ("rate.writes", "20"),
            ("rate.strangers", "20"),
            ("rate.exempt", "198.51.100.0/24"),
        ];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

impl Limited {
    async fn at(&self, address: &str, eid: &str) -> Client {
        let peer = SocketAddr::new(address.parse().expect("an address"), 4711);
        let client = self.0.anonymous().at(peer);
        match eid {
            "" => client,
            eid => client.log_in(eid, tests::app::PASSWORD).await,
        }
    }
}

/// Counts those of `number` requests for `path` that are not refused.
async fn passed(client: &Client, path: &str, number: usize) -> usize {
    let mut passed = 0;
    for _ in 0..number {
        let status = client.get(path).await.status;
        passed += usize::from(status != SLOWER);
    }
    passed
}

#[track_caller]
fn assert_refused(answer: &Answer, policy: &str, state: &str) {
    answer.expect(SLOWER);
    let header = |name| answer.header(name);
    assert_eq!(header("ratelimit-policy"), Some(policy));
    assert_eq!(header("ratelimit"), Some(state));
    assert_eq!(header("retry-after"), Some("1"));
}

fn operations(method: &str, path: &str, number: usize) -> Value {
    let operation = json!({"method": method, "path": path});
    json!({"operations": vec![operation; number]})
}

above_storage! {
    async fn dos_5_strangers_of_one_network_share_a_limit(app: Limited) {
        let (one, two) = (app.at("192.0.2.1", "").await, app.at("192.0.2.2", "").await);
        assert_eq!(passed(&one, LIST, 210).await, 200);
        assert_refused(&one.get(LIST).await, "\"strangers\";q=200;w=10", "\"strangers\";r=0;t=1");
        assert_refused(&one.post_form("/api/login", "").await, "\"strangers\";q=200;w=10", "\"strangers\";r=0;t=1");
        two.get(LIST).await.expect(FINE);
        one.get("/livez").await.expect(FINE);
        // Twenty in a second go on.
        app.0.advance(TimeDelta::seconds(1));
        assert_eq!(passed(&one, LIST, 30).await, 20);
        let campus = app.at("198.51.100.7", "").await;
        assert_eq!(passed(&campus, LIST, 250).await, 250);
        // One who cannot write a cookie is a stranger, whatever the cookie says.
        let forged = app.at("192.0.2.1", "").await.with_header(
            http::header::COOKIE, &format!("JSESSIONID={}.svc", "a".repeat(43)));
        assert_eq!(forged.get(LIST).await.status, SLOWER);
    }

    async fn dos_5_an_account_has_limits_of_its_own(app: Limited) {
        let stranger = app.at("192.0.2.1", "").await;
        let (one, two) = (app.at("192.0.2.1", "student1").await, app.at("192.0.2.1", "student2").await);
        assert_eq!(passed(&stranger, LIST, 210).await, 198, "the logins counted");
        assert_eq!(passed(&one, LIST, 510).await, 500);
        assert_refused(&one.get(LIST).await, "\"reads\";q=500;w=10", "\"reads\";r=0;t=1");
        two.get(LIST).await.expect(FINE);
        // From another network it is the same account, and writes are counted beside reads.
        let elsewhere = app.at("192.0.2.9", "").await
            .with_header(http::header::COOKIE, one.cookie().expect("a session"));
        assert_eq!(elsewhere.get(LIST).await.status, SLOWER);
        one.put("/direct/user/nobody", &json!({})).await.expect(StatusCode::FORBIDDEN);
        app.0.advance(TimeDelta::seconds(2));
        assert_eq!(passed(&one, LIST, 110).await, 100);
    }

    async fn dos_2_the_operations_of_a_batch_count_one_by_one(app: Limited) {
        let student = app.at("192.0.2.1", "student1").await;
        let writes = operations("DELETE", "site/nothing", 50);
        for _ in 0..4 {
            student.post(BATCH, &writes).await.expect(StatusCode::MULTI_STATUS);
        }
        assert_refused(&student.post(BATCH, &writes).await, "\"writes\";q=200;w=10", "\"writes\";r=0;t=1");
        app.0.advance(TimeDelta::seconds(1));
        // Twenty are there again: too few for fifty, and none is done.
        let answer = student.post(BATCH, &writes).await;
        answer.expect(SLOWER);
        assert_eq!(answer.header("retry-after"), Some("2"));
        assert_eq!(answer.header("ratelimit"), Some("\"writes\";r=19;t=2"));
        for _ in 0..9 {
            student.post(BATCH, &operations("GET", "site/nothing", 50)).await.expect(StatusCode::MULTI_STATUS);
        }
        let references: Vec<_> = (0..50).map(|it| format!("site/nothing{it}")).collect();
        let references = format!("{BATCH}?_refs={}", references.join(","));
        student.get(&references).await.expect(StatusCode::MULTI_STATUS);
        assert_eq!(passed(&student, LIST, 10).await, 0, "500 reads are used");
    }

    async fn log_3_what_is_refused_at_the_door_is_counted_in_place_of_audited(app: Limited) {
        let one = app.at("192.0.2.1", "student1").await;
        assert_eq!(passed(&one, LIST, 530).await, 500);
        let metrics = app.0.service().figures.to_text();
        let line = "lectern_refusals_total{cause=\"account_rate\"} 30";
        assert!(metrics.lines().any(|it| it == line), "{metrics}");
        app.0.service().audit.flush().await;
        let sql = format!("SELECT status || '' AS line FROM audit WHERE path = '{LIST}'");
        let mut rows = Vec::new();
        for connection in databases(&app.0).await {
            rows.extend(texts(&connection, &sql).await);
        }
        assert_eq!(rows, vec!["200"; 500]);
    }

    async fn the_description_tells_of_the_limits(app: Limited) {
        let document = app.0.anonymous().get("/api/openapi.json").await.json();
        let responses = &document["components"]["responses"];
        for mount in ["Direct", "Api"] {
            let headers = &responses[format!("{mount}TooManyRequests")]["headers"];
            for name in ["Retry-After", "RateLimit-Policy", "RateLimit"] {
                assert!(headers[name]["description"].is_string(), "{mount}: {headers}");
            }
        }
        let paths = document["paths"].as_object().expect("paths");
        let operations = paths.iter().filter(|it| it.0.starts_with("/direct/")).flat_map(|(path, it)| {
            it.as_object().expect("operations").iter().map(move |it| (path, it.0, &it.1["responses"]))
        });
        let mut count = 0;
        for (path, method, responses) in operations.filter(|it| it.2.is_object()) {
            assert!(responses["429"].is_object(), "{method} {path}");
            count += 1;
        }
        assert!(count > 50, "{count} operations");
    }

    async fn what_is_left_is_told_when_it_is_less_than_half(app: Limited) {
        let stranger = app.at("192.0.2.1", "").await;
        assert_eq!(passed(&stranger, LIST, 100).await, 100);
        let near = stranger.get(LIST).await;
        assert_eq!(near.header("ratelimit"), Some("\"strangers\";r=99;t=6"));
        let far = app.at("192.0.2.2", "").await.get(LIST).await;
        assert_eq!(far.header("ratelimit"), None);
    }
}
