//! `/direct/site`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, id_of, list, read, text};

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

async fn create(admin: &Client) -> Value {
    let body = json!({"id": "botany", "title": "Botany", "type": "project"});
    let answer = admin.post("/direct/site.json", &body).await;
    assert_eq!(created(&answer, "site"), "botany");
    answer.json()
}

tests::app_with! {
    /// A service in which nobody but teaching staff makes more than two sites.
    OfTwoSites, [("sites.perAccount", "2")]
}

both! {
    async fn an_account_has_as_many_sites_as_the_setting_says(app: OfTwoSites) {
        let bodies = ["One", "Two", "Three"].map(|it| json!({"title": it, "type": "project"}));
        for (eid, last) in [("student1", StatusCode::FORBIDDEN), ("instructor1", StatusCode::CREATED)] {
            let client = app.0.user(eid).await;
            client.post("/direct/site", &bodies[0]).await.expect(StatusCode::CREATED);
            let second = client.post("/direct/site", &bodies[1]).await;
            let third = client.post("/direct/site", &bodies[2]).await;
            third.expect(last);
            if last == StatusCode::FORBIDDEN {
                assert!(third.text().contains("sites.perAccount"), "{}", third.text());
                let path = format!("/direct/site/{}", created(&second, "site"));
                client.delete(&path).await.expect(StatusCode::NO_CONTENT);
                client.post("/direct/site", &bodies[2]).await.expect(StatusCode::CREATED);
            }
        }
    }

    async fn actions_that_clients_expect_200_of_answer_200(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let send = async |client: &Client, method: Method, path: &str| client.send(method, path, "application/json", "{}".into()).await;
        let role = "/direct/site/biology-101/role/Observer";
        let group = text(&items(&read(&teacher, "/direct/site/biology-101.json").await["siteGroups"])[0], "id");
        let user = id_of(&student).await;
        let change = teacher.post(&format!("/direct/membership/group/{group}"), &json!({"action": "add", "userIds": user})).await;
        let admin = app.user("admin").await;
        create(&admin).await;
        let open = json!({"joinable": true, "joinerRole": "access", "published": true});
        admin.put("/direct/site/botany", &open).await.expect(StatusCode::NO_CONTENT);
        let answers = [
            send(&teacher, Method::POST, role).await,
            send(&teacher, Method::DELETE, role).await,
            change,
            send(&teacher, Method::DELETE, &format!("/direct/site/biology-101/group/{group}")).await,
            send(&student, Method::POST, "/direct/membership/join/botany").await,
            send(&student, Method::POST, "/direct/membership/unjoin/botany").await,
            student.get(&format!("/direct/user/{user}/exists")).await,
        ];
        for (index, answer) in answers.iter().enumerate() {
            assert_eq!((answer.status, answer.body.len()), (StatusCode::OK, 0), "{index}: {}", answer.text());
        }
    }

    async fn a_moment_is_one_instant_in_all_its_parts(app: TestApp) {
        app.advance(chrono::TimeDelta::milliseconds(81));
        let admin = app.user("admin").await;
        let site = create(&admin).await;
        for key in ["createdTime", "modifiedTime"] {
            let whole = |name: &str| site[key][name].as_i64().expect("a number");
            assert_eq!(whole("epochSecond") * 1000 + whole("nano") / 1_000_000, whole("time"), "{key}");
            assert_eq!(whole("nano") % 1_000_000, 0);
            assert_ne!(whole("nano"), 0);
        }
    }

    async fn the_short_description_as_html_is_escaped_once(app: TestApp) {
        let admin = app.user("admin").await;
        create(&admin).await;
        let text = json!({"shortDescription": "Cells & genes <a> \"b\" c's"});
        admin.put("/direct/site/botany", &text).await.expect(StatusCode::NO_CONTENT);
        let site = read(&admin, "/direct/site/botany.json").await;
        assert_eq!(site["htmlShortDescription"], "Cells &amp; genes &lt;a&gt; &#34;b&#34; c&#39;s");
    }

    async fn x30_whoever_is_told_of_an_owner_may_open_the_address(app: TestApp) {
        for eid in ["student1", "instructor2", "admin"] {
            let client = app.user(eid).await;
            for site in list(&client, "/direct/site.json", "site").await {
                let owner = &site["siteOwner"];
                if owner["userId"] == "" { continue; }
                let address = text(owner, "userEntityURL");
                let profile = read(&client, address.strip_prefix("http://127.0.0.1:8080").expect("ours")).await;
                assert_eq!(profile["displayName"], owner["userDisplayName"], "{eid}");
            }
        }
        let open = read(&app.anonymous(), "/direct/site/university-news.json").await;
        assert_eq!(open["siteOwner"]["userEntityURL"], Value::Null);
    }

    async fn a_course_says_its_term_and_a_project_has_none(app: TestApp) {
        let student = app.user("student1").await;
        let course = read(&student, "/direct/site/biology-101.json").await;
        assert_eq!(course["props"], json!({"term": "2026", "term_eid": "2026:9"}));
        let project = read(&student, "/direct/site/field-trip.json").await;
        assert_eq!(project["props"], json!({}));
    }

    async fn a_list_is_filtered_and_ordered_by_a_field_with_the_name_of_a_keyword(app: TestApp) {
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let projects = list(&teacher, "/direct/site.json?type=project&_order=type", "site").await;
        assert_eq!(projects.iter().map(|it| text(it, "id")).collect::<Vec<_>>(), ["field-trip"]);
        list(&admin, "/direct/user.json?_order=type_desc&type=registered", "user").await;
    }

    async fn the_pages_are_a_bare_list_in_order_with_their_tools(app: TestApp) {
        let student = app.user("student1").await;
        let pages = read(&student, "/direct/site/field-trip/pages.json").await;
        for (page, position) in items(&pages).iter().zip(1..) {
            assert_eq!(page["position"], position);
            assert!(!items(&page["tools"]).is_empty());
            for tool in items(&page["tools"]) {
                assert_eq!(tool["pageId"], page["id"]);
            }
        }
        assert_eq!(pages[0]["tools"][0]["toolId"], "sakai.announcements");
    }

    async fn the_members_of_a_site_have_two_addresses(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let members = read(&teacher, "/direct/site/biology-101/memberships.json").await;
        assert_eq!(members, read(&teacher, "/direct/membership/site/biology-101.json").await);
        assert_eq!(items(&members["membership_collection"]).len(), 22);
    }

    async fn the_functions_of_roles_are_told_by_their_prefix(app: TestApp) {
        let admin = app.user("admin").await;
        let perms = read(&admin, "/direct/site/biology-101/perms/annc.read.json").await;
        assert_eq!(perms["data"]["Student"], json!(["annc.read"]));
        assert_eq!(perms["data"]["Instructor"], json!(["annc.read", "annc.read.drafts"]));
    }

    async fn callers_are_told_their_own_functions(app: TestApp) {
        let student = app.user("student1").await;
        let perms = read(&student, "/direct/site/biology-101/userPerms/annc.json").await;
        assert_eq!(perms["data"], json!(["annc.read"]));
    }

    async fn courses_are_made_by_teaching_staff(app: TestApp) {
        let course = json!({"title": "Mine", "type": "course"});
        let admin = app.user("admin").await;
        let ta = format!("/direct/user/{}", id_of(&app.user("ta1").await).await);
        admin.put(&ta, &json!({"type": "maintain"})).await.expect(StatusCode::NO_CONTENT);
        app.user("ta1").await.post("/direct/site", &course).await.expect(StatusCode::CREATED);
        let new = json!({"eid": "newton", "password": "principia-1687", "type": "maintain"});
        admin.post("/direct/user", &new).await.expect(StatusCode::CREATED);
        let newton = app.anonymous().log_in("newton", "principia-1687").await;
        newton.post("/direct/site", &course).await.expect(StatusCode::CREATED);
    }
}
