//! The pages of administrators, the first start, and coming to courses and leaving them by oneself.

use http::StatusCode;
use http::header::ACCEPT;
use tests::database::Database;
use tests::{Client, TestApp, app_with, both};

use super::{BROWSER, list, text};
use crate::operator;

app_with! {
    /// A service with a setting that is a secret.
    WithSecret, [("auth.trustedSecret", "correct-horse-battery-staple-0123")]
}

async fn browser(app: &TestApp, eid: &str) -> Client {
    app.user(eid).await.with_header(ACCEPT, BROWSER)
}

both! {
    async fn settings_in_effect_are_shown_to_administrators_without_secrets(app: WithSecret) {
        let admin = app.0.user("admin").await;
        let all = list(&admin, "/direct/setting.json?_limit=500", "setting").await;
        let find = |name: &str| all.iter().find(|it| it["name"] == name).expect("a setting");
        assert_eq!(text(find("auth.trustedSecret"), "source"), "argument");
        assert_eq!(find("limits.connections")["value"], "12000");
        let page = admin.get("/direct/setting.html?_search=trusted").await;
        assert!(page.text().contains("auth.trustedSecret") && !page.text().contains("correct-horse"), "{}", page.text());
        for path in ["/direct/setting.json", "/direct/setting/limits.connections.json", "/direct/audit.json"] {
            app.0.user("instructor1").await.get(path).await.expect(StatusCode::FORBIDDEN);
        }
    }

    async fn the_audit_log_is_searched_and_filtered(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        student.get("/direct/site/history-210.json").await.expect(StatusCode::FORBIDDEN);
        app.service().audit.flush().await;
        let path = "/direct/audit.json?_search=history-210&status=403";
        let found = list(&admin, path, "audit").await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((text(&found[0], "userEid"), text(&found[0], "method")), ("student1".to_owned(), "GET".to_owned()));
        let one = admin.get(&format!("/direct/audit/{}.json", text(&found[0], "id"))).await;
        one.expect(StatusCode::OK);
        let page = browser(&app, "admin").await.get("/portal").await;
        for link in ["Accounts", "Audit log", "Courses", "Messages of the day", "Settings in effect", "Terms", "Webhooks"] {
            assert!(page.text().contains(&format!(">{link}</a>")), "{link}: {}", page.text());
        }
        let page = browser(&app, "instructor1").await.get("/portal").await;
        assert!(!page.text().contains("Audit log"), "{}", page.text());
    }

    async fn who_has_joined_a_course_may_leave_it(app: TestApp) {
        let student = browser(&app, "student9").await;
        let path = "/direct/site/field-trip.html";
        let home = student.get("/portal").await;
        assert!(home.text().contains(">Find a course</a>"), "{}", home.text());
        let found = student.get("/direct/site.html?select=joinable").await;
        assert!(found.text().contains("field-trip"), "{}", found.text());
        for (action, label, other) in [("join", "Join", "Leave the course"), ("leave", "Leave the course", "Join")] {
            let page = student.get(path).await;
            let shown = |it: &str| page.text().contains(&format!(">{it}</button>"));
            assert_eq!((shown(label), shown(other)), (true, false), "{action}: {}", page.text());
            let sent = student.post_form(&format!("/direct/site/field-trip/{action}"), "_method=POST").await;
            sent.expect(StatusCode::SEE_OTHER);
        }
        // Where nobody joins by oneself, nothing leads out.
        let page = browser(&app, "student1").await.get("/direct/site/biology-101.html").await;
        assert!(!page.text().contains("Leave the course"), "{}", page.text());
    }

    async fn an_empty_service_says_how_to_begin(database: Database) {
        let app = TestApp::start(database, &[]).await;
        let stranger = app.anonymous().with_header(ACCEPT, BROWSER);
        let page = stranger.get("/portal").await;
        assert!(page.text().contains("lectern user add admin --superuser"), "{}", page.text());
        let made = operator::user(app.database(), &["add", "root", "--superuser"], "a long password\n").await;
        assert!(made.status.success(), "{made:?}");
        let page = stranger.get("/portal").await;
        assert!(!page.text().contains("lectern user add"), "{}", page.text());
        let root = app.anonymous().log_in("root", "a long password").await.with_header(ACCEPT, BROWSER);
        let page = root.get("/portal").await;
        assert!(page.text().contains("Three steps to the first course"), "{}", page.text());
        let site = serde_json::json!({"id": "first", "title": "First", "type": "course"});
        root.post("/direct/site.json", &site).await.expect(StatusCode::CREATED);
        let page = root.get("/portal").await;
        assert!(!page.text().contains("Three steps"), "{}", page.text());
    }
}
