//! `csrf.mode = token`: what writes in a session carries the session's token.

use http::header::{CONTENT_TYPE, COOKIE, HOST};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use serde_json::json;
use tests::app::PASSWORD;
use tests::{Client, above_storage};

use crate::direct::news;

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const NEWS: &str = "/direct/announcement";
const TOKEN: HeaderName = HeaderName::from_static("x-csrf-token");
const PORTAL: &str = "https://portal.example.org";

tests::app_with! {
    /// The service, where pages of the portal may write.
    WithPortal, [("csrf.trustedOrigins", PORTAL)]
}

tests::app_with! {
    /// The service, where tokens are asked for.
    WithTokens, [("csrf.mode", "token")]
}

impl WithTokens {
    /// Returns a user's client, and the token of its session.
    async fn user(&self, eid: &str) -> (Client, String) {
        let client = self.0.user(eid).await;
        let session = client.get("/direct/session/current.json").await.json();
        let token = session["csrfToken"].as_str().expect("a token").to_owned();
        (client, token)
    }

    async fn count(&self, title: &str) -> usize {
        let (teacher, _token) = self.user("instructor1").await;
        let path = "/direct/announcement/site/biology-101.json";
        let all = teacher.get(path).await.json()["announcement_collection"].take();
        let all = all.as_array().expect("a list").iter();
        all.filter(|it| it["title"] == title).count()
    }
}

fn login(eid: &str) -> String {
    format!("username={eid}&password={PASSWORD}")
}

above_storage! {
    async fn a_write_without_the_token_of_its_session_is_refused(app: WithTokens) {
        let (teacher, token) = app.user("instructor1").await;
        let (_other, foreign) = app.user("student1").await;
        let longer = format!("{token}x");
        for sent in [None, Some(""), Some("nonsense"), Some(longer.as_str()), Some(foreign.as_str())] {
            let client = match sent {
                Some(token) => teacher.clone().with_header(TOKEN, token),
                None => teacher.clone(),
            };
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                let answer = client.send(method.clone(), NEWS, JSON, news("One").to_string().into()).await;
                answer.expect(StatusCode::FORBIDDEN);
                let batch = json!({"operations": [{"method": "POST", "path": "announcement", "body": news("One")}]});
                client.send(method, "/direct/batch.json", JSON, batch.to_string().into()).await.expect(StatusCode::FORBIDDEN);
            }
        }
        // In other bodies than forms, the field means nothing; neither does a parameter.
        let mut body = news("One");
        body["sakai_csrf_token"] = json!(token);
        teacher.post(NEWS, &body).await.expect(StatusCode::FORBIDDEN);
        teacher.post(&format!("{NEWS}?sakai_csrf_token={token}"), &news("One")).await.expect(StatusCode::FORBIDDEN);
        assert_eq!(app.count("One").await, 0);
    }

    async fn a_write_with_the_token_in_the_header_goes_on(app: WithTokens) {
        let (teacher, token) = app.user("instructor1").await;
        let teacher = teacher.with_header(TOKEN, &token);
        let made = teacher.post(NEWS, &news("One")).await;
        let path = format!("{NEWS}/{}", made.expect(StatusCode::CREATED).header("EntityId").expect("an id"));
        teacher.put(&path, &json!({"title": "Two"})).await.expect(StatusCode::NO_CONTENT);
        teacher.send(Method::PATCH, &path, JSON, r#"{"title": "Three"}"#.into()).await.expect(StatusCode::NO_CONTENT);
        let batch = json!({"operations": [{"method": "GET", "path": path}, {"method": "DELETE", "path": path}]});
        teacher.post("/direct/batch.json", &batch).await.expect(StatusCode::OK);
        // In a form, the header is enough.
        teacher.post_form(NEWS, "siteId=biology-101&title=Four").await.expect(StatusCode::CREATED);
    }

    async fn a_form_carries_the_token_in_a_field(app: WithTokens) {
        let (teacher, token) = app.user("instructor1").await;
        let form = "siteId=biology-101&title=One";
        for (extra, status) in [
            (String::new(), StatusCode::FORBIDDEN),
            ("&sakai_csrf_token=".to_owned(), StatusCode::FORBIDDEN),
            ("&sakai_csrf_token=nonsense".to_owned(), StatusCode::FORBIDDEN),
            (format!("&sakai_csrf_token={token}&sakai_csrf_token={token}"), StatusCode::FORBIDDEN),
            (format!("&sakai_csrf_token={token}"), StatusCode::CREATED),
        ] {
            teacher.post_form(NEWS, &format!("{form}{extra}")).await.expect(status);
        }
        // A wrong header is not made good by a field.
        let wrong = teacher.clone().with_header(TOKEN, "nonsense");
        let good = format!("{form}&sakai_csrf_token={token}");
        wrong.post_form(NEWS, &good).await.expect(StatusCode::FORBIDDEN);
        // What is called otherwise is no form.
        let other = "application/x-www-form-urlencodedness";
        teacher.send(Method::POST, NEWS, other, good.into()).await.expect(StatusCode::FORBIDDEN);
        let upper = "Application/X-WWW-Form-Urlencoded; charset=utf-8";
        let deletion = format!("_method=PUT&title=Two&sakai_csrf_token={token}");
        let made = teacher.post_form(NEWS, &format!("{form}&sakai_csrf_token={token}")).await;
        let path = format!("{NEWS}/{}", made.header("EntityId").expect("an id"));
        teacher.send(Method::POST, &path, upper, deletion.into()).await.expect(StatusCode::NO_CONTENT);
        assert_eq!((app.count("One").await, app.count("Two").await), (1, 1));
    }

    async fn pages_hold_the_token(app: WithTokens) {
        let (teacher, token) = app.user("instructor1").await;
        let page = teacher.get("/direct/announcement/new.html").await;
        let field = format!("name=\"sakai_csrf_token\" value=\"{token}\"");
        assert!(page.expect(StatusCode::OK).text().contains(&field));
    }

    async fn what_reads_needs_no_token(app: WithTokens) {
        let (student, _token) = app.user("student1").await;
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            let answer = student.send(method, "/direct/site/biology-101", JSON, "".into()).await;
            assert!(answer.status.is_success(), "{}", answer.status);
        }
    }

    async fn a_login_needs_the_token_of_the_session_that_it_ends(app: WithTokens) {
        let (student, token) = app.user("student1").await;
        let form = login("student1");
        for path in ["/api/login", "/direct/session"] {
            student.post_form(path, &form).await.expect(StatusCode::FORBIDDEN);
            let body = json!({"username": "student1", "password": PASSWORD}).to_string();
            student.send(Method::POST, path, JSON, body.into()).await.expect(StatusCode::FORBIDDEN);
        }
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        let answer = student.post_form("/api/login", &format!("{form}&sakai_csrf_token={token}")).await;
        let next = answer.expect(StatusCode::OK).json()["csrfToken"].clone();
        assert!(next.is_string() && next != json!(token), "{next}");
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_login_without_a_session_needs_none_but_comes_from_us(app: WithTokens) {
        let stranger = app.0.anonymous();
        stranger.post_form("/api/login", &login("student1")).await.expect(StatusCode::OK);
        let site = HeaderName::from_static("sec-fetch-site");
        let foreign = stranger.with_header(site, "cross-site");
        foreign.post_form("/api/login", &login("student1")).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_logout_needs_the_token(app: WithTokens) {
        let (student, token) = app.user("student1").await;
        for (method, path) in [(Method::POST, "/api/logout"), (Method::DELETE, "/direct/session/current")] {
            student.send(method, path, FORM, "sakai_csrf_token=nonsense".into()).await.expect(StatusCode::FORBIDDEN);
        }
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        let form = format!("sakai_csrf_token={token}");
        student.post_form("/api/logout", &form).await.expect(StatusCode::OK);
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        let (student, token) = app.user("student1").await;
        let student = student.with_header(TOKEN, &token);
        student.delete("/direct/session/current").await.expect(StatusCode::NO_CONTENT);
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn the_token_is_that_of_the_login(app: WithTokens) {
        let stranger = app.0.anonymous();
        let answer = stranger.post_form("/api/login", &login("instructor1")).await;
        let told = answer.json()["csrfToken"].clone();
        let cookie = answer.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie");
        let request = Request::post(NEWS)
            .header(COOKIE, HeaderValue::from_str(cookie).expect("a cookie"))
            .header(HOST, "127.0.0.1:8080")
            .header(CONTENT_TYPE, JSON)
            .header(TOKEN, told.as_str().expect("a token"))
            .body(news("One").to_string().into())
            .expect("a request");
        let answer = stranger.try_send(request).await.expect("an answer");
        answer.expect(StatusCode::CREATED);
    }
}

above_storage! {
    async fn a_listed_origin_passes_when_it_carries_the_token(app: WithPortal) {
        let teacher = app.0.user("instructor1").await;
        let session = teacher.get("/direct/session/current.json").await.json();
        let token = session["csrfToken"].as_str().expect("a token").to_owned();
        let from = |site: &str, origin: &str| {
            let site = teacher.clone().with_header(HeaderName::from_static("sec-fetch-site"), site);
            site.with_header(http::header::ORIGIN, origin)
        };
        let body = news("From the portal");
        for site in ["cross-site", "same-site"] {
            let page = from(site, PORTAL);
            page.post(NEWS, &body).await.expect(StatusCode::FORBIDDEN);
            let wrong = page.clone().with_header(TOKEN, "nonsense");
            wrong.post(NEWS, &body).await.expect(StatusCode::FORBIDDEN);
            let right = page.clone().with_header(TOKEN, &token);
            right.post(NEWS, &body).await.expect(StatusCode::CREATED);
            let form = format!("siteId=biology-101&title=Form&sakai_csrf_token={token}");
            page.post_form(NEWS, &form).await.expect(StatusCode::CREATED);
            for origin in ["https://evil.example.org", "http://portal.example.org", "null"] {
                let other = from(site, origin).with_header(TOKEN, &token);
                other.post(NEWS, &body).await.expect(StatusCode::FORBIDDEN);
            }
        }
    }
}
