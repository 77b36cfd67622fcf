//! Rows that are there or not: a caller's own, many at once, and those that follow something else.

use entity_core::db::{self, Followed};
use entity_core::engine::Route;
use entity_core::{
    Access, Action, Actions, Arguments, Context, Done, Entity, Error, Need, Result, Verb, standard,
};
use futures::future::join_all;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use tests::{Backend, Client, OnBackend, TestApp, both};

const ACCESS: Access = Access::new(Need::Session, Need::Superuser);

/// An opinion of a user about a subject. There is one for each user and subject.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[entity(prefix = "opinion", table = "opinion", access = ACCESS, verbs(read, list))]
struct Opinion {
    #[entity(id)]
    id: String,
    #[entity(title, read_only)]
    text: String,
    /// The number of times it was told.
    #[entity(read_only)]
    told: i64,
}

impl Opinion {
    fn blank(subject: &str, user: &str) -> Self {
        Self {
            id: format!("{subject}:{user}"),
            version: 1,
            ..Self::default()
        }
    }
}

impl Actions for Opinion {
    fn actions() -> Vec<Action<Self>> {
        let action = |name, run| Action::collection(Verb::Post, name, Need::Session, run);
        vec![
            action("tell", tell),
            Action::collection(Verb::Post, "many", Need::Session, many),
            Action::collection(Verb::Post, "follow", Need::Session, follow),
        ]
    }
}

fn sent<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.input.fields.get(name)?.as_str()
}

/// Tells an opinion of the caller's own.
async fn tell(cx: &Context, arguments: Arguments) -> Result<Done> {
    let text = sent(&arguments, "text").unwrap_or_default();
    let blank = Opinion::blank("own", cx.user_id()?);
    let change = |it: &mut Opinion| {
        if it.text != text {
            text.clone_into(&mut it.text);
            it.told += 1;
        }
    };
    let (stored, is_new) = db::put(cx, blank, change).await?;
    match is_new {
        true => cx.emit_about::<Opinion>("opinion.told", &stored),
        false => return Err(Error::conflict("this was told before")),
    }
    Ok(Done)
}

/// Stores the opinions of a thousand people, new or not.
async fn many(cx: &Context, arguments: Arguments) -> Result<Done> {
    let text = sent(&arguments, "text").unwrap_or_default();
    let all = (0..1_000).map(|number| Opinion {
        text: text.to_owned(),
        ..Opinion::blank("many", &number.to_string())
    });
    let all: Vec<_> = all.collect();
    let keys: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
    if arguments.input.fields.contains_key("new") {
        db::insert_many(cx, &all).await?;
    } else {
        db::lock::<Opinion>(cx, &keys).await?;
        db::pin::<Opinion>(cx, &keys).await?;
        db::put_many(cx, &all, &["text"]).await?;
    }
    Ok(Done)
}

/// Lets the opinion `follow` be the text that was sent, if any.
async fn follow(cx: &Context, arguments: Arguments) -> Result<Done> {
    let current = db::read::<Opinion>(cx, "follow:x").await?;
    let wanted = sent(&arguments, "text").map(|text| Opinion {
        text: text.to_owned(),
        ..current.clone().unwrap_or(Opinion::blank("follow", "x"))
    });
    let done = match db::follow(cx, current, wanted).await? {
        Followed::Nothing => "nothing",
        Followed::Kept(_) => "kept",
        Followed::Added(_) => "added",
        Followed::Changed(_) => "changed",
        Followed::Deleted(_) => "deleted",
    };
    match sent(&arguments, "expected") == Some(done) {
        true => Ok(Done),
        false => Err(Error::conflict(done)),
    }
}

struct Poll {
    client: Client,
    _app: TestApp,
}

impl OnBackend for Poll {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Opinion>(("tests", "1.0.0")).read().list();
        let route = route.actions().table().build();
        let app = TestApp::with_type(backend, route).await?;
        let client = app.user("student1").await;
        Some(Self { client, _app: app })
    }
}

impl Poll {
    async fn post(&self, action: &str, body: serde_json::Value) -> StatusCode {
        let path = format!("/direct/opinion/{action}");
        self.client.post(&path, &body).await.status
    }

    async fn read(&self, id: &str) -> serde_json::Value {
        let answer = self.client.get(&format!("/direct/opinion/{id}.json")).await;
        answer.expect(StatusCode::OK).json()
    }
}

both! {
    async fn a_row_of_ones_own_is_made_once_and_changed_from_then_on(poll: Poll) {
        for text in ["good", "bad"] {
            assert!(poll.post("tell", json!({"text": text})).await.is_success());
            assert_eq!(poll.post("tell", json!({"text": text})).await, StatusCode::CONFLICT, "nothing changed");
        }
        let all = poll.client.get("/direct/opinion.json").await.json();
        let all = all["opinion_collection"].as_array().expect("a list").clone();
        assert_eq!(all.len(), 1);
        assert_eq!((&all[0]["text"], &all[0]["told"]), (&json!("bad"), &json!(2)));
    }

    async fn those_who_make_the_same_row_at_once_find_what_the_others_left(poll: Poll) {
        let texts = ["a", "b", "c", "d", "e"];
        let told = join_all(texts.map(|text| poll.post("tell", json!({"text": text})))).await;
        assert!(told.iter().all(StatusCode::is_success), "{told:?}");
        let all = poll.client.get("/direct/opinion.json").await.json();
        assert_eq!(all["opinion_collection"][0]["told"], 5);
    }

    async fn many_rows_are_stored_whether_they_are_there_or_not(poll: Poll) {
        assert!(poll.post("many", json!({"text": "first", "new": "yes"})).await.is_success());
        assert_eq!(poll.post("many", json!({"text": "x", "new": "yes"})).await, StatusCode::CONFLICT);
        let first = poll.read("many:999").await;
        assert_eq!(first["text"], "first");
        let tag = poll.client.get("/direct/opinion/many:999.json").await.header("etag").map(ToOwned::to_owned);
        assert!(poll.post("many", json!({"text": "second"})).await.is_success());
        assert_eq!(poll.read("many:0").await["text"], "second");
        let answer = poll.client.get("/direct/opinion/many:999.json").await;
        assert_ne!(answer.header("etag").map(ToOwned::to_owned), tag, "it is another version");
    }

    async fn a_row_follows_what_is_wanted(poll: Poll) {
        for (text, expected) in [
            (None, "nothing"),
            (Some("a"), "added"),
            (Some("a"), "kept"),
            (Some("b"), "changed"),
            (None, "deleted"),
            (None, "nothing"),
        ] {
            let status = poll.post("follow", json!({"text": text, "expected": expected})).await;
            assert!(status.is_success(), "{text:?} {expected}: {status}");
        }
    }
}
