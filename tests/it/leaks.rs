//! Facts that follow from something hidden are as hidden: deadlines, grade columns and scores ask their cause.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const SITE: &str = "biology-101";
/// The titles of what is made here begin with it, and nothing else has it.
const WORD: &str = "Zqx";
/// Addresses that tell of every assignment that the caller sees.
const ALL: [&str; 8] = [
    "/direct/calendar/site/biology-101.json?_limit=500",
    "/direct/calendar/site/biology-101.json?firstDate=2026-12-01&lastDate=2026-12-31&_limit=500",
    "/direct/calendar.ics?siteId=biology-101",
    "/direct/gradebook/site/biology-101.json?_limit=500",
    "/direct/gradebook-item.json?siteId=biology-101&_limit=500",
    "/direct/gradebook-item.atom?siteId=biology-101&_limit=500",
    "/direct/gradebook-item.csv?siteId=biology-101&_limit=500",
    "/api/sites/biology-101/grades",
];
/// Addresses that tell of some.
const SOME: [&str; 8] = [
    "/api/users/me/calendar",
    "/api/users/me/dashboard",
    "/api/users/me/grades",
    "/direct/calendar/my.json",
    "/direct/gradebook/my.json",
    "/direct/gradebook-item.html?siteId=biology-101",
    "/direct/task.json",
    "/portal",
];

fn essay(title: &str, with: &Value) -> Value {
    let mut fields = json!({
        "context": SITE, "title": title, "openTime": "2026-11-20T10:00:00Z", "dueTime": "2026-12-05T10:00:00Z",
        "closeTime": "2026-12-06T10:00:00Z", "gradeScale": "SCORE_GRADE_TYPE", "gradeScaleMaxPoints": "10",
        "resubmissions": -1, "inCalendar": true, "inGradebook": true,
    });
    let all = fields.as_object_mut().expect("an object");
    all.extend(with.as_object().expect("an object").clone());
    fields
}

async fn make(teacher: &Client, fields: Value) -> String {
    let made = teacher.post("/direct/assignment.json", &fields).await;
    let id = made.expect(StatusCode::CREATED).header("entityid");
    format!("/direct/assignment/{}", id.expect("an id"))
}

async fn text_at(client: &Client, path: &str) -> String {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    answer.text().to_owned()
}

fn words(text: &str) -> BTreeSet<String> {
    let rest = text.split(WORD).skip(1);
    rest.map(|it| {
        it.chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
    })
    .collect()
}

/// Returns the assignments that the caller sees, with which everything else has to agree. Calendars have no `drafts`.
async fn seen(client: &Client, drafts: &[&str]) -> BTreeSet<String> {
    let seen = text_at(
        client,
        "/direct/assignment/site/biology-101.json?_limit=500",
    )
    .await;
    let seen = words(&seen);
    for path in ALL {
        let is_left_out = |it: &&String| path.contains("calendar") && drafts.contains(&it.as_str());
        let expected: BTreeSet<_> = seen.iter().filter(|it| !is_left_out(it)).cloned().collect();
        assert_eq!(words(&text_at(client, path).await), expected, "{path}");
    }
    for path in SOME {
        let told = words(&text_at(client, path).await);
        assert!(told.is_subset(&seen), "{path}: {told:?} of {seen:?}");
    }
    seen
}

/// The column of the assignment at `path`, as whoever grades sees it.
async fn column(teacher: &Client, path: &str) -> Value {
    let reference = path.trim_start_matches("/direct");
    let items = teacher.get("/direct/gradebook-item.json?siteId=biology-101&_limit=500");
    let items = items.await.json()["gradebook-item_collection"].take();
    let items = items.as_array().expect("a list").iter();
    let mut found = items.filter(|it| it["externalReference"] == reference);
    found.next().expect("a column").clone()
}

/// Lets `student` hand in, and returns the address of the work.
async fn hand_in(student: &Client, path: &str, text: &str) -> String {
    let work = json!({"submittedText": text});
    let submit = format!("{path}/submit.json");
    student.post(&submit, &work).await.expect(StatusCode::OK);
    let shown = student.get(&format!("{path}.json")).await.json();
    let id = shown["submissions"][0]["id"].as_str().expect("an id");
    format!("/direct/assignment-submission/{id}")
}

/// The score that `student` sees in the column of the assignment at `path`; null if there is none.
async fn score(student: &Client, title: &str) -> Value {
    let book = student
        .get("/direct/gradebook/site/biology-101.json?_limit=500")
        .await
        .json();
    let rows = book["assignments"].as_array().expect("rows").iter();
    let mut rows = rows.filter(|it| it["itemName"] == title);
    rows.next()
        .map_or(json!("no row"), |it| it["grade"].clone())
}

both! {
    async fn x1_what_follows_an_assignment_is_as_hidden_as_the_assignment(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let groups = teacher.get("/direct/site/biology-101/groups.json").await.json();
        let groups: Vec<_> = groups.as_array().expect("groups").iter().map(|it| {
            let reference = it["reference"].as_str().expect("a reference");
            reference.rsplit('/').next().expect("an id").to_owned()
        }).collect();
        let open = make(&teacher, essay("Zqxopen", &json!({}))).await;
        let draft = make(&teacher, essay("Zqxdraft", &json!({"draft": true}))).await;
        make(&teacher, essay("Zqxlater", &json!({"openTime": "2026-11-24T10:00:00Z"}))).await;
        for (title, group) in ["Zqxfirst", "Zqxsecond"].into_iter().zip(&groups) {
            make(&teacher, essay(title, &json!({"groups": [group]}))).await;
        }
        let of = |words: &[&str]| words.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let all = of(&["open", "draft", "later", "first", "second"]);
        assert_eq!(seen(&teacher, &["draft"]).await, all);
        let one = app.user("student1").await;
        let other = app.user("student11").await;
        assert_eq!((seen(&one, &[]).await, seen(&other, &[]).await), (of(&["open", "first"]), of(&["open", "second"])));

        let change = async |path: &str, fields: Value| {
            teacher.put(path, &fields).await.expect(StatusCode::NO_CONTENT);
        };
        change(&draft, json!({"draft": false})).await;
        change(&open, json!({"draft": true})).await;
        assert_eq!(seen(&one, &[]).await, of(&["draft", "first"]), "what is hidden again takes all along");
        // Nobody writes anything when an assignment opens.
        app.advance(TimeDelta::days(4));
        let one = app.user("student1").await;
        assert_eq!(seen(&one, &[]).await, of(&["draft", "later", "first"]));
    }

    async fn x3_a_column_that_was_hidden_by_hand_stays_hidden(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let path = make(&teacher, essay("Zqxopen", &json!({}))).await;
        let id = column(&teacher, &path).await["itemId"].as_str().expect("an id").to_owned();
        let item = format!("/direct/gradebook-item/{id}");
        teacher.put(&item, &json!({"released": false})).await.expect(StatusCode::NO_CONTENT);
        let work = hand_in(&student, &path, "Work").await;
        teacher.put(&work, &json!({"grade": "7", "returned": true})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"instructions": "More"})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"draft": true})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"draft": false})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(column(&teacher, &path).await["released"], json!(false));
        assert_eq!(score(&student, "Zqxopen").await, json!("no row"));
        teacher.put(&item, &json!({"released": true})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(score(&student, "Zqxopen").await, json!("7.0"));
    }

    async fn x49_a_column_shows_what_the_work_shows(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let path = make(&teacher, essay("Zqxopen", &json!({}))).await;
        let work = hand_in(&student, &path, "Work").await;
        for (fields, shown) in [
            (json!({"grade": "6.543"}), Value::Null),
            (json!({"returned": true}), json!("6.543")),
            (json!({"returned": false}), Value::Null),
            (json!({"grade": "8", "returned": true}), json!("8.0")),
            (json!({"grade": "9"}), json!("9.0")),
            (json!({"grade": null}), Value::Null),
            (json!({"grade": "7"}), json!("7.0")),
        ] {
            teacher.put(&work, &fields).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(score(&student, "Zqxopen").await, shown, "{fields}");
        }
        // A column that is made later has what was told before.
        for (is_in, shown) in [(false, json!("no row")), (true, json!("7.0"))] {
            teacher.put(&path, &json!({"inGradebook": is_in})).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(score(&student, "Zqxopen").await, shown, "{is_in}");
        }
        hand_in(&student, &path, "Better work").await;
        assert_eq!(score(&student, "Zqxopen").await, Value::Null, "new work has no grade yet");
    }
}
