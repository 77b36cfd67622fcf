//! The client address of a request is the one that our own proxies name: in the audit log and for the throttle.

use std::net::SocketAddr;

use http::header::{AUTHORIZATION, VIA};
use http::{HeaderName, StatusCode};
use rusqlite::Connection;
use tests::{Backend, Client, Database, OnBackend, TestApp};

const X_FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");

/// A service whose proxies are at 10.0.0.0/8 and write this header.
async fn behind_proxies(header: &str) -> TestApp {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let settings = [
        ("proxy.trusted", "10.0.0.0/8"),
        ("proxy.header", header),
        ("login.addressFailures", "20"),
    ];
    TestApp::start(database, &settings).await
}

/// A client that connects from `peer`.
fn client(app: &TestApp, peer: &str) -> Client {
    let peer = SocketAddr::new(peer.parse().expect("an address"), 4711);
    Client::of(app.service().clone()).at(peer)
}

/// The addresses in the audit log, in the order of the requests.
async fn audited(app: &TestApp) -> Vec<String> {
    app.service().audit.flush().await;
    let file = app.database().folder().join("lectern.db.audit");
    let connection = Connection::open(file).expect("a file of the service's making");
    let mut statement = connection
        .prepare("SELECT address FROM audit ORDER BY sequence")
        .expect("the table is as it is here");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}

#[tokio::test]
async fn http_4_the_audit_log_tells_whom_our_proxies_saw() {
    for (setting, header, other, told) in [
        (
            "x-forwarded",
            X_FORWARDED,
            FORWARDED,
            ["6.6.6.6, 203.0.113.5, 10.0.0.7", "for=6.6.6.6"],
        ),
        (
            "forwarded",
            FORWARDED,
            X_FORWARDED,
            ["for=\"6.6.6.6, for=203.0.113.5, for=10.0.0.7", "6.6.6.6"],
        ),
    ] {
        let app = behind_proxies(setting).await;
        for peer in ["10.0.0.1", "192.0.2.9"] {
            let client = client(&app, peer)
                .with_header(header.clone(), told[0])
                .with_header(other.clone(), told[1]);
            let answer = client.get("/direct/session/current.json").await;
            answer.expect(StatusCode::OK);
        }
        assert_eq!(
            audited(&app).await,
            ["203.0.113.5", "192.0.2.9"],
            "{setting}"
        );
    }
}

#[tokio::test]
async fn http_4_nobody_escapes_the_throttle_by_inventing_addresses() {
    let app = behind_proxies("forwarded").await;
    let mut statuses = Vec::new();
    for number in 0..30 {
        let guess = client(&app, "192.0.2.9")
            .with_header(FORWARDED, &format!("for=198.51.100.{number}"))
            .with_header(X_FORWARDED, &format!("198.51.100.{number}"));
        let form = format!("username=nobody{number}&password=guess");
        statuses.push(guess.post_form("/api/login", &form).await.status);
        if statuses.last() == Some(&StatusCode::TOO_MANY_REQUESTS) {
            break;
        }
    }
    assert_eq!(statuses.pop(), Some(StatusCode::TOO_MANY_REQUESTS));
    assert!(statuses.iter().all(|it| *it == StatusCode::UNAUTHORIZED));
    // The same from another place is another's.
    let other = client(&app, "192.0.9.2");
    let guess = other.post_form("/api/login", "username=nobody&password=guess");
    guess.await.expect(StatusCode::UNAUTHORIZED);
}

/// The password of `student1`, as the header takes it.
const BASIC: &str = "Basic c3R1ZGVudDE6bGVjdGVybi1kZW1v";

#[tokio::test]
async fn auth_7_a_password_in_a_header_comes_from_this_machine_and_through_no_proxy_on_it() {
    let settings = [("auth.basic", "true")];
    let app = TestApp::with_settings(Backend::Sqlite, &settings).await;
    let app = app.expect("a file");
    for (peer, header, expected) in [
        ("127.0.0.1", None, StatusCode::OK),
        ("192.0.2.9", None, StatusCode::UNAUTHORIZED),
        (
            "127.0.0.1",
            Some((X_FORWARDED, "127.0.0.1")),
            StatusCode::UNAUTHORIZED,
        ),
        (
            "127.0.0.1",
            Some((FORWARDED, "for=127.0.0.1")),
            StatusCode::UNAUTHORIZED,
        ),
        (
            "127.0.0.1",
            Some((VIA, "1.1 proxy")),
            StatusCode::UNAUTHORIZED,
        ),
    ] {
        let mut client = client(&app, peer).with_header(AUTHORIZATION, BASIC);
        if let Some((name, value)) = header {
            client = client.with_header(name, value);
        }
        client.get("/direct/site.json").await.expect(expected);
    }
}

#[tokio::test]
async fn auth_7_the_name_that_a_proxy_tells_is_refused_if_it_comes_twice() {
    let settings = [
        ("proxy.trusted", "10.0.0.0/8"),
        ("auth.trustedHeader", "remote-user"),
    ];
    let app = TestApp::with_settings(Backend::Sqlite, &settings).await;
    let app = app.expect("a file");
    let name = HeaderName::from_static("remote-user");
    for (peer, names, expected) in [
        ("10.0.0.1", &["student1"][..], StatusCode::OK),
        ("10.0.0.1", &["admin", "student1"], StatusCode::BAD_REQUEST),
        (
            "10.0.0.1",
            &["student1", "student1"],
            StatusCode::BAD_REQUEST,
        ),
        ("10.0.0.1", &[], StatusCode::UNAUTHORIZED),
        ("192.0.2.9", &["student1"], StatusCode::UNAUTHORIZED),
    ] {
        let mut client = client(&app, peer);
        for value in names {
            client = client.with_header(name.clone(), value);
        }
        client.get("/direct/site.json").await.expect(expected);
    }
}

const SECRET: HeaderName = HeaderName::from_static("x-proxy-secret");
const USER: HeaderName = HeaderName::from_static("remote-user");

/// A service whose proxy logs people in.
async fn behind_login() -> TestApp {
    let settings = [
        ("proxy.trusted", "10.0.0.0/8"),
        ("auth.trustedHeader", "remote-user"),
        ("auth.trustedSecret", "known to the proxy"),
    ];
    let app = TestApp::with_settings(Backend::Sqlite, &settings).await;
    app.expect("a file")
}

#[tokio::test]
async fn y13_nobody_but_the_proxy_names_a_user() {
    let app = behind_login().await;
    for (peer, secret, expected) in [
        ("10.0.0.1", Some("known to the proxy"), StatusCode::OK),
        (
            "10.0.0.1",
            Some("known to the prox"),
            StatusCode::UNAUTHORIZED,
        ),
        ("10.0.0.1", Some(""), StatusCode::UNAUTHORIZED),
        ("10.0.0.1", None, StatusCode::UNAUTHORIZED),
        (
            "192.0.2.9",
            Some("known to the proxy"),
            StatusCode::UNAUTHORIZED,
        ),
    ] {
        let mut client = client(&app, peer).with_header(USER, "admin");
        if let Some(secret) = secret {
            client = client.with_header(SECRET, secret);
        }
        let answer = client.get("/direct/site.json").await;
        assert_eq!(answer.status, expected, "{peer} {secret:?}");
    }
    // The manual's proxy passes on neither header of a client.
    let manual = include_str!("../../server/docs/operating.md");
    for line in ["Remote-User", "X-Proxy-Secret"] {
        assert!(
            manual.contains(&format!("proxy_set_header {line} \"\";")),
            "{line}"
        );
    }
}

#[tokio::test]
async fn y14_pages_know_whom_the_proxy_logged_in() {
    let app = behind_login().await;
    let proxy = client(&app, "10.0.0.1").with_header(SECRET, "known to the proxy");
    let browser = proxy.clone().with_header(http::header::ACCEPT, "text/html");
    let student = browser.clone().with_header(USER, "student1");
    let page = student.get("/direct/site.html").await;
    let page = page.expect(StatusCode::OK).text();
    assert!(
        page.contains("student1") && !page.contains("Log in"),
        "{page}"
    );
    let nobody = browser.with_header(USER, "newcomer");
    let page = nobody.get("/direct/site.html").await;
    let page = page.expect(StatusCode::UNAUTHORIZED);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(
        page.text().contains("newcomer") && page.text().contains("administrators"),
        "{}",
        page.text()
    );
    // A session is of the same person or refused.
    let session = proxy.log_in("student1", tests::app::PASSWORD).await;
    for (name, expected) in [
        ("student1", StatusCode::OK),
        ("Student1", StatusCode::OK),
        ("admin", StatusCode::UNAUTHORIZED),
    ] {
        let both = session.clone().with_header(USER, name);
        both.get("/direct/site.json").await.expect(expected);
    }
    session
        .get("/direct/site.json")
        .await
        .expect(StatusCode::OK);
}
