//! `/direct/user`

use http::StatusCode;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Client, TestApp, both};

use super::{created, id_of, list, read, text};

async fn create(admin: &Client) -> Value {
    let body = json!({"eid": "newton", "firstName": "Isaac", "lastName": "Newton",
        "email": "newton@example.edu", "password": "principia-1687"});
    let answer = admin.post("/direct/user.json", &body).await;
    created(&answer, "user");
    answer.json()
}

both! {
    async fn a_name_that_an_address_takes_for_something_else_is_refused(app: TestApp) {
        let admin = app.user("admin").await;
        for (path, field, names) in [
            ("user", "eid", &["new", "current", "Describe", "x.json", "ada.xml", "a.b.csv", "cal.ics"][..]),
            ("site", "id", &["new", "withPerm", "describe", "edit"]),
        ] {
            for name in names {
                let body = serde_json::json!({field: name, "title": "T"});
                let body = match path {
                    "user" => serde_json::json!({field: name}),
                    _ => body,
                };
                let refused = admin.post(&format!("/direct/{path}"), &body).await;
                refused.expect(StatusCode::BAD_REQUEST);
                let told = &refused.json()["error"]["fields"][0];
                assert_eq!(told["name"], field, "{name}");
                let message = told["message"].as_str().expect("a message");
                let is_told = message.contains("is reserved") || message.contains("which is a format");
                assert!(is_told, "{name}: {message}");
            }
        }
        let fine = serde_json::json!({"eid": "x.jsonx"});
        admin.post("/direct/user", &fine).await.expect(StatusCode::CREATED);
    }

    async fn users_see_themselves_by_each_of_their_names(app: TestApp) {
        let student = app.user("student1").await;
        let user = read(&student, "/direct/user/current.json").await;
        assert_eq!(user["displayName"], "Ada Moreau");
        assert_eq!(user["sortName"], "Moreau, Ada");
        assert_eq!(user["entityTitle"], "Ada Moreau");
        let id = text(&user, "id");
        for name in ["student1", "STUDENT1", &id, &format!("id={id}")] {
            assert_eq!(read(&student, &format!("/direct/user/{name}.json")).await, user, "{name}");
        }
    }

    async fn a_new_user_can_log_in(app: TestApp) {
        let user = create(&app.user("admin").await).await;
        assert_eq!((&user["password"], &user["type"]), (&json!(null), &json!("registered")));
        let newton = app.anonymous().log_in("newton", "principia-1687").await;
        assert_eq!(id_of(&newton).await, text(&user, "id"));
    }

    async fn two_users_have_not_the_same_eid(app: TestApp) {
        let admin = app.user("admin").await;
        create(&admin).await;
        for eid in ["newton", "Newton"] {
            admin.post("/direct/user", &json!({"eid": eid})).await.expect(StatusCode::CONFLICT);
        }
        admin.post("/direct/user", &json!({"eid": "a b"})).await.expect(StatusCode::BAD_REQUEST);
        admin.post("/direct/user", &json!({"email": "x@y"})).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn a_new_password_ends_the_sessions_of_the_old_one(app: TestApp) {
        let student = app.user("student1").await;
        let thief = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let body = json!({"password": "a-better-one", "currentPassword": PASSWORD});
        let answer = student.put(&path, &body).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(answer.header("x-ended"), Some("other sessions, private feeds"));
        thief.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        let again = app.anonymous().log_in("student1", "a-better-one").await;
        again.get("/direct/site.json").await.expect(StatusCode::OK);
    }

    async fn whoever_changes_their_own_password_knows_the_present_one(app: TestApp) {
        let thief = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&thief).await);
        for path in [path.as_str(), "/direct/user/student1", "/direct/user/STUDENT1"] {
            for current in [json!(null), json!(""), json!("wrong")] {
                let body = json!({"password": "a-better-one", "currentPassword": current});
                let answer = thief.put(path, &body).await;
                answer.expect(StatusCode::BAD_REQUEST);
                assert_eq!(answer.json()["error"]["fields"][0]["name"], "currentPassword");
            }
        }
        let batch = json!({"atomic": true, "operations": [{"method": "PUT", "path": path, "body": {"password": "a-better-one"}}]});
        thief.post("/direct/batch.json", &batch).await.expect(StatusCode::BAD_REQUEST);
        // Guesses are counted, also those that are rehearsed, and nobody else has to wait for it.
        let prefer = http::HeaderName::from_static("prefer");
        let dry = thief.clone().with_header(prefer, "tx=rollback");
        let guess = json!({"password": "a-better-one", "currentPassword": "wrong"});
        let mut statuses = Vec::new();
        for _ in 0..12 {
            statuses.push(dry.put(&path, &guess).await);
        }
        let last = statuses.pop().expect("an answer");
        last.expect(StatusCode::TOO_MANY_REQUESTS);
        assert!(last.header("retry-after").is_some());
        let right = json!({"password": "a-better-one", "currentPassword": PASSWORD});
        thief.put(&path, &right).await.expect(StatusCode::TOO_MANY_REQUESTS);
        let other = app.user("student2").await;
        other.put("/direct/user/student2", &right).await.expect(StatusCode::NO_CONTENT);
        app.advance(chrono::TimeDelta::minutes(6));
        app.user("student1").await.put(&path, &right).await.expect(StatusCode::NO_CONTENT);
        let shown = app.anonymous().log_in("student1", "a-better-one").await.get("/direct/user/current.json").await;
        assert!(!shown.text().contains("currentPassword") && !shown.text().contains("keepFeeds"));
    }

    async fn a_new_password_ends_private_feeds_unless_they_are_kept(app: TestApp) {
        let student = app.user("student1").await;
        let admin = app.user("admin").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let feeds = async || list(&student, "/direct/feed.json", "feed").await.len();
        let make = json!({"path": "/announcement/user"});
        student.post("/direct/feed", &make).await.expect(StatusCode::CREATED);
        let kept = json!({"password": "a-better-one", "currentPassword": PASSWORD, "keepFeeds": true});
        let answer = student.put(&path, &kept).await;
        assert_eq!((answer.status, answer.header("x-ended")), (StatusCode::NO_CONTENT, Some("other sessions")));
        assert_eq!(feeds().await, 1);
        let ended = json!({"password": "a-still-better-one", "currentPassword": "a-better-one"});
        let prefer = http::HeaderName::from_static("prefer");
        let dry = student.clone().with_header(prefer, "tx=rollback");
        dry.put(&path, &ended).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(feeds().await, 1);
        student.put(&path, &ended).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(feeds().await, 0);
        // An administrator knows no password, and ends all sessions.
        let answer = admin.put(&path, &json!({"password": "the-admin-says"})).await;
        assert_eq!((answer.status, answer.header("x-ended")), (StatusCode::NO_CONTENT, Some("all sessions, private feeds")));
        student.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        let own = format!("/direct/user/{}", id_of(&admin).await);
        admin.put(&own, &json!({"password": "the-admin-says"})).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn nobody_finds_out_whose_addresses_there_are(app: TestApp) {
        let student = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let prefer = http::HeaderName::from_static("prefer");
        let dry = student.clone().with_header(prefer, "tx=rollback");
        let mut answers = 0;
        for number in 0..50 {
            let email = json!({"email": format!("student{number}@example.edu")});
            let client = if number % 2 == 0 { &student } else { &dry };
            let answer = client.put(&path, &email).await;
            match answer.status {
                StatusCode::TOO_MANY_REQUESTS => assert!(answer.header("retry-after").is_some()),
                _ => answers += 1,
            }
        }
        assert!(answers <= 11, "{answers} answers");
        let operations: Vec<_> = (20..40)
            .map(|it| json!({"method": "PUT", "path": path, "body": {"email": format!("nobody{it}@example.edu")}}))
            .collect();
        let answer = student.post("/direct/batch.json", &json!({"atomic": false, "operations": operations})).await;
        let results = answer.json()["results"].as_array().expect("results").clone();
        assert!(results.iter().all(|it| it["status"] == 429), "{}", answer.text());
        // What is not an address, and the address that one has, are no tries.
        student.put(&path, &json!({"firstName": "Adele"})).await.expect(StatusCode::NO_CONTENT);
    }

    async fn nobody_takes_the_address_of_somebody_else(app: TestApp) {
        let student = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        for email in ["student2@example.edu", "Student2@EXAMPLE.edu", " student2@example.edu"] {
            let answer = student.put(&path, &json!({"email": email})).await;
            answer.expect(StatusCode::CONFLICT);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], "email");
        }
        let other = app.anonymous().log_in("student2@example.edu", PASSWORD).await;
        other.get("/direct/site.json").await.expect(StatusCode::OK);
        for email in ["STUDENT1@example.edu", "", "student1@example.org"] {
            student.put(&path, &json!({"email": email})).await.expect(StatusCode::NO_CONTENT);
        }
        let admin = app.user("admin").await;
        let shared = json!({"email": "student2@example.edu"});
        admin.put(&path, &shared).await.expect(StatusCode::NO_CONTENT);
        let sent_back = json!({"email": "student2@example.edu", "firstName": "Ada"});
        student.put(&path, &sent_back).await.expect(StatusCode::NO_CONTENT);
    }

    async fn nobody_takes_for_an_address_the_external_id_of_somebody_else(app: TestApp) {
        let admin = app.user("admin").await;
        let other = json!({"eid": "newton@example.edu", "password": "principia-1687"});
        admin.post("/direct/user.json", &other).await.expect(StatusCode::CREATED);
        let student = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let answer = student.put(&path, &json!({"email": "Newton@example.edu"})).await;
        answer.expect(StatusCode::CONFLICT);
    }

    async fn a_deleted_user_is_gone(app: TestApp) {
        let admin = app.user("admin").await;
        let path = format!("/direct/user/{}", text(&create(&admin).await, "id"));
        let newton = app.anonymous().log_in("newton", "principia-1687").await;
        admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
        admin.get(&path).await.expect(StatusCode::NOT_FOUND);
        newton.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }
}
