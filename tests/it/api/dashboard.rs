//! `GET /api/users/{userId}/dashboard`

use chrono::TimeDelta;
use entity_core::endpoint::Call;
use entity_core::testing::origin;
use entity_core::{Caller, Verb};
use http::StatusCode;
use lectern_testing::counting::{Count, counting_dispatcher};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use server::web::api::Endpoints;
use tests::{Client, TestApp, both};

const PATH: &str = "/api/users/me/dashboard";
const MOST: usize = 10;

async fn dashboard(client: &Client) -> Value {
    let answer = client.get(PATH).await;
    answer.expect(StatusCode::OK);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

fn list<'a>(body: &'a Value, name: &str) -> &'a Vec<Value> {
    body[name].as_array().expect("a list")
}

/// Asserts that the first entries are among those of the list of their own at `path`.
async fn assert_like(client: &Client, body: &Value, name: &str, path: &str) {
    let all = client.get(path).await.expect(StatusCode::OK).json();
    let entries = list(body, name);
    assert!((1..=MOST).contains(&entries.len()), "{name}: {entries:?}");
    for entry in entries {
        assert!(list(&all, name).contains(entry), "{name}: {entry}");
    }
}

/// Makes a course of the caller with an announcement, an event and a graded item.
async fn make_course(teacher: &Client, number: usize) {
    let site = format!("course-{number}");
    let course = json!({"id": site, "title": format!("Course {number}"), "type": "course"});
    let news = json!({"siteId": site, "title": "News"});
    let event = json!({
        "siteId": site, "title": "Meeting", "firstTime": "2026-11-25T10:00:00Z", "lastTime": "2026-11-25T11:00:00Z",
    });
    let item = json!({"siteId": site, "name": "Essay", "points": 10, "released": true});
    for (path, body) in [
        ("site", course),
        ("announcement", news),
        ("calendar", event),
        ("gradebook-item", item),
    ] {
        let answer = teacher.post(&format!("/direct/{path}"), &body).await;
        answer.expect(StatusCode::CREATED);
    }
}

/// Returns how many statements the dashboard of `caller` takes, and its data.
async fn statements(app: &TestApp, caller: &Caller) -> (usize, Value) {
    let count = Count::default();
    let dispatcher = counting_dispatcher(app.service(), &count);
    let mut told = (0, Value::Null);
    // What is remembered from request to request is not counted.
    let origin = origin(caller.clone());
    for _ in 0..2 {
        count.take();
        let read = dispatcher.read(&origin, |cx| {
            Box::pin(async move {
                let endpoints = Endpoints::from_inventory().expect("endpoints that go together");
                let path = "/api/users/{userId}/dashboard";
                let mut endpoints = endpoints.iter();
                let endpoint = endpoints.find(|it| it.verb == Verb::Get && it.path == path);
                let call = Call {
                    variables: vec![("userId", "me".to_owned())],
                    ..Call::default()
                };
                let answer = endpoint.expect("the endpoint").run(cx, call).await?;
                Ok(json!(answer.data))
            })
        });
        let body = read.await.expect("a dashboard");
        told = (count.take(), body);
    }
    told
}

both! {
    async fn it_has_the_keys_of_both_generations_and_the_lists(app: TestApp) {
        for (eid, name) in [("student1", "Amara"), ("instructor1", "Maria")] {
            let client = app.user(eid).await;
            let body = dashboard(&client).await;
            let own = client.get("/direct/user/current.json").await.json();
            assert_eq!(body["givenName"], own["firstName"], "{name}");
            let widgets = json!(["announcements", "assignments", "calendar", "grades"]);
            assert_eq!((&body["widgets"], &body["layout"], &body["widgetLayout"]), (&widgets, &widgets, &widgets));
            assert_eq!(body["template"], 1);
            assert_like(&client, &body, "announcements", "/api/users/me/announcements").await;
            assert_like(&client, &body, "events", "/api/users/me/calendar").await;
            assert_like(&client, &body, "grades", "/api/users/me/grades").await;
            let dates = list(&body, "announcements").iter().map(|it| it["date"].as_i64());
            assert!(dates.is_sorted_by(|a, b| a >= b));
            let starts = list(&body, "events").iter().map(|it| it["startTime"].as_str());
            assert!(starts.is_sorted());
        }
    }

    /// The demo has assignments in every state: what is due next is told, to students without what they do not see.
    async fn it_has_what_is_due_next(app: TestApp) {
        for (eid, sees_drafts) in [("student1", false), ("instructor1", true)] {
            let client = app.user(eid).await;
            let body = dashboard(&client).await;
            let told = list(&body, "assignments");
            assert!(!told.is_empty());
            let all = client.get("/direct/assignment/my.json").await.json();
            let all = all["assignment_collection"].as_array().expect("assignments").clone();
            for assignment in told {
                let whole = all.iter().find(|it| it["id"] == assignment["id"]).expect("it is there");
                assert_eq!(whole["dueTime"]["time"], assignment["due"]);
                assert!(assignment["due"].as_i64() >= Some(app.service().now().timestamp_millis()));
            }
            assert!(told.iter().map(|it| it["due"].as_i64()).is_sorted());
            assert_eq!(told.iter().any(|it| it["status"] == "DRAFT"), sees_drafts);
        }
    }

    async fn it_is_told_by_each_name_of_its_user(app: TestApp) {
        let student = app.user("student1").await;
        let own = student.get("/direct/user/current.json").await.json();
        let body = dashboard(&student).await;
        for name in [&own["id"], &own["eid"]] {
            let path = format!("/api/users/{}/dashboard", name.as_str().expect("a name"));
            assert_eq!(student.get(&path).await.expect(StatusCode::OK).json(), body);
        }
        for (path, status) in [
            ("/api/users/%00/dashboard", StatusCode::BAD_REQUEST),
            ("/api/users/%ff/dashboard", StatusCode::BAD_REQUEST),
            ("/api/users/..%2Fme/dashboard", StatusCode::BAD_REQUEST),
            ("/api/users/me/dashboard/more", StatusCode::NOT_FOUND),
        ] {
            student.get(path).await.expect(status);
        }
        let long = format!("/api/users/{}/dashboard", "x".repeat(5000));
        assert!(student.get(&long).await.status.is_client_error());
    }

    async fn it_hides_what_its_lists_hide(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let site = "biology-101";
        for (title, extra) in [
            ("zq-draft", json!({"draft": true})),
            ("zq-late", json!({"releaseDate": 4_000_000_000_000_i64})),
            ("zq-over", json!({"releaseDate": 1_000_000_000_000_i64, "retractDate": 1_000_000_000_001_i64})),
        ] {
            let mut news = json!({"siteId": site, "title": title});
            news.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
            teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        }
        let item = json!({"siteId": site, "name": "zq-item", "points": 10, "released": false});
        let item = teacher.post("/direct/gradebook-item.json", &item).await;
        item.expect(StatusCode::CREATED);
        let student = app.user("student1").await;
        let own = student.get("/direct/user/current.json").await.json();
        app.advance(TimeDelta::seconds(1));
        let id = item.header("entityid").expect("an id").to_owned();
        let path = format!("/api/sites/{site}/grades/{id}/{}", own["id"].as_str().expect("an id"));
        teacher.post(&path, &json!({"grade": "7.5"})).await.expect(StatusCode::OK);
        assert!(!dashboard(&student).await.to_string().contains("zq-"));
        let told = dashboard(&teacher).await;
        assert!(told.to_string().contains("zq-draft"));
        assert_eq!((&told["grades"][0]["name"], &told["grades"][0]["score"]), (&json!("zq-item"), &json!("7.50")));
    }

    async fn the_messages_of_the_day_are_on_it(app: TestApp) {
        let admin = app.user("admin").await;
        for (title, extra) in [("First", false), ("Second", true)] {
            let news = json!({"siteId": "!site", "title": title, "body": format!("<p>zq {title}</p>"), "draft": extra});
            admin.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        }
        let told = dashboard(&app.user("student1").await).await;
        let motd = told["motd"].as_str().expect("a text");
        assert!(motd.contains("<p>zq First</p>") && !motd.contains("zq Second"), "{motd}");
    }

    async fn the_number_of_statements_does_not_grow_with_the_sites(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let own = teacher.get("/direct/user/current.json").await.json();
        let caller = Caller::user(own["id"].as_str().expect("an id"), "instructor1");
        let (few, _) = statements(&app, &caller).await;
        for number in 0..38 {
            make_course(&teacher, number).await;
        }
        let pin = "UPDATE membership SET is_pinned = TRUE";
        let writer = &app.service().storage.content.writer;
        writer.execute_unprepared(pin).await.expect("pinned sites");
        let sites = teacher.get("/api/users/me/sites?pinned=true").await.json();
        assert!(list(&sites, "sites").len() >= 40);
        let (many, body) = statements(&app, &caller).await;
        assert!(many <= few, "{few} {many}");
        assert!(few < 40, "{few}");
        for name in ["announcements", "events", "grades"] {
            assert!(list(&body, name).len() <= MOST, "{name}");
        }
        assert_eq!(list(&body, "announcements").len(), MOST);
    }
}
