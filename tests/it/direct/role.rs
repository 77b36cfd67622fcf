//! The roles of a site and what they hold, `info` and `withPerm`.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{FORM, id_of, list, read, text};

const SITE: &str = "/direct/site/biology-101";
const PERMS: &str = "/direct/site/biology-101/setPerms";

async fn set(client: &Client, pairs: &Value) -> Answer {
    client.post(PERMS, pairs).await
}

async fn send(client: &Client, method: Method, path: &str) -> StatusCode {
    client.send(method, path, FORM, "".into()).await.status
}

async fn holds(client: &Client, role: &str, function: &str) -> bool {
    let perms = read(client, &format!("{SITE}/perms.json")).await;
    let held = perms["data"][role].as_array().expect("a role");
    held.iter().any(|it| it == function)
}

both! {
    async fn what_a_role_holds_counts_at_once(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let news = json!({"siteId": "biology-101", "title": "Boots"});
        for (is_granted, status) in [("true", StatusCode::CREATED), ("false", StatusCode::FORBIDDEN)] {
            let form = format!("Student%3Aannc.new={is_granted}&Student%3Aannc.read=true");
            let answer = teacher.send(Method::PUT, PERMS, FORM, form.into()).await;
            answer.expect(StatusCode::OK);
            assert_eq!(answer.json(), "SUCCESS");
            assert_eq!(holds(&teacher, "Student", "annc.new").await, is_granted == "true");
            student.post("/direct/announcement", &news).await.expect(status);
        }
        // What one site changes is its own affair.
        let admin = app.user("admin").await;
        let other = read(&admin, "/direct/site/history-210/perms/annc.json").await;
        assert!(!other["data"]["Student"].as_array().expect("a role").contains(&json!("annc.new")));
        set(&teacher, &json!({"Student:annc.read": false})).await.expect(StatusCode::OK);
        student.get("/direct/announcement/site/biology-101").await.expect(StatusCode::FORBIDDEN);
    }

    async fn wrong_pairs_change_nothing(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for pairs in [
            json!({}),
            json!({"Student:annc.new": true, "King:annc.new": true}),
            json!({"Student:annc.new": true, "Student:rwiki.delete": true}),
            json!({"Student:annc.new": true, "Student:annc": true}),
            json!({"Student:annc.new": true, "Student:annc.": "yes"}),
            json!({"Student:annc.new": true, "Student": true}),
            json!({"Student:annc.new": null}),
            json!({"Student:annc.new": true, "Student:": true}),
            json!({"Student:annc.new": true, "Student:forums.moderat": true}),
        ] {
            set(&teacher, &pairs).await.expect(StatusCode::BAD_REQUEST);
        }
        assert!(!holds(&teacher, "Student", "annc.new").await);
        let misspelt = set(&teacher, &json!({"Student:forums.moderat": true})).await;
        assert!(misspelt.text().contains("perhaps you mean `forums.moderate`"), "{}", misspelt.text());
    }

    /// AUTHZ-9: by functions, as by roles.
    async fn nobody_changes_what_they_do_not_hold(app: TestApp) {
        let (teacher, admin, helper) =
            (app.user("instructor1").await, app.user("admin").await, app.user("ta1").await);
        // Nobody holds it by default: only a super user brings it in.
        let anonymous = json!({"Student:conversations.anonymous.view": true});
        set(&teacher, &anonymous).await.expect(StatusCode::FORBIDDEN);
        set(&helper, &json!({"Teaching Assistant:annc.new": true})).await.expect(StatusCode::FORBIDDEN);
        set(&teacher, &json!({"Teaching Assistant:realm.upd": true})).await.expect(StatusCode::OK);
        for pairs in [
            json!({"Teaching Assistant:annc.new": true}),
            json!({"Teaching Assistant:site.upd": true}),
            json!({"Student:site.upd": true}),
            json!({"Instructor:site.upd": false}),
            json!({"Instructor:annc.read": false, "Instructor:annc.new": false}),
        ] {
            set(&helper, &pairs).await.expect(StatusCode::FORBIDDEN);
        }
        assert!(holds(&teacher, "Instructor", "annc.read").await);
        // What is already so is no change.
        set(&helper, &json!({"Instructor:site.upd": true, "Student:task.create": true})).await.expect(StatusCode::OK);
        assert_eq!(send(&helper, Method::DELETE, &format!("{SITE}/role/Instructor")).await, StatusCode::FORBIDDEN);
        set(&admin, &anonymous).await.expect(StatusCode::OK);
        assert!(holds(&teacher, "Student", "conversations.anonymous.view").await);
    }

    async fn a_site_keeps_somebody_who_looks_after_it(app: TestApp) {
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        set(&teacher, &json!({"Instructor:site.upd": false})).await.expect(StatusCode::CONFLICT);
        assert!(holds(&teacher, "Instructor", "site.upd").await);
        let path = "/direct/site/!admin/setPerms";
        admin.post(path, &json!({"admin:site.upd": false})).await.expect(StatusCode::CONFLICT);
        admin.get("/direct/user").await.expect(StatusCode::OK);
    }

    async fn only_super_users_touch_what_makes_them(app: TestApp) {
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let path = "/direct/site/!admin/setPerms";
        teacher.post(path, &json!({"admin:annc.read": true})).await.expect(StatusCode::FORBIDDEN);
        // Not even those whom a super user lets change grants there.
        assert_eq!(send(&admin, Method::POST, "/direct/site/!admin/role/helper").await, StatusCode::OK);
        let pairs = json!({"helper:realm.upd": true, "helper:site.visit": true, "helper:site.visit.unp": true});
        admin.post(path, &pairs).await.expect(StatusCode::OK);
        let draft = json!({"userEid": "instructor1", "locationReference": "/site/!admin", "memberRole": "helper"});
        admin.post("/direct/membership", &draft).await.expect(StatusCode::CREATED);
        teacher.get("/direct/site/!admin/perms").await.expect(StatusCode::OK);
        for pairs in [json!({"admin:site.visit": true}), json!({"helper:site.upd": true})] {
            teacher.post(path, &pairs).await.expect(StatusCode::FORBIDDEN);
        }
        assert_eq!(send(&teacher, Method::POST, "/direct/site/!admin/role/other").await, StatusCode::FORBIDDEN);
        assert_eq!(read(&teacher, "/api/user/roles").await["isSuperUser"], false);
    }

    async fn roles_come_and_go(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let guest = format!("{SITE}/role/Guest");
        assert_eq!(send(&teacher, Method::POST, &guest).await, StatusCode::OK);
        assert_eq!(send(&teacher, Method::POST, &guest).await, StatusCode::CONFLICT);
        let site = read(&teacher, SITE).await;
        assert_eq!(site["userRoles"], json!(["Guest", "Instructor", "Student", "Teaching Assistant"]));
        set(&teacher, &json!({"Guest:site.visit": true})).await.expect(StatusCode::OK);
        let path = format!("/direct/membership/{}::site:biology-101", id_of(&student).await);
        teacher.put(&path, &json!({"memberRole": "Guest"})).await.expect(StatusCode::NO_CONTENT);
        student.get(SITE).await.expect(StatusCode::OK);
        student.get("/direct/announcement/site/biology-101").await.expect(StatusCode::FORBIDDEN);
        assert_eq!(send(&teacher, Method::DELETE, &guest).await, StatusCode::CONFLICT);
        teacher.put(&path, &json!({"memberRole": "Student"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(send(&teacher, Method::DELETE, &guest).await, StatusCode::OK);
        assert_eq!(send(&teacher, Method::DELETE, &guest).await, StatusCode::NOT_FOUND);
        // It comes back with nothing.
        assert_eq!(send(&teacher, Method::POST, &guest).await, StatusCode::OK);
        assert!(!holds(&teacher, "Guest", "site.visit").await);
        for role in ["a:b", ".anon", "%20a"] {
            let path = format!("{SITE}/role/{role}");
            assert_eq!(send(&teacher, Method::POST, &path).await, StatusCode::BAD_REQUEST, "{role}");
        }
        // The site needs these, whoever asks.
        let admin = app.user("admin").await;
        for role in ["Student", "Instructor", "Teaching%20Assistant"] {
            let path = format!("{SITE}/role/{role}");
            assert_eq!(send(&admin, Method::DELETE, &path).await, StatusCode::CONFLICT, "{role}");
        }
    }

    async fn a_role_of_the_template_can_be_removed_and_comes_back_whole(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let helper = app.user("ta1").await;
        let admin = app.user("admin").await;
        let path = format!("/direct/membership/{}::site:biology-101", id_of(&helper).await);
        teacher.put(&path, &json!({"memberRole": "Student"})).await.expect(StatusCode::NO_CONTENT);
        let role = format!("{SITE}/role/Teaching%20Assistant");
        // Assistants hold something that instructors do not.
        assert_eq!(send(&teacher, Method::DELETE, &role).await, StatusCode::FORBIDDEN);
        assert_eq!(send(&admin, Method::DELETE, &role).await, StatusCode::OK);
        assert_eq!(read(&teacher, SITE).await["userRoles"], json!(["Instructor", "Student"]));
        teacher.put(&path, &json!({"memberRole": "Teaching Assistant"})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(send(&teacher, Method::POST, &role).await, StatusCode::FORBIDDEN);
        assert_eq!(send(&admin, Method::POST, &role).await, StatusCode::OK);
        assert!(holds(&teacher, "Teaching Assistant", "site.upd.grp.mbrshp").await);
    }

    async fn sites_are_found_by_what_the_caller_holds(app: TestApp) {
        for (eid, permission, expected) in [
            ("instructor1", "site.upd", &["biology-101", "field-trip"][..]),
            ("ta1", "site.upd.grp.mbrshp", &["biology-101"]),
            ("student1", "site.visit", &["biology-101", "field-trip"]),
            ("student1", "site.upd", &[]),
            ("admin", "site.upd", &["!admin"]),
            ("student1", "", &[]),
        ] {
            let client = app.user(eid).await;
            let path = format!("/direct/site/withPerm.json?permission={permission}");
            let found = list(&client, &path, "site").await;
            let ids: Vec<String> = found.iter().map(|it| text(it, "id")).collect();
            assert_eq!(ids, expected, "{eid} {permission}");
        }
    }
}
