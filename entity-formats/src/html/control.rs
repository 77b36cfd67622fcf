//! Controls: each asks for the value of one field, in a form or in the filter of a list. Made from the schema.

use askama::Template;
use askama::filters::HtmlSafe;
use chrono::DateTime;
use entity_core::primitives::typed;
use entity_core::reply::{Choice, Prompt, Refusal};
use entity_core::schema::{Field, Kind, MAX_LINE, Meaning};
use entity_core::{lines, measure, recurrence};
use serde_json::Value;

use super::choices::{Tick, Ticks, texts};
use super::refusal::error;
use super::repeats::Repeats;
use super::shown::instant;
use super::wall_clock::WallClock;
use super::words::{label_of, prose, word_of};

/// A form control, which asks for the value of one field.
#[derive(Template)]
#[template(path = "control.html")]
pub(super) struct Control {
    /// The name of the field that it asks for, by which errors name it.
    pub(super) field: String,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) hint: String,
    pub(super) value: String,
    pub(super) is_required: bool,
    pub(super) error: Option<String>,
    /// The stored value, where it differs from the value in the control.
    pub(super) present: Option<String>,
    pub(super) widget: Widget,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Control {}

/// The file input of a form.
pub(super) struct Chooser {
    pub(super) id: String,
    pub(super) takes_several: bool,
}

/// The appearance of a control.
pub(super) enum Widget {
    /// One line, of an input's type.
    Line {
        kind: &'static str,
        max: Option<usize>,
        step: Option<&'static str>,
        autocomplete: Option<&'static str>,
    },
    /// Several lines, which may have markup.
    Area {
        max: Option<usize>,
        rows: u8,
        has_markup: bool,
    },
    /// One of these values, each with what it is called.
    Choice(Vec<(String, String)>),
    /// A value that is known already and sent as it is: its name for people.
    Fixed(String),
    /// Some of these.
    Ticks(Ticks),
    /// A line for the name of a time zone, with those that there are.
    Zone(Option<usize>),
    /// A choice of how often an event takes place, and until when.
    Repeats(Repeats),
    /// A box that is ticked or not. A browser sends nothing of one that is not, so that `false` is sent in front
    /// of each.
    Tick,
}

/// Attributes that all controls share; names and numbers of ours only.
#[derive(derive_more::Display)]
#[display("{}", self.0)]
pub(super) struct Attributes(String);

impl HtmlSafe for Attributes {}

impl Control {
    /// The control by which `field`, one of `fields`, is written, for an instant by this `clock`.
    pub(super) fn of(
        field: &Field,
        fields: &[Field],
        value: &Value,
        clock: WallClock<'_>,
        error: Option<String>,
    ) -> Self {
        let mut widget = match field.meaning {
            Some(Meaning::Recurrence) => Widget::Repeats(Repeats::of(field, value, clock.zone)),
            _ => Widget::of(field),
        };
        let value = match is_secret(field) {
            true => String::new(),
            false => entered(field, value, clock),
        };
        widget.step_to(&value);
        widget.with(&value);
        Self {
            field: field.name.to_owned(),
            id: format!("field-{}", field.name),
            name: measure::form_name(field),
            label: label_of(field),
            hint: hint(field, fields, clock),
            value,
            is_required: field.is_required,
            error,
            present: None,
            widget,
        }
    }

    /// The control for a question of a questionnaire, the one with this number: with the answer that was sent, if it was
    /// refused.
    pub(super) fn of_prompt(prompt: &Prompt, number: usize, refusal: Option<&Refusal>) -> Self {
        let sent = refusal.map(|it| it.sent.get(&prompt.name).unwrap_or(&Value::Null));
        let tick = |it: &Choice| Tick {
            is_on: sent.map_or(it.is_chosen, |sent| texts(sent).contains(&it.value)),
            value: it.value.clone(),
            label: it.label.clone(),
        };
        let value = sent.map_or_else(|| prompt.value.clone(), lines::write);
        Self {
            field: prompt.name.clone(),
            id: format!("prompt-{number}"),
            name: prompt.name.clone(),
            label: format!("{number}. {}", prompt.text),
            hint: prompt.hint.clone(),
            is_required: false,
            error: error(&prompt.name, refusal),
            present: None,
            widget: match (prompt.choices.is_empty(), value.contains('\n')) {
                (false, _) => Widget::Ticks(Ticks {
                    all: prompt.choices.iter().map(tick).collect(),
                    takes_one: !prompt.takes_several,
                    ..Ticks::default()
                }),
                (true, true) => Widget::area(None, 8),
                (true, false) => Widget::line("text", None),
            },
            value,
        }
    }

    /// The controls for what was sent, where nothing tells for which questions.
    pub(super) fn of_sent(refusal: &Refusal) -> Vec<Self> {
        let choice = |value: String| Choice {
            label: value.clone(),
            value,
            is_chosen: true,
        };
        let prompt = |(name, value): (&String, &Value)| Prompt {
            name: name.clone(),
            text: "Answer".to_owned(),
            hint: String::new(),
            choices: match value.is_array() {
                true => texts(value).into_iter().map(choice).collect(),
                false => Vec::new(),
            },
            takes_several: true,
            value: String::new(),
        };
        let prompts = (1..).zip(refusal.sent.iter().map(prompt));
        prompts
            .map(|(number, it)| Self::of_prompt(&it, number, Some(refusal)))
            .collect()
    }

    /// The control with what is said about a field that only people are asked for.
    pub(super) fn explained(mut self, field: &Field, fields: &[Field]) -> Self {
        if field.hint.is_none() {
            let doc = prose(field.doc, fields);
            self.hint = match field.kind {
                Kind::List => doc,
                _ => format!("{doc} {}", self.hint).trim().to_owned(),
            };
        }
        self
    }

    /// The same, in the form of the action `name`: others on the page may ask for fields with the same names.
    pub(super) fn of_action(mut self, name: &str) -> Self {
        self.id = format!("{name}-{}", self.name);
        self
    }

    /// The same, which says besides what is stored now, if that is something else.
    pub(super) fn beside(mut self, field: &Field, stored: &Value, clock: WallClock<'_>) -> Self {
        if let Widget::Repeats(own) = &self.widget {
            let rule = stored.as_str().unwrap_or_default();
            let words = recurrence::words(rule, clock.zone);
            let is_same = *own == Repeats::of(field, stored, clock.zone);
            self.present = (!is_same).then(|| words.unwrap_or_else(|| "nothing".to_owned()));
            return self;
        }
        let stored = match entered(field, stored, clock) {
            nothing if nothing.is_empty() && self.is_tick() => "false".to_owned(),
            // A browser ends lines in its own way, whoever wrote them.
            stored => stored.replace("\r\n", "\n"),
        };
        let typed = self.value.replace("\r\n", "\n");
        // The typed value stays as it is.
        let is_same = match field.parse(&typed) {
            Ok(value) if !is_structure(field.kind) => {
                entered(field, &value, WallClock::UTC) == stored
            }
            _ => typed.trim_end() == stored.trim_end(),
        };
        self.present =
            (!is_same && !is_secret(field)).then(|| match (field.kind, stored.as_str()) {
                (_, "") => "nothing".to_owned(),
                (Kind::Boolean, "true") => "yes".to_owned(),
                (Kind::Boolean, "false") => "no".to_owned(),
                _ => shorten(stored),
            });
        self
    }

    /// A control of a filter, by which nothing has to be said.
    pub(super) fn of_filter(name: String, label: String, value: &str, widget: Widget) -> Self {
        let id = name.replace(['[', ']'], "-");
        Self {
            field: name.clone(),
            id: format!("filter-{}", id.trim_matches('-')),
            name,
            label,
            hint: String::new(),
            value: value.to_owned(),
            is_required: false,
            error: None,
            present: None,
            widget,
        }
    }

    /// Returns whether it is a group of boxes, which has a legend instead of a label.
    pub(super) fn is_group(&self) -> bool {
        matches!(self.widget, Widget::Ticks(_) | Widget::Repeats(_))
    }

    fn is_tick(&self) -> bool {
        matches!(self.widget, Widget::Tick)
    }

    pub(super) fn attributes(&self) -> Attributes {
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
            ("present", self.present.is_some()),
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
    /// The control for the values of `field`.
    pub(super) fn of(field: &Field) -> Self {
        match field.kind {
            Kind::Text(_) if !field.choices.is_empty() => match field.is_required {
                true => Self::of_choices(field, "choose one"),
                false => Self::of_choices(field, "none"),
            },
            Kind::Text(max) if field.meaning == Some(Meaning::Zone) => Self::Zone(Some(max)),
            Kind::Text(max) => Self::of_text(field, max),
            Kind::Html(max) => Self::Area {
                max: Some(max),
                rows: 8,
                has_markup: true,
            },
            Kind::Integer if !field.words.is_empty() => Self::of_words(field),
            Kind::Integer if field.meaning == Some(Meaning::Seconds) => {
                Self::stepped("datetime-local", "1")
            }
            Kind::Integer if matches!(field.meaning, Some(Meaning::Length(_))) => {
                Self::stepped("number", "any")
            }
            Kind::Integer => Self::stepped("number", "1"),
            Kind::Number => Self::stepped("number", "any"),
            // Whoever must decide is not asked by a box that has decided already.
            Kind::Boolean if field.is_required => Self::yes_or_no("choose one"),
            Kind::Boolean => Self::Tick,
            Kind::Instant | Kind::Millis | Kind::Moment => Self::stepped("datetime-local", "0.001"),
            Kind::List | Kind::Object => Self::area(None, 3),
        }
    }

    /// Asks for minutes only, unless the `value` of an instant is more exact: nobody has to fill in what nobody needs.
    fn step_to(&mut self, value: &str) {
        if let Self::Line { kind, step, .. } = self
            && *kind == "datetime-local"
            && (value.is_empty() || value.ends_with(":00"))
        {
            *step = Some("60");
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

    /// Some lines of plain text.
    fn area(max: Option<usize>, rows: u8) -> Self {
        Self::Area {
            max,
            rows,
            has_markup: false,
        }
    }

    /// A line for values of an input's type.
    pub(super) fn line(kind: &'static str, max: Option<usize>) -> Self {
        Self::Line {
            kind,
            max,
            step: None,
            autocomplete: None,
        }
    }

    /// A line for values that lie this far apart.
    pub(super) fn stepped(kind: &'static str, step: &'static str) -> Self {
        Self::Line {
            kind,
            max: None,
            step: Some(step),
            autocomplete: None,
        }
    }

    /// Asks for one of the choices of `field`, or for `nothing` of them.
    pub(super) fn of_choices(field: &Field, nothing: &str) -> Self {
        let choices = field
            .choices
            .iter()
            .map(|it| ((*it).to_owned(), word_of(field, it).unwrap_or_default()));
        let nothing = (String::new(), nothing.to_owned());
        Self::Choice(std::iter::once(nothing).chain(choices).collect())
    }

    /// Asks for one of the numbers that have words.
    fn of_words(field: &Field) -> Self {
        let nothing = match field.is_required {
            true => "choose one",
            false => "none",
        };
        let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        let nothing = (String::new(), nothing.to_owned());
        Self::Choice(
            std::iter::once(nothing)
                .chain(field.words.iter().map(own))
                .collect(),
        )
    }

    /// Offers `value`, too, which is there already.
    fn with(&mut self, value: &str) {
        if let Self::Choice(options) = self
            && options.iter().all(|it| it.0 != value)
        {
            options.push((value.to_owned(), value.to_owned()));
        }
    }

    fn of_text(field: &Field, max: usize) -> Self {
        let (kind, autocomplete) = match field.meaning {
            Some(Meaning::UserName) => ("text", Some("username")),
            Some(Meaning::Password) => ("password", Some("current-password")),
            Some(Meaning::NewPassword) => ("password", Some("new-password")),
            Some(Meaning::Email) => ("email", Some("off")),
            Some(Meaning::Address) => ("url", Some("off")),
            None if max > MAX_LINE => {
                return Self::area(Some(max), 3);
            }
            Some(Meaning::Zone | Meaning::Length(_) | Meaning::Seconds | Meaning::Recurrence)
            | None => ("text", None),
        };
        Self::Line {
            kind,
            max: Some(max),
            step: None,
            autocomplete,
        }
    }
}

fn is_secret(field: &Field) -> bool {
    matches!(
        field.meaning,
        Some(Meaning::Password | Meaning::NewPassword)
    )
}

fn is_structure(kind: Kind) -> bool {
    matches!(kind, Kind::List | Kind::Object)
}

/// The sentence about a field: what its type says to people, and how it is entered.
fn hint(field: &Field, fields: &[Field], clock: WallClock<'_>) -> String {
    let by_clock = clock.hint();
    let addition = match field.kind {
        Kind::Integer if matches!(field.meaning, Some(Meaning::Length(_))) => "In minutes.",
        Kind::Integer if field.meaning == Some(Meaning::Seconds) => by_clock.as_str(),
        Kind::Html(_) => "May have HTML.",
        Kind::Instant | Kind::Millis | Kind::Moment => by_clock.as_str(),
        Kind::List | Kind::Object if field.hint.is_some() => "",
        Kind::List if field.offered.is_none() => "One on each line; one with parts as JSON.",
        Kind::Object => "One on each line, as name=value.",
        _ => "",
    };
    let own = prose(field.hint.unwrap_or_default(), fields);
    format!("{own} {addition}").trim().to_owned()
}

/// The most characters that are shown of what is stored now.
const MAX_PRESENT: usize = 300;

fn shorten(text: String) -> String {
    match text.chars().count() > MAX_PRESENT {
        true => text.chars().take(MAX_PRESENT).chain(['…']).collect(),
        false => text,
    }
}

/// The stored `value` of `field`, text as people type it.
pub(super) fn stored(field: &Field, value: &Value) -> Value {
    match (field.kind, value) {
        (Kind::Html(_), Value::String(html)) => Value::from(typed::to_typed(html)),
        _ => value.clone(),
    }
}

/// The value of `field` as its control takes it: what is stored as people enter it, what was typed as it is.
fn entered(field: &Field, value: &Value, clock: WallClock<'_>) -> String {
    match (field.meaning, value.as_i64()) {
        (Some(Meaning::Length(unit)), Some(length)) => measure::minutes(length, unit),
        (Some(Meaning::Seconds), Some(seconds)) => DateTime::from_timestamp(seconds, 0)
            .map(|it| clock.local(it).format("%Y-%m-%dT%H:%M:%S").to_string())
            .unwrap_or_default(),
        _ => text(field.kind, value, clock),
    }
}

/// A value as a control takes it, an instant by this `clock`.
fn text(kind: Kind, value: &Value, clock: WallClock<'_>) -> String {
    match (instant(kind, value), value) {
        (Some(instant), _) => {
            let form = match instant.timestamp_subsec_millis() {
                0 => "%Y-%m-%dT%H:%M:%S",
                _ => "%Y-%m-%dT%H:%M:%S%.3f",
            };
            clock.local(instant).format(form).to_string()
        }
        // What a form sent of a box: the value in front of it, and its own if it was ticked.
        (None, Value::Array(sent)) if kind == Kind::Boolean => {
            text(kind, sent.last().unwrap_or(&Value::Null), clock)
        }
        (None, value) => lines::write(value),
    }
}
