//! `/direct/session-event`

use axum::body::Body;
use http::header::AUTHORIZATION;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use server::base::address::Peer;
use tests::app::PASSWORD;
use tests::{TestApp, both};

use super::{id_of, list};

const EVENTS: &str = "/direct/session-event.json";

tests::app_with! {
    /// The service, where requests may prove who sends them.
    WithEvidence, [
        ("auth.basic", "true"),
        ("auth.trustedHeader", "remote-user"),
        ("proxy.trusted", "10.0.0.0/8"),
    ]
}

/// Sends a request for the caller's own account with this header from this address.
async fn ask(app: &TestApp, peer: [u8; 4], header: (&str, &str)) -> StatusCode {
    let mut request = Request::get("/direct/user/current.json")
        .header(header.0, header.1)
        .body(Body::empty())
        .expect("a request");
    request.extensions_mut().insert(Peer((peer, 4000).into()));
    app.anonymous()
        .try_send(request)
        .await
        .expect("an answer")
        .status
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|it| it["kind"].as_str()).collect()
}

both! {
    async fn accounts_see_their_logins_and_operators_all(app: TestApp) {
        let stranger = app.anonymous();
        let wrong = stranger.post("/api/login", &json!({"username": "student2", "password": "wrong"})).await;
        wrong.expect(StatusCode::UNAUTHORIZED);
        let left = app.user("student2").await;
        left.post_form("/api/logout", "").await.expect(StatusCode::OK);
        let student = app.user("student2").await;
        let own = list(&student, EVENTS, "session-event").await;
        let mut found = kinds(&own);
        found.sort_unstable();
        assert_eq!(found, ["login", "login", "login.failed", "logout"]);
        let id = id_of(&student).await;
        for event in &own {
            assert_eq!((&event["userId"], &event["userEid"]), (&json!(id), &json!("student2")));
            assert!(!event.to_string().contains(PASSWORD));
        }
        let one = format!("/direct/session-event/{}.json", own[0]["eventId"].as_str().expect("an id"));
        let admin = app.user("admin").await;
        assert_same_event(&admin.get(&one).await.expect(StatusCode::OK).json(), &own[0]);
        let failed = format!("{EVENTS}?kind=login.failed&userId={id}");
        assert_eq!(list(&admin, &failed, "session-event").await.len(), 1);
        for method in [Method::PUT, Method::DELETE] {
            let refused = admin.send(method, &one, "application/json", "{}".into()).await;
            assert!(refused.status.is_client_error(), "{}", refused.status);
        }
    }

    async fn s10_a_way_in_without_a_session_is_noted_once_for_each_address_and_kind(app: WithEvidence) {
        let app = app.0;
        let basic = (AUTHORIZATION.as_str(), "Basic c3R1ZGVudDM6bGVjdGVybi1kZW1v");
        let named = ("remote-user", "student3");
        for (peer, header) in [
            ([127, 0, 0, 1], basic), ([127, 0, 0, 1], basic),
            ([10, 0, 0, 1], named), ([10, 0, 0, 1], named), ([10, 0, 0, 2], named),
        ] {
            assert_eq!(ask(&app, peer, header).await, StatusCode::OK);
        }
        let student = app.user("student3").await;
        let own = list(&student, &format!("{EVENTS}?kind[ne]=login&_order=address,kind"), "session-event").await;
        let found: Vec<_> = own.iter().map(|it| (it["kind"].as_str(), it["address"].as_str())).collect();
        assert_eq!(found, [
            (Some("login.header"), Some("10.0.0.1")),
            (Some("login.header"), Some("10.0.0.2")),
            (Some("login.basic"), Some("127.0.0.1")),
        ]);
        assert_eq!(own[2]["path"], "/direct/user/current.json");
    }
}

#[track_caller]
fn assert_same_event(one: &Value, other: &Value) {
    for key in ["eventId", "kind", "userId", "time", "address", "path"] {
        assert_eq!(one[key], other[key], "{key}");
    }
}
