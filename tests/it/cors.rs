//! CORS: the pages of other origins that may read answers.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    ORIGIN,
};
use http::{HeaderName, Method, StatusCode};
use serde_json::json;
use tests::{Answer, Client, TestApp, above_storage};

const POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PORTAL: &str = "https://portal.example.org";
const SITE: &str = "/direct/site/biology-101.json";
const JSON: &str = "application/json";

tests::app_with! {
    /// The service, where the portal may read.
    WithPortal, [("cors.origins", PORTAL)]
}

fn from(client: &Client, origin: &str) -> Client {
    client.clone().with_header(ORIGIN, origin)
}

/// Returns the headers that name the origins that may read the answer, with cookies or without.
fn readers(answer: &Answer) -> (Option<&str>, bool, Option<&str>) {
    let with_cookies = answer.header(ACCESS_CONTROL_ALLOW_CREDENTIALS) == Some("true");
    (
        answer.header(ACCESS_CONTROL_ALLOW_ORIGIN),
        with_cookies,
        answer.header(POLICY),
    )
}

const NOBODY: (Option<&str>, bool, Option<&str>) = (None, false, Some("same-origin"));
const EVERYBODY: (Option<&str>, bool, Option<&str>) = (Some("*"), false, Some("cross-origin"));
const THE_PORTAL: (Option<&str>, bool, Option<&str>) = (Some(PORTAL), true, Some("cross-origin"));

above_storage! {
    async fn a_listed_origin_reads_as_whoever_is_logged_in(app: WithPortal) {
        let student = app.0.user("student1").await;
        for path in [SITE, "/api/user/roles", "/direct/site/nowhere", "/direct/site.html"] {
            let answer = from(&student, PORTAL).get(path).await;
            assert_eq!(readers(&answer), THE_PORTAL, "{path}");
            let told = answer.header(ACCESS_CONTROL_EXPOSE_HEADERS).unwrap_or_default();
            assert!(told.contains("ETag") && told.contains("Link"), "{told}");
        }
        let answer = from(&app.0.anonymous(), PORTAL).get(SITE).await;
        assert_eq!((answer.status, readers(&answer)), (StatusCode::UNAUTHORIZED, THE_PORTAL));
    }

    async fn other_origins_read_nothing_of_whoever_is_logged_in(app: WithPortal) {
        let student = app.0.user("student1").await;
        for origin in [
            "https://evil.example", "http://portal.example.org", "https://portal.example.org:8443", "https://portal.example.org.evil.example",
            "https://PORTAL.example.org", "https://portal.example.org/", "null", "",
        ] {
            assert_eq!(readers(&from(&student, origin).get(SITE).await), NOBODY, "{origin}");
        }
        assert_eq!(readers(&student.get(SITE).await), NOBODY);
        let twice = from(&from(&student, PORTAL), "https://evil.example");
        assert_eq!(readers(&twice.get(SITE).await), NOBODY);
    }

    async fn a_browser_that_asks_first_is_told(app: WithPortal) {
        let ask = async |origin: &str, path: &str| {
            let client = from(&app.0.anonymous(), origin).with_header(ACCESS_CONTROL_REQUEST_METHOD, "PUT");
            client.send(Method::OPTIONS, path, JSON, "".into()).await
        };
        for path in [SITE, "/api/user/roles", "/api/login", "/direct/batch.json"] {
            let answer = ask(PORTAL, path).await;
            answer.expect(StatusCode::NO_CONTENT);
            assert_eq!(readers(&answer), THE_PORTAL, "{path}");
            assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_METHODS), answer.header("allow"), "{path}");
            let taken = answer.header(ACCESS_CONTROL_ALLOW_HEADERS).unwrap_or_default();
            assert!(taken.contains("X-CSRF-Token") && taken.contains("If-Match"), "{taken}");
        }
        let other = ask("https://evil.example", SITE).await;
        assert_eq!((readers(&other), other.header(ACCESS_CONTROL_ALLOW_METHODS)), (NOBODY, None));
    }

    async fn what_everybody_may_read_is_read_from_anywhere(app: TestApp) {
        let (stranger, student) = (app.anonymous(), app.user("student1").await);
        for path in [
            "/direct/announcement/site/university-news.json", "/direct/announcement/site/university-news.atom", "/direct/describe.json",
            "/direct/site/describe.xml", "/api/openapi.json", "/direct/site/university-news.json",
        ] {
            let answer = from(&stranger, "https://anywhere.example").get(path).await;
            answer.expect(StatusCode::OK);
            assert_eq!(readers(&answer), EVERYBODY, "{path}");
            assert_eq!(readers(&student.get(path).await), NOBODY, "{path}");
        }
        let feed = student.post("/direct/feed.json", &json!({"path": "/announcement/user", "formats": ["atom"]})).await;
        let address = feed.json()["addresses"]["atom"].take();
        let path = address.as_str().expect("an address").trim_start_matches("http://127.0.0.1:8080").to_owned();
        assert_eq!(readers(&stranger.get(&path).await), EVERYBODY);
        for path in [SITE, "/direct/nowhere", "/feeds/nothing/x.atom"] {
            assert_eq!(readers(&stranger.get(path).await), NOBODY, "{path}");
        }
        let login = stranger.post_form("/api/login", "username=student1&password=wrong").await;
        assert_eq!(readers(&login), NOBODY);
    }
}
