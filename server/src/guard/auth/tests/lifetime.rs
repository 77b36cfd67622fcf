//! Tests of the lifetime of sessions, and of their attributes.

use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::context::Clock;

use super::{Service, from_address};
use crate::base::supervise::Task as _;
use crate::guard::session::Area;

#[tokio::test]
async fn sess_7_a_session_lives_as_long_as_it_is_used() {
    let service = Service::start().await;
    let (used, unused) = (service.log_in().await, service.log_in().await);
    service.clock.advance(TimeDelta::seconds(1800));
    assert!(service.is_alive(&used.id).await);
    assert!(service.is_alive(&unused.id).await);
    service.sessions.touch(&used.session);
    service.clock.advance(TimeDelta::seconds(1));
    assert!(service.is_alive(&used.id).await);
    assert!(!service.is_alive(&unused.id).await, "looking is no use");
}

#[tokio::test]
async fn sess_7_a_clock_set_back_before_the_login_ends_the_session() {
    let service = Service::start().await;
    service.clock.advance(TimeDelta::hours(5));
    let logged_in = service.log_in().await;
    service.clock.advance(TimeDelta::hours(-2));
    assert!(!service.is_alive(&logged_in.id).await);
}

#[tokio::test]
async fn sess_8_no_session_outlives_its_absolute_lifetime() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    for _ in 0..24 {
        assert!(service.is_alive(&logged_in.id).await);
        service.clock.advance(TimeDelta::minutes(30));
        service.sessions.touch(&logged_in.session);
    }
    assert!(service.is_alive(&logged_in.id).await);
    service.clock.advance(TimeDelta::milliseconds(1));
    assert!(!service.is_alive(&logged_in.id).await);
}

#[tokio::test]
async fn sess_9_uses_are_written_down_once_in_a_thirtieth_of_the_timeout() {
    let mut service = Service::start().await;
    let logged_in = service.log_in().await;
    let kept = async |service: &Service| {
        let row = service
            .store
            .find(logged_in.id.hash())
            .await
            .unwrap()
            .unwrap();
        row.last_accessed()
    };
    for _ in 0..59 {
        service.clock.advance(TimeDelta::seconds(1));
        service.sessions.touch(&logged_in.session);
    }
    service.clock.advance(TimeDelta::seconds(1));
    service.sessions.touch(&logged_in.session);
    let at = service.clock.now();
    service.clock.advance(TimeDelta::seconds(59));
    service.sessions.touch(&logged_in.session);
    assert_eq!(kept(&service).await, logged_in.session.created());
    // The task ends when the sessions are gone; until then it has nothing else to wait for.
    let mut writer = service.touches.take().unwrap();
    let writer = tokio::spawn(async move { writer.run().await });
    while kept(&service).await == logged_in.session.created() {
        tokio::task::yield_now().await;
    }
    writer.abort();
    assert_eq!(kept(&service).await, at);
}

#[tokio::test]
async fn sess_11_all_sessions_of_a_user_end_at_once() {
    let service = Service::start().await;
    let (one, two) = (service.log_in().await, service.log_in().await);
    assert!(service.is_alive(&one.id).await && service.is_alive(&two.id).await);
    let origin = from_address("192.0.2.1");
    let sessions = Arc::clone(&service.sessions);
    service
        .dispatcher
        .write(&origin, move |cx| {
            let sessions = Arc::clone(&sessions);
            Box::pin(async move {
                cx.emit("user.credentials", "/user/u-ada", None);
                sessions.follow(cx, &cx.events()).await?;
                Ok(((), entity_core::reply::Effect::Read))
            })
        })
        .await
        .unwrap();
    assert!(!service.is_alive(&one.id).await && !service.is_alive(&two.id).await);
}

#[tokio::test]
async fn sess_12_the_oldest_session_beyond_the_cap_ends() {
    let service = Service::start().await;
    let mut logins = Vec::new();
    for _ in 0..4 {
        logins.push(service.log_in().await);
        service.clock.advance(TimeDelta::seconds(1));
    }
    let mut alive = Vec::new();
    for login in &logins {
        alive.push(service.is_alive(&login.id).await);
    }
    assert_eq!(alive, [false, true, true, true]);
}

#[tokio::test]
async fn sess_12_what_is_over_is_swept_away() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    service.clock.advance(TimeDelta::seconds(1800));
    assert_eq!(
        service
            .sessions
            .sweep(service.sessions.now())
            .await
            .unwrap(),
        0
    );
    service.clock.advance(TimeDelta::seconds(1));
    assert_eq!(
        service
            .sessions
            .sweep(service.sessions.now())
            .await
            .unwrap(),
        1
    );
    assert!(
        service
            .store
            .find(logged_in.id.hash())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn an_attribute_is_kept_with_its_session() {
    let service = Service::start().await;
    let logged_in = service.log_in().await;
    let area = Area::Tool("t".to_owned());
    let sessions = Arc::clone(&service.sessions);
    let session = Arc::clone(&logged_in.session);
    service
        .dispatcher
        .write(&from_address("192.0.2.1"), move |cx| {
            let (sessions, session) = (Arc::clone(&sessions), Arc::clone(&session));
            Box::pin(async move {
                let area = Area::Tool("t".to_owned());
                sessions
                    .set_attribute(cx, &session, area, "a", 5.into())
                    .await?;
                Ok(((), entity_core::reply::Effect::Read))
            })
        })
        .await
        .unwrap();
    let found = service.sessions.find(&logged_in.id).await.unwrap().unwrap();
    assert_eq!(found.attributes().get(&area, "a"), Some(&5.into()));
}
