//! `/direct/site`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Backend, Client, TestApp, both};

use super::{XML, created, id_of, list, read, text};
use crate::shape::{METADATA, assert_shape};

const SHAPE: &str = "id text, title text, type text?, description text?, shortDescription text?, \
    htmlDescription text?, htmlShortDescription text?, contactName text?, contactEmail text?, joinable flag, \
    joinerRole text?, maintainRole text, owner text?, siteOwner object, props object, providerGroupId text?, \
    published flag, pubView flag, skin text?, iconUrl text?, iconUrlFull text?, infoUrl null, infoUrlFull null, \
    reference text, lastModified whole, createdDate whole, createdTime moment, modifiedDate whole, \
    modifiedTime moment, softlyDeleted flag, softlyDeletedDate null, empty flag, activeEdit flag, \
    customPageOrdered flag, userRoles list, siteGroups list, sitePages list";
const PAGE: &str = "id text, siteId text, title text, skin null, layoutTitle text, layout whole, position whole, \
    url url, toolpopup flag, toolpopupurl null, tools list";
const TOOL: &str = "id text, toolId text, placementId text, title text, description text, url url, home null, \
    context text, pageId text, pageOrder whole, siteId text";

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

async fn create(admin: &Client) -> Value {
    let body = json!({"id": "botany", "title": "Botany", "type": "project"});
    let answer = admin.post("/direct/site.json", &body).await;
    assert_eq!(created(&answer, "site"), "botany");
    answer.json()
}

/// Nobody but teaching staff makes more sites than the setting says.
async fn limit_of_sites(backend: Backend) {
    let Some(app) = TestApp::with_settings(backend, &[("sites.perAccount", "2")]).await else {
        return;
    };
    let bodies = [
        json!({"title": "One", "type": "project"}),
        json!({"title": "Two"}),
        json!({"title": "Three"}),
    ];
    for (eid, last) in [
        ("student1", StatusCode::FORBIDDEN),
        ("instructor1", StatusCode::CREATED),
    ] {
        let client = app.user(eid).await;
        client
            .post("/direct/site", &bodies[0])
            .await
            .expect(StatusCode::CREATED);
        let second = client.post("/direct/site", &bodies[1]).await;
        let third = client.post("/direct/site", &bodies[2]).await;
        third.expect(last);
        if last == StatusCode::FORBIDDEN {
            assert!(
                third.text().contains("sites.perAccount"),
                "{}",
                third.text()
            );
            let path = format!("/direct/site/{}", created(&second, "site"));
            client.delete(&path).await.expect(StatusCode::NO_CONTENT);
            client
                .post("/direct/site", &bodies[2])
                .await
                .expect(StatusCode::CREATED);
        }
    }
}

#[tokio::test]
async fn an_account_has_as_many_sites_as_the_setting_says() {
    limit_of_sites(Backend::Sqlite).await;
    limit_of_sites(Backend::Postgres).await;
}

both! {
    async fn whether_there_is_a_site_is_told_to_everybody_who_is_logged_in(app: TestApp) {
        for user in ["student1", "instructor1", "instructor2", "admin"] {
            let client = app.user(user).await;
            for (site, expected) in [
                ("biology-101", StatusCode::OK), ("history-210", StatusCode::OK), ("university-news", StatusCode::OK),
                ("nowhere", StatusCode::NOT_FOUND),
            ] {
                let answer = client.get(&format!("/direct/site/{site}/exists")).await;
                assert_eq!(answer.status, expected, "{user} {site}");
                assert!(expected != StatusCode::OK || answer.body.is_empty());
            }
        }
        for site in ["biology-101", "nowhere"] {
            let answer = app.anonymous().get(&format!("/direct/site/{site}/exists")).await;
            answer.expect(StatusCode::UNAUTHORIZED);
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

    async fn a_site_has_the_keys_that_clients_read(app: TestApp) {
        let student = app.user("student1").await;
        for site in list(&student, "/direct/site.json", "site").await {
            assert_shape(&site, &[SHAPE, METADATA]);
            assert_shape(&site["siteOwner"], &["userId text, userDisplayName text, userEntityURL url"]);
            for page in items(&site["sitePages"]) {
                assert_shape(page, &["id text, title text, siteId text, url url"]);
            }
            let one = read(&student, &format!("/direct/site/{}.json", text(&site, "id"))).await;
            assert_shape(&one, &[SHAPE, METADATA]);
            assert_eq!(one["sitePages"], site["sitePages"]);
        }
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

    async fn the_list_holds_the_sites_of_the_caller_by_title(app: TestApp) {
        for (eid, expected) in [
            ("student1", &["biology-101", "field-trip"][..]),
            ("student12", &["biology-101", "history-210"]),
            ("instructor2", &["history-210"]),
        ] {
            let sites = list(&app.user(eid).await, "/direct/site.json", "site").await;
            let ids = sites.iter().map(|it| text(it, "id")).collect::<Vec<_>>();
            assert_eq!(ids, expected, "{eid}");
        }
    }

    async fn a_list_is_filtered_and_ordered_by_a_field_with_the_name_of_a_keyword(app: TestApp) {
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let projects = list(&teacher, "/direct/site.json?type=project&_order=type", "site").await;
        assert_eq!(projects.iter().map(|it| text(it, "id")).collect::<Vec<_>>(), ["field-trip"]);
        list(&admin, "/direct/user.json?_order=type_desc&type=registered", "user").await;
    }

    async fn a_list_is_read_in_parts(app: TestApp) {
        let student = app.user("student1").await;
        let first = student.get("/direct/site.json?_limit=1").await;
        first.expect(StatusCode::OK);
        assert_eq!(first.json()["site_collection"][0]["id"], "biology-101");
        let links = first.header("Link").expect("links to the other parts");
        assert!(links.contains(r#"rel="next""#), "{links}");
        let next = list(&student, "/direct/site.json?_limit=1&_start=1", "site").await;
        assert_eq!(next[0]["id"], "field-trip");
        assert!(list(&student, "/direct/site.json?_start=2", "site").await.is_empty());
        assert_eq!(list(&student, "/direct/site.json?_limit=0", "site").await.len(), 2);
    }

    async fn who_may_not_see_a_site_is_told_so(app: TestApp) {
        let student = app.user("student1").await;
        student.get("/direct/site/history-210.json").await.expect(StatusCode::FORBIDDEN);
        student.get("/direct/site/nowhere.json").await.expect(StatusCode::NOT_FOUND);
        let stranger = app.anonymous();
        stranger.get("/direct/site/history-210.json").await.expect(StatusCode::UNAUTHORIZED);
        stranger.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn the_pages_are_a_bare_list_in_order_with_their_tools(app: TestApp) {
        let student = app.user("student1").await;
        let pages = read(&student, "/direct/site/field-trip/pages.json").await;
        for (page, position) in items(&pages).iter().zip(1..) {
            assert_shape(page, &[PAGE]);
            assert_eq!(page["position"], position);
            assert!(!items(&page["tools"]).is_empty());
            for tool in items(&page["tools"]) {
                assert_shape(tool, &[TOOL]);
                assert_eq!(tool["pageId"], page["id"]);
            }
        }
        assert_eq!(pages[0]["tools"][0]["toolId"], "sakai.announcements");
        let outsider = app.user("student12").await;
        outsider.get("/direct/site/field-trip/pages.json").await.expect(StatusCode::FORBIDDEN);
    }

    async fn whether_a_site_exists_is_told_without_a_body(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.get("/direct/site/biology-101/exists").await;
        assert!(answer.expect(StatusCode::OK).body.is_empty());
        student.get("/direct/site/nowhere/exists").await.expect(StatusCode::NOT_FOUND);
    }

    async fn the_members_of_a_site_have_two_addresses(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let members = read(&teacher, "/direct/site/biology-101/memberships.json").await;
        assert_eq!(members, read(&teacher, "/direct/membership/site/biology-101.json").await);
        assert_eq!(items(&members["membership_collection"]).len(), 22);
    }

    async fn the_groups_are_a_bare_list(app: TestApp) {
        let student = app.user("student1").await;
        let groups = read(&student, "/direct/site/biology-101/groups.json").await;
        let titles = items(&groups).iter().map(|it| text(it, "title")).collect::<Vec<_>>();
        assert_eq!(titles, ["Lab A", "Lab B"]);
        for group in items(&groups) {
            assert_shape(group, &["reference text, title text"]);
        }
    }

    async fn the_functions_of_roles_are_for_those_who_manage_them(app: TestApp) {
        let admin = app.user("admin").await;
        let perms = read(&admin, "/direct/site/biology-101/perms/annc.read.json").await;
        assert_eq!(perms["data"]["Student"], json!(["annc.read"]));
        assert_eq!(perms["data"]["Instructor"], json!(["annc.read", "annc.read.drafts"]));
        let student = app.user("student1").await;
        student.get("/direct/site/biology-101/perms.json").await.expect(StatusCode::FORBIDDEN);
    }

    async fn callers_are_told_their_own_functions(app: TestApp) {
        let student = app.user("student1").await;
        let perms = read(&student, "/direct/site/biology-101/userPerms/annc.json").await;
        assert_shape(&perms, &["data list, displayTitle text, entityId text, entityProperties object, \
            entityReference text, entityURL url"]);
        assert_eq!(perms["data"], json!(["annc.read"]));
    }

    async fn a_site_is_created_with_its_creator_in_it(app: TestApp) {
        let admin = app.user("admin").await;
        let site = create(&admin).await;
        assert_shape(&site, &[SHAPE, METADATA]);
        assert!(!items(&site["sitePages"]).is_empty());
        let members = list(&admin, "/direct/membership/site/botany.json", "membership").await;
        assert_eq!((members.len(), &members[0]["memberRole"]), (1, &json!("maintain")));
    }

    async fn a_site_is_created_from_a_form_and_from_xml(app: TestApp) {
        let admin = app.user("admin").await;
        let answer = admin.post_form("/direct/site/new", "title=Botany&joinable=true").await;
        let site = read(&admin, &format!("/direct/site/{}.json", created(&answer, "site"))).await;
        assert_eq!((&site["title"], &site["joinable"]), (&json!("Botany"), &json!(true)));
        let xml = "<site><title>Zoology</title><published>false</published></site>";
        let answer = admin.send(Method::POST, "/direct/site", XML, xml.into()).await;
        assert_eq!(created(&answer, "site"), answer.json()["id"]);
        assert_eq!(answer.json()["published"], false);
    }

    async fn two_sites_have_not_the_same_id(app: TestApp) {
        let admin = app.user("admin").await;
        create(&admin).await;
        let again = json!({"id": "botany", "title": "Another"});
        admin.post("/direct/site.json", &again).await.expect(StatusCode::CONFLICT);
        let odd = json!({"id": "a b/c", "title": "Odd"});
        admin.post("/direct/site.json", &odd).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn a_site_is_changed_by_those_who_look_after_it(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = "/direct/site/biology-101";
        let changes = json!({"title": "Biology 102", "props": {"term": "2027", "term_eid": "2027:3"}});
        teacher.put(path, &changes).await.expect(StatusCode::NO_CONTENT);
        let site = read(&teacher, path).await;
        assert_eq!((&site["title"], &site["props"]["term"]), (&json!("Biology 102"), &json!("2027")));
        let student = app.user("student1").await;
        student.put(path, &changes).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_deleted_site_is_gone_with_its_announcements(app: TestApp) {
        let admin = app.user("admin").await;
        create(&admin).await;
        let body = json!({"siteId": "botany", "title": "Seeds"});
        let seeds = admin.post("/direct/announcement.json", &body).await;
        let seeds = format!("/direct/announcement/{}", created(&seeds, "announcement"));
        admin.delete("/direct/site/botany").await.expect(StatusCode::NO_CONTENT);
        admin.get("/direct/site/botany").await.expect(StatusCode::NOT_FOUND);
        admin.get(&seeds).await.expect(StatusCode::NOT_FOUND);
    }

    async fn sites_are_made_by_whoever_has_an_account_and_deleted_by_those_who_look_after_them(app: TestApp) {
        let body = json!({"id": "mine", "title": "Mine", "type": "project"});
        app.anonymous().post("/direct/site.json", &body).await.expect(StatusCode::UNAUTHORIZED);
        let student = app.user("student1").await;
        student.post("/direct/site.json", &body).await.expect(StatusCode::CREATED);
        student.delete("/direct/site/biology-101").await.expect(StatusCode::FORBIDDEN);
        app.user("admin").await.delete("/direct/site/mine").await.expect(StatusCode::NO_CONTENT);
    }

    async fn courses_are_made_by_teaching_staff(app: TestApp) {
        let course = json!({"title": "Mine", "type": "course"});
        for (eid, status) in [
            ("student1", StatusCode::FORBIDDEN), ("ta1", StatusCode::FORBIDDEN),
            ("instructor1", StatusCode::CREATED), ("admin", StatusCode::CREATED),
        ] {
            app.user(eid).await.post("/direct/site", &course).await.expect(status);
        }
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
