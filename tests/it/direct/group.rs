//! `/direct/site/…/group` and the memberships of groups.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{FORM, created, id_of, list, read, text};

const SITE: &str = "/direct/site/biology-101";

/// The ids of the two groups of the course, by title.
async fn labs(client: &Client) -> [String; 2] {
    let site = read(client, SITE).await;
    let groups = site["siteGroups"].as_array().expect("groups");
    [text(&groups[0], "id"), text(&groups[1], "id")]
}

/// The external ids of those in a group, by name.
async fn eids(client: &Client, group: &str) -> Vec<String> {
    let path = format!("/direct/membership/group/{group}.json");
    let members = list(client, &path, "membership").await;
    let mut eids: Vec<String> = members.iter().map(|it| text(it, "userEid")).collect();
    eids.sort_unstable();
    eids
}

async fn make(client: &Client, query: &str) -> Value {
    let path = format!("{SITE}/group.json?{query}");
    let answer = client.send(Method::PUT, &path, FORM, "".into()).await;
    answer.expect(StatusCode::OK);
    answer.json()
}

async fn change(client: &Client, group: &str, action: &str, users: &str) -> StatusCode {
    let path = format!("/direct/membership/group/{group}");
    let form = format!("action={action}&userIds={users}");
    client.post_form(&path, &form).await.status
}

both! {
    async fn a_group_is_made_changed_and_deleted(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let made = make(&teacher, "groupTitle=Lab%20C&groupDescription=Fridays&userIds=student1,student2").await;
        let id = text(&made, "id");
        let path = format!("{SITE}/group/{id}");
        assert_eq!(made["reference"], format!("/site/biology-101/group/{id}"));
        assert_eq!(eids(&teacher, &id).await, ["student1", "student2"]);
        assert_eq!(read(&teacher, &format!("{path}.json")).await, made);
        let listed = read(&teacher, &format!("{SITE}.json?includeGroups=true")).await;
        assert_eq!(listed["siteGroups"][2]["title"], "Lab C");

        let answer = teacher.post(&path, &json!({"groupTitle": "Lab D"})).await;
        answer.expect(StatusCode::OK);
        let changed = answer.json();
        assert_eq!((&changed["title"], &changed["description"]), (&json!("Lab D"), &json!("Fridays")));
        teacher.post(&path, &json!({"groupDescription": "x"})).await.expect(StatusCode::BAD_REQUEST);

        teacher.delete(&path).await.expect(StatusCode::OK);
        for path in [path, format!("/direct/membership/group/{id}")] {
            teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
        }
    }

    async fn a_group_is_one_of_its_site_and_has_members_of_it_only(app: TestApp) {
        let admin = app.user("admin").await;
        let [lab, _] = labs(&admin).await;
        admin.get(&format!("/direct/site/history-210/group/{lab}")).await.expect(StatusCode::NOT_FOUND);
        admin.delete(&format!("/direct/site/history-210/group/{lab}")).await.expect(StatusCode::NOT_FOUND);
        for query in ["groupTitle=%20", "groupDescription=x", "groupTitle=A&userIds=instructor2", "groupTitle=A&userIds=nobody"] {
            let answer = admin.send(Method::PUT, &format!("{SITE}/group?{query}"), FORM, "".into()).await;
            answer.expect(StatusCode::BAD_REQUEST);
        }
        assert_eq!(read(&admin, SITE).await["siteGroups"].as_array().map(Vec::len), Some(2));
    }

    async fn many_are_added_and_removed_at_once(app: TestApp) {
        let helper = app.user("ta1").await;
        let [lab, _] = labs(&helper).await;
        assert_eq!(eids(&helper, &lab).await.len(), 11);
        assert_eq!(change(&helper, &lab, "add", "student1,student11").await, StatusCode::OK);
        assert_eq!(eids(&helper, &lab).await.len(), 12);
        assert_eq!(change(&helper, &lab, "remove", "student11,student12").await, StatusCode::OK);
        assert_eq!(eids(&helper, &lab).await.len(), 11);
        assert_eq!(change(&helper, &lab, "update", "student3&userIds=student20").await, StatusCode::OK);
        assert_eq!(eids(&helper, &lab).await, ["student20", "student3"]);
        assert_eq!(change(&helper, &lab, "update", "").await, StatusCode::OK);
        assert_eq!(eids(&helper, &lab).await, Vec::<String>::new());
        for (action, users) in [("add", "instructor2"), ("swap", "student1"), ("", "student1"), ("add", "%00")] {
            assert_eq!(change(&helper, &lab, action, users).await, StatusCode::BAD_REQUEST, "{action} {users}");
        }
        let path = format!("/direct/membership/group/{lab}");
        helper.post(&path, &json!({"action": "add"})).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn a_membership_of_a_group_is_an_entity(app: TestApp) {
        let helper = app.user("ta1").await;
        let [_, lab] = labs(&helper).await;
        let student = app.user("student1").await;
        let own = id_of(&student).await;
        for (reference, status) in [
            (format!("/group/{lab}"), StatusCode::CREATED),
            (format!("/site/biology-101/group/{lab}"), StatusCode::CONFLICT),
            (format!("/site/history-210/group/{lab}"), StatusCode::NOT_FOUND),
            ("/group/no-such-group".to_owned(), StatusCode::NOT_FOUND),
            ("/group/".to_owned(), StatusCode::BAD_REQUEST),
        ] {
            let draft = json!({"userId": own, "locationReference": reference});
            let answer = helper.post("/direct/membership", &draft).await;
            assert_eq!(answer.status, status, "{reference}: {}", answer.text());
            if status == StatusCode::CREATED {
                assert_eq!(created(&answer, "membership"), format!("{own}::group:{lab}"));
            }
        }
        let path = format!("/direct/membership/{own}::group:{lab}");
        for client in [&student, &helper] {
            let member = read(client, &format!("{path}.json")).await;
            assert_eq!(member["locationReference"], format!("/site/biology-101/group/{lab}"));
            assert_eq!(member["memberRole"], "Student");
        }
        // What somebody is in a group is what they are in the site.
        let teacher = app.user("instructor1").await;
        teacher.put(&path, &json!({"memberRole": "Student"})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"memberRole": "Instructor"})).await.expect(StatusCode::BAD_REQUEST);
        teacher.put(&path, &json!({"active": false})).await.expect(StatusCode::BAD_REQUEST);
        student.delete(&path).await.expect(StatusCode::FORBIDDEN);
        helper.delete(&path).await.expect(StatusCode::NO_CONTENT);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        let stranger = json!({"userEid": "instructor2", "locationReference": format!("/group/{lab}")});
        helper.post("/direct/membership", &stranger).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn lists_hold_sites_groups_or_both(app: TestApp) {
        let student = app.user("student1").await;
        let teacher = app.user("instructor1").await;
        let [lab, _] = labs(&teacher).await;
        let own = id_of(&student).await;
        let both = ["biology-101", "biology-101", "field-trip"];
        for (query, expected) in [
            ("", &["biology-101", "field-trip"][..]),
            ("?includeGroups=true", &both),
            ("?includeGroups=true&includeSites=false", &["biology-101"]),
            ("?includeGroups=true&role=access", &["field-trip"]),
        ] {
            let found = list(&student, &format!("/direct/membership.json{query}"), "membership").await;
            let mut sites: Vec<String> = found.iter().map(|it| text(it, "siteId")).collect();
            sites.sort_unstable();
            assert_eq!(sites, expected, "{query}");
            let counted = student.get(&format!("/direct/membership.json{query}{}_count=exact", if query.is_empty() { "?" } else { "&" })).await;
            assert_eq!(counted.header("x-total-count"), Some(expected.len().to_string().as_str()));
        }
        for (query, count) in [
            (format!("userId={own}&includeGroups=true"), 3),
            ("siteId=biology-101&includeGroups=true".to_owned(), 43),
            ("siteId=biology-101&includeGroups=true&includeSites=false".to_owned(), 21),
            (format!("groupId={lab}"), 11),
            (format!("groupId={lab}&userId={own}"), 1),
            (format!("locationReference=/group/{lab}&role=Instructor"), 0),
        ] {
            let found = list(&teacher, &format!("/direct/membership.json?{query}"), "membership").await;
            assert_eq!(found.len(), count, "{query}");
        }
        for (query, status) in [
            ("includeSites=false", StatusCode::BAD_REQUEST),
            ("includeSites=no", StatusCode::BAD_REQUEST),
            ("groupId=none", StatusCode::NOT_FOUND),
            ("locationReference=/site/a/group/", StatusCode::BAD_REQUEST),
            ("siteId=biology-101&includeGroups=true", StatusCode::FORBIDDEN),
        ] {
            student.get(&format!("/direct/membership.json?{query}")).await.expect(status);
        }
        // A walk through both kinds finds each once.
        let mut path = "/direct/membership.json?siteId=biology-101&includeGroups=true&_limit=5&_cursor=".to_owned();
        let mut seen = Vec::new();
        loop {
            let answer = teacher.get(&path).await;
            answer.expect(StatusCode::OK);
            let items = answer.json()["membership_collection"].take();
            seen.extend(items.as_array().expect("a list").iter().map(|it| text(it, "id")));
            let Some(next) = answer.header("link").and_then(next) else { break };
            path = next;
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((count, seen.len()), (43, 43));
    }

    async fn whoever_may_join_a_site_does_not_see_its_groups(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = "/direct/site/field-trip/group?groupTitle=Cooks";
        teacher.send(Method::PUT, path, FORM, "".into()).await.expect(StatusCode::OK);
        for (eid, count) in [("student1", 1), ("student9", 0)] {
            let client = app.user(eid).await;
            let site = read(&client, "/direct/site/field-trip.json?includeGroups=true").await;
            assert_eq!(site["siteGroups"].as_array().map(Vec::len), Some(count), "{eid}");
        }
    }
}

/// The target of the link to the next part, without the address of the service.
fn next(link: &str) -> Option<String> {
    let next = link.split(", <").find(|it| it.contains("rel=\"next\""))?;
    let target = next.trim_start_matches('<').split('>').next()?;
    target
        .strip_prefix("http://127.0.0.1:8080")
        .map(ToOwned::to_owned)
}
