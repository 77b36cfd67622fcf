//! `GET /api/sites/{siteId}/permissions`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const BIOLOGY: &str = "/api/sites/biology-101/permissions";

async fn permissions(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.json();
    let names = body["permissions"].as_array().expect("a list");
    assert!(names.iter().all(Value::is_string) && names.is_sorted_by_key(|it| it.as_str()));
    body
}

fn holds(permissions: &Value, name: &str) -> bool {
    let names = permissions["permissions"].as_array().expect("a list");
    names.iter().any(|it| it == name)
}

both! {
    async fn a_member_is_told_the_own_permissions(app: TestApp) {
        for (eid, role, may_read, may_write, may_manage) in [
            ("student1", "Student", true, false, false),
            ("ta1", "Teaching Assistant", true, false, false),
            ("instructor1", "Instructor", true, true, true),
        ] {
            let client = app.user(eid).await;
            let told = permissions(&client, BIOLOGY).await;
            assert_eq!((&told["siteId"], &told["role"]), (&json!("biology-101"), &json!(role)));
            let user = client.get("/direct/user/current.json").await.json();
            assert_eq!(told["userId"], user["id"]);
            let expected = [("annc.read", may_read), ("annc.new", may_write), ("site.upd", may_manage)];
            for (name, expected) in expected {
                assert_eq!(holds(&told, name), expected, "{eid} {name}");
            }
        }
    }

    async fn they_are_those_that_the_entity_interface_tells(app: TestApp) {
        for eid in ["student1", "instructor1", "admin"] {
            let client = app.user(eid).await;
            let told = permissions(&client, BIOLOGY).await;
            let same = client.get("/direct/site/biology-101/userPerms.json").await.json();
            assert_eq!(told["permissions"], same["data"], "{eid}");
        }
    }

    async fn who_is_no_member_has_no_role(app: TestApp) {
        let told = permissions(&app.user("admin").await, BIOLOGY).await;
        assert_eq!(told["role"], json!(null));
        assert!(holds(&told, "site.upd"));
        let open = permissions(&app.user("student1").await, "/api/sites/university-news/permissions").await;
        assert_eq!(open["role"], json!(null));
        assert!(holds(&open, "annc.read") && !holds(&open, "annc.new"));
    }
}
