//! Validators of an answer (RFC 9110, section 8.8): its tag and its date, by which clients name it the next time.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher as _};

use axum::body::Body as HttpBody;
use axum::http::header::{ETAG, LAST_MODIFIED};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::blob::{Bundle, StoredFile};
use entity_core::engine::{Freshness, State};
use entity_core::format::Format;
use entity_core::reply::{Body, Effect, Reply};
use entity_core::{Result, Version};

use super::etag;
use super::respond;

/// The tag and the date of an answer, as far as it has them.
pub(crate) struct Validators {
    state: State,
    /// The part of the tag that names the format.
    format: Cow<'static, str>,
}

impl Validators {
    /// The validators at `now` of `reply`, which is in `version`, in `format`.
    pub(super) fn of(
        now: DateTime<Utc>,
        reply: &Reply,
        format: Format,
        version: Option<Version>,
    ) -> Self {
        let updated = match &reply.body {
            _ if !is_data(format) => None,
            Body::Entity(item) if format.is_feed => item.updated_in_feed(),
            Body::Entity(item) => item.updated(),
            // The dates of its entries do not tell when a list changed: one of them may have been deleted.
            _ => None,
        };
        Self {
            state: State::at(now, version, updated),
            format: Cow::Borrowed(format.name),
        }
    }

    /// The validators of bytes in no format.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self::of_state(digest(bytes), "bytes")
    }

    /// The validators at `now` of a stored file, which is another answer under another name or as another type.
    pub(super) fn of_file(file: &StoredFile, now: DateTime<Utc>) -> Self {
        let name = file.name.as_deref().unwrap_or_default();
        let text = [file.blob.to_column().as_str(), &file.media_type, name].join("\n");
        Self {
            state: State::at(now, Some(digest(text.as_bytes())), file.modified),
            format: Cow::Borrowed("file"),
        }
    }

    /// The validators of several stored files: each of their paths and digests counts.
    pub(super) fn of_bundle(bundle: &Bundle) -> Self {
        let mut lines = vec![bundle.name().to_owned()];
        for entry in bundle.entries() {
            lines.push(entry.path().to_owned());
            lines.extend(entry.blob.map(|it| it.to_column()));
            lines.extend(entry.modified.map(|it| it.to_rfc3339()));
        }
        let text = lines.join("\n");
        Self::of_state(digest(text.as_bytes()), "zip")
    }

    /// The validators of an answer in `version` and `format` that has no date.
    pub(crate) fn of_version(version: Version, format: Format) -> Self {
        Self::of_state(version, format.name)
    }

    fn of_state(version: Version, format: &'static str) -> Self {
        Self {
            state: State {
                version: Some(version),
                ..State::default()
            },
            format: Cow::Borrowed(format),
        }
    }

    /// The same of the answer in this coding: other bytes have another tag.
    pub(crate) fn coded(mut self, coding: Option<&str>) -> Self {
        if let Some(coding) = coding {
            self.format = Cow::Owned(format!("{}+{coding}", self.format));
        }
        self
    }

    /// The news that the client has the answer to what had this `effect` already, if it does.
    pub(crate) fn not_modified(
        &self,
        effect: &Effect,
        headers: &HeaderMap,
    ) -> Result<Option<Response>> {
        if *effect != Effect::Read {
            return Ok(None);
        }
        let preconditions = etag::of_read(headers, &self.format)?;
        match preconditions.judge_read(self.state)? {
            Freshness::Stale => Ok(None),
            Freshness::Fresh => {
                let mut response = Response::new(HttpBody::empty());
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                respond::set(response.headers_mut(), ETAG, self.tag().as_deref());
                Ok(Some(response))
            }
        }
    }

    /// Tells them.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        respond::set(headers, ETAG, self.tag().as_deref());
        respond::set(headers, LAST_MODIFIED, self.date().as_deref());
    }

    /// The date of the last change, as HTTP has it, once its second is over.
    pub(super) fn date(&self) -> Option<String> {
        let updated = self.state.updated.filter(|_| !self.state.is_of_now);
        updated.and_then(to_http_date)
    }

    pub(super) fn tag(&self) -> Option<String> {
        Some(etag::tag(self.state.version?, &self.format))
    }
}

/// Returns whether an answer in `format` is the entity and nothing else. Pages hold more (who is logged in, what may be
/// done), so that the version and the date of the entity say nothing of them; a hash of the page does.
pub(super) fn is_data(format: Format) -> bool {
    format.name != "html"
}

/// Hashes an answer that has no stored version: the hash is the same on each node that runs the same program. It need
/// not resist collisions, which harm only the readers of the author's own content.
pub(crate) fn digest(bytes: &[u8]) -> Version {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    Version(hasher.finish())
}

/// Formats an instant as HTTP does, in whole seconds; `None` before 1970.
pub(crate) fn to_http_date(instant: DateTime<Utc>) -> Option<String> {
    let seconds = u64::try_from(instant.timestamp()).ok()?;
    let since = std::time::Duration::from_secs(seconds);
    let time = std::time::UNIX_EPOCH.checked_add(since)?;
    Some(httpdate::fmt_http_date(time))
}
