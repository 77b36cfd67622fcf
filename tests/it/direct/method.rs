//! Methods: which an address takes, what the others are answered, and HEAD.

use http::{Method, StatusCode};
use tests::{TestApp, above_storage};

use super::{FORM, JSON};

const ALLOWED: [(&str, &[&str]); 6] = [
    ("/direct/site", &["GET", "HEAD", "OPTIONS", "POST"]),
    (
        "/direct/site/biology-101",
        &["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"],
    ),
    (
        "/direct/site/biology-101/pages",
        &["GET", "HEAD", "OPTIONS"],
    ),
    (
        "/direct/announcement/site/biology-101",
        &["GET", "HEAD", "OPTIONS"],
    ),
    (
        "/direct/session/current",
        &["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"],
    ),
    ("/direct/user/current", &["GET", "HEAD", "OPTIONS"]),
];

/// The methods in a header, in order.
fn sorted(allow: Option<&str>) -> Vec<&str> {
    let mut methods = allow.unwrap_or_default().split(", ").collect::<Vec<_>>();
    methods.sort_unstable();
    methods
}

above_storage! {
    async fn strangers_are_told_which_methods_an_address_takes(app: TestApp) {
        let stranger = app.anonymous();
        let send = async |method, path: &str| stranger.send(method, path, JSON, "".into()).await;
        let others = ["/", "/livez", "/readyz", "/api/login", "/api/user/roles", "/api/openapi.json", "/direct/describe", "/direct/batch"];
        for path in ALLOWED.into_iter().map(|it| it.0).chain(others) {
            let answer = send(Method::OPTIONS, path).await;
            assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}");
            let allow = answer.header("allow").expect("methods").to_owned();
            let refused = send(Method::TRACE, path).await;
            assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_eq!(refused.header("allow"), Some(allow.as_str()), "{path}");
        }
        for (method, path) in [
            (Method::GET, "/api/login"), (Method::PUT, "/api/login"), (Method::PUT, "/api/openapi.json"), (Method::DELETE, "/direct/describe"),
            (Method::PUT, "/direct/announcement/site/biology-101"), (Method::DELETE, "/direct/user/current"), (Method::DELETE, "/livez"),
        ] {
            let answer = send(method.clone(), path).await;
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert!(answer.header("allow").is_some(), "{method} {path}");
        }
        for (method, path) in [
            (Method::GET, "/direct/nowhere"), (Method::OPTIONS, "/direct/nowhere"), (Method::OPTIONS, "/api/nowhere"),
            (Method::PATCH, "/direct/membership/site/biology-101"), (Method::GET, "/api/logout"), (Method::PUT, "/direct/session/current"),
        ] {
            send(method, path).await.expect(StatusCode::UNAUTHORIZED);
        }
    }

    async fn options_tell_which_methods_an_address_takes(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (path, expected) in ALLOWED {
            let answer = teacher.send(Method::OPTIONS, path, JSON, "".into()).await;
            answer.expect(StatusCode::NO_CONTENT);
            assert_eq!(sorted(answer.header("allow")), *expected, "{path}");
        }
    }

    async fn a_method_that_is_not_taken_is_answered_with_those_that_are(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (path, taken) in ALLOWED {
            for method in [Method::POST, Method::PUT, Method::DELETE] {
                if taken.contains(&method.as_str()) {
                    continue;
                }
                let answer = teacher.send(method.clone(), path, JSON, "{}".into()).await;
                answer.expect(StatusCode::METHOD_NOT_ALLOWED);
                assert_eq!(sorted(answer.header("allow")), *taken, "{method} {path}");
            }
        }
    }

    async fn methods_that_nothing_takes_are_answered_with_those_that_the_address_takes(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let strange = Method::from_bytes(b"FOO").expect("a method");
        let get: &[&str] = &["GET", "HEAD", "OPTIONS"];
        let others: [(&str, &[&str]); 8] = [
            ("/", get),
            ("/livez", get),
            ("/api/user/roles", get),
            ("/api/login", &["OPTIONS", "POST"]),
            ("/direct/describe", get),
            ("/direct/batch", &["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]),
            ("/direct/session", &["GET", "HEAD", "OPTIONS", "POST"]),
            ("/feeds/none/news.atom", get),
        ];
        for (path, taken) in ALLOWED.into_iter().chain(others) {
            for method in [Method::TRACE, Method::CONNECT, strange.clone()] {
                let answer = teacher.send(method.clone(), path, JSON, "".into()).await;
                answer.expect(StatusCode::METHOD_NOT_ALLOWED);
                assert_eq!(sorted(answer.header("allow")), *taken, "{method} {path}");
            }
        }
    }

    async fn no_body_is_looked_at_where_the_method_is_not_taken(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (method, path, media_type) in [
            (Method::PATCH, "/direct/session/current", FORM),
            (Method::PUT, "/direct/site", "text/plain"),
            (Method::POST, "/direct/site/biology-101/pages", "text/plain"),
        ] {
            let answer = teacher.send(method, path, media_type, "a=b".into()).await;
            answer.expect(StatusCode::METHOD_NOT_ALLOWED);
            assert!(answer.header("allow").is_some_and(|it| it.contains("GET")), "{path}");
        }
    }

    async fn head_is_get_without_the_body(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for path in [
            "/direct/site.json",
            "/direct/site/biology-101.xml",
            "/direct/site/biology-101.html",
            "/direct/announcement/site/biology-101.atom",
            "/direct/site/nowhere",
        ] {
            let get = teacher.get(path).await;
            let head = teacher.send(Method::HEAD, path, JSON, "".into()).await;
            assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
            for name in ["content-type", "etag", "last-modified"] {
                assert_eq!(head.header(name), get.header(name), "{path}");
            }
        }
    }
}
