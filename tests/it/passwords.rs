//! The cost of hashing passwords for the service, and the clients that can cause it.

use http::header::IF_MATCH;
use http::{HeaderName, Method, StatusCode};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Answer, Client, TestApp, both};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const BATCH: &str = "/direct/batch.json";

/// Returns the number of passwords that are hashed or verified until the answer is there.
async fn cost(app: &TestApp, answer: impl Future<Output = Answer>) -> (u64, Answer) {
    let before = app.service().passwords.runs();
    let answer = answer.await;
    (app.service().passwords.runs() - before, answer)
}

async fn path_of(client: &Client) -> String {
    let user = client.get("/direct/user/current.json").await.json();
    format!("/direct/user/{}", user["id"].as_str().expect("an id"))
}

fn atomic(operations: &Value) -> Value {
    json!({"atomic": true, "operations": operations})
}

both! {
    async fn a_login_costs_the_same_whoever_it_is_for(app: TestApp) {
        let admin = app.user("admin").await;
        let shut = path_of(&app.user("student2").await).await;
        admin.put(&shut, &json!({"disabled": true})).await.expect(StatusCode::NO_CONTENT);
        admin.post("/direct/user", &json!({"eid": "elsewhere"})).await.expect(StatusCode::CREATED);
        let stranger = app.anonymous();
        for (eid, password) in [
            ("student1", PASSWORD), ("student1", "wrong"), ("nobody", "wrong"), ("student2", PASSWORD),
            ("student2", "wrong"), ("elsewhere", "wrong"), ("student1%40example.edu", "wrong"),
        ] {
            for (path, sign) in [("/api/login", ""), ("/direct/session", "_")] {
                let form = format!("{sign}username={eid}&{sign}password={password}");
                let (runs, answer) = cost(&app, stranger.post_form(path, &form)).await;
                assert_eq!(runs, 1, "{path} {eid} {password}");
                let is_in = (eid, password) == ("student1", PASSWORD);
                assert_eq!(answer.status.is_success(), is_in, "{path} {eid} {password}");
            }
        }
    }

    async fn a_new_password_is_hashed_once_for_who_may_set_it(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let (own, other) = (path_of(&student).await, path_of(&app.user("student2").await).await);
        let password = json!({"password": "a-better-one", "currentPassword": PASSWORD});
        let wrong = json!({"password": "a-better-one", "currentPassword": "wrong"});
        let silent = json!({"password": "a-better-one"});
        let account = json!({"eid": "newton", "password": "principia-1687"});
        let short = json!({"password": "short"});
        let odd = json!({"password": "a-better-one", "nonsense": 1});
        let stale = student.clone().with_header(IF_MATCH, "\"0\"");
        let patch = |path: &str, body: &Value| {
            let (client, path, body) = (student.clone(), path.to_owned(), body.to_string());
            async move { client.send(Method::PATCH, &path, "application/json", body.into()).await }
        };
        let stranger = app.anonymous();
        for ((runs, answer), status, expected) in [
            (cost(&app, stranger.put(&own, &password)).await, StatusCode::UNAUTHORIZED, 0),
            (cost(&app, student.put(&other, &password)).await, StatusCode::FORBIDDEN, 0),
            (cost(&app, patch(&other, &password)).await, StatusCode::FORBIDDEN, 0),
            (cost(&app, student.put("/direct/user/nobody", &password)).await, StatusCode::FORBIDDEN, 0),
            (cost(&app, student.post("/direct/user", &account)).await, StatusCode::FORBIDDEN, 0),
            (cost(&app, student.put(&own, &short)).await, StatusCode::BAD_REQUEST, 0),
            (cost(&app, student.put(&own, &odd)).await, StatusCode::BAD_REQUEST, 0),
            // The state is looked at in the unit of work, behind the work.
            (cost(&app, stale.put(&own, &password)).await, StatusCode::PRECONDITION_FAILED, 2),
            (cost(&app, student.put(&own, &json!({"firstName": "Augusta"}))).await, StatusCode::NO_CONTENT, 0),
            (cost(&app, student.post_form(&own, "lastName=King&password=")).await, StatusCode::NO_CONTENT, 0),
            (cost(&app, admin.post("/direct/user", &account)).await, StatusCode::CREATED, 1),
            (cost(&app, admin.put(&other, &password)).await, StatusCode::NO_CONTENT, 1),
            (cost(&app, patch(&own, &silent)).await, StatusCode::BAD_REQUEST, 0),
            (cost(&app, patch(&own, &wrong)).await, StatusCode::BAD_REQUEST, 1),
            // One verification and one hash.
            (cost(&app, patch(&own, &password)).await, StatusCode::NO_CONTENT, 2),
        ] {
            assert_eq!((answer.status, runs), (status, expected), "{}", answer.text());
        }
        let _client = app.anonymous().log_in("student1", "a-better-one").await;
        let _client = app.anonymous().log_in("student2", "a-better-one").await;
        let _client = app.anonymous().log_in("newton", "principia-1687").await;
    }

    async fn what_is_sent_again_costs_nothing(app: TestApp) {
        let admin = app.user("admin").await.with_header(KEY, "k");
        let account = json!({"eid": "newton", "password": "principia-1687"});
        for expected in [1, 0] {
            let (runs, answer) = cost(&app, admin.post("/direct/user", &account)).await;
            answer.expect(StatusCode::CREATED);
            assert_eq!(runs, expected);
        }
    }

    async fn the_passwords_of_a_batch_are_hashed_once_each_for_who_may_set_them(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let (own, other) = (path_of(&student).await, path_of(&app.user("student2").await).await);
        let change = |path: &str| json!({"method": "PUT", "path": path, "body": {"password": "a-better-one"}});
        let (runs, answer) = cost(&app, student.post(BATCH, &atomic(&json!([change(&other)])))).await;
        answer.expect(StatusCode::FORBIDDEN);
        assert_eq!(runs, 0);
        let account = json!({"id": "made", "method": "POST", "path": "user", "body": {"eid": "newton", "password": "principia-1687"}});
        // The last one is known only when the first one was carried out.
        let all = json!([account, change(&own), change(&other), change("user/$made.entityId")]);
        let (runs, answer) = cost(&app, admin.post(BATCH, &atomic(&all))).await;
        answer.expect(StatusCode::OK);
        assert_eq!(runs, 4);
        for eid in ["student1", "student2", "newton"] {
            let _client = app.anonymous().log_in(eid, "a-better-one").await;
        }
    }
}
