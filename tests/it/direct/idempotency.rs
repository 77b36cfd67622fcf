//! `Idempotency-Key`: a request that is sent twice is done once.

use chrono::TimeDelta;
use http::{HeaderName, Method, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::rows::{databases, texts};
use tests::{Client, TestApp, both};
use tokio::task::JoinSet;

use super::{FORM, created, list, news};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const NEWS: &str = "/direct/announcement";
const BATCH: &str = "/direct/batch.json";

async fn titles(client: &Client, title: &str) -> usize {
    let all = list(
        client,
        "/direct/announcement/site/biology-101.json",
        "announcement",
    )
    .await;
    all.iter().filter(|it| it["title"] == title).count()
}

/// A batch with one of each: a create, a change, a read, and an operation that can't be done twice.
fn batch(is_atomic: bool, title: &str, gone: &str) -> Value {
    json!({"atomic": is_atomic, "operations": [
        {"id": "made", "method": "POST", "path": "announcement", "body": news(title)},
        {"method": "PUT", "path": "announcement/$made.entityId", "body": {"highlight": true}},
        {"method": "GET", "path": "announcement/$made.entityId"},
        {"method": "DELETE", "path": gone},
    ]})
}

/// Returns the number of results that are kept.
async fn kept(app: &TestApp) -> Vec<String> {
    let content = &databases(app).await[0];
    texts(content, "SELECT headers AS line FROM idempotency_key").await
}

both! {
    async fn parameters_of_the_media_type_make_no_other_request(app: TestApp) {
        let keyed = app.user("instructor1").await.with_header(KEY, "types");
        for (media_type, is_replayed) in [
            ("application/json", None), ("application/json; charset=utf-8", Some("true")), ("Application/JSON;charset=\"UTF-8\"", Some("true")),
            ("text/json", Some("true")),
        ] {
            let answer = keyed.send(Method::POST, NEWS, media_type, news("Typed").to_string().into()).await;
            answer.expect(StatusCode::CREATED);
            assert_eq!(answer.header("idempotency-replayed"), is_replayed, "{media_type}");
        }
        let other = keyed.send(Method::POST, NEWS, FORM, news("Typed").to_string().into()).await;
        other.expect(StatusCode::UNPROCESSABLE_ENTITY);
    }

    async fn what_is_told_once_is_not_told_again(app: TestApp) {
        let student = app.user("student1").await;
        let keyed = student.clone().with_header(KEY, "secret");
        let fields = json!({"path": "/announcement/user"});
        let first = keyed.post("/direct/feed.json", &fields).await;
        assert!(first.expect(StatusCode::CREATED).json()["addresses"].is_object());
        let again = keyed.post("/direct/feed.json", &fields).await;
        again.expect(StatusCode::CONFLICT);
        assert!(again.json()["error"]["message"].as_str().is_some_and(|it| it.contains("told only once")));
        assert_eq!(list(&student, "/direct/feed.json", "feed").await.len(), 1);
    }

    async fn the_first_result_is_answered_again(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "\"k1\"");
        let body = json!({"siteId": "biology-101", "title": "Once"});
        let first = keyed.post(NEWS, &body).await;
        created(&first, "announcement");
        assert_eq!(first.header("idempotency-replayed"), None);
        let again = keyed.post(NEWS, &body).await;
        again.expect(StatusCode::CREATED);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.body, first.body);
        for name in ["location", "entityid", "etag", "content-type"] {
            assert_eq!(again.header(name), first.header(name), "{name}");
        }
        assert_eq!(titles(&teacher, "Once").await, 1);
    }

    async fn another_request_with_the_same_key_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "k2");
        let body = json!({"siteId": "biology-101", "title": "Once"});
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        let other = json!({"siteId": "biology-101", "title": "Twice"});
        keyed.post(NEWS, &other).await.expect(StatusCode::UNPROCESSABLE_ENTITY);
        keyed.post(&format!("{NEWS}/new"), &body).await.expect(StatusCode::UNPROCESSABLE_ENTITY);
        // Keys are each user's own.
        let other = app.user("ta1").await.with_header(KEY, "k2");
        assert_ne!(other.post(NEWS, &body).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }

    async fn a_failure_may_be_tried_again_and_a_day_later_all_is_forgotten(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "k3");
        keyed.post(NEWS, &json!({"siteId": "biology-101"})).await.expect(StatusCode::BAD_REQUEST);
        let body = json!({"siteId": "biology-101", "title": "Once"});
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        keyed.post(NEWS, &body).await.expect(StatusCode::CREATED);
        app.advance(TimeDelta::hours(25));
        let teacher = app.user("instructor1").await;
        teacher.clone().with_header(KEY, "k3").post(NEWS, &body).await.expect(StatusCode::CREATED);
        assert_eq!(titles(&teacher, "Once").await, 2);
    }

    async fn a_key_is_one_text(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": "Once"});
        for key in ["", "\"\"", "x".repeat(256).as_str()] {
            let keyed = teacher.clone().with_header(KEY, key);
            keyed.post(NEWS, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        let twice = teacher.clone().with_header(KEY, "a").with_header(KEY, "b");
        twice.post(NEWS, &body).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(titles(&teacher, "Once").await, 0);
    }

    async fn a_storm_of_retries_does_it_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "storm");
        let mut storm = JoinSet::new();
        for _ in 0..16 {
            let keyed = keyed.clone();
            let body = json!({"siteId": "biology-101", "title": "Storm"});
            storm.spawn(async move { keyed.post(NEWS, &body).await });
        }
        let answers = storm.join_all().await;
        let first = created(&answers[0], "announcement");
        for answer in &answers {
            assert_eq!(created(answer, "announcement"), first);
        }
        assert_eq!(titles(&teacher, "Storm").await, 1);
    }

    async fn a_batch_is_done_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for is_atomic in [true, false] {
            let gone = created(&teacher.post(NEWS, &news("Gone")).await, "announcement");
            let keyed = teacher.clone().with_header(KEY, &format!("batch {is_atomic}"));
            let title = format!("Once {is_atomic}");
            let body = batch(is_atomic, &title, &format!("announcement/{gone}"));
            let first = keyed.post(BATCH, &body).await;
            first.expect(StatusCode::OK);
            let again = keyed.post(BATCH, &body).await;
            again.expect(StatusCode::OK);
            assert_eq!(again.header("idempotency-replayed"), Some("true"));
            assert_eq!((&again.body, again.header("content-type")), (&first.body, first.header("content-type")));
            assert_eq!(titles(&teacher, &title).await, 1);
            let other = batch(is_atomic, "Other", &format!("announcement/{gone}"));
            keyed.post(BATCH, &other).await.expect(StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(titles(&teacher, "Other").await, 0);
        }
    }

    async fn a_batch_of_references_is_done_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "references");
        let path = format!("{BATCH}?_refs=announcement,announcement");
        let form = "siteId=biology-101&title=Twin";
        let send = async || keyed.send(Method::POST, &path, FORM, form.into()).await;
        let (first, again) = (send().await, send().await);
        first.expect(StatusCode::OK);
        assert_eq!(again.body, first.body);
        for name in ["batchkeys", "batchstatus", "batchmapping", "content-type"] {
            let all = |it: &tests::Answer| it.headers.get_all(name).iter().cloned().collect::<Vec<_>>();
            assert_eq!(all(&again), all(&first), "{name}");
        }
        assert_eq!(titles(&teacher, "Twin").await, 2);
    }

    async fn a_batch_that_was_given_up_may_be_tried_again(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "again");
        let bad = batch(true, "Again", "announcement/none");
        keyed.post(BATCH, &bad).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(kept(&app).await, Vec::<String>::new());
        let gone = created(&teacher.post(NEWS, &news("Gone")).await, "announcement");
        let good = batch(true, "Again", &format!("announcement/{gone}"));
        keyed.post(BATCH, &good).await.expect(StatusCode::OK);
        assert_eq!(titles(&teacher, "Again").await, 1);
        let dry = keyed.with_header(HeaderName::from_static("prefer"), "tx=rollback");
        let answer = dry.post(BATCH, &json!({"atomic": true, "operations": [{"method": "POST", "path": "announcement", "body": news("Dry")}]})).await;
        assert_eq!(answer.expect(StatusCode::OK).header("idempotency-replayed"), None);
    }

    async fn a_batch_that_was_cut_off_makes_nothing_twice(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let keyed = teacher.clone().with_header(KEY, "cut off");
        let operations = json!([
            {"id": "one", "method": "POST", "path": "announcement", "body": news("Cut")},
            {"method": "POST", "path": "announcement", "body": news("$one.entityId")},
        ]);
        let body = json!({"operations": operations});
        let first = keyed.post(BATCH, &body).await;
        first.expect(StatusCode::OK);
        // As if the service had ended after the operations, before it kept what the whole came to.
        let content = &databases(&app).await[0];
        let forget = "DELETE FROM idempotency_key WHERE headers NOT LIKE '%entityid%'";
        let done = content.execute_unprepared(forget).await.expect("it is forgotten");
        assert_eq!(done.rows_affected(), 1);
        let again = keyed.post(BATCH, &body).await;
        again.expect(StatusCode::OK);
        for index in [0, 1] {
            let entity = |it: &tests::Answer| it.json()["results"][index]["data"]["entityId"].clone();
            assert_eq!(entity(&again), entity(&first));
        }
        assert_eq!(titles(&teacher, "Cut").await, 1);
    }

    async fn a_storm_of_batches_does_it_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for is_atomic in [true, false] {
            let title = format!("Storm {is_atomic}");
            let keyed = teacher.clone().with_header(KEY, &title);
            let mut storm = JoinSet::new();
            for _ in 0..8 {
                let keyed = keyed.clone();
                let operation = json!({"method": "POST", "path": "announcement", "body": news(&title)});
                let body = json!({"atomic": is_atomic, "operations": [operation]});
                storm.spawn(async move { keyed.post(BATCH, &body).await });
            }
            let answers = storm.join_all().await;
            for answer in &answers {
                let entity = |it: &tests::Answer| it.json()["results"][0]["data"]["entityId"].clone();
                answer.expect(StatusCode::OK);
                assert_eq!(entity(answer), entity(&answers[0]));
            }
            assert_eq!(titles(&teacher, &title).await, 1);
        }
    }

    async fn what_a_batch_tells_once_is_not_kept(app: TestApp) {
        let student = app.user("student1").await;
        for is_atomic in [true, false] {
            let keyed = student.clone().with_header(KEY, &format!("secret {is_atomic}"));
            let body = json!({"atomic": is_atomic, "operations": [
                {"method": "POST", "path": "feed", "body": {"path": "/announcement/user"}},
                {"method": "GET", "path": "user/current"},
            ]});
            let first = keyed.post(BATCH, &body).await;
            first.expect(StatusCode::OK);
            assert_eq!(first.header("cache-control"), Some("no-store"));
            let address = first.json()["results"][0]["data"]["addresses"]["atom"].clone();
            let address = address.as_str().expect("an address");
            let again = keyed.post(BATCH, &body).await;
            again.expect(StatusCode::OK);
            assert!(!again.text().contains(address), "{}", again.text());
            let results = &again.json()["results"];
            assert_eq!((&results[0]["status"], &results[0]["data"]), (&json!(201), &Value::Null));
            assert_eq!(results[1]["data"]["eid"], "student1");
        }
        assert_eq!(list(&student, "/direct/feed.json", "feed").await.len(), 2);
    }

    async fn logins_and_logouts_have_no_key(app: TestApp) {
        let mut ids = Vec::new();
        for (path, sign) in [("/api/login", ""), ("/direct/session", "_")] {
            let student = app.user("student1").await.with_header(KEY, "login");
            let form = format!("{sign}username=student1&{sign}password={PASSWORD}");
            let answer = student.post_form(path, &form).await;
            assert!(answer.status.is_success(), "{}", answer.status);
            assert_eq!(answer.header("idempotency-replayed"), None);
            ids.push(answer.header("set-cookie").expect("a cookie").to_owned());
        }
        assert_ne!(ids[0], ids[1]);
        for path in ["/api/logout", "/direct/session/current"] {
            let student = app.user("student1").await.with_header(KEY, "logout");
            student.post_form(path, "_method=DELETE").await;
            student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        }
        assert_eq!(kept(&app).await, Vec::<String>::new());
        // In a batch they are done each time; what is kept tells no more than how they went.
        let student = app.user("student1").await.with_header(KEY, "batch");
        let form = format!("_username=student1&_password={PASSWORD}");
        let answer = student.post_form(&format!("{BATCH}?_refs=session"), &form).await;
        let id = answer.expect(StatusCode::OK).json()["ref0"]["content"].clone();
        let id = id.as_str().expect("the id of a session");
        let content = &databases(&app).await[0];
        let hex = match app.database().backend() {
            tests::Backend::Sqlite => "SELECT headers || hex(body) AS line FROM idempotency_key",
            tests::Backend::Postgres => "SELECT headers || encode(body, 'hex') AS line FROM idempotency_key",
        };
        let kept = texts(content, hex).await.join(" ").to_lowercase();
        let encoded = id.bytes().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
        assert!(kept.contains("content-type") && !kept.contains(&encoded) && !kept.contains(&id.to_lowercase()), "{kept}");
    }
}
