//! What is prepared before a unit of work opens keeps nobody from writing, on a database with one writer too.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use entity_core::context::Shared;
use entity_core::engine::{Prepare, Route};
use entity_core::{Access, Context, Entity, Error, Fields, Need, Provider, Read, Result, Update};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use tests::{Answer, Backend, OnBackend, TestApp, both};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// More than anything here takes, unless it waits for what never comes.
const LONG: Duration = Duration::from_mins(1);
const BATCH: &str = "/direct/batch.json";

/// Something with a word that takes as long to prepare as the test wants.
#[derive(Clone, Debug, Serialize, Entity)]
struct Waiter {
    #[entity(id)]
    id: String,
    #[entity(writable)]
    word: String,
}

/// Where the preparation of a word and its test meet.
struct Meeting {
    begun: Semaphore,
    may_end: Semaphore,
}

static MEETINGS: LazyLock<Mutex<HashMap<String, Arc<Meeting>>>> = LazyLock::new(Mutex::default);

impl Meeting {
    fn about(word: &str) -> Arc<Self> {
        let mut meetings = MEETINGS.lock().expect("no test failed within");
        let meeting = meetings.entry(word.to_owned()).or_insert_with(|| {
            Arc::new(Self {
                begun: Semaphore::new(0),
                may_end: Semaphore::new(0),
            })
        });
        Arc::clone(meeting)
    }
}

#[derive(Debug)]
struct Waiters;

impl Provider for Waiters {
    type Entity = Waiter;
    const PREFIX: &'static str = "waiter";
    const ACCESS: Access = Access::new(Need::Session, Need::Superuser);
}

impl Read for Waiters {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Waiter>> {
        Ok(Some(Waiter {
            id: id.to_owned(),
            word: String::new(),
        }))
    }
}

impl Update for Waiters {
    type Changes = Fields;

    async fn update(cx: &Context, current: Waiter, changes: Fields) -> Result<Waiter> {
        let word = Self::raw(&changes).ok_or_else(|| Error::field("word", "is required"))?;
        let word = (*cx.prepared::<Self>(&word).await?).clone();
        Ok(Waiter { word, ..current })
    }
}

impl Prepare for Waiters {
    type Raw = String;
    type Prepared = String;

    fn raw(fields: &Fields) -> Option<String> {
        fields.text("word").map(ToOwned::to_owned)
    }

    async fn prepare(_shared: &Shared, word: &String) -> Result<String> {
        let meeting = Meeting::about(word);
        meeting.begun.add_permits(1);
        meeting
            .may_end
            .acquire()
            .await
            .map_err(Error::internal)?
            .forget();
        Ok(word.to_uppercase())
    }
}

/// The service with waiters.
struct WithWaiters(TestApp);

impl OnBackend for WithWaiters {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let waiters = Route::of::<Waiters>(("tests", "0.0.0"))
            .read()
            .update()
            .prepare()
            .build();
        TestApp::with_type(backend, waiters).await.map(Self)
    }
}

impl WithWaiters {
    /// A word of this test alone.
    fn word(&self, word: &str) -> String {
        format!("{word} on {:?}", self.0.database().backend())
    }
}

fn set(word: &str) -> Value {
    json!({"method": "PUT", "path": "waiter/1", "body": {"word": word}, "headers": {"Prefer": "return=representation"}})
}

fn news(title: &str) -> Value {
    json!({"siteId": "biology-101", "title": title})
}

#[track_caller]
fn assert_word(answer: &Answer, index: usize, word: &str) {
    answer.expect(StatusCode::OK);
    assert_eq!(
        answer.json()["results"][index]["data"]["word"],
        word.to_uppercase()
    );
}

both! {
    async fn others_write_while_a_batch_is_prepared(app: WithWaiters) {
        let (admin, teacher) = (app.0.user("admin").await, app.0.user("instructor1").await);
        for is_atomic in [true, false] {
            let word = app.word(&format!("batch {is_atomic}"));
            let meeting = Meeting::about(&word);
            let first = json!({"method": "POST", "path": "announcement", "body": news("First")});
            let body = json!({"atomic": is_atomic, "operations": [first, set(&word)]});
            let waiting = tokio::spawn({
                let admin = admin.clone();
                async move { admin.post(BATCH, &body).await }
            });
            let begun = timeout(LONG, meeting.begun.acquire()).await;
            begun.expect("it is prepared").expect("it stays open").forget();
            let other = timeout(LONG, teacher.post("/direct/announcement", &news("Other"))).await;
            other.expect("nothing keeps it waiting").expect(StatusCode::CREATED);
            assert!(!waiting.is_finished());
            meeting.may_end.add_permits(1);
            assert_word(&waiting.await.expect("an answer"), 1, &word);
            assert_eq!(meeting.begun.available_permits(), 0, "prepared once");
        }
    }

    async fn what_is_refused_is_not_prepared(app: WithWaiters) {
        let teacher = app.0.user("instructor1").await;
        let word = app.word("refused");
        let meeting = Meeting::about(&word);
        meeting.may_end.add_permits(9);
        for is_atomic in [true, false] {
            let body = json!({"atomic": is_atomic, "operations": [set(&word)]});
            let answer = timeout(LONG, teacher.post(BATCH, &body)).await.expect("an answer");
            assert!([403, 207].contains(&answer.status.as_u16()), "{}", answer.status);
        }
        teacher.put("/direct/waiter/1", &json!({"word": word})).await.expect(StatusCode::FORBIDDEN);
        assert_eq!(meeting.begun.available_permits(), 0);
    }

    async fn what_is_known_late_is_prepared_late(app: WithWaiters) {
        let admin = app.0.user("admin").await;
        let word = app.word("late");
        let meeting = Meeting::about(&word);
        meeting.may_end.add_permits(1);
        let made = json!({"id": "made", "method": "POST", "path": "announcement", "body": news("Made")});
        let late = json!({
            "method": "PUT", "path": "waiter/$made.entityId", "body": {"word": word},
            "headers": {"Prefer": "return=representation"},
        });
        let body = json!({"atomic": true, "operations": [made, late]});
        let answer = timeout(LONG, admin.post(BATCH, &body)).await.expect("an answer");
        assert_word(&answer, 1, &word);
        assert_eq!(meeting.begun.available_permits(), 1, "prepared once");
    }
}
