//! Files that clients send: streamed into the store before the unit of work opens that names them.
//!
//! A request without permission is refused before its body is read. While the body comes, the request holds a place for
//! uploads only, and no place for writes: so slow clients delay each other and nobody else.

mod form;
mod pace;
mod underway;

use axum::body::Body;
use axum::http::Uri;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH};
use axum::http::request::Parts;
use bytes::Bytes;
use entity_core::blob::{Blob, Received, Reception, Room, Upload};
use entity_core::engine::{DirectPath, Origin, Request};
use entity_core::{Error, ErrorKind, Input, Preconditions, Result, Verb};
use futures::{Stream, stream};
use http_body_util::BodyExt as _;

use super::request::{DirectRequest, parse_path};
use crate::base::media;
use crate::operate::background;
use crate::web::app::App;
use crate::web::request_body::{RequestBody, Uploaded};
use crate::web::request_context::verb;

use pace::Pace;

pub(crate) use underway::Underway;

/// Returns whether the request with this head brings files.
pub(crate) fn is_asked(app: &App, parts: &Parts) -> bool {
    let is_direct = |uri: &Uri| uri.path().starts_with("/direct/");
    if parts.method.is_safe() || !is_direct(&parts.uri) {
        return false;
    }
    let Some(sent) = verb(&parts.method) else {
        return false;
    };
    let path = parse_path(app, &parts.uri);
    path.is_ok_and(|path| reception(app, parts, &path, sent).is_some())
}

/// Returns the declaration by which the request takes its body as files, if it does.
pub(super) fn reception(
    app: &App,
    parts: &Parts,
    path: &DirectPath,
    sent: Verb,
) -> Option<Reception> {
    let reception = entity_core::engine::reception(app.dispatcher.registry(), path, sent)?;
    let is_form = media::boundary(&parts.headers).is_some();
    (is_form || reception.is_whole).then_some(reception)
}

/// The parts of a request that are needed while its files come.
struct Receiver<'a> {
    app: &'a App,
    /// The request without its body.
    request: Request,
    reception: Reception,
    /// The maximum number of bytes of the request.
    most: u64,
    /// The number of bytes that it announces.
    announced: Option<u64>,
}

/// The body of the request, and how fast it comes.
struct Source {
    body: Body,
    pace: Pace,
}

/// Reads the body into the store.
///
/// # Errors
/// Returns an error if the caller may not send it, it is too large or malformed, it does not come fast enough, or it
/// can't be stored.
pub(super) async fn receive(
    direct: DirectRequest<'_>,
    body: &mut RequestBody,
    sent: Verb,
    reception: Reception,
) -> Result<()> {
    let DirectRequest { app, context, .. } = direct;
    let Some(unread) = body.take() else {
        return Err(Error::internal("the body of an upload is read twice"));
    };
    let place = match &body.admitted {
        Some(admitted) => Some(admitted.enter_upload(&app.admission).await?),
        None => None,
    };
    let headers = &context.parts.headers;
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|it| it.to_str().ok()?.parse().ok());
    let receiver = Receiver {
        app,
        request: without_body(direct, sent)?,
        reception,
        most: app.config.files.size.in_bytes(),
        announced,
    };
    let source = Source {
        body: unread,
        pace: Pace::new(
            app.config.timeouts.body,
            app.config.timeouts.upload_rate.in_bytes(),
        ),
    };
    let deadline = context.deadline.as_ref();
    if let Some(deadline) = deadline {
        deadline.suspend();
    }
    let (form, files) = if let Some(boundary) = media::boundary(headers) {
        let token = body.owed_token.as_deref();
        form::receive(receiver, source, boundary, token).await
    } else {
        let name = named(&context.parts);
        (None, receiver.receive_whole(source, name).await)
    };
    let rest = app.config.timeouts.request;
    if let Some(deadline) = deadline {
        deadline.resume(rest);
    }
    body.bytes = form.clone().unwrap_or_default().into();
    drop(place);
    // What was typed is given back if the files are refused.
    let uploaded = body.uploaded.insert(Uploaded {
        form,
        files: Vec::new(),
    });
    if let Some(admitted) = &mut body.admitted {
        admitted.begin().await?;
    }
    uploaded.files = files?;
    body.owed_token = None;
    Ok(())
}

/// The request as far as its head tells it.
fn without_body(direct: DirectRequest<'_>, verb: Verb) -> Result<Request> {
    Ok(Request {
        path: direct.path.clone(),
        verb,
        query: direct.context.query()?,
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: true,
        wants_allowed_actions: false,
        origin: direct.context.origin.clone(),
    })
}

/// The name of the file that the body is, if the head tells one.
fn named(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(CONTENT_DISPOSITION)?;
    media::file_name(value)
}

fn too_large(most: u64) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!("the file must not be longer than {most} bytes here"),
    )
}

impl Receiver<'_> {
    /// Asks for the room for a request with these fields, once it is clear that the caller may send it.
    async fn room(&self, input: Input) -> Result<Room> {
        let request = Request {
            input,
            ..self.request.clone()
        };
        self.app.dispatcher.room(&request).await
    }

    /// Returns the maximum number of bytes that a request with this room may bring.
    fn most(&self, room: &Room) -> u64 {
        let account = room.account.as_ref().map_or(u64::MAX, |it| it.1);
        room.bytes.min(account).min(self.most)
    }

    async fn receive_whole(self, mut source: Source, name: Option<String>) -> Result<Vec<Upload>> {
        let name = Upload::check_name("", name.as_deref())?;
        let room = self.room(Input::default()).await?;
        let most = self.most(&room);
        if self.announced.is_some_and(|it| it > most) {
            return Err(too_large(most));
        }
        let mut counted = self.app.underway.begin(&room);
        let mut incoming = self.app.dispatcher.shared().blobs()?.begin().await?;
        while let Some(piece) = source.next().await? {
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            if incoming.size().saturating_add(length) > most {
                return Err(too_large(most));
            }
            counted.add(piece.len())?;
            incoming.write(piece).await?;
        }
        let received = incoming.finish().await?;
        let blob = keep(self.app, &self.request.origin, received, &room).await?;
        Ok(vec![Upload::new("", blob, name.as_deref())?])
    }
}

impl Source {
    /// The next bytes, if they come fast enough.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let Some(frame) = self.pace.during(self.body.frame()).await? else {
                return Ok(None);
            };
            let frame = frame.map_err(|error| incomplete().with_source(error))?;
            if let Ok(bytes) = frame.into_data() {
                self.pace.note(bytes.len())?;
                return Ok(Some(bytes));
            }
        }
    }

    fn into_stream(self) -> impl Stream<Item = Result<Bytes>> + Send {
        stream::try_unfold(self, |mut source| async move {
            let piece = source.next().await?;
            Ok(piece.map(|it| (it, source)))
        })
    }
}

/// Notes the file in the database, then gives it its name in the store.
async fn keep(app: &App, origin: &Origin, received: Received, room: &Room) -> Result<Blob> {
    let blob = received.blob();
    background::write(app, origin, |cx| {
        let site = room.site.clone();
        Box::pin(async move { entity_core::db::blobs::note(cx, &blob, site.as_deref()).await })
    })
    .await?;
    received.keep().await
}

fn incomplete() -> Error {
    Error::bad_request("the body did not come to its end: send it again")
}
