//! `/direct/membership`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{id_of, list, read, text};

/// The path of the membership of `client`'s user in a site.
async fn path_of(client: &Client, site: &str) -> String {
    format!("/direct/membership/{}::site:{site}", id_of(client).await)
}

both! {
    async fn y15_whom_the_student_system_put_there_stays(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let path = path_of(&student, "biology-101").await;
        let provided = format!("{path}/provided");
        admin.put(&provided, &json!({})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{path}.json")).await["provided"], true);
        student.delete(&path).await.expect(StatusCode::FORBIDDEN);
        admin.delete(&provided).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{path}.json")).await["provided"], false);
        student.delete(&path).await.expect(StatusCode::NO_CONTENT);
        admin.put(&provided, &json!({})).await.expect(StatusCode::NOT_FOUND);
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
}
