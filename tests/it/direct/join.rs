//! Joining and leaving a site, and not being seen in it.

use http::{Method, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::json;
use tests::{Client, TestApp, both};

use super::{FORM, id_of, list, read, text};

const TRIP: &str = "/direct/membership/site/field-trip.json";

async fn post(client: &Client, path: &str) -> StatusCode {
    client
        .send(
            Method::POST,
            &format!("/direct/membership/{path}"),
            FORM,
            "".into(),
        )
        .await
        .status
}

/// Hides the caller in a site, or no longer.
async fn hide(client: &Client, site: &str, method: Method) -> StatusCode {
    let path = format!(
        "/direct/membership/{}::site:{site}/hidden",
        id_of(client).await
    );
    client.send(method, &path, FORM, "".into()).await.status
}

async fn sees(client: &Client, path: &str, id: &str) -> bool {
    let members = list(client, path, "membership").await;
    members.iter().any(|it| it["userId"] == id)
}

both! {
    async fn anybody_joins_a_site_that_is_open_to_it(app: TestApp) {
        let student = app.user("student9").await;
        student.get("/direct/announcement/site/field-trip").await.expect(StatusCode::FORBIDDEN);
        for path in ["join/field-trip", "join/site/field-trip", "join?siteId=field-trip"] {
            assert_eq!(post(&student, path).await, StatusCode::OK, "{path}");
            let own = format!("/direct/membership/{}::site:field-trip", id_of(&student).await);
            let member = read(&student, &own).await;
            assert_eq!((&member["memberRole"], &member["active"]), (&json!("access"), &json!(true)));
            student.get("/direct/announcement/site/field-trip").await.expect(StatusCode::OK);
            let path = path.replace("join", "unjoin");
            assert_eq!(post(&student, &path).await, StatusCode::OK, "{path}");
            student.get(&own).await.expect(StatusCode::NOT_FOUND);
        }
    }

    async fn joining_and_leaving_twice_is_as_once(app: TestApp) {
        let student = app.user("student9").await;
        let teacher = app.user("instructor1").await;
        for _ in 0..2 {
            assert_eq!(post(&student, "join/field-trip").await, StatusCode::OK);
        }
        assert_eq!(list(&teacher, TRIP, "membership").await.len(), 7);
        for _ in 0..2 {
            assert_eq!(post(&student, "unjoin/field-trip").await, StatusCode::OK);
        }
        assert_eq!(list(&teacher, TRIP, "membership").await.len(), 6);
    }

    async fn every_site_is_left_unless_the_student_system_put_one_there(app: TestApp) {
        let student = app.user("student1").await;
        assert_eq!(post(&student, "unjoin/biology-101").await, StatusCode::OK);
        student.get("/direct/site/biology-101").await.expect(StatusCode::FORBIDDEN);
        let provide = "UPDATE membership SET is_provided = TRUE WHERE site_id = 'biology-101'";
        let content = &app.service().storage.content.writer;
        content.execute_unprepared(provide).await.expect("members that are provided");
        let other = app.user("student2").await;
        assert_eq!(post(&other, "unjoin/biology-101").await, StatusCode::FORBIDDEN);
        let own = format!("/direct/membership/{}::site:biology-101", id_of(&other).await);
        other.delete(&own).await.expect(StatusCode::FORBIDDEN);
        other.get("/direct/site/biology-101").await.expect(StatusCode::OK);
    }

    async fn joining_gives_nobody_back_what_was_taken(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let path = format!("/direct/membership/{}::site:field-trip", id_of(&student).await);
        teacher.put(&path, &json!({"active": false})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(post(&student, "join/field-trip").await, StatusCode::OK);
        assert_eq!(read(&teacher, &path).await["active"], false);
        student.get("/direct/announcement/site/field-trip").await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_role_that_looks_after_the_site_is_not_joined_into(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let answer = teacher.post("/direct/site/field-trip/setPerms", &json!({"access:site.upd": true})).await;
        answer.expect(StatusCode::OK);
        let student = app.user("student9").await;
        assert_eq!(post(&student, "join/field-trip").await, StatusCode::FORBIDDEN);
    }

    async fn the_last_who_looks_after_a_site_stays(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let helper = app.user("ta1").await;
        let path = format!("/direct/membership/{}::site:field-trip", id_of(&teacher).await);
        assert_eq!(post(&teacher, "unjoin/field-trip").await, StatusCode::CONFLICT);
        teacher.delete(&path).await.expect(StatusCode::CONFLICT);
        teacher.put(&path, &json!({"memberRole": "access"})).await.expect(StatusCode::CONFLICT);
        teacher.put(&path, &json!({"active": false})).await.expect(StatusCode::CONFLICT);
        assert_eq!(read(&teacher, &path).await["memberRole"], "maintain");
        let of_helper = format!("/direct/membership/{}::site:field-trip", id_of(&helper).await);
        teacher.put(&of_helper, &json!({"memberRole": "maintain"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(post(&teacher, "unjoin/field-trip").await, StatusCode::OK);
        // An administrator looks after everything, and so may leave a site to nobody, but not the service.
        let admin = app.user("admin").await;
        admin.delete(&of_helper).await.expect(StatusCode::NO_CONTENT);
        let own = format!("/direct/membership/{}::site:!admin", id_of(&admin).await);
        admin.delete(&own).await.expect(StatusCode::CONFLICT);
    }

    async fn who_does_not_want_to_be_seen_is_seen_by_few(app: TestApp) {
        let (shy, peer) = (app.user("student2").await, app.user("student1").await);
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let id = id_of(&shy).await;
        let own = format!("/direct/membership/{id}::site:field-trip");
        assert!(sees(&peer, TRIP, &id).await);
        assert_eq!(hide(&shy, "field-trip", Method::PUT).await, StatusCode::NO_CONTENT);
        assert_eq!(hide(&shy, "biology-101", Method::PUT).await, StatusCode::NO_CONTENT);
        assert_eq!(read(&shy, &own).await["hidden"], true);
        // In a project nobody holds the function by default, in a course instructors do.
        for (client, is_seen) in [(&peer, false), (&teacher, false), (&admin, true), (&shy, true)] {
            assert_eq!(sees(client, TRIP, &id).await, is_seen);
            let status = if is_seen { StatusCode::OK } else { StatusCode::NOT_FOUND };
            client.get(&own).await.expect(status);
            for path in [
                "/direct/membership.json?siteId=field-trip&_count=exact".to_owned(),
                "/direct/membership.json?locationReference=/site/field-trip&_count=exact".to_owned(),
            ] {
                let answer = client.get(&path).await;
                let count = if is_seen { "6" } else { "5" };
                assert_eq!(answer.header("x-total-count"), Some(count), "{path}");
                assert_eq!(answer.text().contains(&id), is_seen, "{path}");
            }
            let memberships = client.get("/direct/site/field-trip/memberships.csv").await;
            assert_eq!(memberships.text().contains(&id), is_seen);
            let batch = client.get(&format!("/direct/batch.json?_refs=membership/{id}::site:field-trip,membership/site/field-trip")).await;
            assert_eq!(batch.text().contains("student2@example.edu") || batch.text().contains("Osei"), is_seen);
        }
        assert!(sees(&teacher, "/direct/membership/site/biology-101.json", &id).await);
        let of_shy = format!("/direct/membership.json?userId={id}");
        assert_eq!(list(&peer, &of_shy, "membership").await.len(), 0);
        assert_eq!(list(&teacher, &of_shy, "membership").await.len(), 1);
        assert_eq!(list(&shy, "/direct/membership.json", "membership").await.len(), 2);

        let hidden = format!("{own}/hidden");
        teacher.delete(&hidden).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(hide(&shy, "field-trip", Method::DELETE).await, StatusCode::NO_CONTENT);
        assert!(sees(&peer, TRIP, &id).await);
        teacher.send(Method::PUT, &hidden, FORM, "".into()).await.expect(StatusCode::FORBIDDEN);
    }

    async fn memberships_in_few_words_say_nothing_of_the_user(app: TestApp) {
        let student = app.user("student1").await;
        let found = list(&student, "/direct/membership/fastroles.json", "membership").await;
        let roles: Vec<(String, String)> =
            found.iter().map(|it| (text(it, "siteId"), text(it, "memberRole"))).collect();
        let expected = [("biology-101", "Student"), ("field-trip", "access")];
        assert_eq!(roles, expected.map(|(site, role)| (site.to_owned(), role.to_owned())));
        assert!(found.iter().all(|it| it["userEid"] == "" && it["userDisplayName"] == ""));
        let teacher = app.user("instructor1").await;
        let path = format!("/direct/membership/fastroles/{}?includeGroups=true", id_of(&student).await);
        assert_eq!(list(&teacher, &path, "membership").await.len(), 3);
    }
}
