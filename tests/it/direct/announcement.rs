//! `/direct/announcement`

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{XML, created, list, read, text, titles};

const OF_BIOLOGY: &str = "/direct/announcement/site/biology-101.json";
const NEWEST: &str = "Quiz on cell membranes next week";

/// The path of an announcement that `author` has just made.
async fn announce(author: &Client, fields: &Value) -> String {
    let answer = author.post("/direct/announcement.json", fields).await;
    format!("/direct/announcement/{}", created(&answer, "announcement"))
}

fn coats() -> Value {
    json!({"siteId": "biology-101", "title": "Bring lab coats", "body": "<p>White ones.</p>"})
}

both! {
    async fn a_blank_site_is_no_site(app: TestApp) {
        let student = app.user("student1").await;
        for path in ["site/%20", "site/%20.json", "site/%C2%A0", "message/%20/x", "msg/biology-101/%20/x"] {
            let refused = student.get(&format!("/direct/announcement/{path}")).await;
            refused.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn an_attachment_has_an_absolute_address(app: TestApp) {
        let student = app.user("student1").await;
        let all = list(&student, OF_BIOLOGY, "announcement").await;
        let welcome = all.iter().find(|it| it["title"] == "Welcome to Biology 101").expect("a welcome");
        let files = welcome["attachments"].as_array().expect("a list");
        assert_eq!(files.len(), 2);
        for file in files {
            let has_text = |key: &str| file[key].as_str().is_some_and(|it| !it.is_empty());
            assert!(["id", "name", "type", "ref"].into_iter().all(has_text), "{file}");
            assert!(text(file, "url").starts_with("http://127.0.0.1:8080/access/content/attachment/biology-101/"), "{file}");
        }
    }

    async fn the_list_of_a_site_is_newest_first(app: TestApp) {
        let student = app.user("student1").await;
        let expected = [
            NEWEST,
            "Lab A: bring your microscopy sheets",
            "Wednesday's lecture moves to Room 204",
            "Welcome to Biology 101",
        ];
        assert_eq!(titles(&student, OF_BIOLOGY, "announcement").await, expected);
    }

    async fn x28_strangers_see_nothing_of_a_closed_site_and_are_told_what_an_address_lacks(app: TestApp) {
        let stranger = app.anonymous();
        for format in ["json", "xml", "atom"] {
            let of = |site: &str| format!("/direct/announcement/site/{site}.{format}");
            let answer = stranger.get(&of("biology-101")).await;
            answer.expect(StatusCode::OK);
            assert!(!answer.text().contains("Quiz"), "{format}");
            stranger.get(&of("nowhere-1-2")).await.expect(StatusCode::NOT_FOUND);
        }
        let news = titles(&stranger, "/direct/announcement/site/university-news.json", "announcement").await;
        assert!(!news.is_empty());
        for path in ["site.json", "site", "site/%20.json", "message/biology-101.json"] {
            stranger.get(&format!("/direct/announcement/{path}")).await.expect(StatusCode::BAD_REQUEST);
        }
        // What is closed to strangers tells them no more than before.
        for path in ["announcement/nothing.json", "assignment/site.json", "assignment/site/nowhere-1-2.json"] {
            stranger.get(&format!("/direct/{path}")).await.expect(StatusCode::UNAUTHORIZED);
        }
    }

    async fn x13_what_is_told_as_an_address_is_a_uri(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let mut fields = coats();
        fields["attachments"] = json!([
            {"name": "One", "url": "HTTPS://files.example.org/{x}|y%20z"}, {"name": "Two", "url": "https://files.example.org/100%"},
        ]);
        let path = announce(&teacher, &fields).await;
        let stored = read(&teacher, &format!("{path}.json")).await;
        assert_eq!(stored["attachments"][0]["url"], "HTTPS://files.example.org/{x}|y%20z");
        let (first, second) = ("\"https://files.example.org/%7Bx%7D%7Cy%20z\"", "\"https://files.example.org/100%25\"");
        let atom = teacher.get(&format!("{path}.atom")).await;
        assert!(atom.text().contains(first) && atom.text().contains(second), "{}", atom.text());
        let rss = teacher.get("/direct/announcement/site/biology-101.rss").await;
        assert!(rss.text().contains(&format!("<enclosure url={first}")), "{}", rss.text());
        for start in ["/direct/announcement/site/biology-101.json?_limit=1&title[ne]=", "/api/users/me/announcements?_limit=1&x="] {
            let part = teacher.get(&format!("{start}{{a}}|b%20c")).await;
            let link = part.header("link").expect("a link");
            assert!(link.contains("=%7Ba%7D%7Cb%20c&") && !link.contains(['{', '|', '[']), "{link}");
        }
        for (prefix, fields) in [
            ("webcontent", json!({"siteId": "biology-101", "title": "Web", "url": "HTTPS://a.example/"})),
            ("news", json!({"siteId": "biology-101", "title": "News", "url": "Https://a.example/"})),
        ] {
            teacher.post(&format!("/direct/{prefix}.json"), &fields).await.expect(StatusCode::CREATED);
        }
        let wrong = json!({"siteId": "biology-101", "title": "Web", "url": "javascript://a.example/"});
        teacher.post("/direct/webcontent.json", &wrong).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn an_announcement_is_created_from_a_form_with_the_id_in_the_answer(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let form = "siteId=biology-101&title=Bring+lab+coats&body=%3Cp%3EWhite+ones.%3C%2Fp%3E";
        let answer = teacher.post_form("/direct/announcement/new", form).await;
        assert_eq!(answer.text(), created(&answer, "announcement"));
        let path = format!("/direct/announcement/{}.json", answer.text());
        assert_eq!(read(&teacher, &path).await["body"], "<p>White ones.</p>");
    }

    async fn an_announcement_is_created_from_xml_with_xml_in_the_answer(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let xml = "<announcement><siteId>biology-101</siteId><title>Bring lab coats</title>\
            <highlight>true</highlight></announcement>";
        let answer = teacher.send(Method::POST, "/direct/announcement.xml", XML, xml.into()).await;
        let id = created(&answer, "announcement");
        let entity = read(&teacher, &format!("/direct/announcement/{id}.json")).await;
        assert_eq!((&entity["highlight"], &entity["body"]), (&json!(true), &json!("")));
    }

    async fn what_is_deleted_is_gone(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announce(&teacher, &coats()).await;
        let answer = teacher.delete(&path).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert!(answer.body.is_empty());
        teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
        teacher.delete(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn scripts_are_taken_out_of_the_text(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": "<b>x</b>",
            "body": "<p onclick=\"x()\">Hello<script>alert(1)</script></p>"});
        let entity = read(&teacher, &announce(&teacher, &body).await).await;
        assert_eq!(entity["body"], "<p>Hello</p>");
        assert_eq!(entity["title"], "<b>x</b>");
    }
}
