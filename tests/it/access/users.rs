//! Ids and names of users can be guessed: whoever may not see others must not learn which exist.

use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

/// Everything of a refusal but the instant and the request's id.
fn essence(answer: &Answer) -> (u16, Vec<String>, Value) {
    let mut body: Value = answer.json();
    if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("timestamp");
        error.remove("requestId");
    }
    let names = answer.headers.keys().map(ToString::to_string).collect();
    (answer.status.as_u16(), names, body)
}

/// Returns the answers to `client` about the user whom `name` stands for, in every way that there is to ask.
async fn learn(client: &Client, name: &str) -> Vec<(u16, Vec<String>, Value)> {
    let entity = format!("/direct/user/{name}");
    let change = json!({"firstName": "Changed"});
    let answers = [
        client.get(&entity).await,
        client.get(&format!("{entity}/exists")).await,
        client.get(&format!("{entity}/edit")).await,
        client.get(&format!("{entity}/delete")).await,
        client.put(&entity, &change).await,
        client.post(&entity, &change).await,
        client.delete(&entity).await,
        client
            .send(
                Method::HEAD,
                &format!("{entity}/exists"),
                "application/json",
                "".into(),
            )
            .await,
        client.get(&format!("/api/users/{name}/sites")).await,
        client
            .get(&format!("/direct/user.json?email={name}@example.edu"))
            .await,
        client
            .get(&format!("/direct/user.json?_search={name}"))
            .await,
        client
            .get(&format!("/direct/membership.json?userId={name}"))
            .await,
    ];
    answers
        .iter()
        .map(|it| match it.body.is_empty() {
            true => (it.status.as_u16(), Vec::new(), Value::Null),
            false => essence(it),
        })
        .collect()
}

both! {
    async fn users_that_exist_look_like_users_that_do_not(app: TestApp) {
        let admin = app.user("admin").await;
        let found = admin.get("/direct/user/student2").await.json();
        let id = found["id"].as_str().expect("an id");
        for eid in ["student1", "ta1", "instructor1", "instructor2"] {
            let client = app.user(eid).await;
            let unknown = learn(&client, "nobody-at-all").await;
            assert!(unknown.iter().take(9).all(|it| it.0 == 403), "{eid}: {unknown:?}");
            assert_eq!(learn(&client, "student2").await, unknown, "{eid} by eid");
            assert_eq!(learn(&client, "STUDENT2").await, unknown, "{eid} by eid, in capitals");
            // Who is in the caller's own sites is known to those who hold their rosters.
            let by_id = learn(&client, id).await;
            assert_eq!(by_id[..11], unknown[..11], "{eid} by id");
        }
    }
}
