//! `/direct/term`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{created, list, read, text};

both! {
    async fn everybody_who_is_logged_in_reads_the_terms(app: TestApp) {
        for eid in ["student1", "instructor1", "admin"] {
            let client = app.user(eid).await;
            let terms = list(&client, "/direct/term.json", "term").await;
            let ids: Vec<_> = terms.iter().map(|it| text(it, "id")).collect();
            assert_eq!(ids, ["2027:3", "2026:9", "2026:3"], "the latest first");
            let current: Vec<_> = terms.iter().filter(|it| it["current"] == true).collect();
            assert_eq!(current.len(), 1);
            assert_eq!(text(current[0], "id"), "2026:9");
            let one = read(&client, "/direct/term/2026:9.json").await;
            assert_eq!(one, *current[0]);
            let xml = client.get("/direct/term/2026:9.xml").await;
            let xml = xml.expect(StatusCode::OK).text();
            assert!(xml.contains("<id>2026:9</id>") && xml.contains("date=\"2026-07-01T00:00:00Z\""), "{xml}");
        }
    }

    async fn the_terms_of_sites_are_terms(app: TestApp) {
        let student = app.user("student1").await;
        let site = read(&student, "/direct/site/biology-101.json").await;
        assert!(text(&site["props"], "term").chars().all(|it| it.is_ascii_digit()));
        let term = text(&site["props"], "term_eid");
        assert_eq!(read(&student, &format!("/direct/term/{term}.json")).await["current"], true);
    }

    async fn administrators_write_them(app: TestApp) {
        let term = json!({"id": "2028:3", "title": "Spring 2028", "from": "2028-01-01T00:00:00Z", "to": "2028-07-01T00:00:00Z"});
        for eid in ["student1", "instructor1"] {
            let client = app.user(eid).await;
            // Whoever may make none is told so, whatever was sent.
            for body in [&term, &json!({}), &json!({"bad": 1})] {
                client.post("/direct/term", body).await.expect(StatusCode::FORBIDDEN);
            }
        }
        let admin = app.user("admin").await;
        assert_eq!(created(&admin.post("/direct/term", &term).await, "term"), "2028:3");
        admin.post("/direct/term", &term).await.expect(StatusCode::CONFLICT);
        let unnamed = json!({"title": "A term without an id", "from": "2028-01-01T00:00:00Z", "to": "2028-07-01T00:00:00Z"});
        assert!(!created(&admin.post("/direct/term", &unnamed).await, "term").is_empty());
        let form = "id=&title=Left+empty&from=2029-01-01T00%3A00%3A00Z&to=2029-07-01T00%3A00%3A00Z";
        assert!(!created(&admin.post_form("/direct/term", form).await, "term").is_empty());
        admin.put("/direct/term/2028:3", &json!({"to": "2028-08-01T00:00:00Z", "current": true})).await.expect(StatusCode::NO_CONTENT);
        let changed = read(&admin, "/direct/term/2028:3.json").await;
        assert_eq!((&changed["to"], &changed["current"]), (&json!("2028-08-01T00:00:00Z"), &json!(false)));
    }

    async fn hostile_terms_are_refused_by_name(app: TestApp) {
        let admin = app.user("admin").await;
        let good = json!({"title": "t", "from": "2028-01-01T00:00:00Z", "to": "2028-07-01T00:00:00Z"});
        for (name, value) in [
            ("id", json!("a/b")), ("id", json!("..")), ("id", json!("a\\b")), ("id", json!("a;b")), ("id", json!(" a")),
            ("id", json!("a\u{202e}b")), ("id", json!("describe")), ("id", json!("new")), ("id", json!("a.json")),
            ("id", json!("x".repeat(100))),
            ("to", json!("2027-01-01T00:00:00Z")),
        ] {
            let mut term = good.clone();
            term[name] = value.clone();
            let answer = admin.post("/direct/term", &term).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let fields: Value = answer.json()["error"]["fields"].take();
            let names: Vec<_> = fields.as_array().expect("fields").iter().map(|it| &it["name"]).collect();
            assert!(names.contains(&&json!(name)), "{value}: {}", answer.text());
        }
        let answer = admin.put("/direct/term/2026:9", &json!({"to": "2020-01-01T00:00:00Z"})).await;
        answer.expect(StatusCode::BAD_REQUEST);
    }
}
