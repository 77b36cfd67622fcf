//! `/direct/announcement`

use chrono::TimeDelta;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{FORM, JSON, XML, created, list, read, text};
use crate::shape::{METADATA, assert_shape};

const SHAPE: &str = "id text, announcementId text, title text, body text, channel text, siteId text, \
    siteTitle text, createdBy text, createdByDisplayName text, createdOn whole, modifiedOn whole, \
    highlight flag?, selectedRoles list?, draft flag, releaseDate whole?, retractDate whole?, groups list, \
    attachments list";
const OF_BIOLOGY: &str = "/direct/announcement/site/biology-101.json";
const NEWEST: &str = "Quiz on cell membranes next week";

async fn titles(client: &Client, path: &str) -> Vec<String> {
    let items = list(client, path, "announcement").await;
    items.iter().map(|it| text(it, "title")).collect()
}

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
        student.get("/direct/announcement/site/nothing.json").await.expect(StatusCode::NOT_FOUND);
    }

    async fn an_announcement_has_the_keys_that_clients_read(app: TestApp) {
        let student = app.user("student1").await;
        for announcement in list(&student, OF_BIOLOGY, "announcement").await {
            assert_shape(&announcement, &[SHAPE, METADATA]);
            let (site, channel) = (text(&announcement, "siteId"), text(&announcement, "channel"));
            let id = format!("{site}:{channel}:{}", text(&announcement, "announcementId"));
            assert_eq!(announcement["id"], id);
            assert_eq!(announcement["entityReference"], format!("/announcement/{id}"));
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
        assert_eq!(titles(&student, OF_BIOLOGY).await, expected);
    }

    async fn a_list_is_cut_by_number_days_and_order(app: TestApp) {
        let student = app.user("student1").await;
        let ask = async |query: &str| titles(&student, &format!("{OF_BIOLOGY}?{query}")).await;
        assert_eq!(ask("n=1").await, [NEWEST]);
        assert_eq!(ask("d=1").await, [NEWEST]);
        assert_eq!(ask("n=1&a=1").await, ["Welcome to Biology 101"]);
        assert_eq!(ask("n=0&d=x").await.len(), 4);
        assert_eq!(ask("n=1000&d=10000").await.len(), 4);
    }

    async fn students_do_not_see_what_is_not_for_them(app: TestApp) {
        let student = app.user("student11").await;
        let seen = titles(&student, OF_BIOLOGY).await;
        assert!(!seen.iter().any(|it| it.starts_with("Lab A")), "{seen:?}");
        let teacher = app.user("instructor1").await;
        let drafts = list(&teacher, OF_BIOLOGY, "announcement").await;
        let draft = drafts.iter().find(|it| it["draft"] == true).expect("a draft");
        let path = format!("/direct/announcement/{}.json", text(draft, "id"));
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_user_sees_the_announcements_of_all_sites(app: TestApp) {
        let student = app.user("student1").await;
        let all = list(&student, "/direct/announcement/user.json", "announcement").await;
        let sites = ["biology-101", "field-trip"];
        assert!(all.iter().all(|it| sites.contains(&text(it, "siteId").as_str())));
        assert_eq!(all.len(), 5);
    }

    async fn strangers_see_the_message_of_the_day_only(app: TestApp) {
        let stranger = app.anonymous();
        let seen = titles(&stranger, "/direct/announcement/motd.json").await;
        assert_eq!(seen, ["Maintenance on Sunday"]);
        assert_eq!(titles(&stranger, OF_BIOLOGY).await, [""; 0]);
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
        let news = titles(&stranger, "/direct/announcement/site/university-news.json").await;
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

    async fn one_announcement_has_four_addresses(app: TestApp) {
        let student = app.user("student1").await;
        let all = list(&student, OF_BIOLOGY, "announcement").await;
        let first = all.first().expect("an announcement");
        let short = text(first, "announcementId");
        for address in [
            text(first, "id"),
            short.clone(),
            format!("message/biology-101/{short}"),
            format!("msg/biology-101/main/{short}"),
        ] {
            let path = format!("/direct/announcement/{address}.json");
            assert_eq!(read(&student, &path).await, *first, "{address}");
        }
        for address in [format!("message/history-210/{short}"), format!("msg/biology-101/motd/{short}")] {
            let path = format!("/direct/announcement/{address}.json");
            let answer = app.user("admin").await.get(&path).await;
            answer.expect(StatusCode::NOT_FOUND);
        }
    }

    async fn an_unknown_site_is_not_found_and_a_closed_one_forbidden(app: TestApp) {
        let student = app.user("student1").await;
        let ask = async |site: &str| student.get(&format!("/direct/announcement/site/{site}.json")).await;
        ask("nowhere").await.expect(StatusCode::NOT_FOUND);
        ask("history-210").await.expect(StatusCode::FORBIDDEN);
        student.get("/direct/announcement/site.json").await.expect(StatusCode::BAD_REQUEST);
        student.get("/direct/announcement/message/biology-101.json").await.expect(StatusCode::BAD_REQUEST);
    }

    async fn an_announcement_is_created_from_json_with_the_entity_in_the_answer(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let answer = teacher.post("/direct/announcement.json", &coats()).await;
        let id = created(&answer, "announcement");
        let entity = answer.json();
        assert_shape(&entity, &[SHAPE, METADATA]);
        assert_eq!(entity["createdOn"], 1_795_255_200_000_i64);
        assert_eq!(read(&teacher, &format!("/direct/announcement/{id}.json")).await, entity);
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
        crate::shape::assert_same(answer.text(), &entity);
    }

    async fn what_was_read_can_be_sent_back(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announce(&teacher, &coats()).await;
        let before = read(&teacher, &path).await;
        teacher.put(&path, &json!({"announcement": before})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await, before);
    }

    async fn an_update_changes_what_is_sent_and_nothing_else(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announce(&teacher, &coats()).await;
        app.advance(TimeDelta::minutes(1));
        let body = json!({"title": "Bring goggles"});
        teacher.put(&path, &body).await.expect(StatusCode::NO_CONTENT);
        let after = read(&teacher, &path).await;
        assert_eq!(after["title"], "Bring goggles");
        assert_eq!(after["body"], "<p>White ones.</p>");
        assert_eq!(after["modifiedOn"], 1_795_255_260_000_i64);
        assert_eq!(after["createdOn"], 1_795_255_200_000_i64);
    }

    async fn an_update_may_come_as_a_form_and_as_xml(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announce(&teacher, &coats()).await;
        teacher.post_form(&path, "title=From+a+form").await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await["title"], "From a form");
        let xml = "<announcement><title>From XML</title></announcement>";
        let answer = teacher.send(Method::PUT, &path, XML, xml.into()).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await["title"], "From XML");
    }

    async fn a_form_may_delete_by_its_method_field(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = announce(&teacher, &coats()).await;
        teacher.post_form(&path, "_method=DELETE").await.expect(StatusCode::NO_CONTENT);
        teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
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

    async fn students_write_no_announcements(app: TestApp) {
        let student = app.user("student1").await;
        student.post("/direct/announcement", &coats()).await.expect(StatusCode::FORBIDDEN);
        let path = announce(&app.user("instructor1").await, &coats()).await;
        student.put(&path, &json!({"title": "x"})).await.expect(StatusCode::FORBIDDEN);
        student.delete(&path).await.expect(StatusCode::FORBIDDEN);
        assert_eq!(read(&student, &path).await["title"], "Bring lab coats");
    }

    async fn scripts_are_taken_out_of_the_text(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": "<b>x</b>",
            "body": "<p onclick=\"x()\">Hello<script>alert(1)</script></p>"});
        let entity = read(&teacher, &announce(&teacher, &body).await).await;
        assert_eq!(entity["body"], "<p>Hello</p>");
        assert_eq!(entity["title"], "<b>x</b>");
    }

    async fn an_announcement_without_a_title_is_refused_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (media_type, body) in [
            (JSON, r#"{"siteId": "biology-101"}"#),
            (FORM, "siteId=biology-101"),
            (XML, "<announcement><siteId>biology-101</siteId></announcement>"),
        ] {
            let answer = teacher.send(Method::POST, "/direct/announcement", media_type, body.into()).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], "title", "{media_type}");
        }
    }

    async fn announcements_are_found_by_words_fields_and_order(app: TestApp) {
        let student = app.user("student1").await;
        let ask = async |query: &str| titles(&student, &format!("/direct/announcement.json?{query}")).await;
        assert_eq!(ask("_search=membranes").await, [NEWEST]);
        assert_eq!(ask("siteId=field-trip").await, ["Dates for the salt marsh"]);
        assert_eq!(ask("highlight=true").await, [NEWEST]);
        let ordered = ask("siteId=biology-101&_order=title_desc").await;
        let mut expected = ordered.clone();
        expected.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(ordered, expected);
    }
}
