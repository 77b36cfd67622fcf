//! `/direct/webhook` and `/direct/webhook-delivery`: events that are sent elsewhere.

mod receiver;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use entity_core::testing::FixedClock;
use http::{Method, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use server::App;
use tests::app::{config, parts};
use tests::rows::{databases, texts};
use tests::{Backend, Client, OnBackend as _, TestApp, both, database};

use self::receiver::{Receiver, Reply};

const SITE: &str = "biology-101";
const DELIVERIES: &str = "/direct/webhook-delivery.json";

tests::app_with! {
    /// A service that may send to this machine.
    Private, [("webhooks.private", "true")]
}

/// Makes a webhook for new announcements.
async fn hook(client: &Client, receiver: &Receiver) -> Value {
    let body = json!({"siteId": SITE, "url": receiver.url(), "kinds": ["annc.new"]});
    let made = client.post("/direct/webhook/new.json", &body).await;
    made.expect(StatusCode::CREATED).json()
}

fn text<'a>(entity: &'a Value, field: &str) -> &'a str {
    entity[field].as_str().expect("text")
}

async fn announce(client: &Client, title: &str, is_draft: bool) -> String {
    let body = json!({"siteId": SITE, "title": title, "body": "x", "draft": is_draft});
    let made = client.post("/direct/announcement.json", &body).await;
    let made = made.expect(StatusCode::CREATED).json();
    text(&made, "entityReference").to_owned()
}

/// Follows what has happened, and sends what is due.
async fn deliver(app: &App) {
    app.catch_up().await.expect("it follows");
    let sent = tokio::time::timeout(Duration::from_mins(1), app.deliver());
    sent.await.expect("it ends").expect("it sends");
}

/// Leases the webhook for a minute, as another node would that sends.
async fn lease(app: &TestApp, hook: &Value) {
    let until = (app.service().now() + TimeDelta::seconds(60)).timestamp_millis();
    let sql = format!(
        "INSERT INTO webhook_turn (webhook_id, due, served, leased_until, lease) VALUES ('{}', 0, 0, {until}, 'gone') \
         ON CONFLICT (webhook_id) DO UPDATE SET lease = 'gone', leased_until = {until}",
        text(hook, "id")
    );
    let done = databases(app).await[0].execute_unprepared(&sql).await;
    done.expect("it is leased");
}

/// The deliveries of the webhook, the newest last.
async fn deliveries(client: &Client, hook: &Value) -> Vec<Value> {
    let path = format!("{DELIVERIES}?webhookId={}", text(hook, "id"));
    let list = client.get(&path).await.expect(StatusCode::OK).json();
    let mut list = list["webhook-delivery_collection"]
        .as_array()
        .expect("a list")
        .clone();
    list.sort_by_key(|it| text(it, "eventId").parse::<i64>().expect("a number"));
    list
}

both! {
    async fn what_happens_is_sent_and_signed(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        let secret = text(&hook, "secret");
        let reference = announce(&teacher, "Exam room", false).await;
        deliver(app.service()).await;
        let received = receiver.received();
        assert_eq!(received.len(), 1, "{received:?}");
        let request = &received[0];
        assert_eq!(request.line, "POST /hook?from=lectern HTTP/1.1");
        assert_eq!(request.headers["content-type"], "application/json");
        assert!(request.headers["user-agent"].starts_with("Lectern/"), "{request:?}");
        assert_eq!(request.headers["webhook-timestamp"], app.service().now().timestamp().to_string());
        assert!(request.is_signed(secret), "{request:?}");
        let body = request.json();
        assert_eq!(body["type"], "annc.new");
        assert_eq!(body["timestamp"], body["data"]["time"]);
        assert_eq!(body["data"]["reference"], reference.as_str());
        assert_eq!(body["data"]["kind"], "annc.new");
        assert_eq!(body["data"]["title"], "Exam room");
        assert_eq!(body["data"]["siteId"], SITE);
        teacher.get(text(&body["data"], "url")).await.expect(StatusCode::OK);
        let author = teacher.get("/direct/user/current.json").await.json();
        assert!(!request.body.contains(text(&author, "id")), "nobody is told who caused it");

        let sent = deliveries(&teacher, &hook).await;
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert_eq!(text(&sent[0], "id"), request.id());
        assert_eq!(sent[0]["eventId"], body["data"]["id"]);
        assert_eq!(sent[0]["reference"], reference.as_str());
        for (field, expected) in [
            ("state", json!("delivered")),
            ("attempts", json!(1)),
            ("lastStatus", json!(204)),
            ("lastError", Value::Null),
            ("nextAttempt", Value::Null),
        ] {
            assert_eq!(sent[0][field], expected, "{field}");
        }
        // It is sent once.
        app.advance(TimeDelta::days(1));
        deliver(app.service()).await;
        assert_eq!(receiver.received().len(), 1);
    }

    async fn what_fails_is_sent_again(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Status(500), Reply::Redirect]);
        announce(&teacher, "Exam room", false).await;
        deliver(app.service()).await;
        let sent = &deliveries(&teacher, &hook).await[0];
        assert_eq!((&sent["state"], &sent["attempts"]), (&json!("pending"), &json!(1)));
        assert_eq!(sent["lastStatus"], 500);
        assert!(sent["nextAttempt"].is_string(), "{sent}");
        deliver(app.service()).await;
        assert_eq!(receiver.received().len(), 1, "it waits");

        app.advance(TimeDelta::seconds(6));
        deliver(app.service()).await;
        assert_eq!(receiver.received().len(), 2, "nobody follows where it leads");
        assert_eq!(deliveries(&teacher, &hook).await[0]["lastStatus"], 302);
        app.advance(TimeDelta::seconds(6));
        deliver(app.service()).await;
        assert_eq!(receiver.received().len(), 2, "it waits longer");
        app.advance(TimeDelta::minutes(6));
        deliver(app.service()).await;
        let received = receiver.received();
        assert_eq!(received.len(), 3);
        assert!(received.iter().all(|it| it.id() == received[0].id()));
        assert!(received.iter().all(|it| it.is_signed(text(&hook, "secret"))));
        let sent = &deliveries(&teacher, &hook).await[0];
        assert_eq!((&sent["state"], &sent["attempts"]), (&json!("delivered"), &json!(3)));
    }

    async fn what_fails_for_three_days_is_given_up_and_can_be_sent_once_more(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Status(503); 10]);
        announce(&teacher, "Exam room", false).await;
        for _ in 0..12 {
            deliver(app.service()).await;
            app.advance(TimeDelta::hours(27));
        }
        let teacher = app.user("instructor1").await;
        assert_eq!(receiver.received().len(), 10);
        let sent = &deliveries(&teacher, &hook).await[0];
        assert_eq!((&sent["state"], &sent["attempts"]), (&json!("dead"), &json!(10)));
        let path = format!("/direct/webhook-delivery/{}/redeliver.json", text(sent, "id"));
        let again = teacher.post(&path, &json!({})).await.expect(StatusCode::OK).json();
        assert_eq!(again["state"], "pending");
        deliver(app.service()).await;
        let received = receiver.received();
        assert_eq!(received.len(), 11);
        assert_eq!(received[10].id(), received[0].id());
        assert_eq!(deliveries(&teacher, &hook).await[0]["state"], "delivered");
        let student = app.user("student1").await;
        student.post(&path, &json!({})).await.expect(StatusCode::FORBIDDEN);
        // After a month they are gone.
        app.advance(TimeDelta::days(31));
        app.service().sweep().await.expect("it sweeps");
        let left = texts(&databases(&app).await[0], "SELECT id AS line FROM webhook_delivery").await;
        assert!(left.is_empty(), "{left:?}");
    }

    async fn whoever_wants_no_more_is_sent_no_more(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Status(410)]);
        lease(&app, &hook).await;
        announce(&teacher, "One", false).await;
        announce(&teacher, "Two", false).await;
        app.service().catch_up().await.expect("it follows");
        app.advance(TimeDelta::seconds(61));
        deliver(app.service()).await;
        assert_eq!(receiver.titles(), ["One"]);
        let sent = deliveries(&teacher, &hook).await;
        assert_eq!((&sent[0]["state"], &sent[1]["state"]), (&json!("dead"), &json!("pending")));
        let path = format!("/direct/webhook/{}", text(&hook, "id"));
        assert_eq!(teacher.get(&format!("{path}.json")).await.json()["active"], false);
        // What happens meanwhile is never sent; what waits is sent when it is switched on.
        announce(&teacher, "Three", false).await;
        deliver(app.service()).await;
        teacher.put(&path, &json!({"active": true})).await.expect(StatusCode::NO_CONTENT);
        announce(&teacher, "Four", false).await;
        deliver(app.service()).await;
        assert_eq!(receiver.titles(), ["One", "Two", "Four"]);
    }

    async fn answers_that_lie_or_never_end_do_no_harm(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Lie, Reply::Flood]);
        announce(&teacher, "One", false).await;
        announce(&teacher, "Two", false).await;
        announce(&teacher, "Three", false).await;
        deliver(app.service()).await;
        assert_eq!(receiver.titles(), ["One", "Two", "Three"]);
        let sent = deliveries(&teacher, &hook).await;
        assert!(sent.iter().all(|it| it["state"] == "delivered"), "{sent:?}");
    }

    async fn a_webhook_tells_what_its_owner_may_read(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await.get("/direct/user/current.json").await.json();
        let hook = hook(&teacher, &receiver).await;
        let database = &databases(&app).await[0];
        let sql = format!("UPDATE webhook SET owner = '{}'", text(&student, "id"));
        database.execute_unprepared(&sql).await.expect("it has another owner");
        let draft = announce(&teacher, "Not finished", true).await;
        announce(&teacher, "Exam room", false).await;
        let retracted = announce(&teacher, "By mistake", false).await;
        app.service().catch_up().await.expect("it follows");
        assert!(deliveries(&teacher, &hook).await.iter().all(|it| it["reference"] != draft.as_str()));
        let answer = teacher.put(&format!("/direct{retracted}"), &json!({"draft": true})).await;
        answer.expect(StatusCode::NO_CONTENT);
        deliver(app.service()).await;
        let told = receiver.received().iter().map(|it| it.body.clone()).collect::<String>();
        assert!(!told.contains("Not finished") && !told.contains(&draft), "{told}");

        // The owner of the webhook alone says where that goes.
        let path = format!("/direct/webhook/{}", text(&hook, "id"));
        let moved = teacher.put(&path, &json!({"url": "http://elsewhere.example/"})).await;
        moved.expect(StatusCode::BAD_REQUEST);
        teacher.put(&path, &json!({"description": "x"})).await.expect(StatusCode::NO_CONTENT);

        // Nothing is told of a site that is closed to the owner, nor to whoever may not log in.
        announce(&teacher, "Behind a door", false).await;
        app.service().catch_up().await.expect("it follows");
        let admin = app.user("admin").await;
        let closed = admin.put(&format!("/direct/site/{SITE}"), &json!({"published": false})).await;
        closed.expect(StatusCode::NO_CONTENT);
        announce(&teacher, "In the dark", false).await;
        deliver(app.service()).await;
        let known: Vec<_> = receiver.titles();
        assert!(!known.iter().any(|it| it == "In the dark"), "{known:?}");
        let sent = deliveries(&teacher, &hook).await;
        assert!(sent.iter().all(|it| it["state"] != "pending"), "{sent:?}");
        assert_eq!(known.iter().filter(|it| *it == "Exam room").count(), 1, "{known:?}");
    }

    async fn events_are_sent_in_order_and_again_if_the_sender_stopped(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Status(500)]);
        announce(&teacher, "One", false).await;
        deliver(app.service()).await;
        // Another node has begun to send the next ones, and stops.
        lease(&app, &hook).await;
        for title in ["Two", "Three", "Four"] {
            announce(&teacher, title, false).await;
        }
        app.service().catch_up().await.expect("it follows");
        let waits = tokio::time::timeout(Duration::from_millis(700), app.service().deliver()).await;
        assert!(waits.is_err(), "nobody else sends meanwhile");
        assert_eq!(receiver.titles(), ["One"]);
        app.advance(TimeDelta::seconds(61));
        deliver(app.service()).await;
        assert_eq!(receiver.titles(), ["One", "One", "Two", "Three", "Four"]);
    }

    async fn a_webhook_goes_with_the_account_of_its_owner(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let other = hook(&admin, &receiver).await;
        hook(&teacher, &receiver).await;
        receiver.reply(&[Reply::Status(500), Reply::Status(500)]);
        announce(&admin, "Exam room", false).await;
        deliver(app.service()).await;
        let id = teacher.get("/direct/user/current.json").await.json();
        admin.delete(&format!("/direct/user/{}", text(&id, "id"))).await.expect(StatusCode::NO_CONTENT);
        let database = &databases(&app).await[0];
        for sql in [
            "SELECT id AS line FROM webhook",
            "SELECT webhook_id AS line FROM webhook_delivery",
            "SELECT webhook_id AS line FROM webhook_turn",
        ] {
            assert_eq!(texts(database, sql).await, [text(&other, "id")], "{sql}");
        }
    }

    async fn a_secret_is_told_once(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        let hook = hook(&teacher, &receiver).await;
        let id = text(&hook, "id");
        let rotated = teacher.post(&format!("/direct/webhook/{id}/rotate.json"), &json!({})).await;
        assert_eq!(rotated.header("cache-control"), Some("no-store"));
        let rotated = rotated.expect(StatusCode::OK).json();
        let secrets = [text(&hook, "secret"), text(&rotated, "secret")];
        assert_ne!(secrets[0], secrets[1]);
        assert!(secrets.iter().all(|it| it.len() == "whsec_".len() + 44), "{secrets:?}");
        announce(&teacher, "Exam room", false).await;
        deliver(app.service()).await;
        assert!(receiver.received()[0].is_signed(secrets[1]));
        assert!(!receiver.received()[0].is_signed(secrets[0]));
        let path = format!("/direct/webhook/{id}");
        let changed = teacher.put(&format!("{path}.json"), &json!({"description": "Hall"})).await;
        let mut shown = changed.text().to_owned();
        for path in [
            format!("{path}.json"), format!("{path}.xml"), format!("{path}.html"), format!("{path}/edit.html"),
            format!("{path}/delete.html"), "/direct/webhook.json".to_owned(), "/direct/webhook.xml".to_owned(),
            "/direct/webhook.csv".to_owned(), "/direct/webhook.html".to_owned(), DELIVERIES.to_owned(),
            "/direct/webhook-delivery.html".to_owned(), "/direct/webhook/describe.json".to_owned(),
        ] {
            let answer = teacher.get(&path).await;
            shown.push_str(answer.expect(StatusCode::OK).text());
        }
        let archive = teacher.get(&format!("/direct/site/{SITE}/archive")).await;
        shown.push_str(&String::from_utf8_lossy(&archive.body));
        app.service().audit.flush().await;
        for database in databases(&app).await {
            for sql in [
                "SELECT path || ' ' || method AS line FROM audit",
                "SELECT kind || reference || coalesce(details, '') AS line FROM outbox",
                "SELECT id || kind || about || coalesce(last_error, '') AS line FROM webhook_delivery",
            ] {
                if database.execute_unprepared(sql).await.is_ok() {
                    shown.push_str(&texts(&database, sql).await.join("\n"));
                }
            }
        }
        assert!(shown.contains("Hall"), "{shown}");
        for secret in secrets {
            let key = secret.strip_prefix("whsec_").expect("a secret");
            assert!(!shown.contains(key), "{shown}");
        }
        // Nobody chooses it.
        teacher.put(&path, &json!({"secret": "whsec_AAAA", "key": "whsec_AAAA"})).await;
        announce(&teacher, "Another room", false).await;
        deliver(app.service()).await;
        assert!(receiver.received()[1].is_signed(secrets[1]));
        for (client, status) in [("student1", StatusCode::FORBIDDEN), ("instructor2", StatusCode::FORBIDDEN)] {
            let other = app.user(client).await;
            other.get(&format!("{path}.json")).await.expect(status);
            other.post(&format!("{path}/rotate"), &json!({})).await.expect(status);
        }
    }

    async fn a_site_has_so_many_webhooks_to_addresses_that_make_sense(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        for wrong in [
            json!({"url": "ftp://a.example/"}),
            json!({"url": "https://a:b@a.example/"}),
            json!({"url": format!("https://a.example/{}", "x".repeat(2000))}),
            json!({"url": "https://a.example/", "kinds": ["a b"]}),
            json!({"url": "https://a.example/", "kinds": vec!["annc.new".to_owned(); 1].into_iter()
                .chain((0..100).map(|it| format!("x.{it}"))).collect::<Vec<_>>()}),
        ] {
            let mut body = wrong.clone();
            body["siteId"] = json!(SITE);
            teacher.post("/direct/webhook", &body).await.expect(StatusCode::BAD_REQUEST);
        }
        let list = teacher.get(&format!("/direct/webhook.json?siteId={SITE}")).await.json();
        let there = list["webhook_collection"].as_array().expect("a list").len();
        for _ in there..100 {
            hook(&teacher, &receiver).await;
        }
        let body = json!({"siteId": SITE, "url": receiver.url()});
        let refused = teacher.post("/direct/webhook", &body).await;
        assert!(refused.expect(StatusCode::FORBIDDEN).text().contains("100"), "{}", refused.text());
        let path = format!("/direct/webhook/{}", text(&list["webhook_collection"][0], "id"));
        teacher.send(Method::DELETE, &path, "text/plain", "".into()).await.expect(StatusCode::NO_CONTENT);
        hook(&teacher, &receiver).await;
    }

    /// A task that waits for the write permit must not block the one that holds it.
    async fn many_webhooks_are_sent_while_others_take_their_turns(app: Private) {
        let (app, receiver) = (app.0, Receiver::start().await);
        let teacher = app.user("instructor1").await;
        for _ in 0..12 {
            hook(&teacher, &receiver).await;
        }
        for number in 0..5 {
            announce(&teacher, &format!("Number {number}"), false).await;
        }
        deliver(app.service()).await;
        assert_eq!(receiver.received().len(), 60);
    }

    async fn nothing_is_sent_to_this_machine_unless_the_service_is_told_so(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let receiver = Receiver::start().await;
        let port = receiver.address.port();
        for url in [
            receiver.url(),
            format!("https://127.0.0.1:{port}/"),
            format!("https://127.1:{port}/"),
            format!("https://[::ffff:127.0.0.1]:{port}/"),
            "https://169.254.169.254/latest/".to_owned(),
            "https://10.0.0.1/".to_owned(),
        ] {
            let body = json!({"siteId": SITE, "url": url});
            let refused = teacher.post("/direct/webhook", &body).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains("url"), "{}", refused.text());
        }
        // A name is looked at when something is sent, and an address that was written under another setting as well.
        let name = json!({"siteId": SITE, "url": format!("https://localhost:{port}/"), "kinds": ["annc.new"]});
        let hook = teacher.post("/direct/webhook/new.json", &name).await.expect(StatusCode::CREATED).json();
        announce(&teacher, "Exam room", false).await;
        deliver(app.service()).await;
        let sent = &deliveries(&teacher, &hook).await[0];
        assert_eq!(sent["lastError"], "the host can't be reached, or its address is not public", "{sent}");
        let sql = format!("UPDATE webhook SET url = 'https://127.0.0.1:{port}/' WHERE active");
        databases(&app).await[0].execute_unprepared(&sql).await.expect("it leads elsewhere");
        app.advance(TimeDelta::minutes(10));
        deliver(app.service()).await;
        let sent = &deliveries(&teacher, &hook).await[0];
        assert_eq!((&sent["lastError"], &sent["attempts"]), (&json!("the host can't be reached, or its address is not public"), &json!(2)));
        assert!(receiver.received().is_empty());
    }
}

#[tokio::test]
async fn a_host_that_says_nothing_is_left_after_ten_seconds_and_keeps_nobody_waiting() {
    let Private(app) = Private::on_backend(Backend::Sqlite)
        .await
        .expect("a service");
    let teacher = app.user("instructor1").await;
    let (silent, other) = (Receiver::start().await, Receiver::start().await);
    let hook_of_silent = hook(&teacher, &silent).await;
    hook(&teacher, &other).await;
    silent.reply(&[Reply::Hang]);
    announce(&teacher, "Exam room", false).await;
    deliver(app.service()).await;
    let sent = &deliveries(&teacher, &hook_of_silent).await[0];
    assert_eq!(sent["lastError"], "there was no answer in time");
    assert_eq!(sent["state"], "pending");
    assert_eq!(other.titles(), ["Exam room"]);
}

#[tokio::test]
async fn two_nodes_send_nothing_twice() {
    database::on(Backend::Postgres, |app: Private| async move {
        let (app, receiver) = (app.0, Receiver::start().await);
        let files = app.database().folder().join("files").display().to_string();
        let settings = [("files.folder", &*files), ("webhooks.private", "true")];
        let clock = Arc::new(FixedClock::default());
        let other = App::start(config(app.database().url(), &settings), parts(clock));
        let other = other.await.expect("another node");
        let teacher = app.user("instructor1").await;
        for _ in 0..3 {
            hook(&teacher, &receiver).await;
        }
        for number in 0..25 {
            announce(&teacher, &format!("N{number:02}"), false).await;
        }
        let (one, two) = tokio::join!(app.service().catch_up(), other.catch_up());
        one.and(two).expect("both follow");
        let (one, two) = tokio::join!(app.service().deliver(), other.deliver());
        one.and(two).expect("both send");
        let sent = receiver.received();
        let ids: BTreeSet<_> = sent.iter().map(receiver::Received::id).collect();
        assert_eq!((sent.len(), ids.len()), (75, 75));
    })
    .await;
}
