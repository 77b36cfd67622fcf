//! `/api/users/{userId}/profile` and `/api/users/me`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const PATCH: &str = "application/json-patch+json";

async fn profile(client: &Client, path: &str) -> Value {
    client.get(path).await.expect(StatusCode::OK).json()
}

/// The names of the parts that are told besides the name.
fn told(profile: &Value) -> Vec<&'static str> {
    let parts = [
        "nickname",
        "pronouns",
        "email",
        "pronunciation",
        "profileUrl",
        "studentNumber",
    ];
    parts
        .into_iter()
        .filter(|it| !profile[it].is_null())
        .collect()
}

async fn id_of(client: &Client) -> String {
    let own = client
        .get("/api/users/me")
        .await
        .expect(StatusCode::OK)
        .json();
    own["id"].as_str().expect("an id").to_owned()
}

both! {
    async fn the_caller_reads_their_own_account(app: TestApp) {
        for (eid, kind) in [("student1", "registered"), ("instructor1", "maintain")] {
            let user = app.user(eid).await;
            let own = user.get("/api/users/me").await.expect(StatusCode::OK).json();
            assert_eq!((&own["eid"], &own["type"]), (&json!(eid), &json!(kind)));
            assert_eq!(own["email"], json!(format!("{eid}@example.edu")));
            assert_eq!(own["id"], user.get("/direct/user/current.json").await.json()["id"]);
        }
    }

    async fn a_user_is_told_as_far_as_the_caller_may_know_them(app: TestApp) {
        let student = app.user("student1").await;
        let own = student.get("/api/users/me").await.expect(StatusCode::OK).json();
        let id = own["id"].as_str().expect("an id");
        let path = format!("/api/users/{id}");
        // The own account, by each name, and for those who see all accounts.
        let admin = app.user("admin").await;
        for (client, path) in [(&student, &*path), (&student, "/api/users/student1"), (&admin, &path), (&admin, "/api/users/student1")] {
            let told = client.get(path).await.expect(StatusCode::OK).json();
            assert_eq!(told, own, "{path}");
        }
        // Of others, what their profile tells: everybody the name, those who hold its function the e-mail address.
        for (eid, knows_email) in [("student2", false), ("instructor1", true), ("instructor2", false)] {
            let client = app.user(eid).await;
            let told = client.get(&path).await.expect(StatusCode::OK).json();
            let profile = client.get(&format!("/direct/profile/{id}.json")).await.expect(StatusCode::OK).json();
            assert_eq!((&told["id"], &told["displayName"]), (&own["id"], &profile["displayName"]), "{eid}");
            let email = if knows_email { own["email"].clone() } else { Value::Null };
            assert_eq!((&told["email"], profile["email"] == ""), (&email, !knows_email), "{eid}");
            for field in ["eid", "sortName", "firstName", "lastName", "type"] {
                assert!(told[field].is_null(), "{eid}: {told}");
            }
        }
        // An external id leads to people in a common site only, as that of nobody does.
        let stranger = app.user("instructor2").await;
        for name in ["student1", "nobody-at-all", "blank"] {
            stranger.get(&format!("/api/users/{name}")).await.expect(StatusCode::NOT_FOUND);
        }
    }

    async fn a_profile_is_told_by_the_site_in_which_people_meet(app: TestApp) {
        let all = ["nickname", "pronouns", "email", "pronunciation", "profileUrl", "studentNumber"];
        let (open, name) = (["nickname", "pronouns", "pronunciation", "profileUrl"], [""; 0]);
        let with_email = ["nickname", "pronouns", "email", "pronunciation", "profileUrl"];
        let student = app.user("student1").await;
        let id = id_of(&student).await;
        for path in ["/api/users/me/profile", "/api/users/student1/profile", "/api/users/me/profile?siteId=nowhere"] {
            assert_eq!(told(&profile(&student, path).await), all);
        }
        let path = format!("/api/users/{id}/profile");
        for (eid, site, expected) in [
            ("student2", "", &name[..]),
            ("student2", "?siteId=biology-101", &open),
            ("student2", "?siteId=field-trip", &open),
            ("student5", "?siteId=biology-101", &open),
            ("student5", "?siteId=field-trip", &name),
            ("student5", "?siteId=nowhere", &name),
            ("student5", "?siteId=", &name),
            ("ta1", "?siteId=biology-101", &with_email),
            ("ta1", "?siteId=field-trip", &open),
            ("instructor1", "", &name),
            ("instructor1", "?siteId=biology-101", &all),
            ("instructor1", "?siteId=field-trip", &all),
            ("instructor2", "", &name),
            ("instructor2", "?siteId=history-210", &name),
            ("instructor2", "?siteId=biology-101", &name),
            ("admin", "", &name),
            ("admin", "?siteId=biology-101", &all),
        ] {
            let reader = app.user(eid).await;
            let read = profile(&reader, &format!("{path}{site}")).await;
            assert_eq!(read["name"], "Ada Moreau");
            assert_eq!(told(&read), expected, "{eid} {site}");
        }
    }

    async fn nobody_has_no_profile(app: TestApp) {
        let student = app.user("student1").await;
        let nobody = student.get("/api/users/blank/profile?siteId=biology-101").await;
        assert_eq!(nobody.expect(StatusCode::NO_CONTENT).text(), "");
    }

    async fn a_profile_is_changed_by_a_json_patch(app: TestApp) {
        let (student, path) = (app.user("student3").await, "/api/users/me/profile");
        let send = async |client: &Client, path: &str, media_type: &str, body: Value| {
            client.send(Method::PATCH, path, media_type, body.to_string().into()).await
        };
        let patch = json!([
            {"op": "replace", "path": "/nickname", "value": "Carlita"},
            {"op": "add", "path": "/pronouns", "value": "she/her"},
        ]);
        let changed = send(&student, path, PATCH, patch.clone()).await.expect(StatusCode::OK).json();
        assert_eq!((&changed["nickname"], &changed["pronouns"]), (&json!("Carlita"), &json!("she/her")));
        let removed = json!([{"op": "test", "path": "/nickname", "value": "Carlita"}, {"op": "remove", "path": "/nickname"}]);
        let changed = send(&student, path, PATCH, removed).await.expect(StatusCode::OK).json();
        assert_eq!(changed["nickname"], json!(null));
        assert_eq!(profile(&student, path).await, changed);
        for (body, status) in [
            (json!({"nickname": "x"}), StatusCode::BAD_REQUEST),
            (json!([{"op": "replace", "path": "/displayName", "value": "x"}]), StatusCode::BAD_REQUEST),
            (json!([{"op": "replace", "path": "/email", "value": "x@example.edu"}]), StatusCode::BAD_REQUEST),
            (json!([{"op": "replace", "path": "/nothing", "value": "x"}]), StatusCode::BAD_REQUEST),
            (json!([{"op": "replace", "path": "/studentNumber", "value": "7"}]), StatusCode::FORBIDDEN),
        ] {
            let refused = send(&student, path, PATCH, body.clone()).await;
            assert!(refused.status == status || refused.status == StatusCode::CONFLICT, "{body}: {}", refused.status);
        }
        send(&student, path, "application/json", patch).await.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }

    async fn a_picture_is_found_and_removed(app: TestApp) {
        let (student, peer) = (app.user("student1").await, app.user("student2").await);
        let path = format!("/api/users/{}/profile/image", id_of(&student).await);
        let details = peer.get(&format!("{path}/details")).await.expect(StatusCode::OK).json();
        assert_eq!((&details["isDefault"], &details["status"]), (&json!(false), &json!("SUCCESS")));
        let stranger = app.user("instructor2").await;
        let details = stranger.get(&format!("{path}/details")).await.expect(StatusCode::OK).json();
        assert_eq!(details, json!({"url": "", "isDefault": true, "status": "SUCCESS"}));
        let removed = student.delete("/api/users/me/profile/image").await;
        assert_eq!(removed.expect(StatusCode::OK).json(), json!({"status": "SUCCESS"}));
        student.delete("/api/users/me/profile/pronunciation").await.expect(StatusCode::OK);
        let details = peer.get(&format!("{path}/details")).await.expect(StatusCode::OK).json();
        assert_eq!(details["isDefault"], json!(true));
    }
}
