//! `/direct/user`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Client, TestApp, both};

use super::{XML, created, id_of, list, read, text};
use crate::shape::{METADATA, assert_shape};

const SHAPE: &str = "id text, eid text, displayId text, displayName text, sortName text, firstName text, \
    lastName text, email text, type text, owner text?, password null, props object, reference text, url url, \
    createdDate whole, createdTime moment, lastModified whole, modifiedDate whole, modifiedTime moment";

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

    async fn users_see_themselves_with_the_keys_that_clients_read(app: TestApp) {
        let student = app.user("student1").await;
        let user = read(&student, "/direct/user/current.json").await;
        assert_shape(&user, &[SHAPE, METADATA]);
        assert_eq!(user["displayName"], "Ada Moreau");
        assert_eq!(user["sortName"], "Moreau, Ada");
        assert_eq!(user["entityTitle"], "Ada Moreau");
        let id = text(&user, "id");
        for name in ["student1", &id, &format!("id={id}")] {
            assert_eq!(read(&student, &format!("/direct/user/{name}.json")).await, user, "{name}");
        }
    }

    async fn nobody_is_a_user_with_an_empty_id(app: TestApp) {
        let nobody = read(&app.anonymous(), "/direct/user/current.json").await;
        assert_shape(&nobody, &["id text, eid text, displayId text, displayName text, sortName text, \
            firstName text, lastName text, email text, type text, owner null, password null, props object, \
            reference text, url text, createdDate null, createdTime null, lastModified null, \
            modifiedDate null, modifiedTime null", METADATA]);
        assert_eq!(nobody["id"], "");
    }

    async fn others_look_the_same_whether_they_exist_or_not(app: TestApp) {
        let student = app.user("student1").await;
        let strip = |mut it: Value| {
            it["error"]["requestId"].take();
            it
        };
        let known = student.get("/direct/user/student2.json").await;
        let unknown = student.get("/direct/user/student99.json").await;
        known.expect(StatusCode::FORBIDDEN);
        unknown.expect(StatusCode::FORBIDDEN);
        assert_eq!(strip(known.json()), strip(unknown.json()));
        let stranger = app.anonymous();
        stranger.get("/direct/user/student2.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn whether_a_user_exists_is_told_without_a_body(app: TestApp) {
        let admin = app.user("admin").await;
        let answer = admin.get("/direct/user/student1/exists").await;
        assert!(answer.expect(StatusCode::NO_CONTENT).body.is_empty());
        admin.get("/direct/user/student99/exists").await.expect(StatusCode::NOT_FOUND);
    }

    async fn administrators_list_and_find_users(app: TestApp) {
        let admin = app.user("admin").await;
        let all = list(&admin, "/direct/user.json", "user").await;
        assert_eq!(all.len(), 24);
        for user in &all {
            assert_shape(user, &[SHAPE, "disabled flag", METADATA]);
        }
        let found = list(&admin, "/direct/user.json?search=lindqvist", "user").await;
        assert_eq!((found.len(), &found[0]["eid"]), (1, &json!("instructor2")));
        let student = app.user("student1").await;
        student.get("/direct/user.json").await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_new_user_can_log_in(app: TestApp) {
        let user = create(&app.user("admin").await).await;
        assert_shape(&user, &[SHAPE, "disabled flag", METADATA]);
        assert_eq!((&user["password"], &user["type"]), (&json!(null), &json!("registered")));
        let newton = app.anonymous().log_in("newton", "principia-1687").await;
        assert_eq!(id_of(&newton).await, text(&user, "id"));
    }

    async fn a_user_is_created_from_a_form_and_from_xml(app: TestApp) {
        let admin = app.user("admin").await;
        let answer = admin.post_form("/direct/user/new", "eid=hooke&lastName=Hooke").await;
        let user = read(&admin, &format!("/direct/user/{}.json", created(&answer, "user"))).await;
        assert_eq!((&user["eid"], &user["email"]), (&json!("hooke"), &json!("")));
        let xml = "<user><eid>halley</eid><lastName>Halley &amp; Co</lastName></user>";
        let answer = admin.send(Method::POST, "/direct/user", XML, xml.into()).await;
        created(&answer, "user");
        assert_eq!(answer.json()["displayName"], "Halley & Co");
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

    async fn users_change_their_own_name_and_nothing_that_is_not_theirs(app: TestApp) {
        let student = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let body = json!({"firstName": "Augusta"});
        student.put(&path, &body).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &path).await["displayName"], "Augusta Moreau");
        student.put(&path, &json!({"type": "admin"})).await.expect(StatusCode::FORBIDDEN);
        let other = format!("/direct/user/{}", id_of(&app.user("student2").await).await);
        student.put(&other, &body).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_new_password_ends_the_sessions_of_the_old_one(app: TestApp) {
        let student = app.user("student1").await;
        let thief = app.user("student1").await;
        let path = format!("/direct/user/{}", id_of(&student).await);
        let body = json!({"password": "a-better-one"});
        student.put(&path, &body).await.expect(StatusCode::NO_CONTENT);
        thief.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
        let again = app.anonymous().log_in("student1", "a-better-one").await;
        again.get("/direct/site.json").await.expect(StatusCode::OK);
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

    async fn of_two_who_want_an_address_at_once_one_gets_it(app: TestApp) {
        let (first, second) = (app.user("student1").await, app.user("student2").await);
        let path = async |client: &Client| format!("/direct/user/{}", id_of(client).await);
        let (own, other) = (path(&first).await, path(&second).await);
        for round in 0..10 {
            let wanted = json!({"email": format!("wanted{round}@example.edu")});
            let (one, two) = tokio::join!(first.put(&own, &wanted), second.put(&other, &wanted));
            let mut statuses = [one.status, two.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [StatusCode::NO_CONTENT, StatusCode::CONFLICT]);
        }
    }

    async fn a_deleted_user_is_gone(app: TestApp) {
        let admin = app.user("admin").await;
        let path = format!("/direct/user/{}", text(&create(&admin).await, "id"));
        let newton = app.anonymous().log_in("newton", "principia-1687").await;
        newton.delete(&path).await.expect(StatusCode::FORBIDDEN);
        admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
        admin.get(&path).await.expect(StatusCode::NOT_FOUND);
        newton.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }
}
