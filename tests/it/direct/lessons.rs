//! `/direct/lessons`, `/direct/lesson-item` and `/direct/lesson-progress`

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, id_of, list, read, text};

const OF_SITE: &str = "/direct/lessons/site/biology-101.json";

async fn page(client: &Client, title: &str) -> Value {
    let all = list(client, "/direct/lessons.json?siteId=biology-101", "lessons").await;
    all.into_iter()
        .find(|it| it["lessonTitle"] == title)
        .expect("the page")
}

async fn contents(client: &Client, id: &Value, query: &str) -> Value {
    read(client, &format!("/direct/lessons/lesson/{id}.json{query}")).await
}

fn names(contents: &Value) -> Vec<String> {
    contents["contentsList"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| text(it, "name"))
        .collect()
}

async fn make(client: &Client, fields: Value) -> String {
    let mut page = json!({"siteId": "biology-101"});
    page.as_object_mut()
        .expect("an object")
        .extend(fields.as_object().expect("an object").clone());
    created(&client.post("/direct/lessons", &page).await, "lessons")
}

async fn add(client: &Client, page: &str, fields: Value) -> String {
    let mut item = json!({"siteId": "biology-101", "lessonId": page});
    item.as_object_mut()
        .expect("an object")
        .extend(fields.as_object().expect("an object").clone());
    created(
        &client.post("/direct/lesson-item", &item).await,
        "lesson-item",
    )
}

async fn send(client: &Client, path: &str, body: Value) -> StatusCode {
    client
        .post(&format!("/direct/{path}.json"), &body)
        .await
        .status
}

/// Everything that might tell `client` of lessons.
async fn everything(client: &Client) -> String {
    let mut told = String::new();
    for path in [
        "lessons.json?siteId=biology-101",
        "lessons.xml",
        "lessons.html",
        "lessons.atom",
        "lessons.csv",
        "lessons/user.json",
        "lessons/site/biology-101.json",
        "lesson-item.json?siteId=biology-101",
        "lesson-item.xml",
        "lesson-item.html",
        "lesson-item.atom",
        "lesson-item.json?_search=canary",
        "lessons.json?_search=canary",
        "lesson-progress.json",
        "gradebook/site/biology-101.json",
        "batch.json?_refs=/direct/lessons,/direct/lesson-item",
    ] {
        told += client.get(&format!("/direct/{path}")).await.text();
    }
    for lesson in list(client, "/direct/lessons.json?siteId=biology-101", "lessons").await {
        for ending in [
            "json?fullTree=true",
            "xml?fullTree=true",
            "html?fullTree=true",
        ] {
            told += client
                .get(&format!("/direct/lessons/lesson/{}.{ending}", lesson["id"]))
                .await
                .text();
        }
        told += client
            .get(&format!("/direct/lessons/{}.html", lesson["id"]))
            .await
            .text();
    }
    told + client.get("/api/sites/biology-101/lessons").await.text()
}

both! {
    async fn lessons_are_listed_and_read_as_a_tree(app: TestApp) {
        for (eid, pages) in [("student1", 2), ("instructor1", 4)] {
            let client = app.user(eid).await;
            let of_site = list(&client, OF_SITE, "lessons").await;
            assert_eq!(of_site.len(), pages, "{eid}");
            for path in [OF_SITE, "/direct/lessons/user.json", "/direct/lessons.json"] {
                for it in list(&client, path, "lessons").await {
                    assert_eq!(it["entityId"], it["id"].to_string());
                    assert_eq!(it["contentsURL"], format!("http://127.0.0.1:8080/direct/lessons/lesson/{}", it["id"]));
                }
            }
            let id = &of_site[0]["id"];
            let whole = contents(&client, id, "?fullTree=true").await;
            let kinds: Vec<_> = whole["contentsList"].as_array().expect("a list").iter().map(|it| it["type"].as_i64()).collect();
            assert_eq!(kinds, [5, 15, 6, 14, 1, 3, 4, 2].map(Some), "{eid}");
            let below = &whole["contentsList"][7];
            assert_eq!((&below["sakaiId"], names(below)), (&json!(below["id"].to_string()), vec!["Osmosis".to_owned()]));
            assert!(contents(&client, id, "").await["contentsList"][7]["contentsList"].is_null());
            let simple = contents(&client, id, "?type=simple").await;
            assert!(simple["contentsList"].as_array().expect("a list").iter().all(|it| it["html"].is_null()));
        }
        let student = app.user("student1").await;
        let id = &page(&student, "Week 2: Photosynthesis").await["id"];
        for wrong in ["type=other", "fullTree=maybe"] {
            student.get(&format!("/direct/lessons/lesson/{id}.json?{wrong}")).await.expect(StatusCode::BAD_REQUEST);
        }
        let html = student.get("/direct/lessons/site/biology-101.html").await;
        assert!(html.expect(StatusCode::OK).text().contains("Week 1: The cell"));
    }

    async fn t3_hidden_pages_and_all_below_them_are_invisible(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let top = make(&teacher, json!({"lessonTitle": "canary top", "hidden": true, "gradebookPoints": 3})).await;
        let below = make(&teacher, json!({"lessonTitle": "canary below", "parentId": top})).await;
        let item = add(&teacher, &below, json!({"kind": "text", "name": "canary item", "html": "<p>canary</p>"})).await;
        let draft = list(&teacher, "/direct/assignment/site/biology-101.json", "assignment").await;
        let draft = draft.iter().find(|it| it["draft"] == true).expect("a draft");
        let open = page(&student, "Week 1: The cell").await;
        let shows = json!({"kind": "assignment", "name": "canary name", "sakaiId": draft["id"]});
        let of_draft = add(&teacher, &text(&open, "lessonId"), shows).await;
        let late = make(&teacher, json!({"lessonTitle": "canary late", "releaseDate": "2026-11-22T10:00:00Z"})).await;
        let told = everything(&student).await;
        assert!(!told.contains("canary") && !told.contains(&text(draft, "title")), "{told}");
        for path in [format!("lessons/{below}"), format!("lesson-item/{item}"), format!("lesson-item/{of_draft}"), format!("lessons/{late}")] {
            student.get(&format!("/direct/{path}.json")).await.expect(StatusCode::NOT_FOUND);
            assert_eq!(send(&student, &format!("{path}/done"), json!({})).await, StatusCode::NOT_FOUND, "{path}");
        }
        let told = everything(&teacher).await;
        for it in ["canary top", "canary below", "canary item", "canary late"] {
            assert!(told.contains(it), "{it}");
        }
        teacher.put(&format!("/direct/lessons/{top}"), &json!({"hidden": false})).await.expect(StatusCode::NO_CONTENT);
        student.get(&format!("/direct/lesson-item/{item}.json")).await.expect(StatusCode::OK);
        let grades = student.get("/direct/gradebook/site/biology-101.json").await;
        assert!(grades.text().contains("canary top"));
        app.advance(TimeDelta::days(2));
        let student = app.user("student1").await;
        student.get(&format!("/direct/lessons/{late}.json")).await.expect(StatusCode::OK);
        let teacher = app.user("instructor1").await;
        teacher.delete(&format!("/direct/lessons/{top}")).await.expect(StatusCode::NO_CONTENT);
        for path in [format!("lessons/{below}"), format!("lesson-item/{item}")] {
            teacher.get(&format!("/direct/{path}.json")).await.expect(StatusCode::NOT_FOUND);
        }
        assert!(!student.get("/direct/gradebook/site/biology-101.json").await.text().contains("canary"));
    }

    async fn y62_what_can_be_looked_up_is_not_believed(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let new = async |client: &Client, kind: &str, fields: Value| {
            let mut all = json!({"siteId": "biology-101"});
            all.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
            created(&client.post(&format!("/direct/{kind}"), &all).await, kind)
        };
        let poll = new(&teacher, "poll", json!({"text": "Which?"})).await;
        assert_eq!(send(&teacher, &format!("poll/{poll}/options"), json!({"text": ["one"]})).await, StatusCode::OK);
        let option = read(&teacher, &format!("/direct/poll/{poll}.json")).await["options"][0]["optionId"].clone();
        let forum = new(&teacher, "forums", json!({"title": "Forum"})).await;
        let topic = new(&teacher, "forums-topic", json!({"forum": forum, "title": "Topic"})).await;
        let quiz = teacher.post("/direct/sam_pub", &json!({"ownerSiteId": "biology-101", "title": "Quiz"})).await;
        let quiz = created(&quiz, "sam_pub");
        let question = json!({"quizId": quiz, "kind": "TRUE_FALSE", "text": "True?", "correct": ["true"], "points": 1});
        new(&teacher, "quiz-question", question).await;
        assert_eq!(send(&teacher, &format!("sam_pub/{quiz}/publish"), json!({})).await, StatusCode::OK);
        let all = list(&student, "/direct/assignment/site/biology-101.json", "assignment").await;
        let open = all.iter().find(|it| it["status"] == "OPEN").unwrap_or(&all[0]);
        let (work, page) = (text(open, "id"), make(&teacher, json!({"lessonTitle": "Points", "gradebookPoints": 10})).await);
        for (kind, id) in [("poll", &poll), ("forum", &forum), ("quiz", &quiz), ("assignment", &work)] {
            let item = add(&teacher, &page, json!({"kind": kind, "sakaiId": id, "required": true})).await;
            let done = format!("lesson-item/{item}/done");
            assert_eq!(send(&student, &done, json!({})).await, StatusCode::CONFLICT, "{kind}");
            assert_eq!(send(&student, &format!("lessons/{page}/done"), json!({})).await, StatusCode::CONFLICT, "{kind}");
            match kind {
                "poll" => {
                    assert_eq!(send(&student, &format!("poll/{poll}/vote"), json!({"pollOption": [option]})).await, StatusCode::OK);
                }
                "forum" => {
                    let draft = json!({"topic": topic, "title": "Draft", "isDraft": true});
                    new(&student, "forums-message", draft).await;
                    assert_eq!(send(&student, &done, json!({})).await, StatusCode::CONFLICT, "a draft is no answer");
                    new(&student, "forums-message", json!({"topic": topic, "title": "Said"})).await;
                }
                "quiz" => {
                    let begun = student.post(&format!("/direct/sam_pub/{quiz}/begin.json"), &json!({})).await.json();
                    assert_eq!(send(&student, &done, json!({})).await, StatusCode::CONFLICT, "it runs");
                    let attempt = text(&begun, "attemptId");
                    assert_eq!(send(&student, &format!("quiz-attempt/{attempt}/submit"), json!({})).await, StatusCode::OK);
                }
                _ => {
                    let own = json!({"submittedText": "<p>Done</p>"});
                    assert_eq!(send(&student, &format!("assignment/{work}/submit"), own).await, StatusCode::OK);
                }
            }
            assert_eq!(send(&student, &done, json!({})).await, StatusCode::OK, "{kind}");
        }
    }

    async fn cve_2022_40208_nobody_skips_what_is_required(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let first = page(&student, "Week 1: The cell").await;
        let path = format!("/direct/lessons/{}", first["id"]);
        teacher.put(&path, &json!({"gradebookPoints": 5})).await.expect(StatusCode::NO_CONTENT);
        let second = page(&student, "Week 2: Photosynthesis").await;
        assert_eq!((&second["locked"], &second["description"]), (&json!(true), &json!("")));
        let later = format!("lessons/{}", second["id"]);
        assert!(!everything(&student).await.contains("chapter 5"));
        assert_eq!(send(&student, &format!("{later}/done"), json!({})).await, StatusCode::CONFLICT);
        let path = format!("lessons/{}", first["id"]);
        assert_eq!(send(&student, &format!("{path}/done"), json!({})).await, StatusCode::CONFLICT);
        let items = list(&student, &format!("/direct/lesson-item.json?lessonId={}", text(&first, "lessonId")), "lesson-item").await;
        let of = |kind: &str| items.iter().find(|it| it["kind"] == kind).expect("an item").clone();
        let (start, check, task) = (of("text"), of("checklist"), of("assignment"));
        assert_eq!((&task["locked"], &task["sakaiId"]), (&json!(true), &json!("")));
        let done = |item: &Value| format!("lesson-item/{}/done", item["id"]);
        assert_eq!(send(&student, &done(&task), json!({})).await, StatusCode::CONFLICT);
        assert_eq!(send(&student, &done(&check), json!({})).await, StatusCode::CONFLICT);
        assert_eq!(send(&student, &done(&start), json!({"done": "often"})).await, StatusCode::BAD_REQUEST);
        assert_eq!(send(&student, &done(&start), json!({})).await, StatusCode::OK);
        let entries: Vec<_> = check["entries"].as_array().expect("a list").iter().map(|it| text(it, "id")).collect();
        let tick = format!("lesson-item/{}/tick", check["id"]);
        for wrong in [json!({"entries": ["x"]}), json!({"entries": "x"}), json!({"entries": [[]]}), json!({}), json!({"entries": [], "more": 1})] {
            assert_eq!(send(&student, &tick, wrong).await, StatusCode::BAD_REQUEST);
        }
        assert_eq!(send(&student, &tick, json!({"entries": entries[..2]})).await, StatusCode::OK);
        let check = read(&student, &format!("/direct/lesson-item/{}.json", check["id"])).await;
        assert_eq!((&check["ticked"], &check["completed"]), (&json!(entries[..2]), &json!(false)));
        assert_eq!(page(&student, "Week 2: Photosynthesis").await["locked"], true);
        assert_eq!(send(&student, &tick, json!({"entries": entries})).await, StatusCode::OK);
        assert_eq!(page(&student, "Week 1: The cell").await["completed"], true);
        assert!(text(&page(&student, "Week 2: Photosynthesis").await, "description").contains("week 1"));
        let task = read(&student, &format!("/direct/lesson-item/{}.json", task["id"])).await;
        assert_eq!((&task["locked"], task["sakaiId"] == ""), (&json!(false), false));
        assert!(everything(&student).await.contains("chapter 5"));
        let grades = read(&student, "/direct/gradebook/site/biology-101.json").await;
        let grade = grades["assignments"].as_array().expect("a list").iter().find(|it| it["itemName"] == "Week 1: The cell").expect("an item");
        assert_eq!((&grade["grade"], &grade["points"]), (&json!("5.0"), &json!(5.0)));
        let own = read(&student, "/direct/lessons/progress/biology-101.json").await;
        assert_eq!(own, json!({"siteId": "biology-101", "pages": 3, "completed": 1, "locked": 0}));
        let other = app.user("student2").await;
        assert_eq!(read(&other, "/direct/lessons/progress/biology-101.json").await["completed"], 0);
        assert!(list(&other, "/direct/lesson-progress.json", "lesson-progress").await.is_empty());
        let all = list(&teacher, "/direct/lesson-progress.json?siteId=biology-101", "lesson-progress").await;
        let user = id_of(&student).await;
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|it| it["userId"] == user && it["doneOn"].is_i64()));
    }

    async fn contents_are_put_in_order(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let first = page(&teacher, "Week 1: The cell").await;
        let before = contents(&teacher, &first["id"], "").await;
        let ids: Vec<_> = before["contentsList"].as_array().expect("a list").iter().map(|it| it["id"].clone()).collect();
        let order = format!("lessons/{}/order", first["id"]);
        let turned: Vec<_> = ids.iter().rev().cloned().collect();
        for wrong in [json!([ids[0], ids[0]]), json!([1]), json!("x"), json!([{}]), json!([-1])] {
            assert_eq!(send(&teacher, &order, json!({"order": wrong})).await, StatusCode::BAD_REQUEST);
        }
        assert_eq!(send(&teacher, &order, json!({"order": turned})).await, StatusCode::OK);
        let after = contents(&teacher, &first["id"], "").await;
        assert_eq!(names(&after), names(&before).into_iter().rev().collect::<Vec<_>>());
        let pages = list(&teacher, OF_SITE, "lessons").await;
        let last = pages[3]["id"].clone();
        assert_eq!(send(&teacher, "lessons/orderPages/biology-101", json!({"order": [last]})).await, StatusCode::OK);
        assert_eq!(list(&teacher, OF_SITE, "lessons").await[0]["id"], last);
        let foreign = list(&app.user("instructor2").await, "/direct/lessons/site/history-210.json", "lessons").await;
        let swapped = json!({"order": [foreign[0]["id"]]});
        assert_eq!(send(&teacher, "lessons/orderPages/biology-101", swapped).await, StatusCode::BAD_REQUEST);
    }

    async fn hostile_lessons_are_refused_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let other = app.user("instructor2").await;
        let foreign = text(&list(&other, "/direct/lessons/site/history-210.json", "lessons").await[0], "lessonId");
        for (name, value) in [
            ("lessonTitle", json!("")), ("lessonTitle", json!("x".repeat(300))), ("parentId", json!(foreign)), ("parentId", json!("x")),
            ("gradebookPoints", json!(-1)), ("gradebookPoints", json!(1e300)),
        ] {
            let mut hostile = json!({"siteId": "biology-101", "lessonTitle": "t"});
            hostile[name] = value.clone();
            let answer = teacher.post("/direct/lessons", &hostile).await;
            assert!(answer.status.is_client_error(), "{name} {value}: {}", answer.text());
        }
        let page = make(&teacher, json!({"lessonTitle": "p", "description": "<p onclick='x()'>kept<script>x()</script></p>", "position": i64::MAX})).await;
        assert_eq!(read(&teacher, &format!("/direct/lessons/{page}.json")).await["description"], "<p>kept</p>");
        for (name, item) in [
            ("url", json!({"kind": "link", "name": "x", "url": "javascript:alert(1)"})),
            ("url", json!({"kind": "link", "name": "x", "url": "/local"})),
            ("url", json!({"kind": "text", "url": "https://example.org"})),
            ("sakaiId", json!({"kind": "assignment"})),
            ("sakaiId", json!({"kind": "text", "sakaiId": "x"})),
            ("name", json!({"kind": "checklist"})),
            ("entries", json!({"kind": "text", "entries": [{"name": "x"}]})),
            ("html", json!({"kind": "break", "html": "<p>x</p>"})),
            ("kind", json!({"kind": "nonsense"})),
            ("lessonId", json!({"kind": "text", "lessonId": foreign})),
            ("lessonId", json!({"kind": "text", "lessonId": "x"})),
        ] {
            let mut hostile = json!({"siteId": "biology-101", "lessonId": page});
            hostile.as_object_mut().expect("an object").extend(item.as_object().expect("an object").clone());
            let answer = teacher.post("/direct/lesson-item", &hostile).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let told = answer.json()["error"]["fields"][0]["name"].take();
            assert!(told.as_str().is_some_and(|it| it.starts_with(name)), "{item}: {}", answer.text());
        }
        let item = json!({"kind": "text", "name": "<b>x</b>", "html": "<p>kept<img src=x onerror=x()></p>"});
        add(&teacher, &page, item).await;
        let html = teacher.get(&format!("/direct/lessons/{page}.html")).await;
        assert!(html.text().contains("kept") && !html.text().contains("<b>x") && !html.text().contains("onerror"));
        let mut above = page;
        for _ in 0..5 {
            above = make(&teacher, json!({"lessonTitle": "below", "parentId": above})).await;
        }
        let deeper = json!({"siteId": "biology-101", "lessonTitle": "too deep", "parentId": above});
        teacher.post("/direct/lessons", &deeper).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn authz_2_items_of_another_course_are_out_of_reach(app: TestApp) {
        let other = app.user("instructor2").await;
        let mine = page(&app.user("instructor1").await, "Week 1: The cell").await;
        let intruder = json!({"siteId": "history-210", "lessonId": mine["lessonId"], "kind": "text", "name": "x"});
        other.post("/direct/lesson-item", &intruder).await.expect(StatusCode::BAD_REQUEST);
    }
}
