//! Bookings as people meet them: asked for, answered, at once, on two nodes, and when nobody answers.

use chrono::TimeDelta;
use futures::future::join_all;
use http::StatusCode;
use lectern_testing::{Answer, Backend, Client, Database, OnBackend, Role, TestApp, both};
use serde_json::{Value, json};

const SITE: &str = "biology-101";
const DAY: &str = "2026-12-07";

async fn read(client: &Client, path: &str) -> Value {
    client.get(path).await.expect(StatusCode::OK).json()
}

/// Makes equipment, and returns its id.
async fn equip(app: &TestApp, name: &str, is_free: bool) -> String {
    let teacher = app.role(Role::Instructor).await;
    let body = json!({"siteId": SITE, "name": name, "isFree": is_free});
    let made = teacher.post("/direct/equipment.json", &body).await;
    made.expect(StatusCode::CREATED);
    made.header("EntityId").expect("an id").to_owned()
}

/// Books equipment from one time of the day to another.
async fn book(client: &Client, equipment: &str, from: &str, until: &str) -> Answer {
    let body = json!({
        "siteId": SITE, "equipmentId": equipment, "purpose": "Onion cells",
        "starts": format!("{DAY}T{from}:00Z"), "ends": format!("{DAY}T{until}:00Z"),
    });
    client.post("/direct/booking.json", &body).await
}

fn path_of(answer: &Answer) -> String {
    let id = answer.header("EntityId").expect("an id");
    format!("/direct/booking/{id}")
}

/// The titles of the notifications of somebody about a microscope.
async fn told(client: &Client) -> Vec<String> {
    let list = read(client, "/api/users/me/notifications").await;
    let list = list.as_array().cloned().unwrap_or_default();
    let titles = list.iter().filter_map(|it| it["title"].as_str());
    let titles = titles.filter(|it| it.contains("Microscope"));
    titles.map(ToOwned::to_owned).collect()
}

/// The instants of the deadlines about a microscope in the calendar of the site, in milliseconds since 1970.
async fn deadlines(client: &Client) -> Vec<i64> {
    let calendar = read(
        client,
        &format!("/direct/calendar/site/{SITE}.json?_limit=500"),
    )
    .await;
    let events = calendar["calendar_collection"].as_array().cloned();
    let events = events.unwrap_or_default().into_iter();
    let events = events.filter(|it| it["title"] == "Microscope");
    events
        .filter_map(|it| it["firstTime"]["time"].as_i64())
        .collect()
}

both! {
    async fn who_asks_is_answered_and_told_in_words(app: TestApp) {
        let microscope = equip(&app, "Microscope", false).await;
        let [teacher, student] = [Role::Instructor, Role::Student].map(|it| app.role(it));
        let (teacher, student) = (teacher.await, student.await);
        let asked = book(&student, &microscope, "09:00", "11:00").await;
        let path = path_of(asked.expect(StatusCode::CREATED));
        let calendar = student.get("/direct/booking.ics").await;
        assert!(calendar.expect(StatusCode::OK).text().contains("STATUS:TENTATIVE"), "{}", calendar.text());
        let refuse = format!("{path}/refuse.json");
        student.post(&refuse, &json!({"reason": "Mine"})).await.expect(StatusCode::FORBIDDEN);
        teacher.post(&refuse, &json!({})).await.expect(StatusCode::BAD_REQUEST);
        let refused = teacher.post(&refuse, &json!({"reason": "The lamp is broken."})).await;
        assert_eq!(refused.expect(StatusCode::OK).json()["state"], "refused");
        teacher.post(&format!("{path}/approve.json"), &json!({})).await.expect(StatusCode::CONFLICT);
        app.service().catch_up().await.expect("notifications");
        assert_eq!(told(&student).await, ["Microscope is not yours: The lamp is broken."]);
        // What is refused takes no time.
        let again = book(&student, &microscope, "09:00", "11:00").await;
        let path = path_of(again.expect(StatusCode::CREATED));
        teacher.post(&format!("{path}/approve.json"), &json!({})).await.expect(StatusCode::OK);
        let calendar = student.get("/direct/booking.ics").await;
        assert!(calendar.text().contains("STATUS:CONFIRMED"), "{}", calendar.text());
    }

    async fn everybody_sees_when_and_not_who(app: TestApp) {
        let microscope = equip(&app, "Microscope", true).await;
        let [one, other] = [Role::Student, Role::OtherStudent].map(|it| app.role(it));
        let (one, other) = (one.await, other.await);
        let booked = book(&one, &microscope, "09:00", "11:00").await;
        let path = path_of(booked.expect(StatusCode::CREATED));
        assert_eq!(read(&one, &format!("{path}.json")).await["state"], "approved");
        other.get(&format!("{path}.json")).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(read(&other, &format!("/api/sites/{SITE}/bookings")).await, json!([]));
        let busy = other.get(&format!("/direct/booking/busy/{SITE}.json")).await;
        let busy = busy.expect(StatusCode::OK).text();
        assert!(busy.contains("2026-12-07T09:00:00") && !busy.contains("Onion"), "{busy}");
        let taken = book(&other, &microscope, "10:00", "12:00").await;
        assert!(taken.expect(StatusCode::CONFLICT).text().contains("overlaps"), "{}", taken.text());
        let outsider = app.role(Role::Outsider).await;
        outsider.get(&format!("/direct/booking/busy/{SITE}.json")).await.expect(StatusCode::FORBIDDEN);
        one.delete(&format!("{path}.json")).await.expect(StatusCode::NO_CONTENT);
        book(&other, &microscope, "10:00", "12:00").await.expect(StatusCode::CREATED);
    }

    async fn a_booking_keeps_the_limits_of_the_university(app: TestApp) {
        let microscope = equip(&app, "Microscope", true).await;
        let student = app.role(Role::Student).await;
        for (from, until) in [("09:00", "09:00"), ("11:00", "09:00"), ("08:00", "17:00")] {
            let refused = book(&student, &microscope, from, until).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains("ends"), "{from} {until}");
        }
        book(&student, &microscope, "08:00", "16:00").await.expect(StatusCode::CREATED);
    }

    async fn what_nobody_answers_expires_once(app: TestApp) {
        let microscope = equip(&app, "Microscope", false).await;
        let student = app.role(Role::Student).await;
        let asked = book(&student, &microscope, "09:00", "11:00").await;
        let path = format!("{}.json", path_of(asked.expect(StatusCode::CREATED)));
        app.service().run_jobs().await.expect("jobs");
        assert_eq!(read(&student, &path).await["state"], "asked");
        app.advance(TimeDelta::days(3));
        app.service().run_jobs().await.expect("jobs");
        let student = app.role(Role::Student).await;
        assert_eq!(read(&student, &path).await["state"], "expired");
        app.service().run_jobs().await.expect("jobs");
        app.service().catch_up().await.expect("notifications");
        assert_eq!(told(&student).await, ["Nobody has answered whether Microscope is yours"]);
    }

    async fn what_waits_for_an_answer_is_in_the_calendar_of_those_who_see_it(app: TestApp) {
        let microscope = equip(&app, "Microscope", false).await;
        let [teacher, student, other] = [Role::Instructor, Role::Student, Role::OtherStudent].map(|it| app.role(it));
        let (teacher, student, other) = (teacher.await, student.await, other.await);
        let asked = book(&student, &microscope, "09:00", "11:00").await;
        let path = path_of(asked.expect(StatusCode::CREATED));
        // Within two days, by the setting as it comes.
        let answer_by = 1_795_255_200_000 + 2 * 86_400_000;
        for (client, shown) in [(&teacher, vec![answer_by]), (&student, vec![answer_by]), (&other, Vec::new())] {
            assert_eq!(deadlines(client).await, shown);
        }
        teacher.post(&format!("{path}/approve.json"), &json!({})).await.expect(StatusCode::OK);
        assert_eq!(deadlines(&teacher).await, Vec::<i64>::new());
        let again = book(&student, &microscope, "12:00", "13:00").await;
        let path = path_of(again.expect(StatusCode::CREATED));
        assert_eq!(deadlines(&teacher).await, [answer_by]);
        student.delete(&format!("{path}.json")).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(deadlines(&teacher).await, Vec::<i64>::new());
    }

    async fn what_has_begun_is_not_called_off(app: TestApp) {
        let microscope = equip(&app, "Microscope", true).await;
        let student = app.role(Role::Student).await;
        let booked = book(&student, &microscope, "09:00", "11:00").await;
        let path = format!("{}.json", path_of(booked.expect(StatusCode::CREATED)));
        app.advance(TimeDelta::days(30));
        let student = app.role(Role::Student).await;
        student.delete(&path).await.expect(StatusCode::CONFLICT);
    }
}

#[tokio::test]
async fn of_two_nodes_one_lends_and_one_runs_each_job() {
    let Some(first) = TestApp::on_backend(Backend::Postgres).await else {
        return;
    };
    let database = Database::of_server(first.database().url().to_owned());
    let files = first.database().folder().join("files");
    let files = files.to_str().expect("a path of text");
    let second = TestApp::start(database, &[("files.folder", files)]).await;
    let microscope = equip(&first, "Microscope", false).await;
    let (one, other) = (
        first.role(Role::Student).await,
        second.role(Role::OtherStudent).await,
    );
    let clients = [&one, &other, &one, &other, &one, &other];
    let booked = join_all(clients.map(|it| book(it, &microscope, "09:00", "11:00"))).await;
    let count = |status| booked.iter().filter(|it| it.status == status).count();
    assert_eq!(
        (count(StatusCode::CREATED), count(StatusCode::CONFLICT)),
        (1, 5)
    );
    for node in [&first, &second] {
        node.advance(TimeDelta::days(3));
    }
    let services = [first.service(), second.service()];
    let ran = join_all(services.map(server::App::run_jobs)).await;
    assert!(ran.iter().all(Result::is_ok), "{ran:?}");
    first.service().catch_up().await.expect("notifications");
    let mut all = Vec::new();
    for client in [
        first.role(Role::Student).await,
        first.role(Role::OtherStudent).await,
    ] {
        all.extend(told(&client).await);
    }
    assert_eq!(all, ["Nobody has answered whether Microscope is yours"]);
}
