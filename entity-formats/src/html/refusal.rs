//! The contents of a form that was refused: the sent values, the mistakes, and the remedy.

use entity_core::primitives::label;
use entity_core::reply::Refusal;
use entity_core::schema::{Field, Kind, Meaning};
use entity_core::{ErrorKind, FieldError, Reference, lines, measure};
use serde_json::Value;

use super::control::Control;
use super::repeats::Repeats;
use super::words::sentence;

const CORRECT: &str = "Correct these fields and send the form again.";

/// The faults of the form when it was sent.
#[derive(Default)]
pub(super) struct Complaint {
    pub(super) heading: &'static str,
    pub(super) message: String,
    /// A page that helps, and what it is called: that of the entity as it is now, if it has changed since the form was
    /// filled with it, or that on which people log in.
    pub(super) help: Option<(String, &'static str)>,
    /// For each field that the form asks for: its control and what is wrong.
    pub(super) fields: Vec<(String, String)>,
    /// The mistakes in other fields.
    pub(super) others: Vec<String>,
}

/// The value that was sent: as people enter it, or as programs send it.
pub(super) fn sent(field: &Field, refusal: &Refusal) -> Value {
    if field.meaning == Some(Meaning::Recurrence) {
        return Repeats::sent(field, refusal);
    }
    let name = measure::form_name(field);
    if let (Kind::List, Some(Value::Array(items))) = (field.kind, refusal.sent.get(field.name)) {
        return lines::read_items(items);
    }
    let entered = refusal.sent.get(&name).filter(|_| name != field.name);
    let sent = || refusal.sent.get(field.name).cloned().unwrap_or_default();
    entered
        .cloned()
        .unwrap_or_else(|| of_program(field, sent()))
}

/// The text of a measure as the number that it is, so that it is not taken for what people enter.
pub(super) fn of_program(field: &Field, value: Value) -> Value {
    let is_measure = measure::form_name(field) != field.name;
    let number = value.as_str().filter(|_| is_measure);
    let number: Option<i64> = number.and_then(|it| it.parse().ok());
    number.map_or(value, Value::from)
}

/// Returns whether `error` is about the field `name` or a part of it: `files[0].name`.
fn is_about(error: &FieldError, name: &str) -> bool {
    let rest = error.name.strip_prefix(name);
    rest.is_some_and(|it| it.is_empty() || it.starts_with(['.', '[']))
}

/// The fault of the field `name`, behind its label.
pub(super) fn error(name: &str, refusal: Option<&Refusal>) -> Option<String> {
    let mut errors = refusal?.fields.iter();
    let error = errors.find(|it| is_about(it, name))?;
    Some(match error.name == name {
        true => error.message.clone(),
        false => format!("is wrong at {}: {}", error.name, error.message),
    })
}

impl Complaint {
    /// The notice of a refusal of the form with these controls.
    pub(super) fn of<'a>(refusal: &Refusal, asked: impl Iterator<Item = &'a Control>) -> Self {
        let asked: Vec<_> = asked.collect();
        let control_of = |error: &FieldError| asked.iter().find(|it| is_about(error, &it.field));
        let (known, unknown): (Vec<_>, Vec<_>) = refusal
            .fields
            .iter()
            .partition(|error| control_of(error).is_some());
        let name =
            |it: &FieldError| control_of(it).map_or_else(|| label(&it.name), |it| it.label.clone());
        let text = |it: &FieldError| format!("{} {}.", name(it), it.message);
        if refusal.kind == ErrorKind::Unauthenticated {
            return Self::of_ended_session();
        }
        Self {
            heading: "This was not accepted",
            message: match (refusal.fields.is_empty(), refusal.is_partly_saved) {
                (true, _) => sentence(&refusal.message),
                (_, true) => format!("The rest is saved. {CORRECT}"),
                _ => CORRECT.to_owned(),
            },
            help: None,
            fields: known
                .iter()
                .filter_map(|it| Some((control_of(it)?.id.clone(), text(it))))
                .collect(),
            others: unknown.iter().map(|it| text(it)).collect(),
        }
    }

    /// The notice that the entity has changed since the form was filled with it.
    pub(super) fn of_outdated(reference: &Reference) -> Self {
        Self {
            heading: "It was changed in the meantime",
            message: "Nothing was saved. The form still has what you entered and, where something else is \
                stored now, says so. If you send it again, it replaces what is stored."
                .to_owned(),
            help: Some((
                format!("/direct{}.html", reference.path()),
                "See how it is now",
            )),
            ..Self::default()
        }
    }

    /// The notice that nobody is logged in any more.
    fn of_ended_session() -> Self {
        Self {
            heading: "You are not logged in any more",
            message: "Nothing was saved. The form still has what you entered: log in on another tab, then send it again."
                .to_owned(),
            help: Some(("/portal/xlogin".to_owned(), "Log in")),
            ..Self::default()
        }
    }
}
