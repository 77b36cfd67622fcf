//! The envelope that a client may ask for, and what is not there.

use http::{Method, StatusCode};
use serde_json::json;
use tests::{TestApp, above_storage};

const PATHS: [&str; 3] = [
    "/api/user/roles",
    "/api/users/me/sites",
    "/api/users/me/announcements",
];

above_storage! {
    async fn an_answer_is_wrapped_on_request(app: TestApp) {
        let student = app.user("student1").await;
        for path in PATHS {
            let plain = student.get(path).await.json();
            let wrapped = student.get(&format!("{path}?envelope=true")).await;
            let expected = json!({"data": plain, "status": "success", "timestamp": "2026-11-21T10:00:00Z"});
            assert_eq!(wrapped.expect(StatusCode::OK).json(), expected);
            assert_eq!(student.get(&format!("{path}?envelope=false")).await.json(), plain);
        }
    }

    async fn an_unknown_path_is_not_found_after_the_login(app: TestApp) {
        for path in ["/api", "/api/nothing", "/api/users", "/api/user/roles/more"] {
            app.anonymous().get(path).await.expect(StatusCode::UNAUTHORIZED);
            let answer = app.user("student1").await.get(path).await;
            answer.expect(StatusCode::NOT_FOUND);
            assert_eq!(answer.json()["error"]["status"], "404");
        }
    }

    async fn a_wrong_method_is_answered_with_the_right_ones(app: TestApp) {
        let student = app.user("student1").await;
        for path in PATHS {
            let answer = student.post(path, &json!({})).await;
            answer.expect(StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
            let answer = student.send(Method::OPTIONS, path, "text/plain", "".into()).await;
            answer.expect(StatusCode::NO_CONTENT);
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
            let head = student.send(Method::HEAD, path, "text/plain", "".into()).await;
            assert!(head.expect(StatusCode::OK).body.is_empty());
        }
    }
}
