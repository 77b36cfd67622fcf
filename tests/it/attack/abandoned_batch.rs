//! A batch worked on for longer than its deadline, and for clients that had gone. No operation begins when nobody waits.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use entity_core::engine::Route;
use entity_core::{Access, Context, Entity, Need, Provider, Read, Result};
use serde::Serialize;
use serde_json::{Value, json};
use tests::{Backend, OnBackend, TestApp, both};
use tokio::sync::Notify;

/// An entity whose read waits until somebody opens it.
#[derive(Clone, Debug, Serialize, Entity)]
struct Door {
    #[entity(id)]
    id: String,
}

#[derive(Debug)]
struct Doors;

/// The bells of all doors: tests run beside each other.
static BELLS: LazyLock<Mutex<HashMap<String, Arc<Bell>>>> = LazyLock::new(Mutex::default);

/// The signals that a door is read, and that it opens.
#[derive(Debug, Default)]
struct Bell {
    rung: Notify,
    opened: Notify,
}

impl Provider for Doors {
    type Entity = Door;
    const PREFIX: &'static str = "door";
    const ACCESS: Access = Access::new(Need::Session, Need::Session);
}

impl Read for Doors {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Door>> {
        let bell = bell(id);
        bell.rung.notify_one();
        bell.opened.notified().await;
        Ok(Some(Door { id: id.to_owned() }))
    }
}

fn bell(id: &str) -> Arc<Bell> {
    let mut bells = BELLS.lock().expect("nobody panics");
    bells.entry(id.to_owned()).or_default().clone()
}

struct WithDoors(TestApp, Backend);

impl OnBackend for WithDoors {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Doors>(("tests", "0")).read().build();
        let app = TestApp::with_type_and_settings(backend, route, &[]);
        app.await.map(|it| Self(it, backend))
    }
}

fn batch(atomic: bool, door: &str) -> Value {
    let news = |title| json!({"method": "POST", "path": "announcement", "body": {"siteId": "biology-101", "title": title}});
    let door = json!({"method": "GET", "path": format!("door/{door}")});
    json!({"atomic": atomic, "operations": [news("Zqxbefore"), door, news("Zqxbehind")]})
}

both! {
    async fn x53_no_operation_begins_when_nobody_waits(app: WithDoors) {
        let WithDoors(app, backend) = app;
        let teacher = app.user("instructor1").await;
        for (atomic, left) in [(true, vec![]), (false, vec!["Zqxbefore"])] {
            let door = format!("{backend:?}-{atomic}");
            let bell = bell(&door);
            let operations = batch(atomic, &door);
            tokio::select! {
                answer = teacher.post("/direct/batch.json", &operations) => panic!("{}", answer.text()),
                () = bell.rung.notified() => {}
            }
            bell.opened.notify_one();
            let tasks = &app.service().tasks;
            tasks.close();
            tasks.wait().await;
            tasks.reopen();
            let list = teacher.get("/direct/announcement.json?siteId=biology-101&_limit=200").await.json();
            let all = list["announcement_collection"].as_array().expect("a list").iter();
            let found: Vec<_> = all.filter_map(|it| it["title"].as_str()).filter(|it| it.starts_with("Zqx")).collect();
            assert_eq!(found, left, "atomic: {atomic}");
        }
    }
}
