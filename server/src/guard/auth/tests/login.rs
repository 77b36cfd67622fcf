//! Tests of logins that succeed, that fail, and that have to wait.

use chrono::TimeDelta;
use entity_core::{ErrorKind, Result};
use http::StatusCode;
use secrecy::SecretString;

use super::{Service, from_address, typed};
use crate::guard::auth::Evidence;
use crate::guard::session::SessionId;

#[tokio::test]
async fn sess_2_each_login_has_a_new_id_and_ends_the_old_session() {
    let service = Service::start().await;
    let first = service.log_in().await;
    let second = service
        .login
        .attempt(
            typed("ada", "right"),
            &from_address("192.0.2.1"),
            Some(&first.session),
            StatusCode::OK,
        )
        .await
        .unwrap();
    assert_ne!(first.id, second.id);
    assert!(!service.is_alive(&first.id).await);
    assert!(service.is_alive(&second.id).await);
    assert!(!service.is_alive(&SessionId::generate().unwrap()).await);
}

#[tokio::test]
async fn a_login_tells_who_logged_in() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let events = service.events.all();
    let told: Vec<_> = events
        .iter()
        .map(|it| (it.kind.as_str(), it.reference.clone(), it.actor.as_deref()))
        .collect();
    let reference = format!("/session/{}", logged_in.session.handle());
    assert_eq!(told, [("user.login.ws", reference, Some("u-ada"))]);
}

#[tokio::test]
async fn sess_3_the_id_is_in_no_file() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let mut bytes = 0;
    for file in std::fs::read_dir(service.directory.path()).unwrap() {
        let content = std::fs::read(file.unwrap().path()).unwrap();
        bytes += content.len();
        let holds = |text: &str| content.windows(text.len()).any(|it| it == text.as_bytes());
        assert!(!holds(logged_in.id.expose()));
    }
    assert!(bytes > 0);
}

#[tokio::test]
async fn auth_2_all_failures_are_told_in_the_same_words() {
    let service = Service::start().await;
    let mut messages = Vec::new();
    for (name, password) in [("ada", "wrong"), ("nobody", "right"), ("shut", "right")] {
        let error = service
            .attempt(name, password, "192.0.2.1")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        messages.push(error.message().to_owned());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1);
    assert!(
        service
            .events
            .all()
            .iter()
            .all(|it| it.kind == "user.login.failed")
    );
    assert_eq!(service.events.all().len(), 3);
}

#[tokio::test]
async fn auth_2_every_login_costs_one_verification_whoever_it_is_for() {
    let service = Service::start().await;
    for (name, password) in [
        ("ada", "right"),
        ("ada", "wrong"),
        ("nobody", "right"),
        ("nobody\0", "right"),
        ("shut", "right"),
        ("shut", "wrong"),
        ("elsewhere", "right"),
    ] {
        let before = service.passwords.runs();
        let done = service.attempt(name, password, "192.0.2.1").await;
        assert_eq!(done.is_ok(), (name, password) == ("ada", "right"), "{name}");
        assert_eq!(service.passwords.runs() - before, 1, "{name} {password}");
    }
}

#[tokio::test]
async fn auth_4_a_login_that_has_to_wait_says_so_whoever_it_is_for() {
    let service = Service::start().await;
    for name in ["ada", "nobody", "shut"] {
        for _ in 0..5 {
            let wrong = service.attempt(name, "wrong", "192.0.2.3").await;
            assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Unauthenticated);
        }
        for password in ["wrong", "right"] {
            let before = service.passwords.runs();
            let error = service.attempt(name, password, "192.0.2.3").await;
            let error = error.unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::TooManyRequests,
                "{name} {password}"
            );
            assert_eq!(error.retry_after(), Some(1));
            assert_eq!(service.passwords.runs(), before, "{name} {password}");
        }
    }
}

#[tokio::test]
async fn auth_4_guesses_are_slowed_down_for_the_account_and_its_network_alone() {
    let service = Service::start().await;
    for _ in 0..5 {
        service
            .attempt("ada", "wrong", "192.0.2.1")
            .await
            .unwrap_err();
    }
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_err());
    assert!(service.attempt("ada", "right", "192.0.2.2").await.is_ok());
    service.clock.advance(TimeDelta::milliseconds(1001));
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_ok());
    // The success forgot the failures.
    service
        .attempt("ada", "wrong", "192.0.2.1")
        .await
        .unwrap_err();
    assert!(service.attempt("ada", "right", "192.0.2.1").await.is_ok());
}

#[tokio::test]
async fn auth_4_guesses_in_parallel_are_counted_one_by_one() {
    let service = Service::start().await;
    let tries = (0..12).map(|it| {
        let password = if it == 11 { "right" } else { "wrong" };
        service.attempt("ada", password, "192.0.2.1")
    });
    let done = futures::future::join_all(tries).await;
    assert!(done.iter().all(Result::is_err));
}

#[tokio::test]
async fn auth_4_many_accounts_from_one_network_are_told_to_wait() {
    let service = Service::start().await;
    for number in 0..20 {
        let error = service
            .attempt(&format!("n{number}"), "x", "192.0.2.1")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    }
    let error = service
        .attempt("ada", "right", "192.0.2.1")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyRequests);
    assert_eq!(error.retry_after(), Some(6));
}

#[tokio::test]
async fn auth_7_only_a_listed_proxy_is_believed() {
    let service = Service::start().await;
    let trusted = |peer: &str, name: &str| Evidence::Trusted {
        username: name.to_owned(),
        peer: peer.parse().unwrap(),
    };
    let origin = from_address("192.0.2.1");
    for (peer, name, expected) in [
        ("192.0.2.9", "ada", true),
        ("192.0.2.8", "ada", false),
        ("192.0.2.9", "shut", false),
        ("192.0.2.9", "nobody", false),
    ] {
        let done = service
            .login
            .attempt(trusted(peer, name), &origin, None, StatusCode::OK)
            .await;
        assert_eq!(done.is_ok(), expected, "{peer} {name}");
    }
    let basic = Evidence::Basic {
        username: "ada".to_owned(),
        password: SecretString::from("right"),
    };
    assert!(service.login.authenticate(&basic, &origin).await.is_err());
}
