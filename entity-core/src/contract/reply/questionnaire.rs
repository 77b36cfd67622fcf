//! Questionnaires: forms whose questions are data, such as those of a quiz or the options of a poll.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::DateTimeUtc;
use crate::model::schema::Tone;
use crate::primitives::error::{Error, FieldError, Result};

/// The name under which a form sends what the prompts of its table held when it was made, as a JSON object: those that held
/// something. A program that does not send it writes whatever it sends.
pub const BEFORE: &str = "before";

/// The text that a ticked [box](Prompt::tick) sends.
pub const TICKED: &str = "true";

/// A form whose questions are data, which an action returns as
/// [`ActionResult::Questionnaire`](crate::ActionResult::Questionnaire). Pages show it as a form that can be filled in
/// and sent; in the other formats it is data like any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Questionnaire {
    /// The heading.
    pub title: String,
    /// The instant until which the form can be sent, if there is one.
    #[schemars(with = "Option<String>")]
    pub ends_on: Option<DateTimeUtc>,
    /// The questions, in order. They stand below the table, if there is one.
    pub prompts: Vec<Prompt>,
    /// The ways to the other parts, if it is one of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Lead>,
    /// The headings of the table, the first of which is that of the titles of its rows. Most forms have no table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The rows of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<PromptRow>,
    /// The ways to send the form, each a button. Without any it is read only.
    pub sendings: Vec<Sending>,
}

/// A way to a part of a questionnaire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lead {
    /// The path of the page.
    pub path: String,
    /// The words that lead there.
    pub label: String,
    /// True of the part itself.
    pub is_here: bool,
}

/// A row of the table of a questionnaire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptRow {
    /// The title, such as the name of a student.
    pub title: String,
    /// The path below `/direct` of the entity that it is about, if the reader may open it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if it sums up the rows that follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sum: bool,
    /// The cells, one for each column but the first.
    pub cells: Vec<PromptCell>,
}

/// A cell of the table of a questionnaire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PromptCell {
    /// A text.
    Text(String),
    /// An instant.
    Instant(#[schemars(with = "String")] DateTimeUtc),
    /// A state, in words that stand out.
    State {
        /// The words.
        text: String,
        /// Their colour.
        #[serde(skip)]
        tone: Tone,
    },
    /// A question.
    Prompt(Prompt),
}

/// A question of a questionnaire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The name under which the answer is sent.
    pub name: String,
    /// The question, as plain text.
    pub text: String,
    /// A remark on it, as plain text, or nothing.
    pub hint: String,
    /// The answers to choose from. Without any, a line of text is asked for.
    pub choices: Vec<Choice>,
    /// True if several of the choices may be chosen: each is sent under the name, and empty text in front of them.
    pub takes_several: bool,
    /// The text that the line holds.
    pub value: String,
}

impl Prompt {
    /// Creates a line with the text `value`, whose answer is sent under `name`.
    pub fn line(name: String, text: String, value: String) -> Self {
        Self {
            name,
            text,
            value,
            ..Self::default()
        }
    }

    /// Creates a box that is ticked or not.
    pub fn tick(name: String, text: String, is_ticked: bool) -> Self {
        let choice = Choice {
            value: TICKED.to_owned(),
            label: text.clone(),
            is_chosen: is_ticked,
        };
        Self {
            choices: vec![choice],
            takes_several: true,
            ..Self::line(name, text, String::new())
        }
    }

    /// Returns the answer that it holds: the text, or the values that are chosen, with commas between them.
    pub fn held(&self) -> String {
        let chosen = self.choices.iter().filter(|it| it.is_chosen);
        match self.choices.is_empty() {
            true => settled(&self.value),
            false => joined(chosen.map(|it| it.value.as_str())),
        }
    }
}

impl Questionnaire {
    /// Returns all questions, those of the table first.
    pub fn all_prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.table_prompts().chain(&self.prompts)
    }

    /// Returns the questions of the table.
    pub fn table_prompts(&self) -> impl Iterator<Item = &Prompt> {
        let cells = self.rows.iter().flat_map(|it| &it.cells);
        cells.filter_map(|it| match it {
            PromptCell::Prompt(prompt) => Some(prompt),
            _ => None,
        })
    }

    /// Returns the answers to the table, by the name of the prompt, that somebody has changed: the table tells what is stored
    /// now, and a form sends beside its answers what was stored [before](BEFORE). What was only shown, and what is stored
    /// already, is no change, so that nobody takes back what others have written meanwhile.
    ///
    /// # Errors
    /// Returns an error that names the answers that others have changed in the meantime.
    pub fn changes(&self, sent: &Map<String, Value>) -> Result<BTreeMap<String, String>> {
        let before = before(sent);
        let (mut changes, mut errors) = (BTreeMap::new(), Vec::new());
        for prompt in self.table_prompts() {
            let Some(answer) = sent.get(&prompt.name).map(answer) else {
                continue;
            };
            let stored = prompt.held();
            let known = held_before(&before, &prompt.name).unwrap_or(&stored);
            if answer == known || answer == stored {
                continue;
            }
            if known == stored {
                changes.insert(prompt.name.clone(), answer);
            } else {
                errors.push(FieldError {
                    name: prompt.name.clone(),
                    message: format!("was changed in the meantime to “{stored}”"),
                });
            }
        }
        match errors.is_empty() {
            true => Ok(changes),
            false => Err(Error::fields(errors)),
        }
    }
}

/// Returns what the prompts held when the form was made that sent this: those that held something. A program sends nothing of
/// the kind.
pub fn before(sent: &Map<String, Value>) -> Option<BTreeMap<String, String>> {
    let text = sent.get(BEFORE).and_then(Value::as_str);
    text.and_then(|it| serde_json::from_str(it).ok())
}

/// Returns what a prompt held then, if that is known.
pub fn held_before<'a>(
    before: &'a Option<BTreeMap<String, String>>,
    name: &str,
) -> Option<&'a str> {
    let held = before.as_ref()?.get(name);
    Some(held.map_or("", String::as_str))
}

/// Returns an answer as [`Prompt::held`] tells it.
pub fn answer(sent: &Value) -> String {
    match sent {
        Value::Null | Value::Bool(false) => String::new(),
        Value::Array(items) => joined(items.iter().filter_map(Value::as_str)),
        Value::String(text) => settled(text),
        other => other.to_string(),
    }
}

fn joined<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let values: Vec<_> = values.filter(|it| !it.is_empty()).collect();
    values.join(",")
}

/// Browsers end lines in their own way, and space around an answer means nothing.
fn settled(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// An answer to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The text that is sent.
    pub value: String,
    /// The text that people read.
    pub label: String,
    /// True if it is chosen.
    pub is_chosen: bool,
}

/// A way to send a questionnaire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sending {
    /// The path of the action that takes the answers, by `POST`.
    pub path: String,
    /// The label of the button.
    pub label: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheet() -> Questionnaire {
        let grade = Prompt::line("grade:1".to_owned(), "Grade".to_owned(), "88".to_owned());
        let tick = Prompt::tick("return:1".to_owned(), "Return".to_owned(), true);
        Questionnaire {
            rows: vec![PromptRow {
                title: "Ada".to_owned(),
                path: None,
                is_sum: false,
                cells: vec![
                    PromptCell::Text("in time".to_owned()),
                    PromptCell::Prompt(grade),
                    PromptCell::Prompt(tick),
                ],
            }],
            ..Questionnaire::default()
        }
    }

    #[test]
    fn only_what_somebody_changed_is_a_change() {
        for (sent, changes) in [
            (json!({}), json!({})),
            (
                json!({"grade:1": " 88\r\n", "return:1": ["", "true"]}),
                json!({}),
            ),
            (json!({"grade:1": "90"}), json!({"grade:1": "90"})),
            (json!({"grade:1": 90}), json!({"grade:1": "90"})),
            (json!({"return:1": ""}), json!({"return:1": ""})),
            // Another grader has written 88 where the form showed nothing.
            (
                json!({"grade:1": "", "before": r#"{"grade:1": ""}"#}),
                json!({}),
            ),
            (
                json!({"grade:1": "88", "before": r#"{"grade:1": ""}"#}),
                json!({}),
            ),
            (
                json!({"grade:1": "9", "before": "no object"}),
                json!({"grade:1": "9"}),
            ),
        ] {
            let found = sheet().changes(sent.as_object().expect("an object"));
            let found = serde_json::to_value(found.expect("no conflict")).expect("texts");
            assert_eq!(found, changes, "{sent}");
        }
    }

    #[test]
    fn what_two_have_changed_is_told() {
        let sent = json!({"grade:1": "90", "before": r#"{"grade:1": "70"}"#});
        let error = sheet().changes(sent.as_object().expect("an object"));
        let error = error.expect_err("a conflict").to_string();
        assert!(error.contains("grade:1"), "{error}");
    }
}
