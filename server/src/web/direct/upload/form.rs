//! A form with files, `multipart/form-data`: its fields, and behind them its files.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use entity_core::blob::{Received, Room, Upload};
use entity_core::{Error, ErrorKind, Input, Result};
use futures::Stream;
use futures::stream::BoxStream;
use multer::{Field, Multipart};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::super::body::parse_form;
use super::underway::Counted;
use super::{Receiver, Source, keep, too_large};
use crate::guard::csrf;

/// The maximum number of bytes that are handed to the parser at once.
const PIECE: usize = 16 << 10;
/// The maximum number of bytes that the parser may buffer: the boundary, the head of a part, and the rest of the piece.
const HEAD: usize = 3 * PIECE;
/// The maximum number of fields besides files.
const FIELDS: usize = 1_000;

/// Reads the form whose parts `boundary` separates: its fields, as far as they come, and its files. If the session demands
/// `token`, that stands before the first file.
pub(super) async fn receive(
    receiver: Receiver<'_>,
    source: Source,
    boundary: String,
    token: Option<&str>,
) -> (Option<Vec<u8>>, Result<Vec<Upload>>) {
    let ahead = Arc::new(AtomicUsize::new(0));
    let gate = Gate {
        source: Box::pin(source.into_stream()),
        piece: Bytes::new(),
        rests: false,
        ahead: Arc::clone(&ahead),
    };
    let mut reading = Reading {
        parts: Multipart::new(gate, boundary),
        ahead,
        form: Vec::new(),
        typed: 0,
        fields: 0,
        files: Vec::new(),
        bytes: 0,
        room: None,
        token: token.map(ToOwned::to_owned),
    };
    let files = reading.read(&receiver).await;
    (Some(reading.form), files)
}

/// A form that is being read.
struct Reading {
    parts: Multipart<'static>,
    /// The number of bytes that the parser has taken and made nothing of yet.
    ahead: Arc<AtomicUsize>,
    /// The fields, in the encoding of a form without files.
    form: Vec<u8>,
    fields: usize,
    /// The number of bytes of the fields as they were typed.
    typed: usize,
    /// The files: the field, the name that was sent, and the bytes.
    files: Vec<(String, Option<String>, Received)>,
    /// The number of bytes of the files.
    bytes: u64,
    /// The room for these, once it was read, and their counted bytes.
    room: Option<(Room, Counted)>,
    /// The token that is still to come.
    token: Option<String>,
}

impl Reading {
    async fn read(&mut self, receiver: &Receiver<'_>) -> Result<Vec<Upload>> {
        while let Some(part) = self.parts.next_field().await.map_err(told)? {
            self.ahead.store(0, Ordering::Relaxed);
            let name = part.name().unwrap_or_default().to_owned();
            if name.is_empty() {
                return Err(Error::bad_request("each part of the form must have a name"));
            }
            match part.file_name().map(ToOwned::to_owned) {
                None => self.read_field(receiver, name, part).await?,
                Some(file) => self.read_file(receiver, name, file, part).await?,
            }
        }
        self.refuse_without_token()?;
        let mut files = Vec::with_capacity(self.files.len());
        for (field, name, received) in std::mem::take(&mut self.files) {
            // It was asked before the first file.
            let room = self
                .room
                .as_ref()
                .map_or_else(|| Room::of(0), |it| it.0.clone());
            let blob = keep(receiver.app, &receiver.request.origin, received, &room).await?;
            files.push(Upload::new(field, blob, name.as_deref())?);
        }
        Ok(files)
    }

    async fn read_field(
        &mut self,
        receiver: &Receiver<'_>,
        name: String,
        mut part: Field<'static>,
    ) -> Result<()> {
        let config = &receiver.app.config;
        let too_large = || {
            let most = config.limits.form_body.0;
            let message = format!("the fields of the form must not be longer than {most} bytes");
            Error::new(ErrorKind::TooLarge, message)
        };
        let mut value = Vec::new();
        while let Some(piece) = part.chunk().await.map_err(told)? {
            self.ahead.store(0, Ordering::Relaxed);
            self.typed = self.typed.saturating_add(piece.len());
            if self.typed > config.limits.form_body.0.max(config.limits.other_body.0) {
                return Err(too_large());
            }
            value.extend_from_slice(&piece);
        }
        self.fields += 1;
        if self.fields > FIELDS {
            return Err(Error::bad_request(format!(
                "the form must not have more than {FIELDS} fields"
            )));
        }
        let value = String::from_utf8(value)
            .map_err(|error| Error::field(&*name, "must be text in UTF-8").with_source(error))?;
        if name == csrf::TOKEN_FIELD
            && self
                .token
                .as_ref()
                .is_some_and(|it| csrf::is_same(&value, it))
        {
            self.token = None;
        }
        if !self.form.is_empty() {
            self.form.push(b'&');
        }
        for text in [
            utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string(),
            "=".to_owned(),
            utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string(),
        ] {
            self.form.extend_from_slice(text.as_bytes());
        }
        // A little more is read than is taken, so that it can be given back.
        match self.typed > config.limits.form_body.0 {
            true => Err(too_large()),
            false => Ok(()),
        }
    }

    async fn read_file(
        &mut self,
        receiver: &Receiver<'_>,
        field: String,
        name: String,
        mut part: Field<'static>,
    ) -> Result<()> {
        self.refuse_without_token()?;
        let most = self.most(receiver).await?;
        let name = Upload::check_name(&field, Some(&name))?;
        let mut incoming = None;
        while let Some(piece) = part.chunk().await.map_err(told)? {
            self.ahead.store(0, Ordering::Relaxed);
            if piece.is_empty() {
                continue;
            }
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.bytes = self.bytes.saturating_add(length);
            if self.bytes > most {
                return Err(too_large(most));
            }
            if let Some((_, counted)) = &mut self.room {
                counted.add(piece.len())?;
            }
            let file = match &mut incoming {
                Some(file) => file,
                None => incoming.insert(self.begin(receiver).await?),
            };
            file.write(piece).await?;
        }
        // A browser sends a part without name and bytes where nobody chose a file.
        if incoming.is_none() && name.is_some() {
            incoming = Some(self.begin(receiver).await?);
        }
        if let Some(file) = incoming {
            self.files.push((field, name, file.finish().await?));
        }
        Ok(())
    }

    async fn begin(&self, receiver: &Receiver<'_>) -> Result<entity_core::blob::Incoming> {
        let most = receiver.reception.most;
        if self.files.len() >= most {
            return Err(Error::bad_request(format!(
                "the request must not have more than {most} files"
            )));
        }
        receiver.app.dispatcher.shared().blobs()?.begin().await
    }

    /// Returns the maximum number of bytes of the files, before the first of them is read.
    async fn most(&mut self, receiver: &Receiver<'_>) -> Result<u64> {
        if let Some((room, _)) = &self.room {
            return Ok(receiver.most(room));
        }
        let room = receiver.room(self.input(receiver)?).await?;
        let files = receiver.most(&room);
        let around = receiver.app.config.limits.form_body.0 + FIELDS * PIECE;
        let most = files.saturating_add(u64::try_from(around).unwrap_or(u64::MAX));
        if receiver.announced.is_some_and(|it| it > most) {
            return Err(too_large(files));
        }
        let counted = receiver.app.underway.begin(&room);
        self.room = Some((room, counted));
        Ok(files)
    }

    /// The fields that have come by now.
    fn input(&self, receiver: &Receiver<'_>) -> Result<Input> {
        let formats = &receiver.app.formats;
        Ok(parse_form(&self.form, formats)?.input)
    }

    fn refuse_without_token(&self) -> Result<()> {
        match self.token {
            Some(_) => Err(csrf::without_token()),
            None => Ok(()),
        }
    }
}

/// The body for the parser, which would buffer all that it can get: it gets a piece at a time, and no more before it
/// has parsed the last one.
struct Gate {
    source: BoxStream<'static, Result<Bytes>>,
    piece: Bytes,
    /// True if a piece was just handed on, which the parser is to look at first.
    rests: bool,
    ahead: Arc<AtomicUsize>,
}

impl Stream for Gate {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.rests {
            self.rests = false;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.piece.is_empty() {
            match self.source.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(piece))) => self.piece = piece,
                other => return other,
            }
        }
        let length = self.piece.len().min(PIECE);
        let piece = self.piece.split_to(length);
        let ahead = self.ahead.fetch_add(length, Ordering::Relaxed);
        if ahead + length > HEAD {
            let error = Error::bad_request("the head of a part of the form is too long");
            return Poll::Ready(Some(Err(error)));
        }
        self.rests = true;
        Poll::Ready(Some(Ok(piece)))
    }
}

/// Makes the error that a client gets for a form that can't be read.
fn told(error: multer::Error) -> Error {
    match error {
        multer::Error::StreamReadFailed(source) => match source.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::bad_request("the body did not come to its end: send it again")
                .with_source(other),
        },
        other => Error::bad_request(format!("the body must be {FORM_WITH_FILES}, as it says"))
            .with_source(other),
    }
}

/// The media type of a form with files.
const FORM_WITH_FILES: &str = "multipart/form-data";
