//! `GET /portal` and `/portal/favorites/list`.

use chrono::{DateTime, TimeDelta};
use http::header::{ACCEPT, ALLOW, ETAG, IF_NONE_MATCH};
use http::{Method, StatusCode};
use serde_json::json;
use tests::{TestApp, above_storage};

use super::{FORM, assert_page};

above_storage! {
    async fn y17_administrators_find_the_lists_that_are_for_few(app: TestApp) {
        for (eid, is_shown) in [("admin", true), ("instructor1", false), ("student1", false)] {
            let client = app.user(eid).await;
            let page = client.get("/portal").await;
            let page = page.expect(StatusCode::OK).text();
            assert_eq!(page.contains("Administration"), is_shown, "{eid}");
            assert_eq!(page.contains("href=\"/direct/user.html\""), is_shown, "{eid}");
        }
        // From there, accounts are made and shut by clicking.
        let browser = app.user("admin").await.with_header(ACCEPT, "text/html");
        let list = browser.get("/direct/user.html").await;
        assert!(list.expect(StatusCode::OK).text().contains("/direct/user/new.html"));
    }

    async fn it_shows_the_own_sites_pinned_first_and_what_is_new(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let site = json!({"id": "aaa", "title": "Aardvarks <&>", "type": "project"});
        teacher.post("/direct/site", &site).await.expect(StatusCode::CREATED);
        let news = json!({"siteId": "biology-101", "title": "Only <b>today</b>"});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        let page = teacher.get("/portal").await;
        page.expect(StatusCode::OK);
        assert_page(&page, &[
            "<h1>My sites</h1>", "Pinned sites", "Other sites", "What is new",
            "href=\"/portal/site/biology-101\"", "Aardvarks &#60;&#38;&#62;", "Only &#60;b&#62;today",
        ]);
        let place = |text: &str| page.text().find(text).expect(text);
        assert!(place("/portal/site/biology-101") < place("/portal/site/aaa"));
        assert!(!page.text().contains("history-210"));
    }

    async fn it_shows_no_draft_and_nothing_of_other_sites(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (title, extra) in [("zq-draft", json!({"draft": true})), ("zq-late", json!({"releaseDate": 4_000_000_000_000_i64}))] {
            let mut news = json!({"siteId": "biology-101", "title": title});
            news.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
            teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        }
        let page = app.user("student1").await.get("/portal").await;
        assert!(!page.text().contains("zq-"));
        assert!(teacher.get("/portal").await.text().contains("zq-"));
        let other = app.user("instructor2").await.get("/portal").await;
        assert!(!other.text().contains("biology-101"));
    }

    async fn it_shows_what_comes_next_to_those_whom_it_is_for(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let now = DateTime::parse_from_rfc3339("2026-11-21T10:00:00Z").expect("an instant");
        for (title, hours) in [("zq-over", -3), ("zq-now <b>", -1), ("zq-soon", 1), ("zq-late", 15 * 24)] {
            let begin = now + TimeDelta::hours(hours);
            let times = json!({"firstTime": begin.to_rfc3339(), "duration": 7_200_000});
            let mut event = json!({"siteId": "biology-101", "title": title});
            event.as_object_mut().expect("an object").extend(times.as_object().expect("an object").clone());
            teacher.post("/direct/calendar", &event).await.expect(StatusCode::CREATED);
        }
        let page = app.user("student1").await.get("/portal").await;
        assert_page(&page, &["What comes next", "zq-now &#60;b&#62;", "zq-soon", "href=\"/direct/calendar/"]);
        let place = |text: &str| page.text().find(text).expect(text);
        assert!(place("zq-now") < place("zq-soon"));
        assert!(!page.text().contains("zq-over") && !page.text().contains("zq-late"));
        let other = app.user("instructor2").await.get("/portal").await;
        assert!(!other.text().contains("zq-"));
    }

    async fn x25_what_is_due_is_shown_once_whether_a_calendar_shows_it_or_not(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (title, extra) in [
            ("zq-plain", json!({})), ("zq-dated", json!({"inCalendar": true})), ("zq-draft", json!({"draft": true})),
        ] {
            let mut assignment = json!({
                "context": "biology-101", "title": title, "openTime": "2026-11-20T10:00:00Z",
                "dueTime": "2026-11-21T13:00:00Z", "closeTime": "2026-11-21T14:00:00Z",
            });
            assignment.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
            teacher.post("/direct/assignment", &assignment).await.expect(StatusCode::CREATED);
        }
        let page = app.user("student1").await.get("/portal").await;
        assert_page(&page, &["zq-plain", "zq-dated", "href=\"/direct/assignment/"]);
        for title in ["zq-plain", "zq-dated"] {
            assert_eq!(page.text().matches(title).count(), 1, "{title}");
        }
        assert!(!page.text().contains("zq-draft"));
        let other = app.user("instructor2").await.get("/portal").await;
        assert!(!other.text().contains("zq-"));
    }

    async fn the_root_and_each_page_lead_there(app: TestApp) {
        let (student, stranger) = (app.user("student1").await, app.anonymous());
        for client in [&student, &stranger] {
            let answer = client.get("/").await;
            answer.expect(StatusCode::FOUND);
            assert_eq!(answer.header("location"), Some("/portal"));
        }
        let link = "<a class=\"top-link\" href=\"/portal\">";
        for path in ["/portal", "/direct/describe.html", "/direct/site.html"] {
            let page = student.get(path).await;
            assert!(page.expect(StatusCode::OK).text().contains(link), "{path}");
            assert!(page.text().contains("<a class=\"top-brand\" href=\"/portal\">"), "{path}");
            assert!(page.text().contains("<a class=\"top-link\" href=\"/direct/notification.html\" "), "{path}");
        }
        assert!(!stranger.get("/direct/describe.html").await.text().contains(link));
    }

    async fn it_is_not_sent_twice(app: TestApp) {
        let student = app.user("student1").await;
        let page = student.get("/portal").await;
        let tag = page.header(ETAG).expect("a tag");
        let again = student.clone().with_header(IF_NONE_MATCH, tag).get("/portal").await;
        again.expect(StatusCode::NOT_MODIFIED);
        let other = app.user("student2").await.with_header(IF_NONE_MATCH, tag).get("/portal").await;
        other.expect(StatusCode::OK);
    }

    async fn the_favorites_are_the_pinned_sites(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.get("/portal/favorites/list").await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let expected = json!({"favoriteSiteIds": ["biology-101", "field-trip"], "autoFavoritesEnabled": true});
        assert_eq!(answer.json(), expected);
        let stranger = app.anonymous().with_header(ACCEPT, "*/*").get("/portal/favorites/list").await;
        stranger.expect(StatusCode::UNAUTHORIZED);
        assert_eq!(stranger.header("content-type"), Some("application/json"));
    }

    async fn what_is_not_there_is_refused_in_the_form_that_was_asked_for(app: TestApp) {
        let stranger = app.anonymous();
        for path in ["/portal/nonsense", "/portal/site", "/portal/site/a/b", "/access/user", "/access/user/a/b"] {
            let answer = stranger.get(path).await;
            assert_eq!(answer.expect(StatusCode::NOT_FOUND).json()["error"]["status"], "404");
            let page = stranger.clone().with_header(ACCEPT, "text/html").get(path).await;
            assert_page(page.expect(StatusCode::NOT_FOUND), &["<h1>"]);
        }
        let closed = stranger.with_header(ACCEPT, "text/html").get("/portal/site/biology-101").await;
        assert_page(closed.expect(StatusCode::UNAUTHORIZED), &["Log in"]);
    }

    async fn methods_are_those_of_the_address(app: TestApp) {
        let student = app.user("student1").await;
        for (path, allowed) in [
            ("/portal", "GET, HEAD, OPTIONS"),
            ("/portal/xlogin", "GET, POST, HEAD, OPTIONS"),
            ("/portal/site/biology-101", "GET, HEAD, OPTIONS"),
        ] {
            let answer = student.send(Method::DELETE, path, FORM, "".into()).await;
            answer.expect(StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(answer.header(ALLOW), Some(allowed));
            let answer = student.send(Method::OPTIONS, path, FORM, "".into()).await;
            answer.expect(StatusCode::NO_CONTENT);
            assert_eq!(answer.header(ALLOW), Some(allowed));
        }
        let head = student.send(Method::HEAD, "/portal", FORM, "".into()).await;
        assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    }

    async fn hostile_paths_are_refused(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["/portal/site/%00", "/portal/site/..", "/portal/site/%ff", "/portal/site/a%2Fb", "/access/user/%0d%0aX:1"] {
            student.get(path).await.expect(StatusCode::BAD_REQUEST);
        }
        let long = format!("/portal/site/{}", "x".repeat(300));
        student.get(&long).await.expect(StatusCode::BAD_REQUEST);
    }
}
