//! Pages by the layouts that types declare, and times by the clock of their reader.

use http::StatusCode;
use http::header::{ACCEPT, COOKIE};
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use crate::direct::{BROWSER, browser};

const NEWS: &str = "/direct/announcement/site/biology-101";
const WORK: &str = "/direct/assignment/site/biology-101";

/// The first entity of the list at `path` whose title begins with `title`.
async fn found(client: &Client, path: &str, title: &str) -> Value {
    let list = client.get(&format!("{path}.json")).await.json();
    let all = list.as_object().expect("a list").values();
    let mut all = all.filter_map(Value::as_array).flatten();
    let is_it = |it: &&Value| {
        it["entityTitle"]
            .as_str()
            .is_some_and(|it| it.starts_with(title))
    };
    all.find(is_it).expect("an entity").clone()
}

above_storage! {
    async fn a_list_of_texts_says_who_wrote_each_and_how_it_begins(app: TestApp) {
        let student = browser(&app, "student1").await;
        let page = student.get(&format!("{NEWS}.html")).await;
        for part in [
            "<p class=\"row-text is-line\" dir=\"auto\">Maria Okafor: Twenty minutes, chapters three and four.",
            "<span class=\"badge is-info\">Important</span>",
            "_order=title",
        ] {
            assert!(page.text().contains(part), "{part} in {}", page.text());
        }
        assert!(!page.text().contains("<table"));
        let one = found(&student, NEWS, "Quiz on").await;
        let page = student.get(&format!("/direct{}.html", one["entityReference"].as_str().expect("one"))).await;
        let (head, _) = page.text().split_once("</header>\n<div class=\"stack\">").expect("a head");
        assert!(head.contains("<strong><bdi>Maria Okafor</bdi></strong>"), "{head}");
        assert!(head.contains("<span class=\"badge is-info\">Important</span>"), "{head}");
    }

    async fn work_says_until_when_and_its_form_is_open_for_those_who_do_it(app: TestApp) {
        let (student, teacher) = (browser(&app, "student1").await, browser(&app, "instructor1").await);
        let page = student.get(&format!("{WORK}.html")).await;
        for part in ["<span>Due <span class=\"due", "</span> in ", "<span><bdi>100 points</bdi></span>"] {
            assert!(page.text().contains(part), "{part} in {}", page.text());
        }
        let one = found(&student, WORK, "Lab report").await;
        let path = format!("/direct{}.html", one["entityReference"].as_str().expect("one"));
        assert!(student.get(&path).await.text().contains("<details class=\"ask\" open>"));
        assert!(!teacher.get(&path).await.text().contains("<details class=\"ask\" open>"));
    }

    async fn the_page_of_a_course_shows_what_is_new_and_due_in_it(app: TestApp) {
        let student = browser(&app, "student1").await;
        let page = student.get("/direct/site/biology-101.html").await;
        let (_, main) = page.text().split_once("<main").expect("a page");
        for title in ["Quiz on cell membranes next week", "Lab report: onion cells", "Quiz: parts of the cell"] {
            assert!(main.contains(title), "{title} in {main}");
        }
        assert!(!main.contains("Essay: what is alive?"), "it was due before");
    }

    async fn times_are_by_the_clock_of_the_browser_for_those_who_have_chosen_none(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let session = teacher.cookie().expect("a cookie");
        for (zone, told) in [("Asia/Tokyo", "Asia/Tokyo"), ("Mars/Olympus", "UTC"), ("\"><b>", "UTC"), ("", "UTC")] {
            let cookie = format!("{session}; lectern-zone={zone}");
            let browser = app.anonymous().with_header(ACCEPT, BROWSER).with_header(COOKIE, &cookie);
            for path in ["/portal", "/direct/site/biology-101.html", "/access/content/group/biology-101/", "/direct/site/none.html"] {
                let page = browser.get(path).await;
                assert!(page.text().contains(&format!("Times are in {told}.")), "{zone}: {}", page.text());
            }
        }
        let zone = json!({"timeZone": "America/New_York"});
        teacher.put("/direct/preference/me", &zone).await;
        let cookie = format!("{session}; lectern-zone=Asia/Tokyo");
        let browser = app.anonymous().with_header(ACCEPT, BROWSER).with_header(COOKIE, &cookie);
        assert!(browser.get("/portal").await.text().contains("Times are in America/New_York."));
    }

    async fn times_are_by_the_clock_of_the_reader_in_pages_and_forms(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        assert!(teacher.get("/portal").await.text().contains("Times are in UTC."));
        let zone = json!({"timeZone": "America/New_York"});
        let changed = app.user("instructor1").await.put("/direct/preference/me", &zone).await;
        assert!(changed.status.is_success(), "{}", changed.text());
        for path in ["/portal", "/direct/site/biology-101.html", "/access/content/group/biology-101/"] {
            assert!(teacher.get(path).await.text().contains("Times are in America/New_York."), "{path}");
        }
        let form = teacher.get("/direct/announcement/new.html?siteId=biology-101").await;
        assert!(form.text().contains("<input type=\"hidden\" name=\"_zone\" value=\"America/New_York\">"));
        let sent = "title=Late&siteId=biology-101&body=&releaseDate=2027-01-15T08%3A00&_zone=America%2FNew_York";
        let made = teacher.post_form("/direct/announcement", sent).await;
        made.expect(StatusCode::SEE_OTHER);
        let one = found(&teacher, NEWS, "Late").await;
        assert_eq!(one["releaseDate"], 1_800_018_000_000_i64);
        let path = format!("/direct{}", one["entityReference"].as_str().expect("one"));
        let page = teacher.get(&format!("{path}/edit.html")).await;
        assert!(page.text().contains("value=\"2027-01-15T08:00:00\""), "{}", page.text());
        let refused = teacher.post_form("/direct/announcement", &sent.replace("New_York", "Nowhere")).await;
        refused.expect(StatusCode::BAD_REQUEST);
        let given_back = teacher.post_form("/direct/announcement", &sent.replace("title=Late", "title=")).await;
        given_back.expect(StatusCode::BAD_REQUEST);
        let text = given_back.text();
        assert!(text.contains("name=\"_zone\"") && text.contains("<nav class=\"menu\""), "{text}");
    }

    async fn a_reply_stands_below_the_post_that_it_answers(app: TestApp) {
        let student = browser(&app, "student1").await;
        let topic = found(&student, "/direct/forums-topic", "").await;
        let key = topic["entityId"].as_str().expect("an id");
        let mut above = None;
        for title in ["First word", "Answer to it"] {
            let post = json!({"siteId": topic["siteId"], "topic": key, "title": title, "replyTo": above});
            let made = student.clone().with_header(ACCEPT, "application/json").post("/direct/forums-message", &post).await;
            let made = made.expect(StatusCode::CREATED).json();
            above = Some(made["entityId"].as_str().expect("an id").parse::<i64>().expect("a number"));
        }
        let page = student.get(&format!("/direct/forums-topic/{key}.html")).await;
        let (_, behind) = page.text().split_once("First word").expect("the post");
        let (between, _) = behind.split_once("Answer to it").expect("the reply");
        assert!(between.contains("<div class=\"thread\">") && !between.contains("</article>"), "{between}");
    }

    async fn a_calendar_of_a_month_has_weeks_of_seven_days(app: TestApp) {
        let student = browser(&app, "student1").await;
        let page = student.get("/direct/calendar/site/biology-101.html?firstDate=2026-12-01&lastDate=2026-12-31").await;
        let days = page.text().matches("<li class=\"month-cell").count();
        assert_eq!(days, 35, "30 November to 3 January: {}", page.text());
    }

    async fn a_description_is_each_readers_own_and_tells_no_times(app: TestApp) {
        for (eid, name) in [("student1", "Ada Moreau"), ("instructor1", "Maria Okafor")] {
            let reader = browser(&app, eid).await;
            let page = reader.get("/direct/describe.html").await;
            let text = page.expect(StatusCode::OK).text();
            assert!(text.contains(&format!("<bdi>{name}</bdi>")), "{text}");
            assert!(!text.contains("class=\"avatar") && !text.contains("Times are in"), "{text}");
        }
    }
}
