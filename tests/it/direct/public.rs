//! The public view: announcements of sites that are open to it, and these sites themselves.

use axum::body::Bytes;
use http::header::ACCEPT;
use http::{Method, StatusCode};
use serde_json::json;
use tests::{Client, TestApp, both};

use super::{created, list, read, text};

const BROWSER: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
const OPEN: &str = "field-trip";
const NEWS: &str = "Dates for the salt marsh";
const OF_OPEN: &str = "/direct/announcement/site/field-trip";
const OF_CLOSED: &str = "/direct/announcement/site/biology-101";

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

async fn titles(client: &Client, path: &str) -> Vec<String> {
    let items = list(client, path, "announcement").await;
    items.iter().map(|it| text(it, "title")).collect()
}

both! {
    async fn the_public_reads_the_announcements_of_a_site_that_is_open_to_it(app: TestApp) {
        let id = open(&app).await;
        let (_, short) = id.rsplit_once(':').expect("an id of parts");
        let stranger = app.anonymous();
        for path in [
            format!("{OF_OPEN}.json"),
            format!("{OF_OPEN}.json?_search=marsh&_order=title"),
            format!("/direct/announcement.json?siteId={OPEN}"),
        ] {
            assert_eq!(titles(&stranger, &path).await, [NEWS], "{path}");
        }
        for path in [id.clone(), format!("message/{OPEN}/{short}"), format!("msg/{OPEN}/main/{short}")] {
            let one = read(&stranger, &format!("/direct/announcement/{path}.json")).await;
            assert_eq!(one["title"], NEWS);
        }
        for format in ["atom", "rss", "xml", "html", "csv"] {
            let answer = stranger.get(&format!("{OF_OPEN}.{format}")).await;
            answer.expect(StatusCode::OK);
            assert!(answer.text().contains(NEWS), "{format}");
        }
        let counted = stranger.get(&format!("{OF_OPEN}.json?_count=exact&_limit=1")).await;
        counted.expect(StatusCode::OK);
        let head = stranger.send(Method::HEAD, &format!("{OF_OPEN}.json"), "text/plain", Bytes::new()).await;
        head.expect(StatusCode::OK);
        assert!(head.header("vary").is_some_and(|it| it.to_lowercase().contains("cookie")));
        assert!(head.header("cache-control").is_some_and(|it| it.contains("private")));
    }

    async fn a_closed_site_shows_the_public_an_empty_list_and_an_unknown_one_is_not_found(app: TestApp) {
        let id = open(&app).await;
        let stranger = app.anonymous();
        assert_eq!(titles(&stranger, &format!("{OF_CLOSED}.json")).await, [""; 0]);
        let counted = stranger.get(&format!("{OF_CLOSED}.json?_count=exact")).await;
        assert!(counted.header("x-total-count").is_none_or(|it| it == "0"));
        stranger.get("/direct/announcement/site/nowhere.json").await.expect(StatusCode::NOT_FOUND);
        stranger.get(&format!("{OF_CLOSED}.json?nonsense=1")).await.expect(StatusCode::BAD_REQUEST);
        let (_, short) = id.rsplit_once(':').expect("an id of parts");
        for path in [
            "/direct/announcement.json".to_owned(),
            "/direct/announcement.json?siteId=biology-101".to_owned(),
            "/direct/announcement.json?siteId=nowhere".to_owned(),
            "/direct/announcement/nowhere:main:nothing.json".to_owned(),
            format!("/direct/announcement/message/biology-101/{short}.json"),
            format!("/direct/announcement/{id}/edit.html"),
            "/direct/announcement/new.html".to_owned(),
            "/api/users/me/announcements".to_owned(),
            format!("/direct/batch.json?_refs=/announcement/{id}"),
        ] {
            let answer = stranger.get(&path).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        }
        stranger.put(&format!("/direct/announcement/{id}"), &json!({"title": "Mine"})).await
            .expect(StatusCode::UNAUTHORIZED);
    }

    async fn the_public_learns_nothing_of_what_is_not_out_yet(app: TestApp) {
        open(&app).await;
        let teacher = app.user("instructor1").await;
        let draft = json!({"siteId": OPEN, "title": "Secret", "draft": true});
        let id = created(&teacher.post("/direct/announcement.json", &draft).await, "announcement");
        let stranger = app.anonymous();
        assert_eq!(titles(&stranger, &format!("{OF_OPEN}.json")).await, [NEWS]);
        assert_eq!(titles(&stranger, &format!("{OF_OPEN}.json?_search=Secret")).await, [""; 0]);
        let there = stranger.get(&format!("/direct/announcement/{id}.json")).await;
        let not_there = stranger.get(&format!("/direct/announcement/{OPEN}:main:nothing.json")).await;
        for answer in [there, not_there] {
            answer.expect(StatusCode::UNAUTHORIZED);
            assert_eq!(answer.json()["error"]["message"], "authentication is required: log in first");
        }
    }

    async fn without_a_session_ones_own_news_are_the_messages_of_the_day(app: TestApp) {
        let stranger = app.anonymous();
        let seen = titles(&stranger, "/direct/announcement/user.json").await;
        assert_eq!(seen, ["Maintenance on Sunday"]);
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
        for path in ["biology-101.json", "nowhere.json", "field-trip/groups.json", "field-trip/pages.json"] {
            let answer = stranger.get(&format!("/direct/site/{path}")).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        }
        stranger.get("/direct/site.json").await.expect(StatusCode::UNAUTHORIZED);
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
