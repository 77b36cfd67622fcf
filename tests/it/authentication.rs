//! Authentication of requests, and the answers to requests without it.

use http::header::{AUTHORIZATION, COOKIE, WWW_AUTHENTICATE};
use http::{HeaderName, Method, StatusCode};
use serde_json::json;
use tests::{Answer, Client, TestApp, both};

const ROLES: &str = "/api/user/roles";

/// The id of the session of `client`, which its cookie carries.
fn session_id(client: &Client) -> String {
    let cookie = client.cookie().expect("a cookie");
    let value = cookie.split_once('=').expect("a value").1;
    value.split('.').next().expect("an id").to_owned()
}

fn bearer(client: Client, token: &str) -> Client {
    client.with_header(AUTHORIZATION, &format!("Bearer {token}"))
}

fn eid(answer: &Answer) -> String {
    answer.expect(StatusCode::OK);
    let eid = answer.json()["eid"].take();
    eid.as_str().expect("an external id").to_owned()
}

both! {
    async fn the_session_id_is_read_from_a_header_as_from_the_cookie(app: TestApp) {
        let id = session_id(&app.user("instructor1").await);
        for token in [id.clone(), format!("{id}.svc")] {
            let client = bearer(app.anonymous(), &token);
            assert_eq!(eid(&client.get("/direct/user/current.json").await), "instructor1");
            let answer = client.get(ROLES).await;
            answer.expect(StatusCode::OK);
            assert!(answer.header("x-sakai-session").is_some());
        }
        let lower = app.anonymous().with_header(AUTHORIZATION, &format!("bearer {id}"));
        lower.get(ROLES).await.expect(StatusCode::OK);
        let both = bearer(app.anonymous(), &id).with_header(COOKIE, &format!("JSESSIONID={id}.svc"));
        both.get(ROLES).await.expect(StatusCode::OK);
    }

    async fn a_header_and_a_cookie_that_disagree_are_nobody(app: TestApp) {
        let student = app.user("student1").await;
        let other = session_id(&app.user("instructor1").await);
        for token in [other.as_str(), "rubbish", "A.B"] {
            let answer = bearer(student.clone(), token).get(ROLES).await;
            answer.expect(StatusCode::UNAUTHORIZED);
            let answer = bearer(student.clone(), token).get("/direct/session/current.json").await;
            answer.expect(StatusCode::UNAUTHORIZED);
        }
        bearer(app.anonymous(), "rubbish").get(ROLES).await.expect(StatusCode::UNAUTHORIZED);
        let two = bearer(bearer(app.anonymous(), &other), &session_id(&student));
        two.get(ROLES).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_request_with_the_header_needs_no_protection_from_forgery(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let foreign = |client: Client| client.with_header(HeaderName::from_static("sec-fetch-site"), "cross-site");
        let fields = json!({"siteId": "biology-101", "title": "By header"});
        let refused = foreign(teacher.clone()).post("/direct/announcement", &fields).await;
        refused.expect(StatusCode::FORBIDDEN);
        let client = foreign(bearer(app.anonymous(), &session_id(&teacher)));
        client.post("/direct/announcement", &fields).await.expect(StatusCode::CREATED);
        // What the browser adds by itself still has to come from us.
        let with_cookie = foreign(bearer(teacher.clone(), &session_id(&teacher)));
        with_cookie.post("/direct/announcement", &fields).await.expect(StatusCode::CREATED);
        let rubbish = foreign(bearer(teacher, "rubbish"));
        let answer = rubbish.post("/direct/announcement", &fields).await;
        assert!(answer.status.is_client_error(), "{}", answer.status);
    }

    async fn who_ended_the_session_is_nobody_by_its_id_too(app: TestApp) {
        let student = app.user("student1").await;
        let client = bearer(app.anonymous(), &session_id(&student));
        client.send(Method::POST, "/api/logout", "application/json", "".into()).await.expect(StatusCode::OK);
        client.get(ROLES).await.expect(StatusCode::UNAUTHORIZED);
        student.get(ROLES).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn who_is_nobody_is_told_how_to_become_somebody(app: TestApp) {
        for path in [ROLES, "/direct/site.json", "/direct/site/biology-101.xml", "/direct/site.html", "/api/nowhere"] {
            let answer = app.anonymous().get(path).await;
            answer.expect(StatusCode::UNAUTHORIZED);
            let told: Vec<_> = answer.headers.get_all(WWW_AUTHENTICATE).iter().collect();
            assert_eq!(told, ["Bearer realm=\"Lectern\""], "{path}");
        }
    }

    async fn a_client_finds_out_that_it_is_logged_out(app: TestApp) {
        let student = app.user("student1").await;
        for path in [
            "/direct/user/current.json", "/direct/session/current.json", "/direct/announcement/site/university-news.json",
            "/direct/describe.json", "/direct/session.json",
        ] {
            for value in ["=1", "=", ""] {
                let path = format!("{path}?_validateSession{value}");
                app.anonymous().get(&path).await.expect(StatusCode::UNAUTHORIZED);
                student.get(&path).await.expect(StatusCode::OK);
            }
        }
    }
}
