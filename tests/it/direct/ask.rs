//! The forms of actions on pages: what people fill in before an action runs.

use http::header::{ACCEPT, LOCATION};
use http::{Method, StatusCode};
use tests::{Client, TestApp, both};

use super::{browser, created, list, read, text};

const OF_BIOLOGY: &str = "/direct/assignment/site/biology-101";
const REPORT: &str = "Lab report: onion cells";
const BOUNDARY: &str = "a-boundary";

async fn page(client: &Client, path: &str) -> String {
    client
        .get(path)
        .await
        .expect(StatusCode::OK)
        .text()
        .to_owned()
}

/// The id of the assignment of the demo with this title.
async fn assignment(client: &Client, title: &str) -> String {
    let all = list(client, &format!("{OF_BIOLOGY}.json"), "assignment").await;
    let found = all.iter().find(|it| it["title"] == title);
    text(found.expect("the assignment"), "id")
}

/// A form of a browser with these fields, and behind them a file.
async fn send_file(
    client: &Client,
    path: &str,
    fields: &[(&str, &str)],
    file: &str,
) -> tests::Answer {
    let mut body = String::new();
    for (name, value) in fields {
        let field = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.push_str(&field);
    }
    let file = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\r\nherons\r\n--{BOUNDARY}--\r\n"
    );
    body.push_str(&file);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    client.send(Method::POST, path, &kind, body.into()).await
}

/// Asserts that the page to which `sent` leads says this.
async fn assert_said(app: &TestApp, client: &Client, sent: &tests::Answer, sentence: &str) {
    let page = sent
        .expect(StatusCode::SEE_OTHER)
        .header(LOCATION)
        .expect("a page");
    let page = page.replace("http://127.0.0.1:8080", "");
    let said = sent
        .header(http::header::SET_COOKIE)
        .expect("a cookie")
        .split(';')
        .next()
        .unwrap_or_default();
    let cookies = format!("{}; {said}", client.cookie().expect("a session"));
    let reader = app
        .anonymous()
        .with_header(ACCEPT, "text/html")
        .with_header(http::header::COOKIE, &cookies);
    let shown = reader.get(&page).await;
    assert!(
        shown.text().contains(sentence),
        "{sentence}: {}",
        shown.text()
    );
}

both! {
    async fn a_file_is_handed_in_by_the_form_of_the_page(app: TestApp) {
        let student = browser(&app, "student4").await;
        let id = assignment(&student, REPORT).await;
        let path = format!("/direct/assignment/{id}");
        let shown = page(&student, &format!("{path}.html")).await;
        let submit = format!("<form method=\"post\" action=\"{path}/submit\" enctype=\"multipart/form-data\">");
        assert!(shown.contains(&submit), "{shown}");
        assert!(shown.contains("type=\"file\" multiple"), "{shown}");

        let fields = [("submittedText", "<p>See the file.</p>"), ("draft", "false")];
        let sent = send_file(&student, &format!("{path}/submit"), &fields, "notes.txt").await;
        sent.expect(StatusCode::SEE_OTHER);
        let own = list(&student, &format!("/direct/assignment-submission/assignment/{id}.json"), "assignment-submission").await;
        assert_eq!(own.len(), 1);
        assert_eq!(own[0]["submitted"], true);
        let file = &own[0]["submittedAttachments"][0];
        assert_eq!(file["name"], "notes.txt");
        let url = text(file, "url").replace("http://127.0.0.1:8080", "");
        for (eid, status) in [
            ("student4", StatusCode::OK),
            ("instructor1", StatusCode::OK),
            ("student5", StatusCode::NOT_FOUND),
        ] {
            app.user(eid).await.get(&url).await.expect(status);
        }
    }

    async fn y3_a_draft_stays_until_somebody_says_otherwise(app: TestApp) {
        let student = browser(&app, "student7").await;
        let id = assignment(&student, REPORT).await;
        let path = format!("/direct/assignment/{id}");
        let submit = format!("{path}/submit");
        let own = async || list(&student, &format!("/direct/assignment-submission/assignment/{id}.json"), "assignment-submission").await.remove(0);
        let names = |work: &serde_json::Value| -> Vec<String> {
            work["submittedAttachments"].as_array().expect("a list").iter().map(|it| text(it, "name")).collect()
        };
        let first = page(&student, &format!("{path}.html")).await;
        for part in ["<button type=\"submit\" name=\"draft\" value=\"true\">Save draft</button>", "name=\"draft\" value=\"false\">Hand in</button>"] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(!first.contains("Files so far"), "{first}");
        let sent = student.post_form(&submit, "submittedText=%3Cp%3EA+draft%3C%2Fp%3E&draft=true").await;
        assert_said(&app, &student, &sent, "Your draft for Lab report: onion cells is saved. It is not handed in yet.").await;
        assert!(page(&student, &format!("{path}.html")).await.contains("A draft"), "the box holds it");
        // A file alone, and another one, with an empty box or none.
        send_file(&student, &submit, &[("submittedText", ""), ("draft", "true")], "one.txt").await.expect(StatusCode::SEE_OTHER);
        send_file(&student, &submit, &[("draft", "true")], "two.txt").await.expect(StatusCode::SEE_OTHER);
        let work = own().await;
        assert_eq!((text(&work, "submittedText"), names(&work)), ("<p>A draft</p>".to_owned(), vec!["one.txt".to_owned(), "two.txt".to_owned()]));
        // One is taken away by its box, and another one added.
        let shown = student.get(&format!("{path}.html")).await;
        let boxes: Vec<_> = crate::direct::form::untouched(&shown).into_iter().filter(|it| it.0 == "submittedAttachments[]").collect();
        assert_eq!(boxes.iter().filter(|it| it.1.contains(".txt")).count(), 2, "{boxes:?}");
        let kept: Vec<_> = boxes.iter().filter(|it| !it.1.contains("one.txt")).map(|it| (&*it.0, &*it.1)).collect();
        let fields = [&kept[..], &[("submittedText", " "), ("draft", "true")]].concat();
        send_file(&student, &submit, &fields, "three.txt").await.expect(StatusCode::SEE_OTHER);
        assert_eq!(names(&own().await), ["two.txt", "three.txt"]);
        // The form as it is hands the draft in.
        let shown = student.get(&format!("{path}.html")).await;
        let pairs: Vec<_> = crate::direct::form::untouched(&shown).into_iter().filter(|it| it.0.starts_with("submitted")).collect();
        let pairs: Vec<_> = pairs.iter().map(|it| (&*it.0, &*it.1)).chain([("draft", "false")]).collect();
        let sent = student.post_form(&submit, &entity_formats::write_pairs(pairs)).await;
        assert_said(&app, &student, &sent, "Your work on Lab report: onion cells is handed in.").await;
        let work = own().await;
        assert_eq!((text(&work, "submittedText"), names(&work)), ("<p>A draft</p>".to_owned(), vec!["two.txt".to_owned(), "three.txt".to_owned()]));
        assert_eq!(work["submitted"], true);
    }

    async fn y3_programs_take_a_text_away_and_one_file_takes_the_place_of_another(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student8").await);
        let made = |kind: &str| serde_json::json!({
            "context": "biology-101", "title": kind, "openTime": "2026-11-20T10:00:00Z", "dueTime": "2026-12-20T10:00:00Z",
            "closeTime": "2026-12-20T10:00:00Z", "submissionType": kind, "resubmissions": -1,
        });
        let id = created(&teacher.post("/direct/assignment.json", &made("TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION")).await, "assignment");
        let path = format!("/direct/assignment/{id}/submit.json");
        let work = async |path: &str, body: serde_json::Value| student.post(path, &body).await.expect(StatusCode::OK).json()["submissions"][0].clone();
        let kept = work(&path, serde_json::json!({"submittedText": "Text", "draft": true})).await;
        assert_eq!(kept["submittedText"], "Text");
        let kept = work(&path, serde_json::json!({"draft": true})).await;
        assert_eq!(kept["submittedText"], "Text");
        for nothing in [serde_json::json!(""), serde_json::Value::Null] {
            work(&path, serde_json::json!({"submittedText": "Text", "draft": true})).await;
            let cleared = work(&path, serde_json::json!({"submittedText": nothing, "draft": true})).await;
            assert!(cleared["submittedText"].as_str().is_none_or(str::is_empty), "{cleared}");
        }
        let id = created(&teacher.post("/direct/assignment.json", &made("SINGLE_ATTACHMENT_SUBMISSION")).await, "assignment");
        let own = browser(&app, "student8").await;
        for file in ["one.txt", "two.txt"] {
            send_file(&own, &format!("/direct/assignment/{id}/submit"), &[("submittedText", ""), ("draft", "false")], file).await.expect(StatusCode::SEE_OTHER);
        }
        let own = list(&student, &format!("/direct/assignment-submission/assignment/{id}.json"), "assignment-submission").await;
        let files = own[0]["submittedAttachments"].as_array().expect("a list");
        assert_eq!((files.len(), &files[0]["name"]), (1, &serde_json::json!("two.txt")));
    }

    async fn a_body_that_is_no_form_is_no_file_where_work_is_handed_in(app: TestApp) {
        let student = app.user("student5").await;
        let id = assignment(&student, REPORT).await;
        let path = format!("/direct/assignment/{id}/submit.json");
        let body = serde_json::json!({"submittedText": "<p>No file.</p>"});
        let work = student.post(&path, &body).await.expect(StatusCode::OK).json();
        assert_eq!(work["submissions"][0]["submitted"], true);
        assert_eq!(work["submissions"][0]["submittedAttachments"], serde_json::json!([]));
    }

    async fn a_new_entity_of_a_list_of_a_site_belongs_to_it(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        for (path, link) in [
            ("/direct/assignment/site/biology-101.html", "/direct/assignment/new.html?context=biology-101\">New assignment"),
            ("/direct/calendar/site/biology-101.html", "/direct/calendar/new.html?siteId=biology-101\">New event"),
            ("/direct/sam_pub/context/biology-101.html", "/direct/sam_pub/new.html?ownerSiteId=biology-101\">New quiz"),
        ] {
            let shown = page(&teacher, path).await;
            assert!(shown.contains(link), "{link} in {shown}");
            assert!(shown.contains("href=\"/direct/site/biology-101.html\""), "the way back in {shown}");
        }
    }

    async fn an_import_shows_what_it_would_change(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let list = page(&teacher, "/direct/calendar/site/biology-101.html").await;
        assert!(list.contains("action=\"/direct/calendar/import/biology-101\""), "{list}");
        let file = "BEGIN%3AVCALENDAR%0D%0AVERSION%3A2.0%0D%0ABEGIN%3AVEVENT%0D%0AUID%3Ax1%0D%0ADTSTART%3A20261201T100000Z%0D%0A\
            SUMMARY%3AHerons%0D%0AEND%3AVEVENT%0D%0AEND%3AVCALENDAR%0D%0A";
        let path = "/direct/calendar/import/biology-101";
        let form = format!("ics={file}&preview=false&preview=true");
        let shown = teacher.post_form(path, &form).await.expect(StatusCode::OK).text().to_owned();
        assert!(shown.contains("Herons"), "{shown}");
        let events = read(&teacher, "/direct/calendar/site/biology-101.json").await;
        assert!(!events.to_string().contains("Herons"));
        teacher.post_form(path, &format!("ics={file}&preview=false")).await.expect(StatusCode::OK);
        let events = read(&teacher, "/direct/calendar/site/biology-101.json").await;
        assert!(events.to_string().contains("Herons"));
        // Whoever may not import is not asked.
        let student = browser(&app, "student1").await;
        let list = page(&student, "/direct/calendar/site/biology-101.html").await;
        assert!(!list.contains("/import/"), "{list}");
    }

    async fn a_checklist_is_ticked_in_a_form(app: TestApp) {
        let student = browser(&app, "student1").await;
        let items = list(&student, "/direct/lesson-item.json?siteId=biology-101", "lesson-item").await;
        let item = items.iter().find(|it| it["kind"] == "checklist").expect("a checklist");
        let path = format!("/direct/lesson-item/{}", text(item, "itemId"));
        let shown = page(&student, &format!("{path}.html")).await;
        assert!(shown.contains(&format!("href=\"{path}/entries.html\"")), "{shown}");
        assert!(!shown.contains("/tick\""), "{shown}");
        let sheet = page(&student, &format!("{path}/entries.html")).await;
        assert!(sheet.contains("Clean the lens") && sheet.contains(&format!("formaction=\"{path}/tick\"")), "{sheet}");
        let ids: Vec<String> = item["entries"].as_array().expect("a list").iter().map(|it| text(it, "id")).collect();
        for ticked in [&ids[..1], &[], &ids[..]] {
            let pairs: Vec<_> = ticked.iter().map(|it| format!("&entries={it}")).collect();
            let pairs = pairs.concat();
            let sent = student.post_form(&format!("{path}/tick"), &format!("entries={pairs}")).await;
            assert!(sent.expect(StatusCode::SEE_OTHER).header(LOCATION).is_some());
            let now = read(&student, &format!("{path}.json")).await;
            assert_eq!(now["ticked"].as_array().map(Vec::len), Some(ticked.len()));
            assert_eq!(now["completed"], ticked.len() == ids.len());
        }
        student.get(&format!("/direct/lesson-item/{}/entries.html", text(&items[0], "itemId"))).await.expect(
            if items[0]["kind"] == "checklist" { StatusCode::OK } else { StatusCode::NOT_FOUND },
        );
    }
}
