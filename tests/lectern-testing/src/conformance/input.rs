//! Wrong input is refused with 400, and the refusal names the field.

use entity_core::schema::Field;
use http::StatusCode;
use serde_json::{Map, Value};

use super::sample;
use super::suite::Suite;
use super::{Held, Verdict};
use crate::client::Answer;
use crate::role::SITE;

/// A field that no type has.
const UNKNOWN: &str = "noSuchField";

/// Checks the answers to values of the wrong kind, values at the limits, missing fields and unknown ones.
pub async fn wrong_input_is_refused(suite: &Suite) -> Verdict {
    if !suite.can("create") {
        return Ok(Held::Skipped("nobody can create entities of the type"));
    }
    refuse(suite, UNKNOWN, with(suite, UNKNOWN, 1.into()).await?).await?;
    for field in suite.fields() {
        for value in sample::wrong(field) {
            let fields = with(suite, field.name, value).await?;
            refuse(suite, field.name, fields).await?;
        }
        for value in sample::extreme(field) {
            survive(suite, field, with(suite, field.name, value).await?).await?;
        }
        if field.is_required {
            let mut fields = with(suite, field.name, Value::Null).await?;
            refuse(suite, field.name, fields.clone()).await?;
            fields.remove(field.name);
            refuse(suite, field.name, fields).await?;
        }
    }
    Ok(Held::Passed)
}

/// Returns the fields of a new entity with `value` for the field `name`.
async fn with(suite: &Suite, name: &str, value: Value) -> Result<Map<String, Value>, String> {
    let mut fields = suite.fresh(SITE).await?;
    fields.insert(name.to_owned(), value);
    Ok(fields)
}

/// Checks that `fields` are refused because of `name`.
async fn refuse(suite: &Suite, name: &str, fields: Map<String, Value>) -> Result<(), String> {
    let answer = suite.post(suite.superuser(), &fields).await;
    match answer.status == StatusCode::BAD_REQUEST && names(&answer, name) {
        true => Ok(()),
        false => Err(format!(
            "{} is answered with {}, not with 400 and `{name}` in `error.fields`: {}\nDeclare what the field takes \
             (its kind, `required`, `choices`), and return `Error::field(\"{name}\", …)` from further rules",
            shortened(&fields),
            answer.status,
            answer.text()
        )),
    }
}

/// Checks that `fields`, which have a value at the limits for `field`, are taken or refused because of the field, or of one
/// to which it does not go.
async fn survive(suite: &Suite, field: &Field, fields: Map<String, Value>) -> Result<(), String> {
    let answer = suite.post(suite.superuser(), &fields).await;
    let mut sent = fields.keys();
    let is_refused = answer.status == StatusCode::BAD_REQUEST && sent.any(|it| names(&answer, it));
    if answer.status.is_success() || is_refused || answer.status == StatusCode::CONFLICT {
        return Ok(());
    }
    Err(format!(
        "{} is answered with {}: {}\nA value that the schema allows must be taken or refused with \
         `Error::field(\"{}\", …)`: look for sums that overflow and for constraints of the table",
        shortened(&fields),
        answer.status,
        answer.text(),
        field.name
    ))
}

/// Returns whether the refusal names the field, or a part of it.
fn names(answer: &Answer, field: &str) -> bool {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let told = body["error"]["fields"].as_array().into_iter().flatten();
    let mut told = told.filter_map(|it| it["name"].as_str());
    told.any(|it| it.split(['.', '[', '/']).next() == Some(field))
}

fn shortened(fields: &Map<String, Value>) -> String {
    let text = Value::Object(fields.clone()).to_string();
    text.chars().take(300).collect()
}
