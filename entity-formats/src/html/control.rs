//! What asks for the value of one field, in a form or in the filter of a list. Made from the schema.

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::schema::{Field, Kind};
use serde_json::Value;

use super::label_of;
use super::shown::instant;

/// Text that may be longer than this gets an area, not a line.
pub(super) const MAX_LINE: usize = 300;

/// What asks for the value of one field.
#[derive(Template)]
#[template(path = "control.html")]
pub(super) struct Control {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) hint: String,
    pub(super) value: String,
    pub(super) is_required: bool,
    pub(super) error: Option<String>,
    pub(super) widget: Widget,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Control {}

/// How a control looks.
pub(super) enum Widget {
    /// One line, of an input's type.
    Line {
        kind: &'static str,
        max: Option<usize>,
        autocomplete: Option<&'static str>,
    },
    /// Several lines.
    Area { max: usize, rows: u8 },
    /// One of these values, each with what it is called. A check box could not say no: what is not ticked is
    /// not sent.
    Choice(Vec<(String, String)>),
}

/// Attributes that all controls share; names and numbers of ours only.
struct Attributes(String);

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Attributes {}

impl Control {
    /// The control by which `field` is written.
    pub(super) fn of(field: &Field, value: &Value, error: Option<String>) -> Self {
        let widget = Widget::of(field);
        let is_secret = matches!(
            &widget,
            Widget::Line {
                kind: "password",
                ..
            }
        );
        Self {
            id: format!("field-{}", field.name),
            name: field.name.to_owned(),
            label: label_of(field),
            hint: hint(field),
            value: match is_secret {
                true => String::new(),
                false => text(field.kind, value),
            },
            is_required: field.is_required,
            error,
            widget,
        }
    }

    /// A control of a filter, by which nothing has to be said.
    pub(super) fn of_filter(name: String, label: String, value: &str, widget: Widget) -> Self {
        let id = name.replace(['[', ']'], "-");
        Self {
            id: format!("filter-{}", id.trim_matches('-')),
            name,
            label,
            hint: String::new(),
            value: value.to_owned(),
            is_required: false,
            error: None,
            widget,
        }
    }

    fn attributes(&self) -> Attributes {
        let mut attributes = String::new();
        if self.is_required {
            attributes.push_str(" required");
        }
        if self.error.is_some() {
            attributes.push_str(" aria-invalid=\"true\"");
        }
        let described: Vec<_> = [
            ("hint", !self.hint.is_empty()),
            ("error", self.error.is_some()),
        ]
        .iter()
        .filter(|(_, is_there)| *is_there)
        .map(|(what, _)| format!("{}-{what}", self.id))
        .collect();
        if !described.is_empty() {
            attributes.push_str(" aria-describedby=\"");
            attributes.push_str(&described.join(" "));
            attributes.push('"');
        }
        Attributes(attributes)
    }
}

impl Widget {
    /// That of a field's values.
    pub(super) fn of(field: &Field) -> Self {
        match field.kind {
            Kind::Text(max) => Self::of_text(&field.name.to_ascii_lowercase(), max),
            Kind::Html(max) => Self::Area { max, rows: 8 },
            Kind::Integer | Kind::Number => Self::line("number", None),
            Kind::Boolean => Self::yes_or_no(match field.is_required {
                true => "choose one",
                false => "not set",
            }),
            Kind::Instant | Kind::Millis | Kind::Moment => Self::line("datetime-local", None),
            Kind::List | Kind::Object => Self::line("text", None),
        }
    }

    /// `true`, `false`, or `neither` of them.
    pub(super) fn yes_or_no(neither: &str) -> Self {
        let option = |value: &str, label: &str| (value.to_owned(), label.to_owned());
        Self::Choice(vec![
            option("", neither),
            option("true", "yes"),
            option("false", "no"),
        ])
    }

    /// A line for values of an input's type.
    pub(super) fn line(kind: &'static str, max: Option<usize>) -> Self {
        Self::Line {
            kind,
            max,
            autocomplete: None,
        }
    }

    fn of_text(name: &str, max: usize) -> Self {
        let (kind, autocomplete) = match name {
            "_username" => ("text", Some("username")),
            "_password" => ("password", Some("current-password")),
            it if it.ends_with("password") => ("password", Some("new-password")),
            it if it.ends_with("email") => ("email", Some("off")),
            _ if max > MAX_LINE => return Self::Area { max, rows: 3 },
            _ => ("text", None),
        };
        Self::Line {
            kind,
            max: Some(max),
            autocomplete,
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
