//! Forms in pages: they carry the version that they were filled with, and write what people see in them.

use http::StatusCode;
use http::header::{ACCEPT, ETAG, IF_MATCH};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, above_storage};

use super::{browser, created, form, list, read, text};

const SITE: &str = "/direct/site/biology-101";

/// The version that the form in a page carries.
fn version(page: &Answer) -> Option<String> {
    let (_, rest) = page.text().split_once("name=\"_version\" value=\"")?;
    rest.split('"').next().map(ToOwned::to_owned)
}

/// Returns the fields that a browser sends of the form that creates or changes an entity when nobody has touched it.
pub(super) fn untouched(page: &Answer) -> Vec<(String, String)> {
    let (_, main) = page.text().split_once("<main").expect("a page");
    let mut pairs = Vec::new();
    let mut select = String::new();
    for (start, _) in main.match_indices('<') {
        let (_, tag) = main.split_at(start);
        let (head, rest) = tag.split_once('>').expect("a tag");
        let of = |name: &str| {
            let (_, value) = head.split_once(&format!(" {name}=\"")).unwrap_or_default();
            plain(value.split('"').next().unwrap_or_default())
        };
        match head.split(' ').next() {
            Some("<input") if of("type") == "checkbox" && !head.contains(" checked") => {}
            Some("<input") => pairs.push((of("name"), of("value"))),
            Some("<textarea") => {
                let text = rest.split("</textarea>").next().unwrap_or_default();
                let text = text
                    .strip_prefix('\n')
                    .unwrap_or(text)
                    .replace('\n', "\r\n");
                pairs.push((of("name"), plain(&text)));
            }
            Some("<select") => select = of("name"),
            Some("<option") if head.ends_with(" selected") => {
                pairs.push((select.clone(), of("value")));
            }
            _ => {}
        }
    }
    pairs
}

pub(crate) fn plain(text: &str) -> String {
    let marks = [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
    ];
    marks.iter().fold(text.to_owned(), |text, (mark, sign)| {
        text.replace(mark, sign)
    })
}

/// Returns whether `page` says that something else was stored meanwhile.
#[track_caller]
fn assert_outdated(page: &Answer, expected: &[&str]) {
    page.expect(StatusCode::PRECONDITION_FAILED);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    for it in expected.iter().chain(&["It was changed in the meantime"]) {
        assert!(page.text().contains(it), "{it} in {}", page.text());
    }
}

above_storage! {
    async fn a_form_carries_the_version_that_the_tag_tells(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let tag = teacher.get(&format!("{SITE}.json")).await.header(ETAG).map(ToOwned::to_owned);
        for page in ["edit.html", "delete.html"] {
            let page = teacher.get(&format!("{SITE}/{page}")).await;
            let version = version(&page).expect("a version");
            assert_eq!(tag.as_deref(), Some(format!("\"{version}-json\"").as_str()));
        }
        let new = browser(&app, "admin").await.get("/direct/site/new.html").await;
        assert_eq!(version(new.expect(StatusCode::OK)), None);
    }

    async fn a_form_does_not_write_over_what_its_reader_has_not_seen(app: TestApp) {
        let (teacher, other) = (browser(&app, "instructor1").await, app.user("admin").await);
        let seen = version(&teacher.get(&format!("{SITE}/edit.html")).await).expect("a version");
        other.put(SITE, &json!({"title": "Theirs & now"})).await.expect(StatusCode::NO_CONTENT);
        let present = read(&other, SITE).await;
        let mine = |version: &str| {
            form(&[("_method", "PUT"), ("_version", version), ("title", "Mine"), ("contactName", "Me")])
        };
        for path in [SITE.to_owned(), format!("{SITE}/edit")] {
            let page = teacher.post_form(&path, &mine(&seen)).await;
            assert_outdated(&page, &[
                "name=\"title\" type=\"text\" value=\"Mine\"",
                "Stored now: <span class=\"text\" dir=\"auto\">Theirs &#38; now</span>",
                "href=\"/direct/site/biology-101.html\"",
            ]);
            let now = version(&page).expect("a version");
            assert_ne!(now, seen);
            assert_eq!(page.header(ETAG), Some(format!("\"{now}-html\"").as_str()));
            assert_eq!(read(&other, SITE).await, present);
        }
        for nonsense in ["", "nonsense", "\"x\""] {
            assert_outdated(&teacher.post_form(SITE, &mine(nonsense)).await, &[]);
        }
        let page = teacher.post_form(SITE, &mine(&seen)).await;
        let again = teacher.post_form(SITE, &mine(&version(&page).expect("a version"))).await;
        again.expect(StatusCode::SEE_OTHER);
        assert_eq!(read(&other, SITE).await["title"], "Mine");
    }

    async fn a_form_that_was_refused_still_knows_which_version_it_is_about(app: TestApp) {
        let (teacher, other) = (browser(&app, "instructor1").await, app.user("admin").await);
        let seen = version(&teacher.get(&format!("{SITE}/edit.html")).await).expect("a version");
        other.put(SITE, &json!({"title": "Theirs"})).await.expect(StatusCode::NO_CONTENT);
        let wrong = form(&[("_method", "PUT"), ("_version", &seen), ("title", " ")]);
        let page = teacher.post_form(SITE, &wrong).await;
        page.expect(StatusCode::BAD_REQUEST);
        assert_eq!(version(&page), Some(seen.clone()));
        let right = form(&[("_method", "PUT"), ("_version", &seen), ("title", "Mine")]);
        assert_outdated(&teacher.post_form(SITE, &right).await, &[]);
        assert_eq!(read(&other, SITE).await["title"], "Theirs");
    }

    async fn what_has_changed_is_not_deleted_unseen(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let news = json!({"siteId": "biology-101", "title": "Short-lived"});
        let path = format!("/direct/announcement/{}", created(&teacher.post("/direct/announcement.json", &news).await, "announcement"));
        let asked = version(&teacher.get(&format!("{path}/delete.html")).await).expect("a version");
        teacher.put(&path, &json!({"title": "Longer-lived"})).await.expect(StatusCode::NO_CONTENT);
        let delete = |version: &str| form(&[("_method", "DELETE"), ("_version", version)]);
        let page = teacher.post_form(&path, &delete(&asked)).await;
        assert_outdated(&page, &["Delete Longer-lived?", "Nothing was deleted"]);
        teacher.get(&path).await.expect(StatusCode::OK);
        let gone = teacher.post_form(&path, &delete(&version(&page).expect("a version"))).await;
        gone.expect(StatusCode::SEE_OTHER);
        teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_version_in_a_form_is_the_same_as_one_in_the_header(app: TestApp) {
        let program = app.user("instructor1").await;
        let page = program.get(&format!("{SITE}/edit.html")).await;
        let seen = version(&page).expect("a version");
        let change = |title: &str, version: &str| form(&[("_version", version), ("title", title)]);
        program.post_form(SITE, &change("One", &seen)).await.expect(StatusCode::NO_CONTENT);
        let answer = program.post_form(SITE, &change("Two", &seen)).await;
        answer.expect(StatusCode::PRECONDITION_FAILED);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let any = program.clone().with_header(IF_MATCH, "*");
        any.post_form(SITE, &change("Three", &seen)).await.expect(StatusCode::NO_CONTENT);
        let twice = format!("{}&_version=1", change("Four", &seen));
        program.post_form(SITE, &twice).await.expect(StatusCode::BAD_REQUEST);
        // Elsewhere it is a field like others, which the type does not have.
        program.put(SITE, &json!({"_version": seen})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(read(&program, SITE).await["title"], "Three");
    }

    async fn who_may_not_write_learns_nothing_of_versions(app: TestApp) {
        let student = browser(&app, "student1").await;
        let stale = form(&[("_method", "PUT"), ("_version", "1"), ("title", "x")]);
        student.post_form(SITE, &stale).await.expect(StatusCode::FORBIDDEN);
        student.post_form("/direct/site/nowhere", &stale).await.expect(StatusCode::NOT_FOUND);
    }

    async fn x46_a_form_whose_reference_leads_nowhere_comes_back(app: TestApp) {
        let (teacher, student) = (browser(&app, "instructor1").await, browser(&app, "student1").await);
        for (site, status) in [("nowhere", StatusCode::NOT_FOUND), ("history-210", StatusCode::FORBIDDEN)] {
            let sent = form(&[("siteId", site), ("title", "Typed at length"), ("body", "<p>And more</p>")]);
            let page = teacher.post_form("/direct/announcement", &sent).await;
            page.expect(status);
            for part in ["value=\"Typed at length\"", "And more", "This was not accepted"] {
                assert!(page.text().contains(part), "{site} {part}: {}", page.text());
            }
            // Whoever has no such form is shown none.
            let none = student.post_form("/direct/announcement", &sent).await;
            none.expect(status);
            assert!(!none.text().contains("Typed at length"), "{site}");
        }
    }

    async fn x46_a_form_that_was_sent_too_often_comes_back_without_its_secrets(app: TestApp) {
        let student = browser(&app, "student1").await;
        let sent = form(&[
            ("_method", "PUT"), ("firstName", "Typed"), ("password", "a-better-one"), ("currentPassword", "wrong-guess"),
        ]);
        let mut pages = Vec::new();
        for _ in 0..12 {
            pages.push(student.post_form("/direct/user/student1", &sent).await);
        }
        let last = pages.pop().expect("a page");
        last.expect(StatusCode::TOO_MANY_REQUESTS);
        assert!(last.header("retry-after").is_some());
        assert!(last.text().contains("value=\"Typed\""), "{}", last.text());
        assert!(!last.text().contains("a-better-one") && !last.text().contains("wrong-guess"), "{}", last.text());
    }

    async fn x46_a_form_that_was_sent_after_the_session_ended_comes_back(app: TestApp) {
        let stranger = app.anonymous().with_header(ACCEPT, "text/html,*/*;q=0.8");
        let teacher = browser(&app, "instructor1").await;
        let seen = version(&teacher.get(&format!("{SITE}/edit.html")).await).expect("a version");
        let change = form(&[("_method", "PUT"), ("_version", &seen), ("title", "Typed at length")]);
        let page = stranger.post_form(SITE, &change).await;
        page.expect(StatusCode::UNAUTHORIZED);
        for part in [
            "value=\"Typed at length\"", "You are not logged in any more", "href=\"/portal/xlogin\"",
            "action=\"/direct/site/biology-101\"", "name=\"_method\" value=\"PUT\"", &format!("name=\"_version\" value=\"{seen}\""),
        ] {
            assert!(page.text().contains(part), "{part}: {}", page.text());
        }
        assert!(!page.text().contains("Cells and Life"), "{}", page.text());
        // It tells the same of what there is not.
        let other = stranger.post_form("/direct/site/nowhere", &change).await;
        other.expect(StatusCode::UNAUTHORIZED);
        assert!(other.text().contains("value=\"Typed at length\""));
        let news = form(&[("siteId", "biology-101"), ("title", "Typed, <too>")]);
        let page = stranger.post_form("/direct/announcement", &news).await;
        page.expect(StatusCode::UNAUTHORIZED);
        assert!(page.text().contains("Typed, &#60;too&#62;"), "{}", page.text());
        teacher.post_form("/direct/announcement", &news).await.expect(StatusCode::SEE_OTHER);
        // An action is no exception, and a program gets no form.
        let action = stranger.post_form("/direct/calendar/import/biology-101", "ics=Typed").await;
        action.expect(StatusCode::UNAUTHORIZED);
        assert!(action.text().contains("Typed</textarea>"));
        let program = app.anonymous().post_form("/direct/announcement.json", &news).await;
        assert_eq!(program.expect(StatusCode::UNAUTHORIZED).json()["error"]["status"], "401");
    }

    async fn boxes_lines_and_choices_are_written_as_people_see_them(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let files = "{\"name\": \"Map\", \"url\": \"https://example.org/map.pdf\"}\r\n";
        let sent = form(&[
            ("siteId", "biology-101"), ("title", "From a page"), ("highlight", "false"), ("highlight", "true"),
            ("draft", "false"), ("groups", ""), ("attachments", files),
        ]);
        let answer = teacher.post_form("/direct/announcement", &sent).await;
        answer.expect(StatusCode::SEE_OTHER);
        let page = answer.header("location").expect("a page").replace("http://127.0.0.1:8080", "");
        let path = page.trim_end_matches(".html").to_owned();
        let made = read(&teacher, &format!("{path}.json")).await;
        assert_eq!((&made["highlight"], &made["draft"], &made["groups"]), (&json!(true), &json!(false), &json!([])));
        assert_eq!(made["attachments"][0]["name"], "Map");
        let edit = teacher.get(&format!("{path}/edit.html")).await;
        assert!(edit.text().contains("&#34;name&#34;:&#34;Map&#34;"), "{}", edit.text());
        let wrong = form(&[("_method", "PUT"), ("attachments", "{\"name\": \"Map\"}"), ("groups", "{nonsense")]);
        let refused = teacher.post_form(&path, &wrong).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert!(refused.text().contains("id=\"field-groups-error\""), "{}", refused.text());
        let wrong = form(&[("_method", "PUT"), ("attachments", "{\"name\": \"Map\"}")]);
        let refused = teacher.post_form(&path, &wrong).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert!(refused.text().contains("id=\"field-attachments-error\""), "{}", refused.text());
        let emptied = form(&[("_method", "PUT"), ("highlight", "false"), ("attachments", "")]);
        teacher.post_form(&path, &emptied).await.expect(StatusCode::SEE_OTHER);
        let now = read(&teacher, &format!("{path}.json")).await;
        assert_eq!((&now["highlight"], &now["attachments"]), (&json!(false), &json!([])));
    }

    async fn a_form_that_nobody_touched_changes_nothing(app: TestApp) {
        let (admin, teacher) = (browser(&app, "admin").await, browser(&app, "instructor1").await);
        let first = async |client: &Client, path: &str, prefix: &str| {
            let items = list(client, path, prefix).await;
            let id = entity_core::encode_segment(&text(&items[items.len() - 1], "entityId"));
            format!("/direct/{prefix}/{id}")
        };
        let feed = json!({"path": "/announcement", "formats": ["atom"], "expires": "2126-11-21T10:00:00.250Z"});
        created(&teacher.post("/direct/feed.json", &feed).await, "feed");
        let news = first(&teacher, "/direct/announcement/site/biology-101.json", "announcement").await;
        let member = first(&teacher, "/direct/membership/site/biology-101.json", "membership").await;
        let own_feed = first(&teacher, "/direct/feed.json", "feed").await;
        let user = text(&read(&teacher, "/direct/user/current.json").await, "id");
        let precise = json!({"siteId": "biology-101", "title": "At once", "body": "", "releaseDate": 1_795_531_201_687_i64});
        let precise = created(&teacher.post("/direct/announcement.json", &precise).await, "announcement");
        let precise = format!("/direct/announcement/{}", entity_core::encode_segment(&precise));
        for (client, path) in [
            (&teacher, SITE.to_owned()),
            (&teacher, news),
            (&teacher, precise),
            (&teacher, member),
            (&teacher, own_feed),
            (&teacher, format!("/direct/user/{user}")),
            (&admin, "/direct/user/student1".to_owned()),
        ] {
            let before = read(client, &format!("{path}.json")).await;
            let page = client.get(&format!("{path}/edit.html")).await;
            let sent = untouched(page.expect(StatusCode::OK));
            assert!(sent.len() > 3, "{path}: {sent:?}");
            let pairs: Vec<_> = sent.iter().map(|(name, value)| (&**name, &**value)).collect();
            client.post_form(&path, &form(&pairs)).await.expect(StatusCode::SEE_OTHER);
            let after = read(client, &format!("{path}.json")).await;
            for (name, value) in before.as_object().expect("an entity") {
                let is_about_time = name.to_lowercase().contains("modified");
                // A box that is not ticked says no.
                let is_no = value.is_null() && after[name] == false;
                assert!(is_about_time || is_no || after[name] == *value, "{path}: {name}: {value}, {}", after[name]);
            }
        }
    }

    async fn a_form_of_which_only_the_title_is_filled_in_makes_a_site(app: TestApp) {
        let admin = browser(&app, "admin").await;
        let mut sent = untouched(&admin.get("/direct/site/new.html").await);
        for (_, value) in sent.iter_mut().filter(|it| it.0 == "title") {
            "Only a title".clone_into(value);
        }
        let pairs: Vec<_> = sent.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = admin.post_form("/direct/site", &form(&pairs)).await;
        answer.expect(StatusCode::SEE_OTHER);
        let page = answer.header("location").expect("a page").replace("http://127.0.0.1:8080", "");
        let site = read(&admin, &page.replace(".html", ".json")).await;
        assert_eq!((&site["published"], &site["joinerRole"], &site["props"]), (&json!(true), &json!("access"), &json!({})));
    }

    async fn a_new_site_begins_as_its_form_says(app: TestApp) {
        let admin = browser(&app, "admin").await;
        let page = admin.get("/direct/site/new.html").await;
        for expected in [
            "name=\"published\" type=\"checkbox\" value=\"true\" checked",
            "name=\"pubView\" type=\"checkbox\" value=\"true\">",
            "<option value=\"project\">Project</option>",
            "name=\"contactEmail\" type=\"email\"",
        ] {
            assert!(page.text().contains(expected), "{expected} in {}", page.text());
        }
        let made = async |path: &str, pairs: &[(&str, &str)]| -> Value {
            let answer = app.user("admin").await.post_form(path, &form(pairs)).await;
            let id = created(&answer, "site");
            read(&admin, &format!("/direct/site/{id}.json")).await
        };
        let site = made("/direct/site", &[("title", "A"), ("props", "term=3\r\nterm_eid = Fall = 26")]).await;
        assert_eq!(site["published"], true);
        assert_eq!(site["props"], json!({"term": "3", "term_eid": "Fall = 26"}));
        let site = made("/direct/site", &[("title", "B"), ("published", "false"), ("type", "project")]).await;
        assert_eq!((text(&site, "type"), &site["published"]), ("project".to_owned(), &json!(false)));
        let answer = admin.post_form("/direct/site", &form(&[("title", "C"), ("type", "lecture")])).await;
        answer.expect(StatusCode::BAD_REQUEST);
        assert!(answer.text().contains("Kind must be course or project."), "{}", answer.text());
    }

    async fn lists_are_called_as_people_call_them(app: TestApp) {
        let admin = browser(&app, "admin").await;
        for (path, heading) in [
            ("/direct/user.html", "Accounts"),
            ("/direct/membership/site/biology-101.html", "People"),
            ("/direct/site.html", "Sites"),
            ("/direct/announcement/site/biology-101.html", "Announcements"),
            ("/direct/feed.html", "Private feeds"),
        ] {
            let page = admin.get(path).await;
            page.expect(StatusCode::OK);
            assert!(page.text().contains(&format!("<h1 dir=\"auto\">{heading}</h1>")), "{path}");
        }
        let user = admin.get("/direct/user/current.html").await;
        assert!(!user.text().contains("<bdi>Accounts</bdi>"), "{}", user.text());
        let described = read(&app.anonymous(), "/direct/user/describe.json").await;
        assert_eq!(described["title"], "Accounts");
        let feed = admin.get("/direct/announcement/site/biology-101.atom").await;
        assert!(feed.text().contains("<title>Announcements: site biology-101</title>"), "{}", feed.text());
    }
}
