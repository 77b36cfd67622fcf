//! The public view: announcements of sites that are open to it, and these sites themselves.

use http::StatusCode;
use http::header::ACCEPT;
use serde_json::json;
use tests::{TestApp, both};

use super::{BROWSER, created, list, read, text};

const OPEN: &str = "field-trip";
const NEWS: &str = "Dates for the salt marsh";
const OF_OPEN: &str = "/direct/announcement/site/field-trip";

/// Opens the field trip to the public, and answers the id of its announcement.
async fn open(app: &TestApp) -> String {
    let admin = app.user("admin").await;
    let answer = admin
        .put(&format!("/direct/site/{OPEN}"), &json!({"pubView": true}))
        .await;
    answer.expect(StatusCode::NO_CONTENT);
    let all = list(&admin, &format!("{OF_OPEN}.json"), "announcement").await;
    text(all.first().expect("an announcement"), "id")
}

both! {
    async fn the_public_learns_nothing_of_what_is_not_out_yet(app: TestApp) {
        open(&app).await;
        let teacher = app.user("instructor1").await;
        let draft = json!({"siteId": OPEN, "title": "Secret", "draft": true});
        let id = created(&teacher.post("/direct/announcement.json", &draft).await, "announcement");
        let stranger = app.anonymous();
        let there = stranger.get(&format!("/direct/announcement/{id}.json")).await;
        let not_there = stranger.get(&format!("/direct/announcement/{OPEN}:main:nothing.json")).await;
        for answer in [there, not_there] {
            answer.expect(StatusCode::UNAUTHORIZED);
            assert_eq!(answer.json()["error"]["message"], "authentication is required: log in first");
        }
    }

    async fn the_public_sees_a_site_that_is_open_to_it_but_not_who_is_in_it(app: TestApp) {
        let id = open(&app).await;
        let stranger = app.anonymous();
        let site = read(&stranger, &format!("/direct/site/{OPEN}.json")).await;
        assert_eq!((&site["pubView"], &site["siteGroups"]), (&json!(true), &json!([])));
        let path = format!("/direct/announcement/{id}.json?_expand=siteId,createdBy");
        let shown = read(&stranger, &path).await;
        assert_eq!(shown["siteIdEntity"]["id"], OPEN);
        assert_eq!(shown["createdByEntity"], json!(null), "people are for those with a session");
    }

    async fn pages_of_the_public_offer_to_log_in_and_nothing_to_write(app: TestApp) {
        open(&app).await;
        let browser = app.anonymous().with_header(ACCEPT, BROWSER);
        let page = browser.get(OF_OPEN).await;
        page.expect(StatusCode::OK);
        let page = page.text();
        assert!(page.contains("/portal/xlogin?to=") && page.contains(NEWS), "{page}");
        assert!(!page.contains("/new.html?") && !page.contains("/announcement/new"), "{page}");
        assert!(!page.contains("/edit"), "{page}");
    }

    async fn what_is_public_is_declared_so(app: TestApp) {
        let stranger = app.anonymous();
        let described = read(&stranger, "/direct/announcement/describe.json").await;
        let permission = &described["permissions"][0];
        assert_eq!(permission["operation"], "read");
        assert!(text(permission, "permission").contains("without a session"), "{permission}");
        let document = read(&stranger, "/api/openapi.json").await;
        for path in ["announcement/{id}", "announcement/site/{siteId}", "announcement/user", "site/{id}"] {
            let security = &document["paths"][format!("/direct/{path}")]["get"]["security"];
            assert!(security.as_array().is_some_and(|it| it.contains(&json!({}))), "{path}: {security}");
        }
        let security = &document["paths"]["/direct/announcement"]["post"]["security"];
        assert!(!security.as_array().is_none_or(|it| it.contains(&json!({}))), "{security}");
    }
}
