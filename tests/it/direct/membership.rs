//! `/direct/membership`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{FORM, JSON, XML, created, id_of, list, read, text};
use crate::shape::{METADATA, assert_shape};

pub(super) const SHAPE: &str = "id text, userId text, userEid text, userDisplayId text, userDisplayName text, \
    userFirstName text, userLastName text, userSortName text, userEmail text, memberRole text, active flag, \
    provided flag, hidden flag, locationReference text, siteId text, siteType text?, lastLoginTime whole?";
const OF_TRIP: &str = "/direct/membership/site/field-trip.json";

/// The path of the membership of `client`'s user in a site.
async fn path_of(client: &Client, site: &str) -> String {
    format!("/direct/membership/{}::site:{site}", id_of(client).await)
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let members = list(client, path, "membership").await;
    members.iter().map(|it| text(it, "userEid")).collect()
}

fn newcomer() -> Value {
    json!({"userEid": "student9", "locationReference": "/site/field-trip", "memberRole": "access"})
}

both! {
    async fn y15_whom_the_student_system_put_there_stays(app: TestApp) {
        let (admin, teacher, student) = (app.user("admin").await, app.user("instructor1").await, app.user("student1").await);
        let path = path_of(&student, "biology-101").await;
        let provided = format!("{path}/provided");
        for client in [&student, &teacher] {
            client.put(&provided, &json!({})).await.expect(StatusCode::FORBIDDEN);
        }
        admin.put(&provided, &json!({})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{path}.json")).await["provided"], true);
        student.delete(&path).await.expect(StatusCode::FORBIDDEN);
        admin.delete(&provided).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{path}.json")).await["provided"], false);
        student.delete(&path).await.expect(StatusCode::NO_CONTENT);
        admin.put(&provided, &json!({})).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_membership_has_the_keys_that_clients_read(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for member in list(&teacher, OF_TRIP, "membership").await {
            assert_shape(&member, &[SHAPE, METADATA]);
            let id = format!("{}::site:field-trip", text(&member, "userId"));
            assert_eq!((&member["id"], &member["entityId"]), (&json!(id), &json!(id)));
            assert_eq!(member["locationReference"], "/site/field-trip");
            assert_eq!(read(&teacher, &format!("/direct/membership/{id}.json")).await, member);
        }
    }

    async fn members_are_listed_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let members = list(&teacher, OF_TRIP, "membership").await;
        let listed = members.iter().map(|it| text(it, "userSortName")).collect::<Vec<_>>();
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        assert_eq!((listed.len(), listed), (6, sorted));
    }

    async fn the_list_is_of_the_callers_own(app: TestApp) {
        let student = app.user("student12").await;
        let own = list(&student, "/direct/membership.json", "membership").await;
        let sites = own.iter().map(|it| text(it, "siteId")).collect::<Vec<_>>();
        assert_eq!(sites, ["biology-101", "history-210"]);
        assert!(own.iter().all(|it| it["userEid"] == "student12"));
    }

    async fn students_see_their_own_membership_but_no_roster(app: TestApp) {
        let student = app.user("student1").await;
        let own = path_of(&student, "biology-101").await;
        assert_eq!(read(&student, &own).await["memberRole"], "Student");
        let other = path_of(&app.user("student2").await, "biology-101").await;
        student.get(&other).await.expect(StatusCode::NOT_FOUND);
        let outsider = app.user("instructor2").await;
        outsider.get("/direct/membership/site/biology-101.json").await.expect(StatusCode::FORBIDDEN);
        outsider.get("/direct/membership/site/nowhere.json").await.expect(StatusCode::NOT_FOUND);
    }

    async fn members_are_added_from_json_form_and_xml(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (eid, media_type, body) in [
            ("student9", JSON, newcomer().to_string()),
            ("student10", FORM, "userEid=student10&locationReference=%2Fsite%2Ffield-trip".to_owned()),
            ("student11", XML, "<membership><userEid>student11</userEid>\
                <locationReference>/site/field-trip</locationReference></membership>".to_owned()),
        ] {
            let answer = teacher.send(Method::POST, "/direct/membership", media_type, body.into()).await;
            let path = format!("/direct/membership/{}.json", created(&answer, "membership"));
            let member = read(&teacher, &path).await;
            assert_eq!((&member["userEid"], &member["memberRole"]), (&json!(eid), &json!("access")));
        }
        assert_eq!(names(&teacher, OF_TRIP).await.len(), 9);
    }

    async fn a_role_is_changed_and_counts_at_once(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let helper = app.user("ta1").await;
        let news = json!({"siteId": "field-trip", "title": "Boots"});
        helper.post("/direct/announcement", &news).await.expect(StatusCode::FORBIDDEN);
        let path = path_of(&helper, "field-trip").await;
        let changes = json!({"memberRole": "maintain"});
        teacher.put(&path, &changes).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await["memberRole"], "maintain");
        helper.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
    }

    async fn who_is_removed_is_out(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let path = path_of(&student, "biology-101").await;
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
        student.get("/direct/site/biology-101").await.expect(StatusCode::FORBIDDEN);
    }

    async fn members_leave_every_site(app: TestApp) {
        let student = app.user("student1").await;
        for site in ["field-trip", "biology-101"] {
            let own = path_of(&student, site).await;
            student.delete(&own).await.expect(StatusCode::NO_CONTENT);
            student.get(&own).await.expect(StatusCode::NOT_FOUND);
        }
        let other = app.user("student2").await;
        student.delete(&path_of(&other, "biology-101").await).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_roster_tells_no_more_than_the_name_of_who_was_not_enrolled(app: TestApp) {
        // One joins by oneself, one accepts an invitation; the others were enrolled.
        let teacher = app.user("instructor1").await;
        let [joined, accepted] = [app.user("student9").await, app.user("student5").await];
        joined.post("/direct/membership/join/field-trip", &json!({})).await.expect(StatusCode::OK);
        let invited = list(&accepted, "/direct/invitation.json?siteId=field-trip", "invitation").await;
        let invitation = format!("/direct/invitation/{}/accept", text(&invited[0], "entityId"));
        accepted.post(&invitation, &json!({})).await.expect(StatusCode::NO_CONTENT);
        let roster = "/direct/membership/site/field-trip";
        let facts = |member: &Value| {
            let is_told = |key: &str| member[key].as_str().is_some_and(|it| !it.is_empty());
            (is_told("userEid"), is_told("userDisplayId"), is_told("userEmail"), member["lastLoginTime"].is_i64())
        };
        let (told, hidden) = ((true, true, true, true), (false, false, false, false));
        for (client, name, expected) in [
            (&joined, "Ines Haddad", hidden), (&accepted, "Elif Yılmaz", told), (&app.user("student1").await, "Ada Moreau", told),
        ] {
            let members = list(&teacher, roster, "membership").await;
            let member = members.iter().find(|it| it["userDisplayName"] == name).expect("a member");
            assert_eq!(facts(member), expected, "{name}");
            let path = path_of(client, "field-trip").await;
            assert_eq!(facts(&read(&teacher, &path).await), expected, "{name}");
            assert_eq!(facts(&read(client, &path).await), told, "{name} themselves");
            assert_eq!(facts(&read(&app.user("admin").await, &path).await), told, "{name} to administrators");
        }
        for format in ["json", "xml", "csv", "html"] {
            let answer = teacher.get(&format!("{roster}.{format}?_expand=userId&_count=exact")).await;
            assert!(!answer.text().contains("student9"), "{format}: {}", answer.text());
        }
        // Nor does a question tell what the answer does not.
        for field in ["userEmail", "userEid", "userDisplayId", "lastLoginTime"] {
            for query in [format!("{field}=student9"), format!("_order={field}"), format!("{field}[like]=student9")] {
                teacher.get(&format!("{roster}.json?{query}")).await.expect(StatusCode::BAD_REQUEST);
            }
        }
        // Nor does a group, by whose name it takes.
        let by_id = id_of(&joined).await;
        for (name, status) in [
            ("student9", StatusCode::BAD_REQUEST), ("student9@example.edu", StatusCode::BAD_REQUEST),
            ("nobody", StatusCode::BAD_REQUEST), ("instructor2", StatusCode::BAD_REQUEST),
            ("student5", StatusCode::OK), (by_id.as_str(), StatusCode::OK),
        ] {
            let body = json!({"groupTitle": "Drivers", "userIds": name});
            let answer = teacher.put("/direct/site/field-trip/group", &body).await;
            answer.expect(status);
            if status == StatusCode::BAD_REQUEST {
                let message = format!("`userIds` has `{name}`, which is no member of the site");
                assert_eq!(answer.json()["error"]["message"], message);
            }
        }
    }

    async fn nobody_adds_members_who_may_not(app: TestApp) {
        let student = app.user("student1").await;
        student.post("/direct/membership", &newcomer()).await.expect(StatusCode::FORBIDDEN);
        app.anonymous().post("/direct/membership", &newcomer()).await.expect(StatusCode::UNAUTHORIZED);
    }
}
