//! `GET /api/users/{userId}/sites`

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

pub(super) async fn sites(client: &Client, path: &str) -> Vec<Value> {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    let body = answer.json();
    body["sites"].as_array().expect("a list").clone()
}

both! {
    async fn y16_the_sites_are_those_that_the_caller_may_read(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (id, published) in [("draft", false), ("kindless", true)] {
            let body = json!({"id": id, "title": id, "published": published});
            teacher.post("/direct/site", &body).await.expect(StatusCode::CREATED);
            let user = app.user("student1").await.get("/direct/user/current").await.json()["id"].take();
            let member = json!({"userId": user, "locationReference": format!("/site/{id}")});
            teacher.post("/direct/membership", &member).await.expect(StatusCode::CREATED);
        }
        for eid in ["student1", "ta1", "instructor1", "instructor2", "admin"] {
            let client = app.user(eid).await;
            let told = sites(&client, "/api/users/me/sites").await;
            let memberships = client.get("/direct/membership.json").await.json();
            let mut expected = BTreeSet::new();
            for it in memberships["membership_collection"].as_array().expect("a list") {
                let reference = it["locationReference"].as_str().expect("a reference");
                let site = client.get(&format!("/direct{reference}.json")).await;
                if reference.starts_with("/site/") && site.status == StatusCode::OK {
                    expected.insert((site.json()["id"].to_string(), site.json()["published"] == false));
                }
            }
            let told: BTreeSet<_> = told.iter().map(|it| (it["siteId"].to_string(), it["unpublished"] == true)).collect();
            assert_eq!(told, expected, "{eid}");
            assert_eq!(told.contains(&("\"draft\"".to_owned(), true)), eid == "instructor1", "{eid}");
            let page = client.get("/portal").await;
            let page = page.expect(StatusCode::OK).text();
            assert_eq!(page.contains("Not published"), eid == "instructor1", "{eid}");
        }
    }

    async fn the_tools_are_in_the_order_of_the_pages(app: TestApp) {
        let student = app.user("student1").await;
        for site in sites(&student, "/api/users/me/sites").await {
            let id = site["siteId"].as_str().expect("an id");
            let pages = student.get(&format!("/direct/site/{id}/pages.json")).await.json();
            let pages = pages.as_array().expect("a list").iter();
            let expected = pages.map(|it| &it["tools"][0]["toolId"]).collect::<Vec<_>>();
            let tools = site["tools"].as_array().expect("a list").iter();
            assert_eq!(tools.map(|it| &it["id"]).collect::<Vec<_>>(), expected, "{id}");
        }
    }

    async fn the_terms_are_those_of_the_university(app: TestApp) {
        let answer = app.user("student1").await.get("/api/users/me/sites").await.json();
        let expected = json!([
            {"id": "2026:3", "name": "Spring 2026"},
            {"id": "2026:9", "name": "Autumn 2026"},
            {"id": "2027:3", "name": "Spring 2027"},
        ]);
        assert_eq!(answer["terms"], expected);
        assert_eq!(answer["sites"][0]["term"], "Autumn 2026");
    }

    async fn a_term_that_nobody_described_is_called_by_its_id(app: TestApp) {
        let admin = app.user("admin").await;
        let path = "/direct/term/2026:9";
        admin.put(path, &json!({"title": "Winter <26>"})).await.expect(StatusCode::NO_CONTENT);
        let answer = app.user("student1").await.get("/api/users/me/sites").await.json();
        assert_eq!(answer["terms"][1], json!({"id": "2026:9", "name": "Winter <26>"}));
        assert_eq!(answer["sites"][0]["term"], "Winter <26>");
        admin.delete(path).await.expect(StatusCode::NO_CONTENT);
        let answer = app.user("student1").await.get("/api/users/me/sites").await.json();
        assert_eq!(answer["terms"][1], json!({"id": "2026:9", "name": "2026:9"}));
        assert_eq!(answer["sites"][0]["term"], "2026:9");
    }

    async fn only_pinned_sites_are_told_on_request(app: TestApp) {
        let admin = app.user("admin").await;
        let body = json!({"id": "botany", "title": "Botany", "type": "project"});
        admin.post("/direct/site", &body).await.expect(StatusCode::CREATED);
        let all = sites(&admin, "/api/users/me/sites").await;
        let botany = all.iter().find(|it| it["siteId"] == "botany").expect("a new site");
        assert_eq!(botany["pinned"], false);
        assert_eq!(sites(&admin, "/api/users/me/sites?pinned=false").await, all);
        let pinned = sites(&admin, "/api/users/me/sites?pinned=true").await;
        assert!(pinned.iter().all(|it| it["pinned"] == true && it["siteId"] != "botany"));
        let answer = admin.get("/api/users/me/sites?pinned=perhaps").await;
        answer.expect(StatusCode::BAD_REQUEST);
    }

    async fn a_user_has_several_names(app: TestApp) {
        let student = app.user("student1").await;
        let id = student.get("/direct/user/current").await.json()["id"].take();
        let own = sites(&student, "/api/users/me/sites").await;
        for name in ["student1", id.as_str().expect("an id")] {
            assert_eq!(sites(&student, &format!("/api/users/{name}/sites")).await, own);
        }
    }
}
