//! Conversion of text from clients to HTML, and sanitising of it; long texts are sanitised before a unit of work opens.
//!
//! Each field of the kind [`Html`](crate::schema::Kind::Html) becomes HTML on its way in, whether it was
//! [typed] as plain text or with markup, and goes through the service's [`Sanitizer`]. A short text
//! is sanitised where it is encountered. A long one would keep others waiting: it is sanitised separately, before the unit
//! of work opens, and only looked up inside it. If a text is not known in advance, because a patch makes it from existing
//! data, the unit of work is rolled back, the text is sanitised separately, and the unit of work runs again. Providers need
//! not know of any of this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use json_patch::PatchOperation;
use serde_json::{Map, Value};

use crate::contract::access::Caller;
use crate::contract::context::{Context, Shared};
use crate::contract::input::{Fields, Input};
use crate::contract::patch::Patch;
use crate::contract::provider::Provider;
use crate::model::schema::{Kind, Schema};
use crate::model::signs;
use crate::words::error::{Error, FieldError, Result};
use crate::words::typed;

/// The number of seconds after which a client may try again if its text was a different one in each run of the unit of
/// work.
const RETRY_AFTER: u32 = 1;

/// The sanitised text, or the reason why it is refused, as a message about its field.
pub type Sanitized = std::result::Result<String, String>;

/// The header that names the elements of a text of which only the address or the text was kept, as in `iframe math`.
pub const REPLACED: &str = "x-replaced-elements";

/// HTML that was sent for an entity of a type. URLs in it are relative to the pages of that type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SentHtml {
    /// The prefix of the type.
    pub prefix: &'static str,
    /// The HTML, which is not sanitised.
    pub text: Arc<str>,
}

/// Makes HTML from clients harmless. A service has one sanitiser.
#[async_trait]
pub trait Sanitizer: Send + Sync {
    /// Returns whether sanitising `text` would keep others waiting who share this thread or the unit of work.
    fn takes_long(&self, text: &str) -> bool;

    /// Sanitises `html` on this thread. Only called for texts that do not take long.
    fn sanitize(&self, html: &SentHtml) -> Sanitized;

    /// Sanitises `html` away from this thread, on behalf of `caller`.
    ///
    /// # Errors
    /// Returns an error if too many texts are waiting to be sanitised.
    async fn sanitize_apart(&self, caller: &Caller, html: SentHtml) -> Result<Sanitized>;
}

/// The long texts of one request: those that are sanitised, and those that are still to be.
#[derive(Debug, Default)]
pub(crate) struct LongTexts {
    is_ahead: bool,
    done: Mutex<BTreeMap<SentHtml, Sanitized>>,
    missed: Mutex<BTreeSet<SentHtml>>,
    replaced: Mutex<BTreeSet<&'static str>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LongTexts {
    /// Creates the collection for a look ahead, which only finds out which texts there are.
    pub(crate) fn ahead() -> Self {
        Self {
            is_ahead: true,
            ..Self::default()
        }
    }

    /// Notes the long texts that `input` has for HTML fields of `schema`, as far as they follow from the input alone.
    pub(crate) fn note(&self, shared: &Shared, (prefix, schema): Type, input: &Input) {
        let mut note = |text: &str| {
            let text: Arc<str> = typed::to_html(text).html.into();
            if shared.sanitizer.takes_long(&text) {
                lock(&self.missed).insert(SentHtml { prefix, text });
            }
        };
        match &input.patch {
            Some(Patch::Operations(operations)) => {
                for (name, value) in operations.iter().filter_map(value_of) {
                    visit(schema, name, value, &mut note);
                }
            }
            Some(Patch::Merge(fields)) => visit_all(schema, fields, &mut note),
            None => visit_all(schema, &input.fields, &mut note),
        }
    }

    /// Notes the texts that a look ahead found.
    pub(crate) fn note_missed_by(&self, ahead: &Self) {
        lock(&self.missed).append(&mut lock(&ahead.missed));
    }

    /// Returns whether texts were noted that are not sanitised yet.
    pub(crate) fn misses_some(&self) -> bool {
        !lock(&self.missed).is_empty()
    }

    /// Sanitises the texts that were noted and are not sanitised yet.
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

    /// Returns the elements of texts of which only the address or the text was kept, as [`REPLACED`] names them.
    pub(crate) fn replaced(&self) -> Option<String> {
        let names: Vec<_> = lock(&self.replaced).iter().copied().collect();
        (!names.is_empty()).then(|| names.join(" "))
    }

    fn find(&self, shared: &Shared, prefix: &'static str, text: &str) -> Result<Sanitized> {
        let mut typed = typed::to_html(text);
        lock(&self.replaced).append(&mut typed.replaced);
        let text = typed.html.into();
        let html = SentHtml { prefix, text };
        let done = lock(&self.done).get(&html).cloned();
        let is_short = || !shared.sanitizer.takes_long(&html.text);
        if let Some(done) = done.or_else(|| is_short().then(|| shared.sanitizer.sanitize(&html))) {
            return Ok(done.map(typed::to_markup));
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

    /// Returns `fields` with the HTML in them sanitised. During a look ahead, long texts stay as they are. A text that comes
    /// back as the entity has it `stored` is not what somebody typed: it stays, too.
    ///
    /// # Errors
    /// Returns an error if a text is refused, or if a long one was not sanitised before.
    pub(crate) fn sanitize(
        &self,
        shared: &Shared,
        (prefix, schema): Type,
        fields: Fields,
        stored: Option<&Value>,
    ) -> Result<Fields> {
        let is_stored = |it: &(String, Value)| stored.and_then(|of| of.get(&it.0)) == Some(&it.1);
        let (kept, mut typed): (Map<_, _>, Map<_, _>) = fields.0.into_iter().partition(is_stored);
        let mut errors = Vec::new();
        self.sanitize_fields(shared, (prefix, schema), "", &mut typed, &mut errors)?;
        typed.extend(kept);
        match errors.is_empty() {
            true => Ok(Fields(typed)),
            false => Err(Error::fields(errors)),
        }
    }

    /// Sanitises the HTML in `fields` and in the entities that are part of them; `path` is where the fields are.
    fn sanitize_fields(
        &self,
        shared: &Shared,
        (prefix, schema): Type,
        path: &str,
        fields: &mut Map<String, Value>,
        errors: &mut Vec<FieldError>,
    ) -> Result<()> {
        for (name, value) in fields {
            let name = format!("{path}{name}");
            let field = schema.field(name.strip_prefix(path).unwrap_or(&name));
            match (field.map(|it| (it.kind, it.children)), value) {
                (Some((Kind::Html(_), _)), Value::String(text)) => {
                    let found = self.find(shared, prefix, text)?;
                    // What was written as a reference shows only now.
                    let found = found.and_then(|it| signs::check_text(&it).map(|()| it));
                    match found {
                        Ok(sanitized) => *text = sanitized,
                        Err(message) => errors.push(FieldError { name, message }),
                    }
                }
                (Some((_, Some(children))), Value::Array(entries)) => {
                    let entries = entries.iter_mut().filter_map(Value::as_object_mut);
                    for (index, entry) in entries.enumerate() {
                        let path = format!("{name}[{index}].");
                        let of_entry = (prefix, children.0());
                        self.sanitize_fields(shared, of_entry, &path, entry, errors)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The prefix and the schema of a type.
pub(crate) type Type = (&'static str, &'static Schema);

/// Returns whether the type has HTML fields.
pub(crate) fn has_html(schema: &Schema) -> bool {
    schema.fields.iter().any(|it| {
        let is_html = matches!(it.kind, Kind::Html(_));
        is_html || it.children.is_some_and(|it| has_html(it.0()))
    })
}

/// Passes the HTML in `fields`, and in the entities that are part of them, to `note`.
fn visit_all(schema: &Schema, fields: &Map<String, Value>, note: &mut dyn FnMut(&str)) {
    for (name, value) in fields {
        visit(schema, name, value, note);
    }
}

/// Passes the HTML in the `value` of the field `name` to `note`.
fn visit(schema: &Schema, name: &str, value: &Value, note: &mut dyn FnMut(&str)) {
    let Some(field) = schema.field(name) else {
        return;
    };
    match (field.kind, field.children, value) {
        (Kind::Html(_), _, Value::String(text)) => note(text),
        (_, Some(children), Value::Array(entries)) => {
            for entry in entries.iter().filter_map(Value::as_object) {
                visit_all(children.0(), entry, note);
            }
        }
        _ => {}
    }
}

/// Returns what `operation` writes, with the name of the field, unless it copies existing data.
fn value_of(operation: &PatchOperation) -> Option<(&str, &Value)> {
    let (path, value) = match operation {
        PatchOperation::Add(it) => (&it.path, &it.value),
        PatchOperation::Replace(it) => (&it.path, &it.value),
        _ => return None,
    };
    Some((path.as_str().strip_prefix('/')?, value))
}

impl Context {
    /// Sanitises the HTML in `fields` for an entity of this type; see [`LongTexts::sanitize`].
    pub(crate) fn sanitize_fields(
        &self,
        of: Type,
        fields: Fields,
        stored: Option<&Value>,
    ) -> Result<Fields> {
        let texts = &self.preparation.texts;
        texts.sanitize(&self.shared, of, fields, stored)
    }

    /// Sanitises text that a client sent for an entity of `P`, with or without markup. For actions, which read their bodies themselves; the
    /// fields of entities are sanitised before providers get them. Errors name `field`.
    ///
    /// # Errors
    /// Returns an error if the HTML is refused, or if it is long and was not known before; then the unit of work is run
    /// again.
    pub fn sanitize<P: Provider>(&self, field: &str, html: &str) -> Result<String> {
        let found = self.preparation.texts.find(&self.shared, P::PREFIX, html)?;
        found.map_err(|message| Error::field(field, message))
    }
}
