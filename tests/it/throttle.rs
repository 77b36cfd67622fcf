//! Guessing is slow, and one who guesses keeps nobody else out for long.

use chrono::TimeDelta;
use http::StatusCode;
use tests::above_storage;
use tests::app::PASSWORD;

tests::app_with! {
    /// A service with little patience.
    Impatient, [
        ("login.accountFailures", "2"),
        ("login.addressFailures", "8"),
        ("login.addressInterval", "30"),
    ]
}

impl Impatient {
    async fn attempt(&self, name: &str, password: &str) -> StatusCode {
        self.attempt_and_wait(name, password, "30").await
    }

    /// One that may have to wait for so many seconds.
    async fn attempt_and_wait(&self, name: &str, password: &str, seconds: &str) -> StatusCode {
        let form = format!("username={name}&password={password}");
        let answer = self.0.anonymous().post_form("/api/login", &form).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(answer.header("retry-after"), Some(seconds));
        }
        answer.status
    }

    /// Returns the statuses of the answers to somebody who goes on guessing one password.
    async fn guess(&self, name: &str) -> Vec<StatusCode> {
        let mut statuses = Vec::new();
        for _ in 0..14 {
            statuses.push(self.attempt_and_wait(name, "guess", "1").await);
        }
        statuses
    }
}

above_storage! {
    async fn one_who_forgot_a_password_locks_nobody_else_out(app: Impatient) {
        let known = app.guess("student1").await;
        // Two are looked at and count; the others are told to wait, the owner of the password too.
        let expected: Vec<_> = (0..14)
            .map(|it| if it < 2 { StatusCode::UNAUTHORIZED } else { StatusCode::TOO_MANY_REQUESTS })
            .collect();
        assert_eq!(known, expected);
        assert_eq!(app.guess("nobody").await, expected);
        assert_eq!(app.attempt_and_wait("student1", PASSWORD, "1").await, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(app.attempt("student2", PASSWORD).await, StatusCode::OK);
        app.0.advance(TimeDelta::seconds(31));
        assert_eq!(app.attempt("student1", PASSWORD).await, StatusCode::OK);
    }

    async fn many_accounts_from_one_network_wait_for_one_failure_to_fade(app: Impatient) {
        for number in 0..8 {
            assert_eq!(app.attempt(&format!("n{number}"), "guess").await, StatusCode::UNAUTHORIZED);
        }
        assert_eq!(app.attempt("student2", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
        app.0.advance(TimeDelta::seconds(30));
        // Successes are not counted.
        for _ in 0..3 {
            assert_eq!(app.attempt("student2", PASSWORD).await, StatusCode::OK);
        }
        assert_eq!(app.attempt("student3", "guess").await, StatusCode::UNAUTHORIZED);
        assert_eq!(app.attempt("student2", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    }
}
