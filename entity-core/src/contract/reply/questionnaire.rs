//! Questionnaires: forms whose questions are data, such as those of a quiz or the options of a poll.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DateTimeUtc;

/// A form whose questions are data, which an action returns as
/// [`ActionResult::Questionnaire`](crate::ActionResult::Questionnaire). Pages show it as a form that can be filled in
/// and sent; in the other formats it is data like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Questionnaire {
    /// The heading.
    pub title: String,
    /// The instant until which the form can be sent, if there is one.
    #[schemars(with = "Option<String>")]
    pub ends_on: Option<DateTimeUtc>,
    /// The questions, in order.
    pub prompts: Vec<Prompt>,
    /// The ways to send the form, each a button.
    pub sendings: Vec<Sending>,
}

/// A question of a questionnaire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
