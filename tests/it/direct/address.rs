//! Addresses: which spellings lead somewhere.

use http::StatusCode;
use http::header::{ACCEPT, HOST};
use tests::app::PASSWORD;
use tests::{TestApp, above_storage};

above_storage! {
    async fn answers_lead_to_the_loopback_name_that_was_asked(app: TestApp) {
        let named = |host: &str, peer: &str| {
            let client = app.anonymous().with_header(HOST, host).at(peer.parse().expect("an address"));
            client.with_header(ACCEPT, "text/html")
        };
        let login = format!("_username=student1&_password={PASSWORD}");
        for (host, peer, expected) in [
            ("localhost:8080", "127.0.0.1:9", "http://localhost:8080/portal"), ("[::1]:8080", "[::1]:9", "http://[::1]:8080/portal"),
            ("127.0.0.1:8080", "127.0.0.1:9", "http://127.0.0.1:8080/portal"), ("LOCALHOST", "127.0.0.1:9", "http://LOCALHOST/portal"),
            ("localhost.evil.example:8080", "127.0.0.1:9", "http://127.0.0.1:8080/portal"), ("evil.example", "127.0.0.1:9", "http://127.0.0.1:8080/portal"),
            ("localhost:8080", "192.0.2.1:9", "http://127.0.0.1:8080/portal"),
        ] {
            let answer = named(host, peer).post_form("/direct/session", &login).await;
            answer.expect(StatusCode::SEE_OTHER);
            assert_eq!(answer.header("location"), Some(expected), "{host} {peer}");
        }
        let announced = named("localhost:8080", "127.0.0.1:9").get("/direct/announcement/site/university-news.json").await;
        let url = announced.json()["announcement_collection"][0]["entityURL"].to_string();
        assert!(url.starts_with("\"http://localhost:8080/direct/announcement/"), "{url}");
        let described = named("localhost:8080", "127.0.0.1:9").get("/direct/describe.html").await;
        let again = named("127.0.0.1:8080", "127.0.0.1:9").get("/direct/describe.html").await;
        assert_eq!(described.body, again.body);
    }

    async fn an_empty_segment_is_refused_everywhere(app: TestApp) {
        let (stranger, student) = (app.anonymous(), app.user("student1").await);
        for path in [
            "//", "//direct/site", "/direct//", "/direct//site", "/direct/site/", "/direct/site//pages", "/direct/describe/",
            "/api/", "//api/user/roles", "/api//user/roles", "/api/user/roles/", "//livez", "/feeds//x.atom", "/nowhere/", "/nowhere//x",
        ] {
            for client in [&stranger, &student] {
                client.get(path).await.expect(StatusCode::BAD_REQUEST);
            }
        }
    }

    async fn the_start_page_may_end_with_a_slash(app: TestApp) {
        let student = app.user("student1").await;
        let (with, without) = (student.get("/direct/").await, student.get("/direct").await);
        with.expect(StatusCode::OK);
        assert_eq!(with.body, without.body);
    }
}
