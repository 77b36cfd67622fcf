//! The body with many scores.

use entity_core::shape;
use entity_core::wire::Decimal;
use entity_core::{Error, Input, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value};

use super::marking::Mark;

/// The maximum number of scores in one request.
pub(super) const MOST_SCORES: usize = 2_000;
/// The maximum number of characters of a comment.
const MOST_COMMENT: usize = 4_000;

/// Many scores.
#[derive(Debug, Deserialize, JsonSchema)]
struct SentScores {
    /// The scores.
    scores: Vec<SentScore>,
}

/// The marks that a grader gives one student in one item. A field that is not sent stays as it is.
#[expect(
    clippy::option_option,
    reason = "a null that was sent is another thing than nothing sent"
)]
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SentScore {
    /// The item.
    item_id: String,
    /// The internal id of the student.
    user_id: String,
    /// The points; null for none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<f64>")]
    score: Option<Option<Number>>,
    /// True if the item does not count for the student.
    #[serde(default)]
    excused: Option<bool>,
    /// The comment for the student.
    #[serde(default)]
    comment: Option<String>,
}

/// Tells a null from what was not sent.
#[expect(
    clippy::option_option,
    reason = "a null that was sent is another thing than nothing sent"
)]
fn given<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Number>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Reads many scores from a body.
pub(super) fn read(input: &Input) -> Result<Vec<Mark>> {
    let sent: SentScores = shape::decode(Value::Object(input.fields.clone()))?;
    if sent.scores.len() > MOST_SCORES {
        let message = format!("must not have more than {MOST_SCORES} items");
        return Err(Error::field("scores", message));
    }
    let marks = sent.scores.into_iter().enumerate();
    marks.map(|(index, it)| it.into_mark(index)).collect()
}

/// Checks that a comment is one that fields of this size may hold. `name` is what errors call it.
pub(super) fn check_comment(comment: Option<&str>, name: &str) -> Result<()> {
    let is_dirty = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    match comment {
        Some(it) if it.chars().count() > MOST_COMMENT || it.chars().any(is_dirty) => {
            let message = format!("must be text of at most {MOST_COMMENT} characters");
            Err(Error::field(name, message))
        }
        _ => Ok(()),
    }
}

impl SentScore {
    fn into_mark(self, index: usize) -> Result<Mark> {
        let number = |it: Number| {
            let number = it.as_f64().unwrap_or(f64::NAN);
            Decimal::parse(&number.to_string())
                .map_err(|message| Error::field(format!("scores[{index}].score"), message))
        };
        check_comment(self.comment.as_deref(), &format!("scores[{index}].comment"))?;
        let score = self
            .score
            .map(|it| it.map(number).transpose())
            .transpose()?;
        Ok(Mark {
            item: self.item_id,
            user: self.user_id,
            score,
            excused: self.excused,
            comment: self.comment,
        })
    }
}
