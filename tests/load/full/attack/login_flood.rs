//! One account that logs in without a pause, with the right password, keeps nobody else from logging in.

use futures::future::join_all;
use http::StatusCode;
use load::app::PASSWORD;
use load::{Answer, Backend, OnBackend, TestApp, both};

/// A service with the places that it has unless somebody says otherwise. It has the patience of a busy machine.
struct Guarded(TestApp);

impl OnBackend for Guarded {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [("admission.queue", "64"), ("admission.wait", "60")];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

impl Guarded {
    async fn log_in(&self, name: &str) -> Answer {
        let form = format!("username={name}&password={PASSWORD}");
        self.0.anonymous().post_form("/api/login", &form).await
    }
}

fn number(answers: &[Answer], status: StatusCode) -> usize {
    answers.iter().filter(|it| it.status == status).count()
}

both! {
    async fn auth_4_one_account_does_not_keep_others_from_logging_in(app: Guarded) {
        let others = ["student2", "ta1", "instructor1", "admin"];
        let flood = join_all((0..100).map(|_| app.log_in("student1")));
        let victims = join_all(others.map(|it| app.log_in(it)));
        let (flood, victims) = tokio::join!(flood, victims);
        for victim in &victims {
            victim.expect(StatusCode::OK);
        }
        let (done, refused) = (number(&flood, StatusCode::OK), number(&flood, StatusCode::TOO_MANY_REQUESTS));
        assert_eq!(done + refused, 100);
        assert!((1..=20).contains(&done), "{done}");
        for answer in flood.iter().filter(|it| it.status == StatusCode::TOO_MANY_REQUESTS) {
            assert!(answer.header("retry-after").is_some());
        }
        // What succeeded was not counted against anybody, nor was what was refused.
        app.log_in("student1").await.expect(StatusCode::OK);
    }

    async fn auth_4_one_network_does_not_keep_others_from_logging_in(app: Guarded) {
        let peer = |it: &str| format!("{it}:4711").parse().expect("an address");
        let tries = (0..200).map(|it| {
            let client = app.0.anonymous().at(peer("192.0.2.1"));
            async move { client.post_form("/api/login", &format!("username=nobody{it}&password=guess")).await }
        });
        let other = app.0.anonymous().at(peer("192.0.2.2"));
        let form = format!("username=student1&password={PASSWORD}");
        let (tries, other) = tokio::join!(join_all(tries), other.post_form("/api/login", &form));
        other.expect(StatusCode::OK);
        let refused = number(&tries, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused >= 100, "{refused}");
    }
}
