//! A hook of a type that does not end while it holds the right to write.

use std::time::{Duration, Instant};

use entity_core::engine::Route;
use entity_core::{Context, Entity, Result};
use http::StatusCode;
use sea_orm::{ConnectionTrait as _, DbBackend};
use serde::Serialize;
use serde_json::json;
use tests::{Backend, OnBackend, TestApp, above_storage};
use tokio::sync::Semaphore;

/// The ends of the hooks, on each kind of database.
static END: [Semaphore; 2] = [const { Semaphore::const_new(0) }; 2];
/// The time without the end of a write after which `/readyz` says that no more are wanted.
const STALLED: Duration = Duration::from_secs(30);

/// An entity made by a hook without an end.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(prefix = "wheel", table = "wheel", access = Session, verbs(read, list, create))]
#[entity(settle = Self::turn)]
struct Wheel {
    #[entity(id)]
    id: String,
    #[entity(title)]
    title: String,
}

impl Wheel {
    async fn turn(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        let end = end_on(cx.db()?.get_database_backend() == DbBackend::Sqlite);
        let permit = end.acquire().await.expect("it is never closed");
        permit.forget();
        Ok(())
    }
}

fn end_on(is_sqlite: bool) -> &'static Semaphore {
    let [sqlite, postgres] = &END;
    if is_sqlite { sqlite } else { postgres }
}

struct Wheels(TestApp);

impl OnBackend for Wheels {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Wheel>(("tests", "0"));
        let route = route.read().list().create().table().build();
        TestApp::with_type(backend, route).await.map(Self)
    }
}

above_storage! {
    async fn y12_a_write_that_does_not_end_is_known_by_its_type_and_operation(app: Wheels) {
        let Wheels(app) = app;
        let holders = app.service().dispatcher.holders().clone();
        let later = |seconds| Instant::now() + Duration::from_secs(seconds);
        // Work beside the requests writes now and then too.
        let is_told = || holders.stalled(later(31), STALLED).is_some_and(|it| it.contains("wheel"));
        assert!(!is_told(), "nobody writes one");
        let author = app.user("admin").await;
        let (writer, url) = (author.clone(), "/direct/wheel.json");
        let write = tokio::spawn(async move { writer.post(url, &json!({"title": "x"})).await });
        while !is_told() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let told = holders.stalled(later(31), STALLED);
        assert_eq!(told.as_deref(), Some("`POST /direct/wheel.json` of the type `wheel`"));
        assert_eq!(holders.stalled(Instant::now(), STALLED), None, "it may yet end");
        // Reads go on.
        author.get(url).await.expect(StatusCode::OK);
        end_on(app.database().backend() == Backend::Sqlite).add_permits(1);
        write.await.expect("no panic").expect(StatusCode::CREATED);
        assert!(!is_told(), "it has ended");
    }
}
