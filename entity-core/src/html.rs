//! HTML from clients, made harmless before a unit of work opens.
//!
//! Each field of the kind [`Html`](crate::schema::Kind::Html) goes through the service's [`Sanitizer`] on its way in. What
//! is short is sanitised where it is met. What is long would keep others waiting: it is sanitised
//! apart, before the unit of work opens, and only looked up within. Where a text is not known before, because a
//! patch makes it of what is there, the unit of work is given up, the text sanitised apart, and the unit of work run
//! again. Providers need not know of any of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use json_patch::PatchOperation;
use serde_json::Value;

use crate::access::Caller;
use crate::context::{Context, Shared};
use crate::entity::Entity;
use crate::error::{Error, FieldError, Result};
use crate::input::{Fields, Input};
use crate::patch::Patch;
use crate::provider::Provider;
use crate::schema::{Kind, Schema};
use crate::signs;

/// After how many seconds a client may try again whose text was another one each time that the unit of work ran.
const RETRY_AFTER: u32 = 1;

/// A text, sanitised; or why it is refused, to be said of its field.
pub type Sanitized = std::result::Result<String, String>;

/// A text that was sent for an entity of a type: addresses in it are relative to the pages of that type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SentHtml {
    /// The prefix of the type.
    pub prefix: &'static str,
    /// The text.
    pub text: Arc<str>,
}

/// Makes HTML from clients harmless. The service has one.
#[async_trait]
pub trait Sanitizer: Send + Sync {
    /// Whether sanitising the text would keep others waiting who share this thread or the unit of work.
    fn takes_long(&self, text: &str) -> bool;

    /// The text, sanitised on this thread: it does not take long.
    fn sanitize(&self, html: &SentHtml) -> Sanitized;

    /// The text, sanitised elsewhere on behalf of `caller`.
    ///
    /// # Errors
    /// Too many texts wait to be sanitised.
    async fn sanitize_apart(&self, caller: &Caller, html: SentHtml) -> Result<Sanitized>;
}

/// The long texts of one request: those that were sanitised, and those that are still to be.
#[derive(Debug, Default)]
pub(crate) struct LongTexts {
    is_ahead: bool,
    done: Mutex<BTreeMap<SentHtml, Sanitized>>,
    missed: Mutex<BTreeSet<SentHtml>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LongTexts {
    /// For a look ahead, which only finds out which texts there are.
    pub(crate) fn ahead() -> Self {
        Self {
            is_ahead: true,
            ..Self::default()
        }
    }

    /// Notes the long texts that `input` has for fields of `schema`, as far as they are told by it alone.
    pub(crate) fn note(&self, shared: &Shared, (prefix, schema): Type, input: &Input) {
        for (name, text) in texts_in(input) {
            let is_html = is_html(schema, name);
            if is_html && shared.sanitizer.takes_long(text) {
                let text = text.into();
                lock(&self.missed).insert(SentHtml { prefix, text });
            }
        }
    }

    /// Notes the texts that a look ahead met.
    pub(crate) fn note_missed_by(&self, ahead: &Self) {
        lock(&self.missed).append(&mut lock(&ahead.missed));
    }

    /// Whether texts were met that are not sanitised.
    pub(crate) fn misses_some(&self) -> bool {
        !lock(&self.missed).is_empty()
    }

    /// Sanitises the texts that were met and are not sanitised.
    pub(crate) async fn catch_up(&self, shared: &Shared, caller: &Caller) -> Result<()> {
        let missed = std::mem::take(&mut *lock(&self.missed));
        for html in missed {
            if lock(&self.done).contains_key(&html) {
                continue;
            }
            let sanitized = shared
                .sanitizer
                .sanitize_apart(caller, html.clone())
                .await?;
            lock(&self.done).insert(html, sanitized);
        }
        Ok(())
    }

    fn find(&self, shared: &Shared, html: SentHtml) -> Result<Sanitized> {
        if let Some(done) = lock(&self.done).get(&html) {
            return Ok(done.clone());
        }
        if !shared.sanitizer.takes_long(&html.text) {
            return Ok(shared.sanitizer.sanitize(&html));
        }
        let text = self.is_ahead.then(|| html.text.to_string());
        lock(&self.missed).insert(html);
        match text {
            Some(text) => Ok(Ok(text)),
            None => Err(Error::unavailable(
                "long HTML is not known before others are kept waiting: send it whole, not by a patch that copies it",
                RETRY_AFTER,
            )
            .transient()),
        }
    }

    /// `fields` with the HTML in them sanitised. Looking ahead, long texts stay as they are.
    ///
    /// # Errors
    /// A text is refused; one that is long was not sanitised before.
    pub(crate) fn sanitize(
        &self,
        shared: &Shared,
        (prefix, schema): Type,
        mut fields: Fields,
    ) -> Result<Fields> {
        let mut errors = Vec::new();
        for (name, value) in &mut fields.0 {
            let (Value::String(text), true) = (&mut *value, is_html(schema, name)) else {
                continue;
            };
            let sent = SentHtml {
                prefix,
                text: text.as_str().into(),
            };
            let found = self.find(shared, sent)?;
            // What was written as a reference shows only now.
            let found = found.and_then(|it| signs::check_text(&it).map(|()| it));
            match found {
                Ok(sanitized) => *text = sanitized,
                Err(message) => errors.push(FieldError {
                    name: name.clone(),
                    message,
                }),
            }
        }
        match errors.is_empty() {
            true => Ok(fields),
            false => Err(Error::fields(errors)),
        }
    }
}

/// The prefix of a type and its fields.
pub(crate) type Type = (&'static str, &'static Schema);

/// Those of `P`.
pub(crate) fn type_of<P: Provider>() -> Type {
    (P::PREFIX, P::Entity::schema())
}

/// Whether the type has HTML.
pub(crate) fn has_html(schema: &Schema) -> bool {
    let is_html = |kind| matches!(kind, Kind::Html(_));
    schema.fields.iter().any(|it| is_html(it.kind))
}

fn is_html(schema: &Schema, name: &str) -> bool {
    let field = schema.field(name);
    field.is_some_and(|it| matches!(it.kind, Kind::Html(_)))
}

/// The texts that an input has, each with the name of its field: those that a patch makes of what is there are not
/// among them.
fn texts_in(input: &Input) -> Vec<(&str, &str)> {
    let fields = match &input.patch {
        Some(Patch::Operations(operations)) => {
            return operations.iter().filter_map(text_of).collect();
        }
        Some(Patch::Merge(fields)) => fields,
        None => &input.fields,
    };
    let texts = fields
        .iter()
        .map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    texts.flatten().collect()
}

fn text_of(operation: &PatchOperation) -> Option<(&str, &str)> {
    let (path, value) = match operation {
        PatchOperation::Add(it) => (&it.path, &it.value),
        PatchOperation::Replace(it) => (&it.path, &it.value),
        _ => return None,
    };
    Some((path.as_str().strip_prefix('/')?, value.as_str()?))
}

impl Context {
    /// The HTML that a client sent for an entity of `P`, made harmless: for actions, which read their bodies
    /// themselves. Fields of entities come to providers like that.
    ///
    /// # Errors
    /// It is refused; or it is long and was not known before, so that the unit of work is run again.
    pub fn sanitize<P: Provider>(&self, field: &str, html: &str) -> Result<String> {
        let sent = SentHtml {
            prefix: P::PREFIX,
            text: html.into(),
        };
        let found = self.preparation.texts.find(&self.shared, sent)?;
        found.map_err(|message| Error::field(field, message))
    }
}
