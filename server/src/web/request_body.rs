//! The body of a request, which is read once the request may have one.

use std::time::Duration;

use axum::body::{Body, Bytes};
use entity_core::blob::Upload;
use entity_core::{Error, ErrorKind, Result};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use parking_lot::Mutex;
use tokio::time::timeout;

use super::request_context::RequestContext;
use crate::base::deadline::Deadline;
use crate::guard::admission::AdmittedRequest;

/// The most bytes of a form that is too long and kept.
const LONGEST_FORM: usize = 1 << 20;

/// The content of a body with files.
#[derive(Debug, Default)]
pub(crate) struct Uploaded {
    /// The fields of the form, in the encoding of a form without files.
    pub(crate) form: Option<Vec<u8>>,
    /// The files, which are stored.
    pub(crate) files: Vec<Upload>,
}

/// The body of a request, and what waits for it.
#[derive(Debug)]
pub(crate) struct RequestBody {
    /// The bytes, once they were [read](Self::read).
    pub(crate) bytes: Bytes,
    /// The body that nobody read yet. The lock is for the compiler alone: a body can't be shared.
    unread: Mutex<Option<Body>>,
    /// The files and fields that it brought, if it was received as an upload.
    pub(crate) uploaded: Option<Uploaded>,
    /// The token of the session that it must still show.
    pub(crate) owed_token: Option<String>,
    /// The permit of the request, which may wait for its place until the body is read. Parts of a batch have none of their own.
    pub(crate) admitted: Option<AdmittedRequest>,
}

impl RequestBody {
    /// The body of a request that `admitted` lets run once it is read.
    pub(crate) fn unread(body: Body, admitted: AdmittedRequest) -> Self {
        Self {
            bytes: Bytes::new(),
            unread: Mutex::new(Some(body)),
            uploaded: None,
            owed_token: None,
            admitted: Some(admitted),
        }
    }

    /// The body of a part of a batch, which is at hand.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self {
            bytes,
            unread: Mutex::new(None),
            uploaded: None,
            owed_token: None,
            admitted: None,
        }
    }

    /// Takes the body that nobody read yet.
    pub(crate) fn take(&mut self) -> Option<Body> {
        let unread = self.unread.get_mut();
        unread.take()
    }

    /// Returns whether the request brought nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.uploaded.is_none()
    }

    /// Reads the body, up to `limit` bytes, for no longer than `patience`; what was read before stays. A form that is
    /// larger is refused, and kept up to a limit, so that it can be given back to whoever is logged in. Then the
    /// request waits for its place, so that nobody who sends slowly holds one. The time for reading does not count
    /// towards the deadline, and none is added for what follows.
    pub(crate) async fn read(
        &mut self,
        context: &RequestContext,
        limit: usize,
        patience: Duration,
    ) -> Result<()> {
        let most = match context.has_form() && !context.origin.caller.is_anonymous() {
            true => limit.max(LONGEST_FORM),
            false => limit,
        };
        let too_large = || {
            Error::new(
                ErrorKind::TooLarge,
                format!("the body must not be longer than {limit} bytes"),
            )
        };
        let Some(body) = self.take() else {
            return match self.bytes.len() > limit {
                true => Err(too_large()),
                false => Ok(()),
            };
        };
        let body = Limited::new(body, most).collect();
        let deadline = context.deadline.as_ref();
        let left = deadline.map(Deadline::suspend);
        let read = timeout(patience, body).await;
        if let Some((deadline, left)) = deadline.zip(left) {
            deadline.resume(left);
        }
        let read = read.map_err(|elapsed| incomplete().with_source(elapsed))?;
        self.bytes = read
            .map_err(|error| match error.is::<LengthLimitError>() {
                true => too_large(),
                false => incomplete().with_source(error),
            })?
            .to_bytes();
        if let Some(admitted) = &mut self.admitted {
            admitted.begin().await?;
        }
        match self.bytes.len() > limit {
            true => Err(too_large()),
            false => Ok(()),
        }
    }
}

fn incomplete() -> Error {
    Error::bad_request("the body did not come to its end: send it again")
}
