//! Files that people upload and download: a type of the tests takes and serves them.

mod backup;
mod bucket;
mod download;
mod hostile;
mod sweep;
mod upload;

use std::fs;
use std::path::PathBuf;

use entity_core::blob::{Blob, Disposition, Receive, Room, StoredFile, Target, Upload};
use entity_core::engine::Route;
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Entity, Error, Need, Result, Verb,
    db,
};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;
use tests::{Answer, Backend, Client, OnBackend, TestApp};

/// The most bytes of one drawing.
const MOST: u64 = 80 << 20;
/// The site in which they are.
const SITE: &str = "biology-101";
/// The boundary between the parts of forms.
const BOUNDARY: &str = "----x7f3";

/// A drawing of a user.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "drawing", table = "drawing", access = Site("drawing"))]
#[entity(verbs(read, list, create, update, delete), check = Self::check)]
struct Drawing {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, optional)]
    title: String,
    /// The number of bytes.
    #[entity(read_only)]
    size: i64,
    #[serde(skip)]
    #[entity(hidden)]
    picture: Option<Blob>,
    /// The sheets below it.
    #[entity(children, max = 5)]
    sheets: Vec<Sheet>,
    #[entity(version)]
    version: i64,
}

/// A sheet with a drawing of its own.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "drawing_sheet")]
struct Sheet {
    #[entity(id)]
    id: String,
    #[serde(skip)]
    #[entity(hidden, parent = Drawing)]
    drawing_id: String,
    #[serde(skip)]
    #[entity(position)]
    position: i64,
    #[entity(optional)]
    note: String,
    #[serde(skip)]
    #[entity(hidden)]
    picture: Option<Blob>,
}

impl Drawing {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        for upload in cx.uploads() {
            self.take(upload)?;
        }
        Ok(())
    }

    fn take(&mut self, upload: &Upload) -> Result<()> {
        if upload.field == "sheet" {
            let sheet = self.sheets.first_mut();
            sheet
                .ok_or_else(|| Error::field("sheet", "needs a sheet"))?
                .picture = Some(upload.blob);
            return Ok(());
        }
        self.picture = Some(upload.blob);
        self.size = i64::try_from(upload.blob.size()).map_err(Error::internal)?;
        if self.title.is_empty() {
            self.title = upload.name.clone().unwrap_or_default();
        }
        Ok(())
    }
}

impl Receive for Drawing {
    const MOST_FILES: usize = 2;

    async fn room(_cx: &Context, target: Target<'_>) -> Result<Room> {
        Ok(Room::of(match target.fields.text("title") {
            Some("nothing more") => 0,
            _ => MOST,
        }))
    }
}

async fn put(cx: &Context, drawing: Drawing, arguments: Arguments) -> Result<Drawing> {
    let mut changed = drawing.clone();
    changed.take(arguments.upload()?)?;
    db::replace(cx, drawing, changed).await
}

async fn show(
    _cx: &Context,
    drawing: Drawing,
    arguments: Arguments,
) -> Result<ActionResult<Drawing>> {
    let blob = drawing.picture.ok_or_else(Error::not_found)?;
    let file = StoredFile::named(blob, drawing.title);
    let file = match arguments.parameter("save") {
        Some(_) => file,
        None => file.inline(),
    };
    assert_eq!(
        file.disposition == Disposition::Inline,
        arguments.parameter("save").is_none()
    );
    Ok(ActionResult::File(
        file.modified(chrono::DateTime::UNIX_EPOCH),
    ))
}

impl Actions for Drawing {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Get, "picture", Need::Session, show)
                .doc("What it looks like.")
                .parameters(&[("save", "Whether it is saved.")])
                .answers(Answers::Bytes(&["*/*"])),
            Action::entity(Verb::Put, "picture", Need::Site("drawing.revise.any"), put)
                .doc("Draws it anew.")
                .receiving(),
        ]
    }
}

pub(crate) fn route() -> Route {
    Route::of::<Drawing>(("tests", "0.0.0"))
        .read()
        .list()
        .create()
        .update()
        .delete()
        .table()
        .actions()
        .receive()
        .build()
}

/// The service with drawings.
struct Gallery(TestApp);

impl OnBackend for Gallery {
    async fn on_backend(backend: Backend) -> Option<Self> {
        Self::with(backend, &[]).await
    }
}

impl Gallery {
    async fn with(backend: Backend, settings: &[(&str, &str)]) -> Option<Self> {
        let app = TestApp::with_type_and_settings(backend, route(), settings).await?;
        let app = Self(app);
        app.empty().await;
        Some(app)
    }

    /// Removes the files of the demo university, so that those of a test can be counted.
    async fn empty(&self) {
        let content = &self.0.service().storage.content.writer;
        for table in ["content", "profile", "stored_file"] {
            let sql = format!("DELETE FROM {table}");
            content
                .execute_unprepared(&sql)
                .await
                .expect("a table of ours");
        }
        for file in self.files() {
            fs::remove_file(file).expect("a file of ours");
        }
    }

    async fn teacher(&self) -> Client {
        self.0.user("instructor1").await
    }

    /// The number of files in the store, those that are being written included.
    fn stored(&self) -> usize {
        self.files().count()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.0.database().folder().join("files");
        let folders = fs::read_dir(folder).expect("a store").flatten();
        let folders = folders.filter(|it| it.path().is_dir());
        let files = folders.flat_map(|it| fs::read_dir(it.path()).expect("a folder").flatten());
        files.map(|it| it.path())
    }

    /// Waits until so many files are in the store: what a client left behind is removed by another thread.
    async fn wait_for(&self, count: usize) {
        for _ in 0..3_000 {
            if self.stored() == count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("there are {} files and not {count}", self.stored());
    }
}

/// A form with fields and behind them files: the field, the name and the bytes.
fn form(fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    for (field, name, bytes) in files {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
             Content-Type: text/html\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

fn multipart() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// Creates a drawing by a form with a file of this name.
async fn draw(client: &Client, name: &str, bytes: &[u8]) -> Answer {
    let body = form(&[("siteId", SITE)], &[("picture", name, bytes)]);
    let path = "/direct/drawing.json";
    client
        .send(Method::POST, path, &multipart(), body.into())
        .await
}

/// The address of a new drawing.
pub(crate) async fn drawn(client: &Client, name: &str, bytes: &[u8]) -> String {
    let answer = draw(client, name, bytes).await;
    answer.expect(StatusCode::CREATED);
    let id = answer.header("entityid").expect("an id");
    format!("/direct/drawing/{id}")
}

/// Sends `bytes` as the body alone.
async fn send(client: &Client, path: &str, name: &str, bytes: Vec<u8>) -> Answer {
    let request = Request::builder()
        .method(Method::PUT)
        .uri(client.address() + path)
        .header(CONTENT_TYPE, "application/x-anything")
        .header(
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        )
        .body(bytes.into());
    let answer = client.try_send(request.expect("a request")).await;
    answer.expect("an answer")
}
