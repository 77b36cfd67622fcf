//! The pages on which an entity is created, changed and deleted. They are made from the schema.

use askama::Template;
use entity_core::format::View;
use entity_core::schema::{Field, Kind, Schema};
use entity_core::{FieldError, Form, FormPurpose, Item, Reference, Refusal};
use serde_json::Value;

use super::control::Control;
use super::entity::title;
use super::frame::Frame;
use super::query::Query;
use super::{label, sentence};

/// A form to create or change an entity.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage<'a> {
    frame: Frame<'a>,
    doc: &'static str,
    action: String,
    method: Option<&'static str>,
    complaint: Option<Complaint>,
    controls: Vec<Control>,
    submit: &'static str,
}

/// A question whether an entity is to be deleted.
#[derive(Template)]
#[template(path = "delete.html")]
pub(super) struct DeletePage<'a> {
    frame: Frame<'a>,
    entity: String,
    action: String,
}

/// What was wrong with the form when it was sent.
struct Complaint {
    message: String,
    /// For each field that the form asks for: its control and what is wrong.
    fields: Vec<(String, String)>,
    /// What is wrong with others.
    others: Vec<String>,
}

impl<'a> FormPage<'a> {
    /// The page of `form`, filled with the fields in `tree` if it is about an entity.
    pub(super) fn of(form: &Form, tree: &Value, view: &View<'a>) -> Self {
        let is_new = form.purpose != FormPurpose::Update;
        let fields: Vec<_> = form
            .schema
            .writable(is_new)
            .filter(|it| is_asked(it))
            .collect();
        let reference = match &form.item {
            Some(item) if !is_new => item.reference(),
            _ => Reference::collection(form.prefix),
        };
        let refusal = form.refusal.as_ref();
        let prefilled = Query::of(view);
        let mut frame = frame(form, view);
        if refusal.is_some() {
            frame.state = Some("Not accepted");
        }
        Self {
            frame,
            doc: form.schema.doc,
            action: format!("/direct{}", reference.path()),
            method: (!is_new).then_some("PUT"),
            complaint: refusal.map(|it| Complaint::of(it, &fields)),
            controls: fields
                .iter()
                .map(|field| {
                    let value = value(field, refusal, tree, &prefilled);
                    Control::of(field, &value, error(field, refusal))
                })
                .collect(),
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
        Some(item) => Frame::new(format!("Edit {}", title(item)), view)
            .below_type(form.prefix)
            .below_entity(&item.reference().path(), title(item)),
        None => {
            let kind = label(form.prefix).to_lowercase();
            Frame::new(format!("New {kind}"), view).below_type(form.prefix)
        }
    }
}

/// What a field's control holds: what was sent, else what the entity has, else what the address suggests.
fn value(field: &Field, refusal: Option<&Refusal>, tree: &Value, prefilled: &Query) -> Value {
    match (refusal, tree.get(field.name)) {
        (Some(refusal), _) => refusal.sent.get(field.name).cloned().unwrap_or_default(),
        (None, Some(own)) => own.clone(),
        (None, None) => Value::from(prefilled.get(field.name)),
    }
}

fn error(field: &Field, refusal: Option<&Refusal>) -> Option<String> {
    let is_about = |it: &&FieldError| it.name == field.name;
    Some(refusal?.fields.iter().find(is_about)?.message.clone())
}

impl Complaint {
    fn of(refusal: &Refusal, asked: &[&Field]) -> Self {
        let (known, unknown): (Vec<_>, Vec<_>) = refusal
            .fields
            .iter()
            .partition(|error| asked.iter().any(|it| it.name == error.name));
        let text = |it: &FieldError| format!("{} {}.", label(&it.name), it.message);
        Self {
            message: match refusal.fields.is_empty() {
                true => sentence(&refusal.message),
                false => "Correct these fields and send the form again.".to_owned(),
            },
            fields: known
                .iter()
                .map(|it| (format!("field-{}", it.name), text(it)))
                .collect(),
            others: unknown.iter().map(|it| text(it)).collect(),
        }
    }
}

impl<'a> DeletePage<'a> {
    pub(super) fn of(item: &Item, view: &View<'a>) -> Self {
        let path = item.reference().path();
        Self {
            frame: Frame::new(format!("Delete {}?", title(item)), view)
                .below_type(item.prefix())
                .below_entity(&path, title(item)),
            entity: title(item),
            action: format!("/direct{path}"),
        }
    }
}

/// Whether `name` is a field that the form for a new entity asks for.
pub(super) fn is_prefilled(schema: &Schema, name: &str) -> bool {
    schema
        .field(name)
        .is_some_and(|it| it.may_be_written(true) && is_asked(it))
}

/// A form has no room for data with a structure; what is left out stays as it is.
fn is_asked(field: &Field) -> bool {
    match field.kind {
        Kind::List | Kind::Object => field.is_required,
        _ => true,
    }
}
