//! Versions: answers that are not sent twice, and writes that overwrite nothing.

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderName, StatusCode};
use serde_json::json;
use tests::{Client, TestApp, both};

use super::created;

const SITE: &str = "/direct/site/biology-101";
const PREFER: HeaderName = HeaderName::from_static("prefer");

async fn tag(client: &Client, path: &str) -> String {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    let tag = answer.header(ETAG).expect("a version").to_owned();
    assert!(
        tag.starts_with('"') && tag.ends_with('"'),
        "{tag} is not strong"
    );
    tag
}

both! {
    /// The rules of the page that the browser has kept still hold: others would keep its forms from being sent.
    async fn an_answer_without_content_changes_no_rule_of_the_page(app: TestApp) {
        let student = app.user("student1").await;
        let page = student.get("/direct/site/biology-101.html").await;
        assert!(page.header("content-security-policy").is_some());
        let tag = page.header("etag").expect("a tag").to_owned();
        let again = student.with_header(http::header::IF_NONE_MATCH, &tag);
        let again = again.get("/direct/site/biology-101.html").await;
        again.expect(StatusCode::NOT_MODIFIED);
        assert_eq!(again.header("content-security-policy"), None);
    }

    async fn a_page_that_its_reader_has_is_not_sent_again(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for path in ["/direct/site.html", "/direct/site/biology-101.html", "/direct/announcement/site/biology-101.html", "/direct/describe.html"] {
            let known = tag(&teacher, path).await;
            let answer = teacher.clone().with_header(IF_NONE_MATCH, &known).get(path).await;
            assert_eq!(answer.status, StatusCode::NOT_MODIFIED, "{path}");
        }
        let path = "/direct/site/biology-101.html";
        let known = tag(&teacher, path).await;
        let again = |client: Client| client.with_header(IF_NONE_MATCH, &known);
        again(student).get(path).await.expect(StatusCode::OK);
        again(app.anonymous()).get(path).await.expect(StatusCode::UNAUTHORIZED);
        teacher.put(SITE, &json!({"title": "Other"})).await.expect(StatusCode::NO_CONTENT);
        again(teacher).get(path).await.expect(StatusCode::OK);
    }

    async fn what_a_client_has_is_not_sent_again(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for path in [
            "/direct/site/biology-101.json",
            "/direct/site/biology-101.xml",
            "/direct/site.json",
            "/direct/announcement/site/biology-101.json",
            "/direct/site/biology-101/pages.json",
            "/direct/membership/site/biology-101.xml",
        ] {
            let tag = tag(&teacher, path).await;
            for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
                let answer = teacher.clone().with_header(IF_NONE_MATCH, &known).get(path).await;
                answer.expect(StatusCode::NOT_MODIFIED);
                assert!(answer.body.is_empty());
                assert_eq!(answer.header(ETAG), Some(tag.as_str()), "{path}");
            }
            let answer = teacher.clone().with_header(IF_NONE_MATCH, "\"x\"").get(path).await;
            answer.expect(StatusCode::OK);
        }
    }

    async fn a_change_gives_a_new_version(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let before = (tag(&teacher, SITE).await, tag(&teacher, "/direct/site.json").await);
        let answer = teacher.put(SITE, &json!({"title": "Biology 102"})).await;
        answer.expect(StatusCode::NO_CONTENT);
        let after = (tag(&teacher, SITE).await, tag(&teacher, "/direct/site.json").await);
        assert!(before.0 != after.0 && before.1 != after.1);
        assert_eq!(answer.header(ETAG), Some(after.0.as_str()));
    }

    async fn two_formats_are_two_versions(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let json = tag(&teacher, "/direct/site/biology-101.json").await;
        assert_ne!(json, tag(&teacher, "/direct/site/biology-101.xml").await);
    }

    async fn a_write_over_the_present_version_succeeds(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for known in [tag(&teacher, SITE).await, "*".to_owned()] {
            let careful = teacher.clone().with_header(IF_MATCH, &known);
            careful.put(SITE, &json!({"title": "New"})).await.expect(StatusCode::NO_CONTENT);
        }
        let known = tag(&teacher, "/direct/site/biology-101.xml").await;
        let careful = teacher.clone().with_header(IF_MATCH, &known);
        careful.put(SITE, &json!({"title": "Newer"})).await.expect(StatusCode::NO_CONTENT);
    }

    async fn a_version_with_a_sign_is_another_one(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let signed = tag(&teacher, SITE).await.replacen('"', "\"+", 1);
        let careful = teacher.with_header(IF_MATCH, &signed);
        careful.put(SITE, &json!({"title": "x"})).await.expect(StatusCode::PRECONDITION_FAILED);
    }

    async fn clients_prefer_an_entity_or_nothing(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let all = teacher.clone().with_header(PREFER, "return=representation");
        let answer = all.put(SITE, &json!({"title": "Shown"})).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json()["title"], "Shown");
        let least = teacher.with_header(PREFER, "return=minimal");
        let news = json!({"siteId": "biology-101", "title": "Short"});
        let answer = least.post("/direct/announcement.json", &news).await;
        created(&answer, "announcement");
        assert!(answer.body.is_empty());
    }

    async fn answers_are_not_kept_for_others(app: TestApp) {
        let answer = app.user("student1").await.get(SITE).await;
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        let vary = answer.header("vary").expect("what the answer depends on");
        assert!(vary.contains("Accept") && vary.contains("Cookie"), "{vary}");
    }
}
