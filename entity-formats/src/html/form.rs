//! The pages on which an entity is created, changed and deleted. They are made from the schema.

use askama::Template;
use entity_core::engine::Route;
use entity_core::format::View;
use entity_core::reply::{Form, FormPurpose, Item, Refusal};
use entity_core::schema::{Field, Meaning, Schema};
use entity_core::{ErrorKind, FieldError, Reference, Version, measure};
use serde_json::Value;

use super::control::{Chooser, Control, stored};
use super::entity::title;
use super::frame::Frame;
use super::query::Query;
use super::repeats::Repeats;
use super::wall_clock::WallClock;
use super::words::{label_of, prose};
use super::{label, sentence};

/// A form to create or change an entity.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage<'a> {
    frame: Frame<'a>,
    doc: String,
    action: String,
    method: Option<&'static str>,
    version: Option<Version>,
    complaint: Option<Complaint>,
    controls: Vec<Control>,
    chooser: Option<Chooser>,
    submit: &'static str,
}

/// A question whether an entity is to be deleted.
#[derive(Template)]
#[template(path = "delete.html")]
pub(super) struct DeletePage<'a> {
    frame: Frame<'a>,
    entity: String,
    /// What it is called to delete it.
    removal: &'static str,
    action: String,
    version: Option<Version>,
    is_outdated: bool,
}

/// What was wrong with the form when it was sent.
struct Complaint {
    heading: &'static str,
    message: String,
    /// A page that helps, and what it is called: that of the entity as it is now, if it has changed since the form was
    /// filled with it, or that on which people log in.
    help: Option<(String, &'static str)>,
    /// For each field that the form asks for: its control and what is wrong.
    fields: Vec<(String, String)>,
    /// What is wrong with others.
    others: Vec<String>,
}

impl<'a> FormPage<'a> {
    /// The page of `form`, filled with the fields in `tree` if it is about an entity.
    pub(super) fn of(form: &Form, tree: &Value, view: &View<'a>) -> Self {
        let is_new = form.purpose != FormPurpose::Update;
        let fields = form.schema.writable(is_new);
        let fields: Vec<_> = fields
            .filter(|it| !form.left_out.contains(&it.name))
            .filter(|it| !it.is_for_programs || it.is_required)
            .collect();
        let reference = match &form.item {
            Some(item) if !is_new => item.reference(),
            _ => Reference::collection(form.prefix),
        };
        let path = match form.item.is_none() && !is_new {
            // What the form changes is known to its address only.
            true => view.path.to_owned(),
            false => reference.path(),
        };
        let refusal = form.refusal.as_ref();
        let route = view.registry.route(form.prefix);
        let takes_files = route.is_some_and(Route::receives_in_forms);
        let prefilled = Query::of(view);
        let mut frame = frame(form, view);
        frame.state = refusal.map(|_| match form.is_outdated() {
            true => "Changed in the meantime",
            false => "Not accepted",
        });
        Self {
            frame,
            doc: prose(form.schema.doc, form.schema.fields),
            action: format!("/direct{path}"),
            method: (!is_new).then_some("PUT"),
            version: form.version(),
            complaint: refusal.map(|it| match form.is_outdated() {
                true => Complaint::of_outdated(&reference),
                false => Complaint::of(it, &fields),
            }),
            controls: fields
                .iter()
                .map(|field| {
                    let value = value(field, refusal, tree, &prefilled);
                    let clock = WallClock::of(form.schema, field, tree.as_object());
                    let fields = form.schema.fields;
                    let error = error(field, refusal);
                    let control = Control::of(field, fields, &value, clock, error).offering(
                        field,
                        form.offered(field.name),
                        &value,
                    );
                    let own = || stored(field, tree.get(field.name).unwrap_or(&Value::Null));
                    match form.is_outdated() {
                        true => control.beside(field, &own(), clock),
                        false => control,
                    }
                })
                .collect(),
            chooser: takes_files.then(|| Chooser {
                id: "file".to_owned(),
                takes_several: false,
            }),
            submit: match form.purpose {
                FormPurpose::Create => "Create",
                FormPurpose::Update => "Save",
                FormPurpose::Delete => "Delete",
                FormPurpose::LogIn => "Log in",
            },
        }
    }
}

fn frame<'a>(form: &Form, view: &View<'a>) -> Frame<'a> {
    match &form.item {
        None if form.purpose == FormPurpose::LogIn => Frame::new("Log in", view),
        Some(item) => Frame::new(format!("Edit {}", title(item, view)), view)
            .below_type(form.prefix)
            .below_entity(&item.reference().path(), title(item, view)),
        None => {
            let kind = view.registry.singular(form.prefix).to_lowercase();
            let verb = match form.purpose {
                FormPurpose::Update => "Edit",
                _ => "New",
            };
            Frame::new(format!("{verb} {kind}"), view).below_type(form.prefix)
        }
    }
}

/// What a field's control holds: what was sent, else what the entity has, else what the address suggests or, for
/// a new entity, what it has unless somebody says otherwise.
fn value(field: &Field, refusal: Option<&Refusal>, tree: &Value, prefilled: &Query) -> Value {
    match (refusal, tree.get(field.name), prefilled.get(field.name)) {
        (Some(refusal), ..) => sent(field, refusal),
        (None, Some(own), _) => stored(field, own),
        (None, None, "") if tree.is_null() => of_program(field, Value::from(field.default)),
        (None, None, suggested) => of_program(field, Value::from(suggested)),
    }
}

/// What was sent: as people enter it, or as programs send it.
fn sent(field: &Field, refusal: &Refusal) -> Value {
    if field.meaning == Some(Meaning::Recurrence) {
        return Repeats::sent(field, refusal);
    }
    let name = measure::form_name(field);
    let entered = refusal.sent.get(&name).filter(|_| name != field.name);
    let sent = || refusal.sent.get(field.name).cloned().unwrap_or_default();
    entered
        .cloned()
        .unwrap_or_else(|| of_program(field, sent()))
}

/// The text of a measure as the number that it is, so that it is not taken for what people enter.
fn of_program(field: &Field, value: Value) -> Value {
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

fn error(field: &Field, refusal: Option<&Refusal>) -> Option<String> {
    let mut errors = refusal?.fields.iter();
    let error = errors.find(|it| is_about(it, field.name))?;
    Some(match error.name == field.name {
        true => error.message.clone(),
        false => format!("is wrong at {}: {}", error.name, error.message),
    })
}

impl Complaint {
    fn of(refusal: &Refusal, asked: &[&Field]) -> Self {
        let field_of = |error: &FieldError| asked.iter().find(|it| is_about(error, it.name));
        let (known, unknown): (Vec<_>, Vec<_>) = refusal
            .fields
            .iter()
            .partition(|error| field_of(error).is_some());
        let name =
            |it: &FieldError| field_of(it).map_or_else(|| label(&it.name), |it| label_of(it));
        let text = |it: &FieldError| format!("{} {}.", name(it), it.message);
        if refusal.kind == ErrorKind::Unauthenticated {
            return Self::of_ended_session();
        }
        Self {
            heading: "This was not accepted",
            message: match refusal.fields.is_empty() {
                true => sentence(&refusal.message),
                false => "Correct these fields and send the form again.".to_owned(),
            },
            help: None,
            fields: known
                .iter()
                .filter_map(|it| Some((format!("field-{}", field_of(it)?.name), text(it))))
                .collect(),
            others: unknown.iter().map(|it| text(it)).collect(),
        }
    }

    /// The notice that the entity has changed since the form was filled with it.
    fn of_outdated(reference: &Reference) -> Self {
        Self {
            heading: "It was changed in the meantime",
            message: "Nothing was saved. The form still has what you entered and, where something else is \
                stored now, says so. If you send it again, it replaces what is stored."
                .to_owned(),
            help: Some((
                format!("/direct{}.html", reference.path()),
                "See how it is now",
            )),
            fields: Vec::new(),
            others: Vec::new(),
        }
    }

    /// The notice that nobody is logged in any more.
    fn of_ended_session() -> Self {
        Self {
            heading: "You are not logged in any more",
            message: "Nothing was saved. The form still has what you entered: log in on another tab, then send it again."
                .to_owned(),
            help: Some(("/direct/session/new.html".to_owned(), "Log in")),
            fields: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl<'a> DeletePage<'a> {
    /// Returns whether it is called as usual.
    fn is_deleted(&self) -> bool {
        self.removal == "Delete"
    }

    /// The page that asks whether `item`, which `form` is about, is to be deleted.
    pub(super) fn of(form: &Form, item: &Item, view: &View<'a>) -> Self {
        let path = item.reference().path();
        let removal = view.abilities.removal.unwrap_or("Delete");
        let heading = match view.abilities.removal {
            Some(removal) => format!("{removal}?"),
            None => format!("Delete {}?", title(item, view)),
        };
        let mut frame = Frame::new(heading, view)
            .below_type(item.prefix())
            .below_entity(&path, title(item, view));
        frame.state = form.is_outdated().then_some("Changed in the meantime");
        Self {
            frame,
            entity: title(item, view),
            removal,
            action: format!("/direct{path}"),
            version: form.version(),
            is_outdated: form.is_outdated(),
        }
    }
}

/// Returns whether `name` is a field that the form for a new entity asks for.
pub(super) fn is_prefilled(schema: &Schema, name: &str) -> bool {
    schema.field(name).is_some_and(|it| it.may_be_written(true))
}
