//! The pages on which an entity is created, changed and deleted. They are made from the schema.

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::schema::{Field, Kind};
use entity_core::{Form, FormPurpose, Item, Reference};
use serde_json::Value;

use super::entity::title;
use super::frame::Frame;
use super::label;
use super::shown::instant;

/// Text that may be longer than this gets an area, not a line.
const MAX_LINE: usize = 300;

/// A form to create or change an entity.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage<'a> {
    frame: Frame<'a>,
    doc: &'static str,
    action: String,
    method: Option<&'static str>,
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

/// What asks for the value of one field.
struct Control {
    id: String,
    name: &'static str,
    label: String,
    hint: String,
    value: String,
    is_required: bool,
    widget: Widget,
}

enum Widget {
    Line {
        kind: &'static str,
        max: Option<usize>,
    },
    Area {
        max: usize,
    },
    /// Yes or no. A check box could not say no: what is not ticked is not sent.
    Choice,
}

/// Attributes that all controls share; names and numbers of ours only.
struct Attributes(String);

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Attributes {}

impl<'a> FormPage<'a> {
    /// The page of `form`, filled with the fields in `tree` if it is about an entity.
    pub(super) fn of(form: &Form, tree: &Value, view: &View<'a>) -> Self {
        let is_new = form.purpose != FormPurpose::Update;
        let frame = match &form.item {
            None if form.purpose == FormPurpose::LogIn => Frame::new("Log in".to_owned(), view),
            Some(item) => Frame::new(format!("Edit {}", title(item)), view)
                .below_type(form.prefix)
                .below_entity(&item.reference().path(), title(item)),
            None => Frame::new(format!("New {}", form.prefix), view).below_type(form.prefix),
        };
        let reference = match &form.item {
            Some(item) if !is_new => item.reference(),
            _ => Reference::collection(form.prefix),
        };
        let controls = form.schema.writable(is_new).filter(|it| is_asked(it));
        Self {
            frame,
            doc: form.schema.doc,
            action: format!("/direct{}", reference.path()),
            method: (!is_new).then_some("PUT"),
            controls: controls.map(|it| Control::of(it, tree)).collect(),
            submit: match form.purpose {
                FormPurpose::Create => "Create",
                FormPurpose::Update => "Save",
                FormPurpose::Delete => "Delete",
                FormPurpose::LogIn => "Log in",
            },
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

/// A form has no room for data with a structure; what is left out stays as it is.
fn is_asked(field: &Field) -> bool {
    match field.kind {
        Kind::List | Kind::Object => field.is_required,
        _ => true,
    }
}

impl Control {
    fn of(field: &Field, tree: &Value) -> Self {
        Self {
            id: format!("field-{}", field.name),
            name: field.name,
            label: label(field.name),
            hint: hint(field),
            value: tree
                .get(field.name)
                .map_or_else(String::new, |it| text(field.kind, it)),
            is_required: field.is_required,
            widget: Widget::of(field),
        }
    }

    fn attributes(&self) -> Attributes {
        let mut attributes = String::new();
        if self.is_required {
            attributes.push_str(" required");
        }
        if !self.hint.is_empty() {
            attributes.push_str(" aria-describedby=\"");
            attributes.push_str(&self.id);
            attributes.push_str("-hint\"");
        }
        Attributes(attributes)
    }
}

impl Widget {
    fn of(field: &Field) -> Self {
        let line = |kind| Self::Line { kind, max: None };
        match field.kind {
            Kind::Text(max) if field.name.to_ascii_lowercase().ends_with("password") => {
                Self::Line {
                    kind: "password",
                    max: Some(max),
                }
            }
            Kind::Text(max) if max <= MAX_LINE => Self::Line {
                kind: "text",
                max: Some(max),
            },
            Kind::Text(max) | Kind::Html(max) => Self::Area { max },
            Kind::Integer | Kind::Number => line("number"),
            Kind::Boolean => Self::Choice,
            Kind::Instant | Kind::Millis | Kind::Moment => line("datetime-local"),
            Kind::List | Kind::Object => line("text"),
        }
    }
}

fn hint(field: &Field) -> String {
    let addition = match field.kind {
        Kind::Html(_) => "May have HTML.",
        Kind::Instant | Kind::Millis | Kind::Moment => "In UTC.",
        _ => "",
    };
    format!("{} {addition}", field.doc).trim().to_owned()
}

/// A value as the control of its field takes it.
fn text(kind: Kind, value: &Value) -> String {
    match (instant(kind, value), value) {
        (Some(instant), _) => instant.format("%Y-%m-%dT%H:%M:%S").to_string(),
        (None, Value::Null) => String::new(),
        (None, Value::String(it)) => it.clone(),
        (None, other) => other.to_string(),
    }
}
