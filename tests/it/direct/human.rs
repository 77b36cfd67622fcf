//! Pages ask people for what people know and tell them what they did: minutes, groups by name, one sentence once.

use http::StatusCode;
use http::header::{ACCEPT, CACHE_CONTROL, COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, above_storage};

use super::{browser, created, form, read};

const EVENTS: &str = "/direct/calendar";
const LAB: &str = "Lab report: onion cells";

/// The path to which an answer sends a browser.
#[track_caller]
fn next(answer: &Answer) -> String {
    answer.expect(StatusCode::SEE_OTHER);
    let next = answer.header(LOCATION).expect("a page");
    next.replace("http://127.0.0.1:8080", "")
}

/// The page of the entity with this title in the site of the demo.
async fn page_of(client: &Client, prefix: &str, title: &str) -> String {
    let list = client
        .get(&format!("/direct/{prefix}/site/biology-101.json"))
        .await;
    let list: Value = serde_json::from_slice(&list.body).expect("JSON");
    let items = list[format!("{prefix}_collection")]
        .as_array()
        .expect("a list");
    let found = items.iter().find(|it| it["title"] == title).expect(title);
    format!(
        "/direct/{prefix}/{}.html",
        found["id"].as_str().expect("an id")
    )
}

above_storage! {
    async fn a_length_is_asked_for_in_minutes_and_programs_send_it_as_before(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let page = teacher.get("/direct/calendar/new.html?siteId=biology-101").await;
        let told = ["name=\"duration[minutes]\"", "<bdi>Biology 101: Cells and Life</bdi></output>", "<legend>For the groups</legend>"];
        for it in told {
            assert!(page.text().contains(it), "{it} in {}", page.text());
        }
        let begin = ("firstTime", "2027-03-01T10:00");
        let common = [("siteId", "biology-101"), ("title", "Lab"), begin];
        for (length, expected) in [
            (("duration[minutes]", "90"), 5_400_000),
            (("duration", "5400001"), 5_400_001),
        ] {
            let answer = app.user("instructor1").await.post_form(EVENTS, &form(&[&common[..], &[length]].concat())).await;
            let id = created(&answer, "calendar");
            let event = read(&teacher, &format!("{EVENTS}/{id}.json")).await;
            assert_eq!(event["duration"], expected);
        }
        let wrong = form(&[&common[..], &[("duration[minutes]", "an hour")]].concat());
        let answer = teacher.post_form(EVENTS, &wrong).await;
        answer.expect(StatusCode::BAD_REQUEST);
        for it in ["Length must be a number of minutes.", "value=\"an hour\"", "<bdi>Biology 101: Cells and Life</bdi></output>"] {
            assert!(answer.text().contains(it), "{it} in {}", answer.text());
        }
    }

    async fn recurrence_is_said_in_words_and_programs_send_rules_as_before(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let common = [("siteId", "biology-101"), ("title", "Lab"), ("firstTime", "2027-03-02T10:00"), ("timeZone", "Europe/Berlin")];
        let weekly = [("recurrenceRule[every]", "week"), ("recurrenceRule[until]", "2027-03-31"), ("recurrenceRule[times]", ""), ("recurrenceRule", "")];
        let own = [("recurrenceRule", "FREQ=WEEKLY;BYDAY=TU,TH")];
        for (parts, expected, words, selected) in [
            (&weekly[..], "FREQ=WEEKLY;UNTIL=20270331T215959Z", "every week, until 31 Mar 2027", "value=\"week\" selected"),
            (&own[..], "FREQ=WEEKLY;BYDAY=TU,TH", "every week on Tuesday, Thursday", "value=\"rule\" selected"),
        ] {
            let answer = app.user("instructor1").await.post_form(EVENTS, &form(&[&common[..], parts].concat())).await;
            let path = format!("{EVENTS}/{}", created(&answer, "calendar"));
            let event = read(&teacher, &format!("{path}.json")).await;
            assert_eq!(event["recurrenceRule"], expected);
            let (page, edit) = (teacher.get(&format!("{path}.html")).await, teacher.get(&format!("{path}/edit.html")).await);
            assert!(page.text().contains(words), "{words} in {}", page.text());
            assert!(edit.text().contains(selected), "{selected} in {}", edit.text());
            let kept = [("_method", "PUT"), ("recurrenceRule[every]", "rule"), ("recurrenceRule", expected)];
            next(&teacher.post_form(&path, &form(&kept)).await);
            assert_eq!(read(&teacher, &format!("{path}.json")).await["recurrenceRule"], expected);
            next(&teacher.post_form(&path, &form(&[("_method", "PUT"), ("recurrenceRule[every]", "")])).await);
            assert_eq!(read(&teacher, &format!("{path}.json")).await["recurrenceRule"], Value::Null);
        }
        let wrong = [("recurrenceRule[every]", "day"), ("recurrenceRule[until]", "2027-03-31"), ("recurrenceRule[times]", "5")];
        let answer = teacher.post_form(EVENTS, &form(&[&common[..], &wrong].concat())).await;
        answer.expect(StatusCode::BAD_REQUEST);
        for it in ["Repeats must end on a day or after some times, not both.", "value=\"day\" selected", "value=\"2027-03-31\"", "value=\"5\""] {
            assert!(answer.text().contains(it), "{it} in {}", answer.text());
        }
    }

    async fn groups_are_ticked_and_files_stay_unless_they_are_left_out(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let page = page_of(&teacher, "assignment", LAB).await;
        let path = page.trim_end_matches(".html");
        let edit = teacher.get(&format!("{path}/edit.html")).await;
        let (_, tick) = edit.text().split_once("name=\"attachments[]\" type=\"checkbox\" value=\"").expect("a file");
        let file = crate::direct::form::plain(tick.split('"').next().expect("a value"));
        let (_, tick) = edit.text().split_once("name=\"groups[]\" type=\"checkbox\" value=\"").expect("a group");
        let group = tick.split('"').next().expect("an id");
        let before = read(&teacher, &format!("{path}.json")).await;
        let change = form(&[("_method", "PUT"), ("attachments[]", ""), ("attachments[]", &file), ("attachments[]", ""), ("groups[]", ""), ("groups[]", group)]);
        next(&teacher.post_form(path, &change).await);
        let after = read(&teacher, &format!("{path}.json")).await;
        assert_eq!((&after["attachments"], &after["groups"]), (&before["attachments"], &json!([group])));
        let change = form(&[("_method", "PUT"), ("attachments[]", ""), ("groups[]", "")]);
        next(&teacher.post_form(path, &change).await);
        let after = read(&teacher, &format!("{path}.json")).await;
        assert_eq!((&after["attachments"], &after["groups"]), (&json!([]), &json!([])));
    }

    async fn work_is_handed_in_by_those_for_whom_it_is_while_it_is_open(app: TestApp) {
        const BUTTON: &str = "<summary>Hand in</summary>";
        const REASON: &str = "This assignment is closed: nothing is handed in any more.";
        let (student, teacher) = (browser(&app, "student2").await, browser(&app, "instructor1").await);
        let (open, closed) = (page_of(&student, "assignment", LAB).await, page_of(&student, "assignment", "Essay: what is alive?").await);
        for (client, page, expected) in [
            (&student, &open, (true, false)),
            (&student, &closed, (false, true)),
            (&teacher, &open, (false, false)),
            (&teacher, &closed, (false, false)),
        ] {
            let page = client.get(page).await;
            assert_eq!((page.text().contains(BUTTON), page.text().contains(REASON)), expected, "{}", page.text());
        }
    }

    async fn a_page_says_once_what_its_reader_has_done(app: TestApp) {
        const SAID: &str = "Announcement created.";
        let teacher = browser(&app, "instructor1").await;
        let answer = teacher.post_form("/direct/announcement", &form(&[("siteId", "biology-101"), ("title", "A"), ("body", "b")])).await;
        let page = next(&answer);
        let set = answer.header(SET_COOKIE).expect("a cookie").to_owned();
        let cookie = set.split(';').next().expect("a pair").to_owned();
        assert!(set.contains("HttpOnly") && cookie.starts_with("lectern-said="), "{set}");
        let both = format!("{}; {cookie}", teacher.cookie().expect("a session"));
        let after = app.anonymous().with_header(ACCEPT, "text/html").with_header(COOKIE, &both);
        let (silent, told) = (teacher.get(&page).await, after.get(&page).await);
        assert!(!silent.text().contains(SAID), "{}", silent.text());
        assert!(told.text().contains(SAID), "{}", told.text());
        let cleared = told.header(SET_COOKIE).expect("a cookie that ends the other");
        assert!(cleared.starts_with("lectern-said=;") && cleared.contains("Max-Age=0"), "{cleared}");
        assert_eq!(told.header(CACHE_CONTROL), Some("no-store"));
    }

    async fn who_joins_is_told_what_by_its_title(app: TestApp) {
        const BUTTON: &str = "action=\"/direct/site/field-trip/join\"";
        let (student, member) = (browser(&app, "student9").await, browser(&app, "student1").await);
        let page = "/direct/site/field-trip.html";
        assert!(student.get(page).await.text().contains(BUTTON) && !member.get(page).await.text().contains(BUTTON));
        for path in ["site/field-trip/join", "membership/join/field-trip"] {
            let answer = student.post_form(&format!("/direct/{path}"), "_method=POST").await;
            assert_eq!(next(&answer), page, "{path}");
            let cookie = answer.header(SET_COOKIE).expect("a cookie").split(';').next().expect("a pair").to_owned();
            let both = format!("{}; {cookie}", student.cookie().expect("a session"));
            let after = app.anonymous().with_header(ACCEPT, "text/html").with_header(COOKIE, &both);
            for (page, expected) in [
                (page, "You have joined Field Trip to the Salt Marsh."),
                ("/direct/announcement/site/field-trip.html", "You have joined this site."),
            ] {
                let told = after.get(page).await;
                assert!(told.text().contains(expected), "{cookie}: {}", told.text());
            }
        }
        assert!(!student.get(page).await.text().contains(BUTTON));
    }

    async fn a_sentence_names_actions_and_never_what_was_sent(app: TestApp) {
        let student = browser(&app, "student9").await;
        let answer = student.post_form("/direct/membership/join/site/field-trip", "_method=POST").await;
        let cookie = answer.header(SET_COOKIE).expect("a cookie");
        assert!(cookie.starts_with("lectern-said=acted.membership.join.site;"), "{cookie}");
    }

    async fn who_ends_the_own_membership_leaves(app: TestApp) {
        let (student, admin) = (browser(&app, "student1").await, browser(&app, "admin").await);
        let own = read(&student, "/direct/user/current.json").await;
        let path = format!("/direct/membership/{}::site:biology-101", own["id"].as_str().expect("an id"));
        let page = student.get(&format!("{path}.html")).await;
        assert!(!page.text().contains(">Delete<"), "{}", page.text());
        let page = admin.get(&format!("{path}.html")).await;
        for shown in [">Remove from the course<", "/delete.html"] {
            assert!(page.text().contains(shown), "{shown}: {}", page.text());
        }
    }

    async fn a_gradebook_is_a_grid_for_teachers_and_a_report_for_students(app: TestApp) {
        let course = "Course grade so far";
        for (eid, found) in [("student1", (true, false, false)), ("instructor1", (false, true, true))] {
            let page = browser(&app, eid).await.get("/direct/gradebook/site/biology-101.html").await;
            let has = |it: &str| page.text().contains(it);
            let shown = (has(course), has("Entered instead"), has("/direct/gradebook/export/biology-101\""));
            assert_eq!(shown, found, "{eid}: {}", page.text());
            assert!(has("<h1 dir=\"auto\">Gradebook</h1>"), "{}", page.text());
        }
    }

    async fn a_teacher_adds_people_by_name_or_address_to_the_course(app: TestApp) {
        const PEOPLE: &str = "/direct/membership/site/field-trip.html";
        const ADD: &str = "/direct/membership/add/field-trip";
        let teacher = browser(&app, "instructor1").await;
        let page = teacher.get(PEOPLE).await;
        for it in ["<summary>Add people</summary>", "<option value=\"maintain\">", "<option value=\"access\">"] {
            assert!(page.text().contains(it), "{it} in {}", page.text());
        }
        let named = form(&[("userSearchValues", "student8\r\nstudent9@example.edu\r\nnobody-knows-me"), ("memberRole", "access")]);
        let told = teacher.post_form(ADD, &named).await;
        told.expect(StatusCode::OK);
        assert!(told.text().contains("Added Hugo Silva and Ines Haddad as access. Nobody is called nobody-knows-me."), "{}", told.text());
        let student = browser(&app, "student8").await;
        assert!(!student.get(PEOPLE).await.text().contains("Add people"));
        student.post_form(ADD, &named).await.expect(StatusCode::FORBIDDEN);
        let admin = browser(&app, "admin").await;
        let told = admin.post_form(ADD, &named).await;
        for it in ["Already here: student8 and student9@example.edu.", "Nobody is called nobody-knows-me."] {
            assert!(told.text().contains(it), "{it} in {}", told.text());
        }
    }

    async fn a_form_offers_groups_to_those_who_may_visit_their_site(app: TestApp) {
        let path = "/direct/announcement/new.html?siteId=biology-101";
        for (eid, is_offered) in [("instructor1", true), ("instructor2", false)] {
            let page = browser(&app, eid).await.get(path).await;
            page.expect(StatusCode::OK);
            assert_eq!(page.text().contains("Lab A"), is_offered, "{eid}: {}", page.text());
        }
    }

    async fn a_list_is_followed_by_one_button(app: TestApp) {
        let student = browser(&app, "student1").await;
        let page = student.get("/direct/calendar/site/biology-101.html").await;
        assert!(page.text().contains(">Subscribe</button>"), "{}", page.text());
        let feed = form(&[("title", "Events"), ("path", "/calendar/site/biology-101"), ("query", ""), ("formats[]", "ics")]);
        let made = student.post_form("/direct/feed", &feed).await;
        made.expect(StatusCode::CREATED);
        assert!(made.text().contains(".ics"), "{}", made.text());
        let stranger = app.anonymous().with_header(ACCEPT, "text/html");
        let page = stranger.get("/direct/announcement/site/university-news.html").await;
        assert!(!page.text().contains("Subscribe"), "{}", page.text());
    }
}
