//! Forms that are tables: a row for each thing, with controls in its cells, and one button for all.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::reply::{
    Lead, Prompt, PromptCell, PromptRow, Questionnaire, Refusal, Sending, TICKED, answer, before,
    held_before,
};
use serde_json::{Map, Value};

use super::clock::Clock;
use super::control::{Control, Widget};
use super::mark::Mark;
use super::refusal::error;
use super::shown::Shown;

/// The most columns of a table of which each row is a small card on a phone; a wider one scrolls sideways, with its first column
/// in place.
const MOST_OF_CARDS: usize = 6;

/// A form that is a table.
#[derive(Template)]
#[template(path = "sheet.html")]
pub(super) struct Sheet<'a> {
    title: String,
    csrf_token: Option<&'a str>,
    parts: Vec<Lead>,
    columns: Vec<String>,
    rows: Vec<Row<'a>>,
    controls: Vec<Control>,
    sendings: Vec<Sending>,
    /// The answers that the prompts hold, as the form sends them back.
    before: String,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Sheet<'_> {}

struct Row<'a> {
    title: String,
    href: Option<String>,
    is_sum: bool,
    mark: Mark,
    cells: Vec<Cell<'a>>,
}

/// A cell.
#[derive(Template)]
#[template(path = "cell.html")]
enum Cell<'a> {
    Shown(Shown<'a>),
    Asked(Box<Control>),
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Cell<'_> {}

impl<'a> Sheet<'a> {
    /// Returns the table of `form`, if it is one: with what was sent, if that was refused.
    pub(super) fn of(
        form: &Questionnaire,
        refusal: Option<&Refusal>,
        view: &View<'a>,
    ) -> Option<Self> {
        let known = refusal.and_then(|it| before(&it.sent));
        let row = |it: &PromptRow| {
            let path = it.path.as_deref();
            let cells = it.cells.iter().zip(form.columns.iter().skip(1));
            let cells = cells.map(|(cell, column)| match cell {
                PromptCell::Text(text) if text.is_empty() => Cell::Shown(Shown::Nothing),
                PromptCell::Text(text) => Cell::Shown(Shown::Text(text.clone())),
                PromptCell::Instant(at) => Cell::Shown(Shown::of_instant(*at, Clock::of(view))),
                PromptCell::State { text, tone } => Cell::Shown(Shown::in_tone(text, *tone)),
                PromptCell::Prompt(prompt) => {
                    // Who has not touched it is shown what is stored by now.
                    let is_touched = |sent: &Map<String, Value>| {
                        let sent = sent.get(&prompt.name).map(answer);
                        sent.as_deref() != held_before(&known, &prompt.name)
                    };
                    let refusal = refusal.filter(|it| is_touched(&it.sent));
                    Cell::Asked(Box::new(Control::of_cell(
                        prompt,
                        format!("{column}, {}", it.title),
                        refusal,
                    )))
                }
            });
            Row {
                title: it.title.clone(),
                href: path.map(|it| format!("/direct{it}.html")),
                is_sum: it.is_sum,
                mark: Mark::of(path.unwrap_or(&it.title), &it.title),
                cells: cells.collect(),
            }
        };
        let held: Map<String, Value> = form
            .table_prompts()
            .map(|it| (it.name.clone(), it.held()))
            .filter(|it| !it.1.is_empty())
            .map(|(name, held)| (name, held.into()))
            .collect();
        let prompts = form.prompts.iter();
        (!form.columns.is_empty()).then(|| Self {
            title: form.title.clone(),
            csrf_token: view.csrf_token,
            parts: form.parts.clone(),
            columns: form.columns.clone(),
            rows: form.rows.iter().map(row).collect(),
            controls: prompts
                .map(|it| Control::of_cell(it, it.text.clone(), refusal))
                .collect(),
            sendings: form.sendings.clone(),
            before: Value::Object(held).to_string(),
        })
    }

    /// Returns the table that the page shows in the place of something else.
    pub(super) fn shown(view: &View<'a>) -> Option<Self> {
        let sheet = view.allowed_actions.sheet.as_deref()?;
        Self::of(&sheet.form, None, view)
    }

    /// Returns whether such a table stands in the place of the list or the field `name`.
    pub(super) fn replaces(name: &str, view: &View<'_>) -> bool {
        let sheet = view.allowed_actions.sheet.as_ref();
        sheet.is_some_and(|it| it.in_place_of == name)
    }

    /// Returns all its controls.
    pub(super) fn asked(&self) -> impl Iterator<Item = &Control> {
        let cells = self.rows.iter().flat_map(|it| &it.cells);
        let asked = cells.filter_map(|it| match it {
            Cell::Asked(control) => Some(&**control),
            Cell::Shown(_) => None,
        });
        asked.chain(&self.controls)
    }

    fn is_wide(&self) -> bool {
        self.columns.len() > MOST_OF_CARDS
    }
}

impl Control {
    /// The control for a question of a table, called `label`: with the answer that was sent, if that was refused.
    pub(super) fn of_cell(prompt: &Prompt, label: String, refusal: Option<&Refusal>) -> Self {
        let sent = refusal.and_then(|it| it.sent.get(&prompt.name));
        let value = match sent.map_or_else(|| prompt.held(), answer) {
            // A box that was ticked comes behind the value in front of it.
            ticked if prompt.takes_several && ticked.ends_with(TICKED) => TICKED.to_owned(),
            value => value,
        };
        let choices = prompt.choices.iter();
        let choices = choices.map(|it| (it.value.clone(), it.label.clone()));
        Self {
            field: prompt.name.clone(),
            id: format!("field-{}", prompt.name),
            name: prompt.name.clone(),
            label,
            hint: prompt.hint.clone(),
            is_required: false,
            error: error(&prompt.name, refusal),
            present: None,
            widget: match (prompt.takes_several, prompt.choices.is_empty()) {
                (true, _) => Widget::Tick,
                (false, false) => Widget::Choice(choices.collect()),
                (false, true) if value.contains('\n') => Widget::Area {
                    max: None,
                    rows: 3,
                    has_markup: false,
                },
                (false, true) => Widget::line("text", None),
            },
            value,
        }
    }
}
