//! Sessions as an entity type shows them.

use entity_core::{Caller, ErrorKind, Verb};

use super::{Service, from_address};
use crate::guard::auth::LoggedIn;

#[tokio::test]
async fn the_current_session_is_shown_to_everybody_and_hides_its_id() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let nobody = service
        .ask(Verb::Get, "/session/current", Caller::anonymous())
        .await
        .unwrap();
    assert_eq!(nobody["userId"], serde_json::Value::Null);
    assert_eq!(nobody["active"], true);
    assert!(nobody.get("csrfToken").is_none());
    let own = service
        .ask(Verb::Get, "/session/current", logged_in.session.caller())
        .await
        .unwrap();
    assert_eq!(own["id"], serde_json::Value::Null);
    assert_eq!(own["userEid"], "ada");
    assert_eq!(own["maxInactiveInterval"], 1800);
    assert_eq!(own["csrfToken"], logged_in.session.csrf_token());
    assert!(!own.to_string().contains(logged_in.id.expose()));
}

#[tokio::test]
async fn sess_14_everybody_has_their_own_session_only() {
    let service = Service::start().await;
    let (mine, other) = (service.log_in().await, service.log_in().await);
    let caller = || mine.session.caller();
    let path = |it: &str| format!("/session/{it}");
    let own = service
        .ask(Verb::Get, &path(mine.session.handle()), caller())
        .await
        .unwrap();
    assert_eq!(own["id"], mine.session.handle());
    for foreign in [other.session.handle(), other.id.expose(), "nonsense"] {
        for verb in [Verb::Get, Verb::Delete] {
            let error = service
                .ask(verb, &path(foreign), caller())
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{verb:?} {foreign}");
        }
    }
    let error = service
        .ask(Verb::Get, &path(mine.session.handle()), Caller::anonymous())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let list = service.ask(Verb::Get, "/session", caller()).await.unwrap();
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    assert!(service.is_alive(&other.id).await);
}

#[tokio::test]
async fn a_session_is_ended_by_each_of_its_names() {
    let service = Service::start().await;
    for name in [
        |_: &LoggedIn| "current".to_owned(),
        |it: &LoggedIn| it.session.handle().to_owned(),
        |it: &LoggedIn| it.id.expose().to_owned(),
    ] {
        let logged_in = service.log_in().await;
        assert!(service.is_alive(&logged_in.id).await);
        let path = format!("/session/{}", name(&logged_in));
        service
            .ask(Verb::Delete, &path, logged_in.session.caller())
            .await
            .unwrap();
        assert!(!service.is_alive(&logged_in.id).await, "{path}");
    }
}

#[tokio::test]
async fn a_logout_ends_the_session() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let origin = from_address("192.0.2.1");
    service
        .login
        .logout(&logged_in.session, &origin, http::StatusCode::OK)
        .await
        .unwrap();
    assert!(!service.is_alive(&logged_in.id).await);
}
