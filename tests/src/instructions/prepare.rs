//! The database that all requests are answered from, made where nothing is counted.

use std::path::PathBuf;

use super::cases;
use crate::app::{PASSWORD, TestApp};
use crate::bench::data;
use crate::{Backend, Database, template};

/// The database, and the session of who asks.
#[derive(Debug)]
pub(super) struct Prepared {
    database: Database,
    pub(super) cookie: String,
}

impl Prepared {
    /// The folder of the database.
    pub(super) fn folder(&self) -> PathBuf {
        self.database.folder()
    }
}

/// Makes the database.
///
/// # Panics
/// A list of it is shorter than the cases say.
pub(super) fn prepare() -> Prepared {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = template::copy(Backend::Sqlite).await;
        let database = database.expect("files are always there");
        data::fill(database.url(), cases::SIZE).await;
        let app = TestApp::start(database, &[]).await;
        let student = app.anonymous().log_in("student1", PASSWORD).await;
        for case in cases::all().iter().filter(|it| it.name.contains("list")) {
            for path in &case.paths {
                let answer = student.get(path).await.json();
                let entries = answer
                    .get("announcement_collection")
                    .and_then(|it| Some(it.as_array()?.len()));
                assert_eq!(entries, Some(50), "{path}");
            }
        }
        let cookie = student
            .cookie()
            .expect("the login sets a cookie")
            .to_owned();
        app.service().finish().await;
        Prepared {
            database: app.into_database(),
            cookie,
        }
    })
}
