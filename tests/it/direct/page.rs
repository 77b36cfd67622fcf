//! Pages: what people can do without a program of their own.

use std::collections::{BTreeSet, VecDeque};

use http::StatusCode;
use http::header::ACCEPT;
use tests::{Answer, TestApp, above_storage};

use super::{BROWSER, FORM, browser, created};

#[track_caller]
fn assert_page(answer: &Answer, status: StatusCode, expected: &[&str]) {
    answer.expect(status);
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    for it in expected {
        assert!(answer.text().contains(it), "{it} in {}", answer.text());
    }
}

/// The addresses of this service that a page links to.
fn links(page: &str) -> Vec<String> {
    let values = page.split("href=\"").skip(1);
    values
        .filter_map(|it| it.split('"').next())
        .map(|it| {
            it.replace("&#38;", "&")
                .replace("http://127.0.0.1:8080", "")
        })
        .filter(|it| it.starts_with("/direct") || it.starts_with("/assets"))
        .collect()
}

above_storage! {
    async fn a_refused_form_comes_back_with_what_was_sent(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let form = "title=+&siteId=biology-101&body=%3Cp%3Ekept%3C%2Fp%3E&releaseDate=soon";
        for path in ["/direct/announcement", "/direct/announcement/new"] {
            let answer = teacher.post_form(path, form).await;
            assert_page(&answer, StatusCode::BAD_REQUEST, &[
                "<h1 dir=\"auto\">New announcement</h1>",
                "<a href=\"#field-title\">Title is required.</a>",
                "<a href=\"#field-releaseDate\">",
                "aria-invalid=\"true\" aria-describedby=\"field-title-error\"",
                "value=\"soon\"",
                "value=\"biology-101\"",
                "&#60;p&#62;kept&#60;/p&#62;</textarea>",
                "action=\"/direct/announcement\"",
            ]);
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }

    async fn a_refused_change_comes_back_and_changes_nothing(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let path = "/direct/site/biology-101";
        let form = "_method=PUT&title=+&contactName=Somebody+else";
        let answer = teacher.post_form(path, form).await;
        assert_page(&answer, StatusCode::BAD_REQUEST, &[
            "Edit Biology 101: Cells and Life",
            "<input type=\"hidden\" name=\"_method\" value=\"PUT\">",
            "value=\"Somebody else\"",
            "Title is required.",
        ]);
        let now = teacher.get(&format!("{path}.json")).await.json();
        assert_eq!(now["contactName"], "Maria Okafor");
    }

    async fn a_conflict_is_told_in_the_form(app: TestApp) {
        let admin = browser(&app, "admin").await;
        let answer = admin.post_form("/direct/user", "eid=student1&password=is+not+told+again").await;
        assert_page(&answer, StatusCode::CONFLICT, &["This was not accepted", "value=\"student1\""]);
        assert!(!answer.text().contains("is not told again"));
    }

    async fn programs_are_told_errors_as_before(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let answer = teacher.post_form("/direct/announcement", "title=+").await;
        answer.expect(StatusCode::BAD_REQUEST);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = browser(&app, "instructor1").await.post("/direct/announcement", &serde_json::json!({})).await;
        assert_page(&answer, StatusCode::BAD_REQUEST, &["<h1>The request is not right</h1>"]);
    }

    async fn who_may_not_write_gets_no_form(app: TestApp) {
        let student = browser(&app, "student1").await;
        let form = "title=x&siteId=biology-101&nonsense=1";
        for (path, method) in [("/direct/site/biology-101", "PUT"), ("/direct/user", "POST")] {
            let answer = student.post_form(path, &format!("_method={method}&{form}")).await;
            assert!(answer.status.is_client_error(), "{path}");
            assert!(!answer.text().contains("<h1 dir=\"auto\">"), "{path}: {}", answer.text());
        }
    }

    async fn a_refused_login_comes_back_without_the_password(app: TestApp) {
        let stranger = app.anonymous().with_header(ACCEPT, BROWSER);
        let answer = stranger.post_form("/direct/session", "_username=student1&_password=not+the+one").await;
        assert_page(&answer, StatusCode::FORBIDDEN, &["<h1 dir=\"auto\">Log in</h1>", "value=\"student1\""]);
        assert!(!answer.text().contains("not the one"));
        let answer = stranger.post_form("/direct/session", "_username=&_password=").await;
        assert_page(&answer, StatusCode::BAD_REQUEST, &["<h1 dir=\"auto\">Log in</h1>"]);
    }

    async fn who_logs_out_sees_the_start_page(app: TestApp) {
        let student = browser(&app, "student1").await;
        let answer = student.post_form("/direct/session/current", "_method=DELETE").await;
        answer.expect(StatusCode::SEE_OTHER);
        assert!(answer.header("location").is_some_and(|it| it.ends_with("/portal")));
        assert!(answer.header("set-cookie").is_some());
        student.get("/direct/site.html").await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn fields_of_a_filter_that_nobody_filled_in_ask_for_nothing(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let answer = teacher.get("/direct/announcement?title=&draft=true&_search=&_order=").await;
        answer.expect(StatusCode::SEE_OTHER);
        let location = answer.header("location").unwrap_or_default().to_owned();
        assert!(location.ends_with("/direct/announcement?draft=true"), "{location}");
        let answer = teacher.get("/direct/announcement.html?title=&_search").await;
        assert!(answer.header("location").is_some_and(|it| it.ends_with("/direct/announcement.html")));
        let of_program = teacher.get("/direct/announcement.json?title=").await;
        assert_eq!(of_program.header("location"), None);
    }

    async fn an_answer_without_data_is_a_page_for_people_only(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let page = teacher.get("/direct/site/biology-101/exists.html").await;
        assert_page(&page, StatusCode::OK, &["<h1 dir=\"auto\">Exists</h1>"]);
        teacher.get("/direct/site/biology-101/exists").await.expect(StatusCode::OK);
    }

    async fn a_page_offers_what_its_reader_may_do(app: TestApp) {
        let path = "/direct/site/biology-101.html";
        let of_teacher = app.user("instructor1").await.get(path).await;
        let of_student = app.user("student1").await.get(path).await;
        for only_hers in ["/edit.html", "/delete.html"] {
            let link = format!("/direct/site/biology-101{only_hers}");
            assert!(of_teacher.text().contains(&link), "{link}");
            assert!(!of_student.text().contains(&link), "{link}");
        }
        for both in ["/direct/announcement/site/biology-101.html", "/direct/calendar/site/biology-101.html"] {
            assert!(of_teacher.text().contains(both) && of_student.text().contains(both), "{both}");
        }
    }

    async fn a_form_creates_and_leads_to_the_page_of_what_was_created(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let form = "title=From+a+form&siteId=biology-101&body=&draft=&releaseDate=2026-11-20T10%3A00&retractDate=";
        let answer = teacher.post_form("/direct/announcement", form).await;
        answer.expect(StatusCode::SEE_OTHER);
        let page = answer.header("location").unwrap_or_default().replace("http://127.0.0.1:8080", "");
        let page = teacher.get(&page).await;
        assert_page(&page, StatusCode::OK, &["<h1 dir=\"auto\">From a form</h1>", "<time datetime=\"2026-11-20T10:00:00Z\">"]);
        let plain = app.user("instructor1").await;
        let answer = plain.send(http::Method::POST, "/direct/announcement", FORM, form.into()).await;
        created(&answer, "announcement");
    }

    async fn no_page_leads_to_an_error(app: TestApp) {
        let admin = browser(&app, "admin").await;
        let mut waiting = VecDeque::from(["/direct".to_owned()]);
        let mut seen = BTreeSet::new();
        while let Some(path) = waiting.pop_front() {
            if seen.len() > 400 || !seen.insert(path.clone()) {
                continue;
            }
            let answer = admin.get(&path).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.status);
            if answer.header("content-type").is_some_and(|it| it.starts_with("text/html")) {
                waiting.extend(links(answer.text()));
            }
        }
        assert!(seen.len() > 100, "{seen:?}");
    }

    async fn a_page_shows_what_belongs_to_its_entity(app: TestApp) {
        let (teacher, student) = (browser(&app, "instructor1").await, browser(&app, "student1").await);
        let all = teacher.get("/direct/assignment/site/biology-101.json").await.json();
        let all = all["assignment_collection"].as_array().expect("assignments").clone();
        let lab = all.iter().find(|it| it["title"] == "Lab report: onion cells").expect("the report");
        let path = format!("/direct/assignment/{}.html", lab["id"].as_str().expect("an id"));
        // A grader reads whose work it is in the place of the title, and no field of works stands between the details.
        let page = teacher.get(&path).await;
        let table = page.text().split("<table").nth(1).and_then(|it| it.split("</table>").next()).expect("a table");
        for it in ["Ada Moreau", "Benjamin Osei", "Carla Jiménez"] {
            assert!(table.contains(it), "{it} in {table}");
        }
        assert!(!table.contains("Lab report"), "{table}");
        assert_page(&page, StatusCode::OK, &["Who has handed in"]);
        assert!(!page.text().contains("Submitter eid"), "{}", page.text());
        let page = student.get(&path).await;
        assert!(page.text().contains("Ada Moreau") && !page.text().contains("Benjamin Osei"));
        // A thread is read on one page.
        let topic = student.post("/direct/conversations", &serde_json::json!({"siteId": "biology-101", "title": "Leaves"})).await;
        let topic = created(&topic, "conversations");
        let of_topic = format!("/direct/conversations/{topic}.html");
        assert!(!student.get(&of_topic).await.text().contains("<article"));
        for text in ["<p>One <em>thing</em></p>", "<p>Another</p>"] {
            let post = serde_json::json!({"siteId": "biology-101", "topicId": topic, "message": text});
            created(&student.post("/direct/conversations-post", &post).await, "conversations-post");
        }
        let page = student.get(&of_topic).await;
        assert_page(&page, StatusCode::OK, &["<p>One <em>thing</em></p>", "<p>Another</p>", "Ada Moreau"]);
        let post = serde_json::json!({"siteId": "biology-101", "topicId": topic, "message": "Hidden", "draft": true});
        created(&teacher.post("/direct/conversations-post", &post).await, "conversations-post");
        let page = student.get(&of_topic).await;
        assert_eq!(page.text().matches("<article class=\"post\">").count(), 2);
        // A lesson tells its items in a text of its own, and no second time.
        let lessons = student.get("/direct/lessons/site/biology-101.json").await.json();
        let lesson = lessons["lessons_collection"][0]["lessonId"].as_str().expect("an id").to_owned();
        let page = student.get(&format!("/direct/lessons/{lesson}.html")).await;
        assert!(page.text().contains("Before you begin") && !page.text().contains("<article"), "{}", page.text());
    }

    async fn a_form_asks_for_what_its_sender_may_set(app: TestApp) {
        let (teacher, student) = (browser(&app, "instructor1").await, browser(&app, "student2").await);
        let all = teacher.get("/direct/assignment-submission.json?submitted=true").await.json();
        let work = all["assignment-submission_collection"].as_array().expect("works").iter().find(|it| it["submitterEid"] == "student2");
        let path = format!("/direct/assignment-submission/{}", work.expect("the work")["id"].as_str().expect("an id"));
        let of_student = ["submittedText", "draft"].map(|it| format!("name=\"{it}\""));
        let of_grader = ["grade", "returned", "feedbackComment", "privateNotes"].map(|it| format!("name=\"{it}\""));
        for (client, asked, left_out) in [(&teacher, &of_grader[..], &of_student[..]), (&student, &of_student[..], &of_grader[..])] {
            let form = client.get(&format!("{path}/edit.html")).await;
            assert!(asked.iter().all(|it| form.text().contains(it)), "{}", form.text());
            assert!(!left_out.iter().any(|it| form.text().contains(it)), "{}", form.text());
        }
        // So does the form that comes back.
        let refused = teacher.post_form(&path, "_method=PUT&grade=many").await;
        assert!(refused.text().contains("name=\"grade\"") && !refused.text().contains(&of_student[0]), "{}", refused.text());
        teacher.post_form(&path, "_method=PUT&grade=71&returned=true").await.expect(StatusCode::SEE_OTHER);
        assert!(student.get(&format!("{path}.html")).await.text().contains("71"));
    }
}
